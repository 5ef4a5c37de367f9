package store

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"mrbench/internal/embedded/bsonx"
)

// Snap is a consistent view of everything: data, indexes, counters and catalog of
// one moment. Close it; Close it also after the database was closed.
type Snap struct {
	db     *DB
	p      *pebble.Snapshot // nil: the database was closed
	cat    *catalog
	closed atomic.Bool
}

// Snapshot takes a view of the present. Of a closed database it is empty.
func (db *DB) Snapshot() *Snap {
	db.mu.Lock()
	if db.closed {
		db.mu.Unlock()
		return &Snap{db: db, cat: &catalog{}}
	}
	db.snaps.Add(1)
	db.mu.Unlock()
	db.snapMu.RLock()
	defer db.snapMu.RUnlock()
	return &Snap{db: db, p: db.p.NewSnapshot(), cat: db.cat.Load()}
}

// Close gives the view back. Idempotent. pebble looks for compactions then, for which it may wait
// for the manifest and so for a full disk; the caller need not.
func (s *Snap) Close() error {
	if s.p == nil || s.closed.Swap(true) {
		return nil
	}
	go func() {
		defer s.db.snaps.Done()
		if err := s.p.Close(); err != nil {
			s.db.health.log("closing a snapshot: %v", err)
		}
	}()
	return nil
}

// Databases lists those with a collection, sorted.
func (s *Snap) Databases() []string {
	names := make([]string, 0, len(s.cat.dbs))
	for name := range s.cat.dbs {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Collections lists a database's collections, sorted by name.
func (s *Snap) Collections(db string) []*Collection {
	colls := make([]*Collection, 0, len(s.cat.dbs[db]))
	for _, c := range s.cat.dbs[db] {
		colls = append(colls, c)
	}
	slices.SortFunc(colls, func(a, b *Collection) int { return strings.Compare(a.NS.Coll, b.NS.Coll) })
	return colls
}

// Collection returns the collection of that name, nil if there is none.
func (s *Snap) Collection(ns NS) *Collection { return s.cat.lookup(ns) }

// Stats are a collection's counters, kept exactly with each write.
type Stats struct {
	Documents   int64
	Bytes       int64            // of the documents' BSON
	IndexBytes  map[string]int64 // by index name; before compression
	Entries     map[string]int64 // by index name
	StorageSize int64            // estimate of the records' size on disk
}

// Stats reads the counters as of this view; zero if they can't be read.
func (s *Snap) Stats(c *Collection) Stats {
	st := Stats{IndexBytes: map[string]int64{}, Entries: map[string]int64{}}
	if s.p == nil {
		return st
	}
	count, err := s.counters(c)
	if err != nil {
		return st
	}
	st.Documents, st.Bytes = count.docs, count.bytes
	for _, ix := range c.Indexes {
		if ix.IsID() {
			st.Entries[ix.Name] = count.docs
			st.IndexBytes[ix.Name] = 0 // documents are stored in _id order, there is no second structure
			continue
		}
		n := count.index(ix.id)
		st.Entries[ix.Name], st.IndexBytes[ix.Name] = n.entries, n.bytes
	}
	if n, err := s.db.p.EstimateDiskUsage(c.prefix, c.end); err == nil {
		st.StorageSize = int64(n)
	}
	if st.StorageSize == 0 {
		st.StorageSize = st.Bytes // all of it is still in the log
	}
	return st
}

func (s *Snap) counters(c *Collection) (counters, error) {
	p := counterKey(c.id)
	var st collState
	err := eachOf(s.p, p, func(k, v []byte) error { return st.load(k[len(p):], v) })
	return st.count, err
}

// get reads a key; nil if there is none. The result is a copy.
func (s *Snap) get(key []byte) ([]byte, error) {
	if s.p == nil {
		return nil, errClosed
	}
	v, closer, err := s.p.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v = append(make([]byte, 0, len(v)), v...)
	return v, closer.Close()
}

// Get returns the document with that encoded _id, nil if there is none.
func (s *Snap) Get(c *Collection, idKey []byte) (bsonx.Doc, error) {
	v, err := s.get(c.recordKey(make([]byte, 0, 64), idKey))
	return bsonx.Doc(v), err
}

// Bound is a range of encoded keys: Lo <= key < Hi; nil is open. The bounds of a scan
// are disjoint and ascending, also for a scan in reverse.
type Bound struct{ Lo, Hi []byte }
