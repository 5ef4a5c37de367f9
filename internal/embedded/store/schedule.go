package store

import (
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// scheduler says when pebble may compact. It is pebble's own in all but this: while documents are written fast and
// nobody reads, what was flushed stays as it is, up to heldSublevels sublevels. A compaction of level 0 then takes many at once,
// and the entries of an index, which come in no order, are rewritten that much less often.
type scheduler struct {
	room    *room
	db      pebble.DBForCompaction
	stop    chan struct{}
	stopped chan struct{}
	poked   chan struct{}

	mu      sync.Mutex
	running int
	closed  bool
}

const (
	scheduleEvery = 100 * time.Millisecond
	heldSublevels = 192
	// Writers are fast when they fill a memtable within so many rounds, and nobody reads when nothing was read for so long.
	calmRounds = 20
	// Close waits for so long until what was held back is in order, so that the next process need not begin with it.
	settleWait       = 20 * time.Second
	settledSublevels = 8
)

func newScheduler(r *room) *scheduler {
	return &scheduler{room: r, stop: make(chan struct{}), stopped: make(chan struct{}), poked: make(chan struct{}, 1)}
}

// Register implements pebble.CompactionScheduler.
func (s *scheduler) Register(_ int, db pebble.DBForCompaction) {
	s.db = db
	go func() {
		defer close(s.stopped)
		t := time.NewTicker(scheduleEvery)
		defer t.Stop()
		for {
			select {
			case <-s.stop:
				return
			case <-s.poked:
			case <-t.C:
				s.room.round()
			}
			s.grant()
		}
	}()
}

// Unregister implements pebble.CompactionScheduler.
func (s *scheduler) Unregister() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	close(s.stop)
	<-s.stopped
}

// TrySchedule implements pebble.CompactionScheduler.
func (s *scheduler) TrySchedule() (bool, pebble.CompactionGrantHandle) {
	if !s.take() {
		return false, nil
	}
	return true, s
}

// take counts one more compaction, if there may be one more.
func (s *scheduler) take() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.room.holds() || s.running >= s.db.GetAllowedWithoutPermission() {
		return false
	}
	s.running++
	return true
}

func (s *scheduler) giveBack() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
}

// grant starts those that wait, as many as there may be.
func (s *scheduler) grant() {
	for s.take() {
		if waits, _ := s.db.GetWaitingCompaction(); !waits || !s.db.Schedule(s) {
			s.giveBack()
			return
		}
	}
}

func (s *scheduler) poke() {
	select {
	case s.poked <- struct{}{}:
	default:
	}
}

// UpdateGetAllowedWithoutPermission implements pebble.CompactionScheduler.
func (s *scheduler) UpdateGetAllowedWithoutPermission() { s.poke() }

// Done implements pebble.CompactionGrantHandle.
func (s *scheduler) Done() { s.giveBack(); s.poke() }

// Started implements pebble.CompactionGrantHandle.
func (s *scheduler) Started() {}

// MeasureCPU implements pebble.CompactionGrantHandle.
func (s *scheduler) MeasureCPU(pebble.CompactionGoroutineKind) {}

// CumulativeStats implements pebble.CompactionGrantHandle.
func (s *scheduler) CumulativeStats(pebble.CompactionGrantHandleStats) {}

// settle lets compactions that were held back go on, and waits until they have done most of it. Nobody writes any more. A disk that
// refused something may keep them from ever ending, so then it does not wait.
func (db *DB) settle() {
	r := db.room
	if !r.held.Load() {
		return
	}
	r.settling.Store(true)
	end := time.Now().Add(settleWait)
	for r.sublevels.Load() > settledSublevels && !db.health.noted.Load() && time.Now().Before(end) {
		time.Sleep(scheduleEvery / 10)
	}
}
