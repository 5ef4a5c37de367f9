package splitter

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

func TestEachRunsAllWithFewThreads(t *testing.T) {
	var ran [50]atomic.Int32
	var now, most atomic.Int32
	err := Each(t.Context(), len(ran), 3, func(_ context.Context, i, thread int) error {
		if thread < 0 || thread >= 3 {
			t.Errorf("thread %d", thread)
		}
		most.Store(max(most.Load(), now.Add(1)))
		ran[i].Add(1)
		now.Add(-1)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range ran {
		if n := ran[i].Load(); n != 1 {
			t.Errorf("piece %d ran %d times", i, n)
		}
	}
	if most.Load() > 3 {
		t.Errorf("%d at a time", most.Load())
	}
}

func TestEachStopsAtTheFirstError(t *testing.T) {
	bad := errors.New("bad")
	var ran atomic.Int32
	err := Each(t.Context(), 100, 2, func(ctx context.Context, i, _ int) error {
		ran.Add(1)
		if i == 0 {
			return bad
		}
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, bad) || ran.Load() > 2 {
		t.Errorf("got %v after %d pieces", err, ran.Load())
	}
}

func TestEachReturnsTheContextsError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	err := Each(ctx, 10, 2, func(ctx context.Context, _, _ int) error {
		cancel()
		return errors.New("connection closed")
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
