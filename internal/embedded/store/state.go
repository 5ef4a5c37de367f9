package store

import (
	"bytes"

	"github.com/cockroachdb/pebble/v2"
)

// collState is what changes about a collection; all versions of its description share it.
// lock is held by whoever writes to the collection; it guards the rest.
type collState struct {
	id    uint64
	lock  semaphore
	count counters
	parts parts // what of it came with tables
	// top is such that no record has a greater encoded _id; only when topKnown. A
	// new document above it needs no read to prove that it is new.
	top      []byte
	topKnown bool
}

func newCollState(id uint64) *collState {
	return &collState{id: id, lock: newSemaphore()}
}

// base is the value of the counters that are written with each batch.
func (st *collState) base(total counters) []byte {
	total.docs -= st.parts.docs
	total.bytes -= st.parts.bytes
	return total.encode(nil)
}

// findTop makes top known.
func (st *collState) findTop(db *DB, c *Collection) error {
	if st.topKnown {
		return nil
	}
	it, err := db.p.NewIter(&pebble.IterOptions{LowerBound: c.prefix, UpperBound: c.end})
	if err != nil {
		return err
	}
	st.top = st.top[:0]
	if it.Last() {
		st.top = append(st.top, it.Key()[len(c.prefix):]...)
	}
	err = it.Error()
	if err2 := it.Close(); err == nil {
		err = err2
	}
	st.topKnown = err == nil
	return err
}

// raiseTop takes note of a new record.
func (st *collState) raiseTop(idKey []byte) {
	if st.topKnown && bytes.Compare(idKey, st.top) > 0 {
		st.top = append(st.top[:0], idKey...)
	}
}
