package seed

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
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

	buf   []byte       // the insert command, documents last
	head  int          // where the documents array's length stands
	first int64        // index of the batch's first document
	n     int          // documents in buf
	bytes int64        // of documents in buf
	keys  []byte       // "0\0", "1\0", …: the array's field names
	ends  []int        // where each name in keys ends
	docs  []any        // of an unacknowledged batch
	pos   []source.Pos // of a source's documents
	dups  *duplicates  // nil: a duplicate key is an error
}

func newSender(c Config, wc concern, lim limits) *sender {
	s := &sender{
		coll: c.Collection, ns: namespace(c.Collection), gen: c.Generator,
		ordered: c.Ordered, wc: wc, lim: lim,
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
		s.pos = s.pos[:0]
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

// send sends the batch and starts a new one. It returns the acknowledged
// documents and bytes, also beside an error.
func (s *sender) send(ctx context.Context) (docs, bytes int64, err error) {
	n, size := int64(s.n), s.bytes
	first := s.first
	if s.wc.unacknowledged {
		_, err = s.coll.InsertMany(ctx, s.docs, options.InsertMany().SetOrdered(s.ordered))
		if errors.Is(err, mongo.ErrUnacknowledgedWrite) {
			err = nil
		}
		clear(s.docs)
		s.docs = s.docs[:0]
	} else {
		s.buf = append(s.buf, 0, 0)
		binary.LittleEndian.PutUint32(s.buf[s.head:], uint32(len(s.buf)-1-s.head))
		binary.LittleEndian.PutUint32(s.buf, uint32(len(s.buf)))
		err = s.coll.Database().RunCommand(ctx, bson.Raw(s.buf)).Err()
	}
	s.n, s.bytes = 0, 0
	if err == nil {
		return n, size, nil
	}
	return s.explain(err, first, n, size)
}

// at is where the batch's document k begins, of a source.
func (s *sender) at(k int) (p source.Pos) {
	if k >= 0 && k < len(s.pos) {
		p = s.pos[k]
	}
	return p
}

// explain says how much of a failed batch is in the collection, and which document failed.
func (s *sender) explain(err error, first, n, size int64) (docs, bytes int64, _ error) {
	var we mongo.WriteException
	if !errors.As(err, &we) {
		var be mongo.BulkWriteException
		if !errors.As(err, &be) {
			return 0, 0, fmt.Errorf("seed: %s: insert of %s: %w", s.ns, batchName(first, first+n-1, s.at(0), s.at(int(n)-1)), err)
		}
		we.WriteConcernError = be.WriteConcernError
		for _, e := range be.WriteErrors {
			we.WriteErrors = append(we.WriteErrors, e.WriteError)
		}
	}
	docs, bytes = n, size
	if s.dups != nil {
		failed := int64(len(we.WriteErrors))
		we.WriteErrors = s.dups.take(we.WriteErrors)
		docs -= failed - int64(len(we.WriteErrors))
		bytes = size * docs / n
		if len(we.WriteErrors) == 0 && we.WriteConcernError == nil && failed > 0 {
			return docs, bytes, nil
		}
	}
	if len(we.WriteErrors) > 0 {
		e := we.WriteErrors[0]
		done := docs - int64(len(we.WriteErrors))
		if s.ordered {
			done = int64(e.Index)
		}
		return done, size * done / n, &DocumentError{
			NS: s.ns, Index: first + int64(e.Index), At: s.at(e.Index), Code: e.Code, Message: e.Message, Failed: len(we.WriteErrors),
		}
	}
	if e := we.WriteConcernError; e != nil {
		return docs, bytes, &WriteConcernError{
			NS: s.ns, WriteConcern: s.wc.text, First: first, Last: first + n - 1,
			From: s.at(0), To: s.at(int(n) - 1), Code: e.Code, Message: e.Message,
		}
	}
	return 0, 0, fmt.Errorf("seed: %s: insert of %s: %w", s.ns, batchName(first, first+n-1, s.at(0), s.at(int(n)-1)), err)
}
