package seed

import (
	"sync"
	"sync/atomic"
	"time"
)

// worker is what one writer tells of itself.
type worker struct {
	doing              atomic.Int32
	batches, documents atomic.Int64
	last, total        atomic.Int64 // microseconds
}

// What a writer does.
const (
	doesWait int32 = iota
	doesSend
	doesRetry
	doesPause
	doesEnd
)

func doingText(what int32) string {
	switch what {
	case doesSend:
		return "inserting"
	case doesRetry:
		return "retrying"
	case doesPause:
		return "held back"
	case doesEnd:
		return "ended"
	}
	return "waiting"
}

// sent counts an acknowledged batch.
func (w *worker) sent(docs int64, took time.Duration) {
	w.batches.Add(1)
	w.documents.Add(docs)
	w.last.Store(took.Microseconds())
	w.total.Add(took.Microseconds())
}

func (w *worker) progress() WriterProgress {
	p := WriterProgress{
		Doing: doingText(w.doing.Load()), Batches: w.batches.Load(), Documents: w.documents.Load(), LastMS: float64(w.last.Load()) / 1000,
	}
	if p.Batches > 0 {
		p.MeanMS = float64(w.total.Load()) / 1000 / float64(p.Batches)
	}
	return p
}

// retries counts the batches that were sent again.
type retries struct {
	count atomic.Int64
	mu    sync.Mutex
	first string
}

func (r *retries) add(err error) {
	r.count.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first == "" {
		r.first = err.Error()
	}
}
