package mapreduce

import (
	"context"

	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/spill"
	"mrbench/internal/embedded/store"
)

// sink takes the finished results. Nothing is visible before finish.
type sink interface {
	// add takes a document {_id, value}, valid during the call.
	add(doc bsonx.Doc) error
	// finish makes the results visible and gives the number of documents in the target.
	finish(ctx context.Context) (int64, error)
	// abort drops what finish has not made visible. It may be called at any time.
	abort()
}

// resultDoc builds {_id: key, value: v} in dst.
func resultDoc(dst []byte, key, v bsonx.Value) (bsonx.Doc, error) {
	idx, dst := bsoncore.AppendDocumentStart(dst)
	dst = bsonx.AppendElem(dst, "_id", key)
	dst = bsonx.AppendElem(dst, "value", v)
	dst, err := bsoncore.AppendDocumentEnd(dst, idx)
	return bsonx.Doc(dst), err
}

// storable refuses keys that can't be an _id and documents that are too large.
func storable(doc bsonx.Doc) error {
	switch t := doc.Get("_id").Type; t {
	case bsonx.TypeArray, bsonx.TypeRegex, bsonx.TypeUndefined:
		return mongoerr.New(mongoerr.BadValue, "can't use %s for _id", map[bsonx.Type]string{
			bsonx.TypeArray: "an array", bsonx.TypeRegex: "a regex", bsonx.TypeUndefined: "undefined",
		}[t])
	}
	if len(doc) > maxDocument {
		return mongoerr.New(mongoerr.BSONObjectTooLarge, "object to insert too large. size in bytes: %d, max size: %d", len(doc), maxDocument)
	}
	return nil
}

// inlineSink collects the reply's array.
type inlineSink struct {
	docs  []byte // the array's elements
	n     int64
	bytes int64 // as a 4.0 server sums them
}

func (s *inlineSink) add(doc bsonx.Doc) error {
	if s.bytes += int64(len(doc)); s.bytes >= maxInlineBytes {
		return tooMuchInline()
	}
	s.docs = append(s.docs, byte(bsonx.TypeEmbeddedDocument))
	s.docs = bsonx.AppendIndex(s.docs, int(s.n))
	s.docs = append(append(s.docs, 0), doc...)
	s.n++
	return nil
}

func (s *inlineSink) finish(context.Context) (int64, error) { return s.n, nil }
func (s *inlineSink) abort()                                {}

// replaceSink builds a collection beside the target and puts it in its place.
type replaceSink struct {
	b *store.Builder
	n int64
}

func (s *replaceSink) add(doc bsonx.Doc) error {
	if err := storable(doc); err != nil {
		return err
	}
	s.n++
	return s.b.Add(doc)
}

func (s *replaceSink) finish(ctx context.Context) (int64, error) { return s.n, s.b.Publish(ctx) }
func (s *replaceSink) abort()                                    { _ = s.b.Abort() }

// stagedSink keeps the results aside, in order, and then merges them into the target.
type stagedSink struct {
	db     *store.DB
	out    output
	staged *spill.Sorter
	bytes  int64
	// combine gives the document to store when the target has one of that _id.
	combine func(staged, old bsonx.Doc) (bsonx.Doc, error)
	enc     []byte
}

func (s *stagedSink) add(doc bsonx.Doc) error {
	if err := storable(doc); err != nil {
		return err
	}
	s.bytes += int64(len(doc))
	s.enc = bsonx.AppendKey(s.enc[:0], doc.Get("_id"), false)
	return s.staged.Add(s.enc, doc)
}

func (s *stagedSink) abort() { _ = s.staged.Close() }

const (
	atomicBytes = 64 << 20 // results up to here are merged in one step
	stepBytes   = 4 << 20  // otherwise, and with nonAtomic, in steps of this size
)

func (s *stagedSink) finish(ctx context.Context) (int64, error) {
	it, err := s.staged.Sort()
	if err != nil {
		return 0, err
	}
	defer func() { _ = it.Close() }()
	step := int64(atomicBytes) + 1
	if s.out.nonAtomic || s.bytes > atomicBytes {
		step = stepBytes
	}
	more := true
	for more {
		err := s.db.Write(ctx, s.out.ns, store.WriteOptions{Create: true}, func(tx *store.Tx) error {
			for n := int64(0); n < step; {
				if more = it.Next(); !more {
					return it.Err()
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				n += int64(len(it.Value()))
				if err := s.put(tx, it.Key(), it.Value()); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	return countDocuments(s.db, s.out.ns), nil
}

// put stores one result.
func (s *stagedSink) put(tx *store.Tx, idKey []byte, doc bsonx.Doc) error {
	old, err := tx.Get(idKey)
	if err != nil {
		return err
	}
	if old == nil {
		return tx.Insert(append(bsonx.Doc(nil), doc...))
	}
	next, err := s.combine(doc, old)
	if err != nil {
		return err
	}
	if err := storable(next); err != nil {
		return err
	}
	return tx.Replace(old, append(bsonx.Doc(nil), next...))
}

func countDocuments(db *store.DB, ns store.NS) int64 {
	snap := db.Snapshot()
	defer func() { _ = snap.Close() }()
	if c := snap.Collection(ns); c != nil {
		return snap.Stats(c).Documents
	}
	return 0
}
