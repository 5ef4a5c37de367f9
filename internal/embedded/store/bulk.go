package store

import (
	"bytes"
	"context"
	"encoding/binary"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"

	"mrbench/internal/embedded/bsonx"
)

// Bulk inserts documents whose _ids ascend and lie between the same two stored ones. They make tables of their own,
// which become part of the database in one step: not through the log and memory, nor merged with other tables later. Not safe for
// concurrent use.
type Bulk struct {
	db    *DB
	c     *Collection
	t     *tableWriter
	first []byte // key of the first record
	last  []byte // and of the last one
	end   []byte // of the stored record behind them, nil if there is none
	key   []byte
	docs  int64
	bytes int64
	done  func()
}

// NewBulk prepares to insert into ns, which is created when missing. It gives nil for a collection with more than the index on _id.
func (db *DB) NewBulk(ctx context.Context, ns NS) (*Bulk, error) {
	done, err := db.enterWrite()
	if err != nil {
		return nil, err
	}
	c, err := db.collection(ctx, ns, true)
	if err != nil || len(c.Indexes) > 1 {
		done()
		return nil, err
	}
	return &Bulk{db: db, c: c, t: &tableWriter{db: db}, done: done}, nil
}

// Add copies a document that has an _id as its first field. false: it does not belong to those before, and was not taken.
func (b *Bulk) Add(doc bsonx.Doc) (bool, error) {
	b.key = bsonx.AppendKey(append(b.key[:0], b.c.prefix...), idOf(doc), false)
	if b.first == nil {
		b.first = bytes.Clone(b.key)
		var err error
		if b.end, err = b.behind(); err != nil {
			return false, err
		}
	} else if bytes.Compare(b.key, b.last) <= 0 {
		return false, nil
	}
	if b.end != nil && bytes.Compare(b.key, b.end) >= 0 {
		return false, nil
	}
	if err := b.t.set(b.key, doc); err != nil {
		return false, err
	}
	b.last = append(b.last[:0], b.key...)
	b.docs++
	b.bytes += int64(len(doc))
	return true, nil
}

// behind is the key of the stored record at or behind the first one, nil if there is none.
func (b *Bulk) behind() (key []byte, err error) {
	it, err := b.db.p.NewIter(&pebble.IterOptions{LowerBound: b.first, UpperBound: b.c.end})
	if err != nil {
		return nil, err
	}
	if it.First() {
		key = bytes.Clone(it.Key())
	}
	err = it.Error()
	if err2 := it.Close(); err == nil {
		err = err2
	}
	return key, err
}

// Publish inserts what was added, all or nothing; after an error of the log it may be there, as with other writes. false without an error:
// others changed the collection meanwhile, and the documents, which Each still has, must be inserted in another way.
func (b *Bulk) Publish(ctx context.Context) (bool, error) {
	if b.docs == 0 {
		return true, nil
	}
	if err := b.t.finish(); err != nil {
		return false, err
	}
	st := b.c.state
	if err := st.lock.acquire(ctx); err != nil {
		return false, err
	}
	defer st.lock.release()
	if b.db.cat.Load().lookup(b.c.NS) != b.c {
		return false, nil
	}
	if end, err := b.behind(); err != nil || end != nil && bytes.Compare(end, b.last) <= 0 {
		return false, err
	}
	err := b.ingest(ctx)
	return err == nil, err
}

// ingest makes the tables part of the database, in one step with what they add to the counters. The collection's lock is held.
func (b *Bulk) ingest(ctx context.Context) error {
	db, st := b.db, b.c.state
	if st.parts.n >= mostParts {
		if err := db.foldParts(b.c); err != nil {
			return err
		}
	}
	part := counters{docs: b.docs, bytes: b.bytes}
	if err := b.t.set(partKey(b.c.id, st.parts.next), part.encode(nil)); err != nil {
		return err
	}
	if err := db.waitForRoom(); err != nil {
		return err
	}
	// Tables are on stable storage at once, so the collection that they belong to must be.
	if err := db.fs.syncLogs(); err != nil {
		return wrapIO(err)
	}
	if err := b.t.ingest(ctx); err != nil {
		return err
	}
	st.count.add(part)
	st.parts.add(part)
	st.parts.next++
	st.raiseTop(b.last[len(b.c.prefix):])
	// Where memory holds something in their range, it is the log that says that the tables are there.
	if err := db.health.err(); err != nil && !db.fs.allWritten() {
		return err
	}
	return nil
}

// Each calls fn with the documents that were added and not published, until it returns an error.
func (b *Bulk) Each(fn func(bsonx.Doc) error) (err error) {
	var files [][]sstable.ReadableFile
	for _, path := range b.t.paths {
		f, err := b.db.fs.Open(path)
		if err != nil {
			for _, open := range files {
				_ = open[0].Close()
			}
			return wrapIO(err)
		}
		files = append(files, []sstable.ReadableFile{f})
	}
	it, err := pebble.NewExternalIter(b.db.po, &pebble.IterOptions{LowerBound: b.c.prefix, UpperBound: b.c.end}, files)
	if err != nil {
		return err
	}
	defer func() {
		if err2 := it.Close(); err == nil {
			err = err2
		}
	}()
	for ok := it.First(); ok; ok = it.Next() {
		doc, err := it.ValueAndErr()
		if err == nil {
			err = fn(doc)
		}
		if err != nil {
			return err
		}
	}
	return it.Error()
}

// Close removes what was not published. Idempotent.
func (b *Bulk) Close() {
	b.t.abort()
	if b.done != nil {
		b.done()
		b.done = nil
	}
}

// A collection's counters are the sum of those that are written with each batch, and of parts that came with tables. A part has a key of its own, so
// that pebble finds nothing of it in memory, which it would have to write out first.
const mostParts = 64

// parts are the counters that came with tables.
type parts struct {
	counters
	n    int
	next uint64 // key of the next one
}

func partKey(id, part uint64) []byte {
	return binary.BigEndian.AppendUint64(counterKey(id), part)
}

func (p *parts) add(c counters) {
	p.counters.add(c)
	p.n++
}

// load takes a pair of the counters' keyspace: those that are written with each batch, or, with its part of the key, a part.
func (st *collState) load(part, value []byte) error {
	c, err := decodeCounters(value)
	if err != nil {
		return err
	}
	st.count.add(c)
	if len(part) == 8 {
		st.parts.add(c)
		st.parts.next = binary.BigEndian.Uint64(part) + 1
	}
	return nil
}

// foldParts makes the parts one with the other counters. The collection's lock is held.
func (db *DB) foldParts(c *Collection) error {
	b := db.p.NewBatch()
	defer func() { _ = b.Close() }()
	_ = b.DeleteRange(partKey(c.id, 0), successor(counterKey(c.id)), nil)
	_ = b.Set(counterKey(c.id), c.state.count.encode(nil), nil)
	if err := db.apply(b); err != nil {
		return err
	}
	c.state.parts = parts{next: c.state.parts.next}
	return db.acknowledge(b, false)
}
