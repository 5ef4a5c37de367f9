package script

import (
	"context"
	"errors"
	"runtime/metrics"
	"sync"
	"time"

	"mrbench/internal/embedded/mongoerr"
)

// watcher connects a context with the interpreter's interrupt flag.
type watcher struct {
	ctx context.Context
	// growth is by how many bytes the process's live memory may grow while a
	// script runs. The interpreter can't tell which memory is a script's, so the limit is generous.
	growth uint64
}

const (
	maxGrowth    = 1536 << 20
	memoryPeriod = 25 * time.Millisecond
)

// Watch interrupts running code when ctx ends, or when the process's memory grows
// as only a runaway script makes it grow, until stop is called. stop waits for what
// Watch started, then clears an interrupt, so the runtime may be used again.
func (r *Runtime) Watch(ctx context.Context) (stop func()) {
	old := r.watch.ctx
	r.watch.ctx = ctx
	end := make(chan struct{})
	var both sync.WaitGroup
	both.Go(func() {
		select {
		case <-ctx.Done():
			r.vm.Interrupt(Interruption(ctx))
		case <-end:
		}
	})
	both.Go(func() { r.watchMemory(end) })
	var once sync.Once
	return func() {
		once.Do(func() {
			close(end)
			both.Wait()
			r.vm.ClearInterrupt()
			r.watch.ctx = old
		})
	}
}

// watchMemory looks at what the last garbage collection found alive.
func (r *Runtime) watchMemory(end <-chan struct{}) {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	live := func() uint64 {
		metrics.Read(sample)
		if sample[0].Value.Kind() != metrics.KindUint64 {
			return 0
		}
		return sample[0].Value.Uint64()
	}
	base := live()
	tick := time.NewTicker(memoryPeriod)
	defer tick.Stop()
	for {
		select {
		case <-end:
			return
		case <-tick.C:
			if now := live(); now > base+r.watch.growth {
				r.vm.Interrupt(mongoerr.New(mongoerr.ExceededMemoryLimit, "JavaScript took more than %d MiB of memory", r.watch.growth>>20))
				return
			}
		}
	}
}

// Interruption is the command error for a context that has ended: the
// cause when it carries a code, MaxTimeMSExpired for a deadline, otherwise Interrupted.
func Interruption(ctx context.Context) error {
	cause := context.Cause(ctx)
	var coded *mongoerr.Error
	switch {
	case errors.As(cause, &coded):
		return coded
	case errors.Is(cause, context.DeadlineExceeded):
		return mongoerr.New(mongoerr.MaxTimeMSExpired, "operation exceeded time limit")
	default:
		return mongoerr.New(mongoerr.Interrupted, "operation was interrupted")
	}
}
