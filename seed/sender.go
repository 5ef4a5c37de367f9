package seed

import (
	"strconv"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
	"go.mongodb.org/mongo-driver/mongo/writeconcern"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"

	"mrbench/seed/source"
)

// sender builds one batch at a time and sends it. An acknowledged batch goes out
// as a prebuilt insert command: the driver's own insert decodes every _id again,
// which costs more than making the document. An unacknowledged one must go
// through the driver's insert, which alone sends without waiting for a reply.
type sender struct {
	coll    *mongo.Collection
	ns      string
	gen     Generator
	ordered bool
	wc      concern
	lim     limits
	comment string // "" none, or the server takes none

	buf   []byte       // the insert command, documents last
	head  int          // where the documents array's length stands
	first int64        // index of the batch's first document
	n     int          // documents in buf
	bytes int64        // of documents in buf
	keys  []byte       // "0\0", "1\0", …: the array's field names
	ends  []int        // where each name in keys ends
	docs  []any        // of an unacknowledged batch
	pos   []source.Pos // of a source's documents
	parts []share      // of a source's chunks
	dups  *duplicates  // nil: a duplicate key is an error

	retries int
	resumed bool        // documents of an earlier run may be there
	onRetry func(error) // before a batch is sent again
}

// wireComments is the version of the protocol, of MongoDB 4.4, from which inserts take a comment.
const wireComments = 9

func newSender(c Config, wc concern, lim limits) *sender {
	s := &sender{
		coll: c.Collection, ns: namespace(c.Collection), gen: c.Generator,
		ordered: c.Ordered, wc: wc, lim: lim,
		retries: c.Retries, resumed: c.Checkpoint != nil, onRetry: func(error) {},
	}
	if wc.unacknowledged {
		s.coll = c.Collection.Database().Collection(c.Collection.Name(),
			options.Collection().SetWriteConcern(writeconcern.Unacknowledged()))
	}
	s.ends = make([]int, 0, c.Batch)
	for i := range c.Batch {
		s.keys = strconv.AppendInt(s.keys, int64(i), 10)
		s.keys = append(s.keys, 0)
		s.ends = append(s.ends, len(s.keys))
	}
	_, s.buf = bsoncore.AppendDocumentStart(s.buf)
	s.buf = bsoncore.AppendStringElement(s.buf, "insert", c.Collection.Name())
	s.buf = bsoncore.AppendBooleanElement(s.buf, "ordered", c.Ordered)
	s.buf = bsoncore.AppendDocumentElement(s.buf, "writeConcern", wc.doc)
	if lim.wire >= wireComments && c.Comment != "" {
		s.comment = c.Comment
		s.buf = bsoncore.AppendStringElement(s.buf, "comment", c.Comment)
	}
	var head int32
	head, s.buf = bsoncore.AppendArrayElementStart(s.buf, "documents")
	s.head = int(head)
	return s
}

func (s *sender) count() int { return s.n }

// add puts document i into the batch; false, and no change, when the batch is full.
func (s *sender) add(i int64) bool {
	mark, ok := s.open()
	if !ok {
		return false
	}
	if s.n == 0 {
		s.first = i
	}
	at := len(s.buf)
	s.buf = s.gen.Append(s.buf, i)
	return s.keep(mark, at)
}

// open begins an element for a document that the caller appends to buf; false
// when the batch has as many as it takes. The mark undoes it.
func (s *sender) open() (mark int, ok bool) {
	if s.n == len(s.ends) {
		return 0, false
	}
	if s.n == 0 {
		s.buf = s.buf[:s.head+4]
		s.pos, s.parts = s.pos[:0], s.parts[:0]
	}
	mark = len(s.buf)
	start := 0
	if s.n > 0 {
		start = s.ends[s.n-1]
	}
	s.buf = append(s.buf, 0x03)
	s.buf = append(s.buf, s.keys[start:s.ends[s.n]]...)
	return mark, true
}

// keep takes in the document that was appended at at; false, and it is undone,
// when the batch has as many bytes as it takes.
func (s *sender) keep(mark, at int) bool {
	if s.n > 0 && len(s.buf)-s.head > s.lim.bytes {
		s.buf = s.buf[:mark]
		return false
	}
	if s.wc.unacknowledged {
		s.docs = append(s.docs, bson.Raw(s.buf[at:len(s.buf):len(s.buf)]))
	}
	s.bytes += int64(len(s.buf) - at)
	s.n++
	return true
}

// from counts the document that was kept last to a chunk's account.
func (s *sender) from(p *part, pos source.Pos) {
	s.pos = append(s.pos, pos)
	if k := len(s.parts) - 1; k >= 0 && s.parts[k].part == p {
		s.parts[k].n++
		return
	}
	s.parts = append(s.parts, share{p, 1})
}
