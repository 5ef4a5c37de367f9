package wire

import (
	"encoding/binary"
	"fmt"
	"io"

	"mrbench/internal/embedded/bsonx"
)

// Writer writes replies to one connection, each in one buffer that is reused,
// with one Write. Not safe for concurrent use.
//
//	buf := w.Start(req, 0)
//	buf = appendDocument(buf)
//	err := w.Finish(buf)
type Writer struct {
	dst    io.Writer
	buf    []byte
	packer Packer
	req    *Message
	lastID int32
}

// NewWriter returns a Writer to dst.
func NewWriter(dst io.Writer) *Writer { return &Writer{dst: dst} }

// Start begins a reply to req and returns the buffer to append the one body
// document to. flags may hold MoreToCome (more replies follow). An OP_QUERY is
// answered with an OP_REPLY. req must stay valid until Finish.
func (w *Writer) Start(req *Message, flags uint32) []byte {
	if outgrown(w.buf, len(w.buf)) { // by the reply before this one
		w.buf = nil
	}
	w.lastID++
	w.req = req
	return BeginReply(w.buf[:0], req, w.lastID, flags)
}

// Finish completes the reply that Start began, compressed if the request was, and writes it.
func (w *Writer) Finish(buf []byte) error {
	buf, err := w.packer.EndReply(buf, 0, w.req)
	if err != nil {
		return err
	}
	w.buf = buf // appending may have moved it
	_, err = w.dst.Write(buf)
	return err
}

// Reply writes a reply with that body.
func (w *Writer) Reply(req *Message, body bsonx.Doc, flags uint32) error {
	return w.Finish(append(w.Start(req, flags), body...))
}

// LastID is the request id of the reply begun last. The following reply to an
// exhaust request answers that id.
func (w *Writer) LastID() int32 { return w.lastID }

// BeginReply appends the frame of a reply to req up to where the body document
// starts; append the document to the result, then call EndReply with the same start.
//
//	start := len(dst)
//	dst = wire.BeginReply(dst, req, id, 0)
//	dst = appendDocument(dst)
//	dst, err = wire.EndReply(dst, start, req)
func BeginReply(dst []byte, req *Message, requestID int32, flags uint32) []byte {
	h := Header{RequestID: requestID, ResponseTo: req.RequestID, OpCode: OpMsg}
	if req.OpCode == OpQuery {
		h.OpCode = OpReply
		dst = appendHeader(dst, h)
		// Flags (AwaitCapable), no cursor, starting from 0, one document.
		return append(dst, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0)
	}
	if checksums(req) {
		flags |= ChecksumPresent
	}
	dst = binary.LittleEndian.AppendUint32(appendHeader(dst, h), flags)
	return append(dst, sectionBody)
}

// checksums reports whether the reply to req carries a checksum. One that is
// compressed has its compressor's instead.
func checksums(req *Message) bool {
	return req.OpCode == OpMsg && req.Flags&ChecksumPresent != 0 && !req.Compressed
}

// EndReply patches lengths, adds a checksum when req carried one, and compresses
// as req was compressed. A Packer does so without making a compressor each time.
func EndReply(dst []byte, start int, req *Message) ([]byte, error) {
	var p Packer
	defer p.codec.close()
	return p.EndReply(dst, start, req)
}

// Packer ends the replies of a connection. It keeps its compressors between
// them; a zstd encoder, above all, is costly to make. The zero Packer is ready.
// Not safe for concurrent use.
type Packer struct {
	codec  codec
	packed []byte
}

// EndReply is the function EndReply.
func (p *Packer) EndReply(dst []byte, start int, req *Message) ([]byte, error) {
	dst, err := endReply(dst, start, req)
	if err != nil || !req.Compressed {
		return dst, err
	}
	if outgrown(p.packed, len(p.packed)) { // by the reply before this one
		p.packed = nil
	}
	if p.packed, err = p.codec.wrap(p.packed[:0], dst[start:], req.Compressor); err != nil {
		return nil, err
	}
	return append(dst[:start], p.packed...), nil
}

func endReply(dst []byte, start int, req *Message) ([]byte, error) {
	if checksums(req) {
		binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start+4))
		dst = binary.LittleEndian.AppendUint32(dst, checksum(dst[start:]))
	}
	size := len(dst) - start
	if size > MaxMessageSize {
		return nil, fmt.Errorf("wire: reply of %d bytes exceeds the limit of %d", size, MaxMessageSize)
	}
	binary.LittleEndian.PutUint32(dst[start:], uint32(size))
	return dst, nil
}

// AppendReply is BeginReply, the body, EndReply.
func AppendReply(dst []byte, req *Message, requestID int32, flags uint32, body bsonx.Doc) ([]byte, error) {
	start := len(dst)
	return EndReply(append(BeginReply(dst, req, requestID, flags), body...), start, req)
}

// AppendRequest appends an OP_MSG with a body and document sequences (for tests
// and tools), with a checksum when flags has ChecksumPresent.
func AppendRequest(dst []byte, requestID int32, flags uint32, body bsonx.Doc, seqs ...Sequence) []byte {
	start := len(dst)
	dst = appendHeader(dst, Header{RequestID: requestID, OpCode: OpMsg})
	dst = binary.LittleEndian.AppendUint32(dst, flags)
	dst = append(append(dst, sectionBody), body...)
	for _, s := range seqs {
		dst = append(dst, sectionSequence)
		dst = binary.LittleEndian.AppendUint32(dst, uint32(4+len(s.ID)+1+len(s.Raw)))
		dst = append(append(dst, s.ID...), 0)
		dst = append(dst, s.Raw...)
	}
	size := len(dst) - start
	if flags&ChecksumPresent == 0 {
		binary.LittleEndian.PutUint32(dst[start:], uint32(size))
		return dst
	}
	binary.LittleEndian.PutUint32(dst[start:], uint32(size+4))
	return binary.LittleEndian.AppendUint32(dst, checksum(dst[start:]))
}

// Compress wraps the message that starts at dst[start] into an OP_COMPRESSED.
func Compress(dst []byte, start int, by Compressor) ([]byte, error) {
	var c codec
	defer c.close()
	packed, err := c.wrap(nil, dst[start:], by)
	if err != nil {
		return nil, err
	}
	return append(dst[:start], packed...), nil
}

// wrap appends the OP_COMPRESSED of msg to dst.
func (c *codec) wrap(dst, msg []byte, by Compressor) ([]byte, error) {
	start := len(dst)
	h := parseHeader(msg)
	op := h.OpCode
	h.OpCode = OpCompressed
	dst = appendHeader(dst, h)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(op))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(msg)-headerSize))
	dst = append(dst, byte(by))
	dst, err := c.compress(dst, msg[headerSize:], by)
	if err != nil {
		return nil, fmt.Errorf("wire: compress a reply: %w", err)
	}
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start))
	return dst, nil
}
