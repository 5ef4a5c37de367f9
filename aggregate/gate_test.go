package aggregate_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/aggregate"
	"mrbench/internal/mongofake"
	"mrbench/splitter"
)

// The gate is asked before each pipeline and told when its last result is there.
func TestGate(t *testing.T) {
	var open, most, sent atomic.Int32
	s := &mongofake.Server{Handle: func(_ context.Context, c mongofake.Command) bson.D {
		if c.Name != "aggregate" || c.Body.Lookup("explain").Type != 0 {
			return nil
		}
		sent.Add(1)
		most.Store(max(most.Load(), open.Load()))
		return mongofake.Cursor("test.c")
	}}
	c := aggregate.Config{Collection: s.Client(t).Database("test").Collection("c"), Pipeline: aggregate.UniqueCount("f"), Ranges: make([]splitter.Range, 4), Threads: 3}
	c.Owners, c.PerShard = []string{"s2", "s2", "s2", "s2"}, 1
	shards := ""
	one := make(chan struct{}, 1)
	c.Gate = func(_ context.Context, shard string) (func(), error) {
		one <- struct{}{}
		shards += shard + " "
		open.Add(1)
		return func() { open.Add(-1); <-one }, nil
	}
	if _, err := aggregate.Run(t.Context(), c); err != nil || sent.Load() != 4 || most.Load() != 1 || open.Load() != 0 || shards != "s2 s2 s2 s2 " {
		t.Errorf("%d pipelines for %q, %d at a time, %d left: %v", sent.Load(), shards, most.Load(), open.Load(), err)
	}
	busy := errors.New("too busy")
	c.Gate = func(context.Context, string) (func(), error) { return nil, busy }
	if _, err := aggregate.Run(t.Context(), c); !errors.Is(err, busy) || sent.Load() != 4 {
		t.Errorf("%v after %d pipelines", err, sent.Load())
	}
}
