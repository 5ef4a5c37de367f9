package seed

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	progressEvery = 200 * time.Millisecond
	rateTicks     = 10 // the recent rate spans this many calls
)

// ticker calls Config.Progress from one goroutine until wait.
type ticker struct {
	current atomic.Pointer[string]
	done    chan struct{}
	ended   sync.WaitGroup
}

func (t *ticker) phase(name string) { t.current.Store(&name) }

// wait sends a last call and ends the goroutine.
func (t *ticker) wait() {
	close(t.done)
	t.ended.Wait()
}

func startProgress(call func(Progress), total int64, l *load, start time.Time) *ticker {
	t := &ticker{done: make(chan struct{})}
	t.phase(PhaseLoad)
	if call == nil {
		return t
	}
	t.ended.Go(func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		type point struct {
			at          time.Time
			docs, bytes int64
		}
		recent := []point{{start, 0, 0}}
		report := func(now time.Time) {
			docs, bytes := l.documents.Load(), l.bytes.Load()
			recent = append(recent, point{now, docs, bytes})
			if len(recent) > rateTicks+1 {
				recent = recent[1:]
			}
			p := Progress{
				Documents: docs, Total: total, Bytes: bytes,
				Rejects: l.rejects.Load(), Duplicates: l.dups.count.Load(),
				Seconds: now.Sub(start).Seconds(), Phase: *t.current.Load(),
			}
			if d := now.Sub(recent[0].at).Seconds(); d > 0 {
				p.Rate = float64(docs-recent[0].docs) / d
				p.MBRate = float64(bytes-recent[0].bytes) / d / 1e6
			}
			call(p)
		}
		for {
			select {
			case now := <-tick.C:
				report(now)
			case <-t.done:
				report(time.Now())
				return
			}
		}
	})
	return t
}
