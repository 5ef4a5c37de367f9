package mr_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/mongofake"
	"mrbench/mr"
	"mrbench/splitter"
)

// Never more commands of a shard's ranges at a time than PerShard, and the parts say where they were.
func TestPerShard(t *testing.T) {
	var mu sync.Mutex
	now, most := map[string]int{}, map[string]int{}
	x := &script{mapReduce: func(_ context.Context, c mongofake.Command) bson.D {
		shard := "s1" // of ranges 0 to 3
		if lo, ok := c.Body.Lookup("query", "f", "$gte").AsInt64OK(); ok && lo >= 4 {
			shard = "s2"
		}
		mu.Lock()
		now[shard]++
		most[shard] = max(most[shard], now[shard])
		mu.Unlock()
		time.Sleep(5 * time.Millisecond)
		mu.Lock()
		now[shard]--
		mu.Unlock()
		return append(done(""), bson.E{Key: "shardCounts", Value: bson.D{{Key: shard + "/host:1", Value: bson.D{{Key: "input", Value: 10}, {Key: "output", Value: 3}}}}})
	}}
	c := config(t, &mongofake.Server{Handle: x.handle, Mongos: true, WireVersion: 7})
	c.Ranges, c.Layout, c.Threads, c.PerShard = nil, mr.OneDatabase, 6, 2
	for i := range int32(8) {
		c.Ranges = append(c.Ranges, splitter.Range{Key: "f", Lo: value(i), Hi: value(i + 1)})
		c.Owners = append(c.Owners, []string{"s1", "s2"}[i/4])
	}
	r, err := mr.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if most["s1"] > 2 || most["s2"] > 2 {
		t.Errorf("at a time: %v", most)
	}
	for i, p := range r.Parts {
		if p.Owner != c.Owners[i] || len(p.Shards) != 1 || p.Shards[0].Host != p.Owner+"/host:1" || p.Shards[0].Counts.Input != 10 {
			t.Errorf("part %d: %+v", i, p)
		}
	}
	c.PerShard, c.Prefix = -1, "run2"
	if _, err := mr.Run(t.Context(), c); err == nil {
		t.Error("-1 commands for each shard are taken")
	}
}

// A router before 4.4 is not sent jsMode, which it refuses for outputs that name a database; one that has to have it is told. Keys that jsMode
// would mix up are no matter then.
func TestJSModeIsNotSentToARouter(t *testing.T) {
	refusal := bson.D{{Key: "ok", Value: 0.0}, {Key: "errmsg", Value: "unknown m/r field for sharding: jsMode"}}
	for _, tt := range []struct {
		name  string
		wire  int32
		plain bool // is allowed
		sent  int  // commands with jsMode
		fails bool
	}{
		{"3.6", 6, true, 0, false},
		{"4.0", 7, true, 0, false},
		{"4.2", 8, true, 0, false},
		{"4.4", 9, true, 1, false},
		{"without a way out", 7, false, 1, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sent := 0
			x := &script{mapReduce: func(_ context.Context, c mongofake.Command) bson.D {
				if c.Body.Lookup("jsMode").Type != 0 {
					if sent++; tt.wire < 9 {
						return refusal
					}
				}
				return done("")
			}}
			c := config(t, &mongofake.Server{Handle: x.handle, Mongos: true, WireVersion: tt.wire})
			c.Ranges, c.JSMode, c.AllowPlain, c.Threads, c.KeyTypes = halves()[:1], true, tt.plain, 1, []string{"string", "int"}
			if tt.fails {
				c.KeyTypes = []string{"int"}
			}
			r, err := mr.Run(t.Context(), c)
			if _, refused := errors.AsType[*mr.JSModeError](err); refused != tt.fails || err == nil && r.Mode != mr.ModeIgnored || err != nil && !refused || sent != tt.sent {
				t.Errorf("%d commands with jsMode, %+v, %v", sent, r, err)
			}
		})
	}
}
