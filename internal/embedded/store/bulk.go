package store

import (
	"bytes"
	"context"

	"github.com/cockroachdb/pebble/v2"

	"mrbench/internal/embedded/bsonx"
)

// defaultBulk is from how many bytes on an insert may go into tables instead of the log, bulkMost how many go there at a time.
const (
	defaultBulk = 1 << 20
	bulkMost    = 32 << 20
)

// insertTables inserts documents from the front of docs as tables of their own, which become part of the database in one step:
// not through the log and memory, nor merged with others later. It does so for many documents whose _ids ascend and all
// belong between the same two stored ones, when nothing but _id is indexed. n is how many were inserted; 0 without an error means that it
// did nothing. errCatalogChanged: nothing was done, look the collection up again.
func (db *DB) insertTables(ctx context.Context, c *Collection, docs []bsonx.Doc, sync bool) (n int, err error) {
	if len(c.Indexes) > 1 || !db.bulky(docs) {
		return 0, nil
	}
	first := bsonx.AppendKey(bytes.Clone(c.prefix), idOf(docs[0]), false)
	next, err := db.recordFrom(c, first)
	if err != nil {
		return 0, err
	}
	run, last := ascending(c, docs, next)
	if !db.bulky(run) {
		return 0, nil
	}
	t := &tableWriter{db: db}
	defer t.abort()
	delta, err := t.addRecords(ctx, c, run)
	if err != nil {
		return 0, err
	}
	st := c.state
	if err := st.lock.acquire(ctx); err != nil {
		return 0, err
	}
	defer st.lock.release()
	if db.cat.Load().lookup(c.NS) != c {
		return 0, errCatalogChanged
	}
	if next, err = db.recordFrom(c, first); err != nil || next != nil && bytes.Compare(next, last) <= 0 {
		return 0, err
	}
	if err := db.ingestRecords(ctx, c, t, delta, sync); err != nil {
		return 0, err
	}
	st.raiseTop(last[len(c.prefix):])
	return len(run), nil
}

// bulky reports whether the documents are worth tables of their own.
func (db *DB) bulky(docs []bsonx.Doc) bool {
	least := defaultBulk
	if db.o.bulkBytes > 0 {
		least = db.o.bulkBytes
	}
	size := 0
	for _, d := range docs {
		if size += len(d); size >= least {
			return true
		}
	}
	return false
}

// recordFrom is the first record's key that is not below key, nil if there is none.
func (db *DB) recordFrom(c *Collection, key []byte) (found []byte, err error) {
	it, err := db.p.NewIter(&pebble.IterOptions{LowerBound: key, UpperBound: c.end})
	if err != nil {
		return nil, err
	}
	if it.First() {
		found = bytes.Clone(it.Key())
	}
	err = it.Error()
	if err2 := it.Close(); err == nil {
		err = err2
	}
	return found, err
}

// ascending cuts docs where the keys of their records cease to ascend or come to end, if that is not nil; last is the last one's key.
func ascending(c *Collection, docs []bsonx.Doc, end []byte) (run []bsonx.Doc, last []byte) {
	var key []byte
	size := 0
	for i, d := range docs {
		key = bsonx.AppendKey(append(key[:0], c.prefix...), idOf(d), false)
		if size += len(d); i > 0 && (size > bulkMost || bytes.Compare(key, last) <= 0) || end != nil && bytes.Compare(key, end) >= 0 {
			return docs[:i], last
		}
		key, last = last, key
	}
	return docs, last
}

// addRecords adds documents whose keys ascend and says what they add to the collection's totals.
func (t *tableWriter) addRecords(ctx context.Context, c *Collection, docs []bsonx.Doc) (delta counters, err error) {
	key := bytes.Clone(c.prefix)
	for i, d := range docs {
		if i%4096 == 0 && ctx.Err() != nil {
			return delta, context.Cause(ctx)
		}
		key = bsonx.AppendKey(key[:len(c.prefix)], idOf(d), false)
		if err := t.set(key, d); err != nil {
			return delta, err
		}
		delta.docs++
		delta.bytes += int64(len(d))
	}
	return delta, t.finish()
}

// ingestRecords makes tables of new records part of the database, in one step with the collection's counters. Its lock is held.
func (db *DB) ingestRecords(ctx context.Context, c *Collection, t *tableWriter, delta counters, sync bool) error {
	count := c.state.count.clone()
	count.add(delta)
	if err := t.set(counterKey(c.id), count.encode(nil)); err != nil {
		return err
	}
	if err := db.waitForRoom(); err != nil {
		return err
	}
	// Tables are on stable storage at once. The counters count what the log holds too, which must not be lost alone.
	if err := db.fs.syncLogs(); err != nil {
		return wrapIO(err)
	}
	if err := t.ingest(ctx); err != nil {
		return err
	}
	c.state.count = count
	// Where memory holds an older version of the counters, the log says that the tables are there.
	if err := db.health.err(); err != nil && !db.fs.allWritten() {
		return err
	}
	if sync {
		return wrapIO(db.fs.syncLogs())
	}
	return nil
}
