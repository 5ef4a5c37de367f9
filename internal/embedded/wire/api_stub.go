package wire

// This file is the agreed interface; it is replaced by the real files.

import (
	"io"

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

const (
	OpReply      OpCode = 1
	OpQuery      OpCode = 2004
	OpCompressed OpCode = 2012
	OpMsg        OpCode = 2013
)

// Flag bits of an OP_MSG.
const (
	ChecksumPresent uint32 = 1 << 0
	MoreToCome      uint32 = 1 << 1
	ExhaustAllowed  uint32 = 1 << 16
)

// Compressor is the id of a compressor in OP_COMPRESSED.
type Compressor byte

const (
	Noop   Compressor = 0
	Snappy Compressor = 1
	Zlib   Compressor = 2
	Zstd   Compressor = 3
)

// CompressorByName gives the id of "snappy", "zlib", "zstd" (the names of hello's compression array).
func CompressorByName(name string) (Compressor, bool) { panic("todo") }

// Header is a message's header. Of an OP_COMPRESSED message it is the header of the message inside.
type Header struct {
	Length     int32
	RequestID  int32
	ResponseTo int32
	OpCode     OpCode // OpMsg or OpQuery
}

// Message is one request or reply. Its documents alias the buffer it was read into.
type Message struct {
	Header
	Flags      uint32     // of an OP_MSG or OP_QUERY
	Body       bsonx.Doc  // the command; of OP_QUERY the query (an outer {$query: …} is taken off)
	Sequences  []Sequence // kind 1 sections, in order
	DB         string     // OP_QUERY: the database; OP_MSG: "" (it is in Body's $db)
	Collection string     // OP_QUERY: "$cmd"
	Compressed bool       // came in an OP_COMPRESSED
	Compressor Compressor // the one it came with
}

// MoreToCome: the sender wants no reply (w: 0).
func (m *Message) MoreToCome() bool { panic("todo") }

// ExhaustAllowed: the sender would take several replies.
func (m *Message) ExhaustAllowed() bool { panic("todo") }

// Sequence gives the document sequence of that name ("documents", "updates", "deletes"); ok is false if there is none.
func (m *Message) Sequence(id string) (s Sequence, ok bool) { panic("todo") }

// Sequence is a run of documents, back to back in one byte range. All are valid.
type Sequence struct {
	ID  string
	Raw []byte // the documents
	Len int    // how many
}

// Docs walks the documents without copying:
//
//	for d := range s.Docs { … }
func (s Sequence) Docs(yield func(bsonx.Doc) bool) { panic("todo") }

// AppendDocs appends slices of the documents (no bytes are copied).
func (s Sequence) AppendDocs(dst []bsonx.Doc) []bsonx.Doc { panic("todo") }

// ReadMessage reads one message from r into buf, growing it when needed, and returns the message, which
// aliases the returned buffer, to be passed to the next call.
//
// io.EOF: the peer closed between messages. *ProtocolError: the bytes are no message this engine takes; the connection
// should be closed (after a reply if Header is known). Documents that fail validation give a *mongoerr.Error
// (InvalidBSON) together with a Message whose Header is set, so that a reply can be sent and the connection kept.
func ReadMessage(r io.Reader, buf []byte) (*Message, []byte, error) { panic("todo") }

// ProtocolError: not a message that this engine takes (unknown opcode, bad length, wrong checksum).
type ProtocolError struct {
	Header Header
	Reason string
}

func (e *ProtocolError) Error() string { panic("todo") }

// Reader reads messages from one connection, reusing its buffers. A Message is valid until the next Next.
type Reader struct{}

func NewReader(r io.Reader) *Reader       { panic("todo") }
func (r *Reader) Next() (*Message, error) { panic("todo") } // errors as ReadMessage

// BeginReply appends the frame of a reply to req up to where the body document starts; append the document to
// the result, then call EndReply with the same start. flags may hold MoreToCome (more replies follow).
// An OP_QUERY is answered with OP_REPLY.
//
//	start := len(dst)
//	dst = wire.BeginReply(dst, req, id, 0)
//	dst = appendDocument(dst)
//	dst, err = wire.EndReply(dst, start, req)
func BeginReply(dst []byte, req *Message, requestID int32, flags uint32) []byte { panic("todo") }

// EndReply patches lengths, adds a checksum when req carried one, and compresses as req was compressed.
func EndReply(dst []byte, start int, req *Message) ([]byte, error) { panic("todo") }

// AppendReply is BeginReply, the body, EndReply.
func AppendReply(dst []byte, req *Message, requestID int32, flags uint32, body bsonx.Doc) ([]byte, error) {
	panic("todo")
}

// AppendRequest appends an OP_MSG with body and sequences (for tests and tools).
func AppendRequest(dst []byte, requestID int32, flags uint32, body bsonx.Doc, seqs ...Sequence) []byte {
	panic("todo")
}

// Compress wraps the message that starts at dst[start:] into an OP_COMPRESSED.
func Compress(dst []byte, start int, c Compressor) ([]byte, error) { panic("todo") }
