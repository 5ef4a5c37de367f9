package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Reader reads messages from one connection, reusing its buffers. Not safe for
// concurrent use. Close frees its decompressors.
type Reader struct {
	src      io.Reader
	buf      []byte // the message as it came
	inflated []byte // the message inside of an OP_COMPRESSED
	msg      Message
	codec    codec

	// Limit is how many bytes a message may have, also uncompressed. 0: MaxMessageSize.
	Limit int
}

// NewReader returns a Reader of src.
func NewReader(src io.Reader) *Reader { return &Reader{src: bufio.NewReaderSize(src, 32<<10)} }

// Wait blocks until the first byte of a message has come. Errors as of Next.
func (r *Reader) Wait() error {
	src, ok := r.src.(interface{ Peek(int) ([]byte, error) })
	if !ok {
		return nil
	}
	_, err := src.Peek(1)
	return err
}

func (r *Reader) limit() int {
	if r.Limit > 0 {
		return r.Limit
	}
	return MaxMessageSize
}

// Next reads one message. It is valid until the following Next.
//
// io.EOF: the peer closed between messages; io.ErrUnexpectedEOF: inside of one.
// *ProtocolError: the bytes are no message this engine takes; close the
// connection. *mongoerr.Error: a document in the message is malformed, too large
// or nested too deep; the Message is not nil and has its header and flags, so
// the error can be replied and the connection kept.
func (r *Reader) Next() (*Message, error) {
	b, err := r.fill()
	if err != nil {
		return nil, err
	}
	r.msg.Compressed, r.msg.Compressor = false, 0
	if h := parseHeader(b); h.OpCode == OpCompressed {
		if b, err = r.inflate(h, b[headerSize:]); err != nil {
			return nil, &ProtocolError{h, err.Error()}
		}
	}
	if err = r.msg.parse(b); err != nil {
		var broken *ProtocolError
		if errors.As(err, &broken) {
			return nil, err
		}
	}
	return &r.msg, err
}

// Close frees the decompressors; it does not close the connection.
func (r *Reader) Close() { r.codec.close() }

// ReadMessage reads one message from src into buf, growing it when needed, and
// returns the message, which aliases the returned buffer, to be passed to the
// next call. Errors as of Reader.Next, which is the better choice for a connection.
func ReadMessage(src io.Reader, buf []byte) (*Message, []byte, error) {
	r := &Reader{src: src, buf: buf}
	defer r.Close()
	m, err := r.Next()
	return m, r.buf, err
}

const (
	// growStep is what is allocated before any byte of a message has come.
	growStep = 256 << 10
	// keepBuffer is the size up to which a Reader or Writer never lets go of a buffer.
	keepBuffer = 8 << 20
)

// outgrown reports whether b is too large to be kept for a message of size bytes.
func outgrown(b []byte, size int) bool { return cap(b) > keepBuffer && size < cap(b)/4 }

// fill reads one message as it came.
func (r *Reader) fill() ([]byte, error) {
	b := grow(r.buf[:0], headerSize)[:headerSize]
	r.buf = b
	if _, err := io.ReadFull(r.src, b); err != nil {
		return nil, err
	}
	h := parseHeader(b)
	size := int(h.Length)
	if size < headerSize || size > r.limit() {
		return nil, &ProtocolError{h, fmt.Sprintf("length must be from %d to %d", headerSize, r.limit())}
	}
	if outgrown(b, size) {
		b = append(make([]byte, 0, size), b...)
	}
	// A large buffer is made as its bytes come, not because a header promises them.
	for have := headerSize; have < size; {
		b = grow(b, min(size-have, max(have, growStep)))
		r.buf = b
		n, err := io.ReadFull(r.src, b[have:min(size, cap(b))])
		have += n
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		b = b[:have]
	}
	r.buf = b
	return b, nil
}

// grow makes room for n more bytes, and not for much more.
func grow(b []byte, n int) []byte {
	if cap(b)-len(b) >= n {
		return b
	}
	bigger := make([]byte, len(b), len(b)+max(n, 512))
	copy(bigger, b)
	return bigger
}

// inflate gives the message inside of an OP_COMPRESSED with a header of its own.
func (r *Reader) inflate(h Header, b []byte) ([]byte, error) {
	if len(b) < 9 {
		return nil, errors.New("too short for the header of the compressed message")
	}
	op := OpCode(binary.LittleEndian.Uint32(b))
	size := int(int32(binary.LittleEndian.Uint32(b[4:])))
	c := Compressor(b[8])
	if op == OpCompressed {
		return nil, errors.New("compressed twice")
	}
	if size < 0 || size > r.limit()-headerSize {
		return nil, fmt.Errorf("uncompressed size must be from 0 to %d, not %d", r.limit()-headerSize, size)
	}
	if outgrown(r.inflated, size) {
		r.inflated = nil
	}
	dst := grow(r.inflated[:0], headerSize+size)
	h.Length, h.OpCode = int32(headerSize+size), op
	dst = appendHeader(dst, h)
	dst, err := r.codec.decompress(dst[:headerSize:headerSize+size], b[9:], c, size)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", c, err)
	}
	r.inflated = dst
	r.msg.Compressed, r.msg.Compressor = true, c
	return dst, nil
}
