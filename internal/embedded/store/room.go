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
	stopSublevels = 400
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

	// What the scheduler of compactions goes by.
	memTables atomic.Int64 // begun since the start
	reads     atomic.Int64 // scans and look-ups since the start
	hold      atomic.Bool
	held      atomic.Bool // hold was true at some time
	settling  atomic.Bool
	last      struct{ memTables, reads, sinceMemTable, sinceRead int64 } // of round; the latter two in rounds
}

func newRoom() *room {
	r := &room{changed: make(chan struct{}, 1)}
	r.last.sinceRead = calmRounds
	return r
}

func (r *room) full() bool {
	return r.waiting.Load()+r.begun.Load()*r.memTable > stopMemTables*r.memTable || r.sublevels.Load() >= stopSublevels
}

// round looks whether writers are fast and nobody reads; it is called every scheduleEvery.
func (r *room) round() {
	l := &r.last
	l.sinceMemTable++
	l.sinceRead++
	if n := r.memTables.Load(); n != l.memTables {
		l.memTables, l.sinceMemTable = n, 0
	}
	if n := r.reads.Load(); n != l.reads {
		l.reads, l.sinceRead = n, 0
	}
	hold := l.memTables > 1 && l.sinceMemTable < calmRounds && l.sinceRead >= calmRounds && !r.settling.Load()
	r.hold.Store(hold)
	if hold {
		r.held.Store(true)
	}
}

// holds reports whether compactions are to wait.
func (r *room) holds() bool { return r.hold.Load() && r.sublevels.Load() < heldSublevels }

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
	l.WALCreated = func(pebble.WALCreateInfo) {
		r.begun.Add(1)
		r.memTables.Add(1)
		note()
	}
	l.FlushEnd = func(pebble.FlushInfo) { note() }
	l.CompactionEnd = func(pebble.CompactionInfo) { note() }
	l.TableIngested = func(pebble.TableIngestInfo) { note() }
}
