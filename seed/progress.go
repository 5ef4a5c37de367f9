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

func startProgress(c Config, l *load, start time.Time) *ticker {
	t := &ticker{done: make(chan struct{})}
	t.phase(PhaseLoad)
	if c.Progress == nil {
		return t
	}
	t.ended.Go(func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		type point struct {
			at          time.Time
			docs, bytes int64
			read        int64
		}
		recent := []point{{start, 0, 0, 0}}
		report := func(now time.Time) {
			docs, bytes, read := l.documents.Load(), l.bytes.Load(), int64(0)
			if l.reader != nil {
				read = l.reader.DiskBytes()
			}
			recent = append(recent, point{now, docs, bytes, read})
			if len(recent) > rateTicks+1 {
				recent = recent[1:]
			}
			p := Progress{
				Documents: docs, Total: c.Documents, Bytes: bytes, Read: read, ReadTotal: l.diskTotal,
				Rejects: l.rejects.Load(), Duplicates: l.dups.count.Load(), Retries: l.retries.count.Load(), Earlier: l.earlier(),
				Seconds: now.Sub(start).Seconds(), Phase: *t.current.Load(),
			}
			if d := now.Sub(recent[0].at).Seconds(); d > 0 {
				p.Rate = float64(docs-recent[0].docs) / d
				p.MBRate = float64(bytes-recent[0].bytes) / d / 1e6
				p.ReadRate = float64(read-recent[0].read) / d
			}
			if c.Verbose {
				for i := range l.workers {
					p.Writers = append(p.Writers, l.workers[i].progress())
				}
			}
			c.Progress(p)
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
