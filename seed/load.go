package seed

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/sourcegraph/conc/pool"

	"mrbench/seed/source"
)

// graceOnCancel is how long a batch that is on its way may take to be
// acknowledged after the context ended.
const graceOnCancel = 10 * time.Second

// load is the shared state of one run's writers.
type load struct {
	c    Config
	wc   concern
	lim  limits
	next atomic.Int64 // first index that no writer has taken

	documents, bytes, batches atomic.Int64 // acknowledged
	again, already            atomic.Int64 // as in outcome
	rejects                   atomic.Int64
	retries                   retries
	dups                      duplicates
	workers                   []worker

	reader *source.Reader // of a source
	files  int
	track  *tracker
	ids    idMaker

	diskTotal int64 // bytes of the files that are to be read; 0 when it is not known

	mu      sync.Mutex
	latency *hdrhistogram.Histogram // microseconds a batch
}

func newLoad(c Config, wc concern, lim limits) *load {
	return &load{c: c, wc: wc, lim: lim, latency: newLatency(), workers: make([]worker, c.Writers)}
}

// newLatency counts microseconds up to an hour with three digits.
func newLatency() *hdrhistogram.Histogram { return hdrhistogram.New(1, 3600_000_000, 3) }

// run starts the writers and waits for them. The first error stops the others
// at their next batch.
func (l *load) run(ctx context.Context) error {
	// A batch that was sent is waited for even when ctx ends meanwhile: its
	// documents would be in the collection and in no report.
	sendCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	unwatch := context.AfterFunc(ctx, func() {
		t := time.AfterFunc(graceOnCancel, cancel)
		context.AfterFunc(sendCtx, func() { t.Stop() })
	})
	defer unwatch()

	workCtx, stop := context.WithCancel(ctx)
	defer stop()
	save, err := l.startSaver(ctx, stop)
	if err != nil {
		return err
	}
	p := pool.New().WithErrors().WithContext(workCtx).WithCancelOnError().WithFirstError()
	var files *pipeline
	if l.c.Source != nil {
		files = l.startSource(sendCtx, p)
	} else {
		for i := range l.workers {
			p.Go(func(ctx context.Context) error { return l.write(ctx, sendCtx, &l.workers[i]) })
		}
	}
	err = files.firstBad(p.Wait())
	if serr := save.end(sendCtx); serr != nil && (err == nil || errors.Is(err, context.Canceled)) {
		err = serr
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// write takes index ranges and sends them until none are left.
func (l *load) write(ctx, sendCtx context.Context, w *worker) error {
	defer w.doing.Store(doesEnd)
	s := l.newSender()
	latency := newLatency()
	defer l.merge(latency)
	flush := func() error {
		if s.count() == 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		return l.send(ctx, sendCtx, s, w, latency)
	}
	step := int64(l.c.Batch)
	for ctx.Err() == nil {
		first := l.next.Add(step) - step
		if first >= l.c.Documents {
			return nil
		}
		for i := first; i < min(first+step, l.c.Documents); i++ {
			if s.add(i) {
				continue
			}
			if err := flush(); err != nil {
				return err
			}
			s.add(i) // a document alone always fits; the server judges its size
		}
		if err := flush(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (l *load) newSender() *sender {
	s := newSender(l.c, l.wc, l.lim)
	if l.c.OnDuplicate == DuplicateSkip {
		s.dups = &l.dups
	}
	return s
}

// send sends a batch and counts it.
func (l *load) send(ctx, sendCtx context.Context, s *sender, w *worker, latency *hdrhistogram.Histogram) error {
	defer w.doing.Store(doesWait)
	if l.c.Gate != nil {
		w.doing.Store(doesPause)
		done, err := l.c.Gate(ctx)
		if err != nil {
			return err
		}
		defer done()
	}
	w.doing.Store(doesSend)
	s.onRetry = func(err error) {
		l.retries.add(err)
		w.doing.Store(doesRetry)
	}
	t := time.Now()
	o, err := s.send(ctx, sendCtx)
	l.documents.Add(o.docs)
	l.bytes.Add(o.bytes)
	l.again.Add(o.again)
	l.already.Add(o.already)
	if err != nil {
		return err
	}
	took := time.Since(t)
	_ = latency.RecordValue(max(took.Microseconds(), 1)) // over an hour is out of the histogram's range
	l.batches.Add(1)
	w.sent(o.docs, took)
	if l.track != nil {
		l.track.settle(s.parts, o.duplicates)
	}
	return nil
}

func (l *load) merge(latency *hdrhistogram.Histogram) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.latency.Merge(latency)
}

// fill puts what was acknowledged into the report. All writers have ended.
func (l *load) fill(r *Report) {
	r.Documents, r.Bytes, r.Batches = l.documents.Load(), l.bytes.Load(), l.batches.Load()
	r.Rejects, r.Duplicates, r.DuplicateKeys = l.rejects.Load(), l.dups.count.Load(), l.dups.keys
	r.Files = l.files
	r.Retries, r.RetryError = l.retries.count.Load(), l.retries.first
	r.Earlier = l.earlier()
	if l.latency.TotalCount() > 0 {
		r.BatchP50MS = float64(l.latency.ValueAtQuantile(50)) / 1000
		r.BatchP95MS = float64(l.latency.ValueAtQuantile(95)) / 1000
		r.BatchP99MS = float64(l.latency.ValueAtQuantile(99)) / 1000
		r.BatchMaxMS = float64(l.latency.Max()) / 1000
	}
}

// earlier counts the documents that the load which is resumed had written.
func (l *load) earlier() int64 {
	n := l.already.Load()
	if l.c.Checkpoint != nil {
		n += l.c.Checkpoint.Documents
	}
	return n
}
