package store

import (
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// Writers wait when pebble is behind with flushes or compactions: above stopMemTables full memtables, or stopSublevels
// sublevels of level 0. They wait here and not in pebble, whose own wait can't be left when the disk stops taking what is to
// be flushed. So pebble's limits, neverStop, are not met.
const (
	stopMemTables = 16
	stopSublevels = 100
	neverStop     = 1000
)

// room knows whether pebble keeps up. Pebble does not answer while it writes its manifest, so it is asked beside those who
// write, and what was begun since its last answer counts as full.
type room struct {
	changed   chan struct{} // something was begun, flushed or compacted
	memTable  int64         // bytes of a full one
	begun     atomic.Int64  // memtables since the last answer
	waiting   atomic.Int64  // bytes of memtables at the last answer
	sublevels atomic.Int64
}

func newRoom() *room { return &room{changed: make(chan struct{}, 1)} }

func (r *room) full() bool {
	return r.waiting.Load()+r.begun.Load()*r.memTable > stopMemTables*r.memTable || r.sublevels.Load() >= stopSublevels
}

// watch asks pebble after each change, until stop.
func (r *room) watch(p *pebble.DB, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-r.changed:
		}
		begun := r.begun.Load()
		m := p.Metrics()
		r.waiting.Store(int64(m.MemTable.Size)) //nolint:gosec // a size of memory
		r.sublevels.Store(int64(m.Levels[0].Sublevels))
		r.begun.Add(-begun)
	}
}

// waitForRoom returns when pebble keeps up, or with health's error.
func (db *DB) waitForRoom() error {
	for {
		if err := db.health.err(); err != nil || !db.room.full() {
			return err
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// listen takes note of each event that changes what watch finds.
func (r *room) listen(l *pebble.EventListener) {
	note := func() {
		select {
		case r.changed <- struct{}{}:
		default:
		}
	}
	l.WALCreated = func(pebble.WALCreateInfo) { r.begun.Add(1); note() }
	l.FlushEnd = func(pebble.FlushInfo) { note() }
	l.CompactionEnd = func(pebble.CompactionInfo) { note() }
	l.TableIngested = func(pebble.TableIngestInfo) { note() }
}
