package mr_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/mongofake"
	"mrbench/mr"
)

// The gate is asked before each command and told when it has ended.
func TestGate(t *testing.T) {
	var open, most, asked atomic.Int32
	x := &script{mapReduce: func(context.Context, mongofake.Command) bson.D {
		most.Store(max(most.Load(), open.Load()))
		return done("mixed")
	}}
	s := &mongofake.Server{Handle: x.handle}
	c := config(t, s)
	c.Owners = []string{"s1"}
	shards := ""
	one := make(chan struct{}, 1)
	c.Gate = func(_ context.Context, shard string) (func(), error) {
		one <- struct{}{}
		shards += shard + " "
		asked.Add(1)
		open.Add(1)
		return func() { open.Add(-1); <-one }, nil
	}
	if _, err := mr.Run(t.Context(), c); err != nil || asked.Load() != 2 || most.Load() != 1 || open.Load() != 0 || shards != "s1  " && shards != " s1 " {
		t.Errorf("asked %d times (%q), %d commands at a time, %d left: %v", asked.Load(), shards, most.Load(), open.Load(), err)
	}
	x.seen = nil
	busy := errors.New("too busy")
	c.Gate, c.Prefix = func(context.Context, string) (func(), error) { return nil, busy }, "run2"
	if _, err := mr.Run(t.Context(), c); !errors.Is(err, busy) || len(x.seen) != 0 {
		t.Errorf("%v after %d commands", err, len(x.seen))
	}
}
