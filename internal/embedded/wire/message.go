package wire

import (
	"encoding/binary"
	"fmt"

	"mrbench/internal/embedded/bsonx"
)

// Sizes in bytes that hello reports and the reader enforces.
const (
	MaxMessageSize  = 48_000_000
	MaxDocumentSize = 16 << 20        // of a user's document
	MaxBSONSize     = 16<<20 + 16<<10 // of a command or reply document
	MaxDepth        = 200             // nested levels of a document
)

// OpCode is the kind of a message.
type OpCode int32

// The opcodes this package reads or writes.
const (
	OpReply      OpCode = 1
	OpQuery      OpCode = 2004
	OpCompressed OpCode = 2012
	OpMsg        OpCode = 2013
)

// String is the protocol's name of the opcode.
func (o OpCode) String() string {
	switch o {
	case OpReply:
		return "OP_REPLY"
	case 2001:
		return "OP_UPDATE"
	case 2002:
		return "OP_INSERT"
	case OpQuery:
		return "OP_QUERY"
	case 2005:
		return "OP_GET_MORE"
	case 2006:
		return "OP_DELETE"
	case 2007:
		return "OP_KILL_CURSORS"
	case 2010:
		return "OP_COMMAND"
	case OpCompressed:
		return "OP_COMPRESSED"
	case OpMsg:
		return "OP_MSG"
	}
	return fmt.Sprintf("opcode %d", int32(o))
}

// Flag bits of an OP_MSG. A receiver must refuse unknown bits among the low 16.
const (
	ChecksumPresent uint32 = 1 << 0
	MoreToCome      uint32 = 1 << 1
	ExhaustAllowed  uint32 = 1 << 16
)

const headerSize = 16

// Header is a message's header. Of an OP_COMPRESSED message it is the header of
// the message inside.
type Header struct {
	Length     int32 // bytes, header included
	RequestID  int32
	ResponseTo int32
	OpCode     OpCode // OpMsg or OpQuery
}

func parseHeader(b []byte) Header {
	return Header{
		int32(binary.LittleEndian.Uint32(b)), int32(binary.LittleEndian.Uint32(b[4:])),
		int32(binary.LittleEndian.Uint32(b[8:])), OpCode(binary.LittleEndian.Uint32(b[12:])),
	}
}

func appendHeader(dst []byte, h Header) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(h.Length))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(h.RequestID))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(h.ResponseTo))
	return binary.LittleEndian.AppendUint32(dst, uint32(h.OpCode))
}

// Message is one request. Its documents alias the buffer it was read into.
type Message struct {
	Header
	Flags      uint32     // of an OP_MSG or OP_QUERY
	Body       bsonx.Doc  // the command; of an OP_QUERY the query (an outer {$query: …} is taken off)
	Sequences  []Sequence // kind 1 sections, in order
	DB         string     // of an OP_QUERY; an OP_MSG has it in Body's $db
	Collection string     // of an OP_QUERY: "$cmd"
	Compressed bool       // came in an OP_COMPRESSED
	Compressor Compressor // the one it came with
}

// MoreToCome reports whether the sender wants no reply (w: 0).
func (m *Message) MoreToCome() bool { return m.OpCode == OpMsg && m.Flags&MoreToCome != 0 }

// ExhaustAllowed reports whether the sender would take several replies.
func (m *Message) ExhaustAllowed() bool { return m.OpCode == OpMsg && m.Flags&ExhaustAllowed != 0 }

// Sequence gives the document sequence of that name ("documents", "updates",
// "deletes"); ok is false if there is none.
func (m *Message) Sequence(id string) (s Sequence, ok bool) {
	for _, s := range m.Sequences {
		if s.ID == id {
			return s, true
		}
	}
	return Sequence{}, false
}

// Sequence is a run of documents, back to back in one byte range. In a Message
// all of them are valid.
type Sequence struct {
	ID  string
	Raw []byte // the documents
	Len int    // how many
}

// Docs walks the documents without copying:
//
//	for d := range s.Docs { … }
func (s Sequence) Docs(yield func(bsonx.Doc) bool) {
	for b := s.Raw; len(b) >= 4; {
		n := int(binary.LittleEndian.Uint32(b))
		if n > len(b) || n < 5 || !yield(bsonx.Doc(b[:n:n])) {
			return
		}
		b = b[n:]
	}
}

// AppendDocs appends slices of the documents; no bytes are copied.
func (s Sequence) AppendDocs(dst []bsonx.Doc) []bsonx.Doc {
	for d := range s.Docs {
		dst = append(dst, d)
	}
	return dst
}

// NewSequence joins documents to a Sequence (for tools and tests).
func NewSequence(id string, docs ...bsonx.Doc) Sequence {
	s := Sequence{ID: id, Len: len(docs)}
	for _, d := range docs {
		s.Raw = append(s.Raw, d...)
	}
	return s
}

// ProtocolError says that the bytes are no message this engine takes (unknown
// opcode, bad length, wrong checksum). The connection can't be used further.
type ProtocolError struct {
	Header Header // zero when the header itself did not arrive
	Reason string
}

func (e *ProtocolError) Error() string {
	return fmt.Sprintf("wire: message %d (%v, %d bytes): %s", e.Header.RequestID, e.Header.OpCode, e.Header.Length, e.Reason)
}
