package script

import (
	"context"
	"errors"
	"sync"

	"mrbench/internal/embedded/mongoerr"
)

// watcher connects a context with the interpreter's interrupt flag.
type watcher struct {
	ctx context.Context
}

// Watch interrupts running code when ctx ends, until stop is called. stop waits
// for an interrupt that is under way, then clears it, so the runtime may be used again.
func (r *Runtime) Watch(ctx context.Context) (stop func()) {
	old := r.watch.ctx
	r.watch.ctx = ctx
	done := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		defer close(done)
		r.vm.Interrupt(Interruption(ctx))
	})
	var once sync.Once
	return func() {
		once.Do(func() {
			if !cancel() {
				<-done
			}
			r.vm.ClearInterrupt()
			r.watch.ctx = old
		})
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
