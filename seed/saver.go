package seed

import (
	"context"
	"fmt"
	"sync"
	"time"

	"mrbench/seed/source"
)

// Checkpoints are kept this often, and less often when keeping one takes long: it
// gets a twentieth of the time at most.
const (
	saveEvery = 250 * time.Millisecond
	saveShare = 20
)

// useSource has the load read files.
func (l *load) useSource(r *source.Reader, before int64, uuid string) {
	l.reader, l.files = r, len(r.Files())
	state := l.c.Checkpoint
	if state == nil {
		if l.c.Drop {
			uuid = "" // of the collection that is gone
		}
		state = newCheckpoint(l.c, r.Files(), before, uuid)
	} else {
		state = state.clone()
	}
	l.track, l.ids = &tracker{state: state}, newIDMaker(state.Started, state.Tag)
	for i, f := range r.Files() {
		switch {
		case f.Size < 0 || source.NotResumable(r.Files()[i:i+1]) != "":
			l.diskTotal = 0
			return
		case !state.Files[i].Complete:
			l.diskTotal += f.Size
		}
	}
}

// saver hands checkpoints to Config.Save from one goroutine. A nil one does nothing.
type saver struct {
	l     *load
	asked bool // for the collection's UUID
	done  chan struct{}
	ended sync.WaitGroup
	err   error
}

// startSaver keeps the first checkpoint, before anything is sent: the _ids that are
// made depend on it. When one can't be kept, fail is called. The saver is nil when none are to be kept.
func (l *load) startSaver(ctx context.Context, fail context.CancelFunc) (*saver, error) {
	if l.track == nil || l.c.Save == nil || l.wc.unacknowledged || source.NotResumable(l.reader.Files()) != "" {
		return nil, nil
	}
	s := &saver{l: l, done: make(chan struct{})}
	if err := s.save(ctx); err != nil {
		return nil, err
	}
	s.ended.Go(func() {
		wait := saveEvery
		for {
			select {
			case <-s.done:
				return
			case <-time.After(wait):
			}
			t := time.Now()
			if s.err = s.save(ctx); s.err != nil {
				fail()
				return
			}
			wait = max(saveEvery, saveShare*time.Since(t))
		}
	})
	return s, nil
}

func (s *saver) save(ctx context.Context) error {
	t := s.l.track
	if !s.asked && t.state.UUID == "" && s.l.documents.Load() > 0 { // the load made the collection
		s.asked = true
		if uuid, err := checkTarget(ctx, s.l.c.Collection); err == nil {
			t.mu.Lock()
			t.state.UUID = uuid
			t.mu.Unlock()
		}
	}
	if err := s.l.c.Save(t.snapshot()); err != nil {
		return fmt.Errorf("seed: keep the checkpoint: %w", err)
	}
	return nil
}

// end keeps the last checkpoint. All writers have ended.
func (s *saver) end(ctx context.Context) error {
	if s == nil {
		return nil
	}
	close(s.done)
	s.ended.Wait()
	if s.err != nil {
		return s.err
	}
	return s.save(ctx)
}
