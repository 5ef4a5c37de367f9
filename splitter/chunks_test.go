package splitter_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"mrbench/internal/mongofake"
	"mrbench/splitter"
)

// router is a mongos in front of a sharded fakeCollection. Its replies have the
// shape of those recorded from a 4.0 cluster; from 5.0 on chunks are found by the collection's uuid.
type router struct {
	fakeCollection
	shardKey bson.D
	bounds   []any    // lower bounds of the chunks, of the first field
	shards   []string // that have the chunks; nil: s1 has all
	holes    int      // that many times the list misses its second chunk
	lists    int      // how often the chunks were listed
	wire     int32
	plain    bool // not sharded
	dropped  bool
	noRights bool
	oldNames bool // chunks are named by ns, whatever the version
}

var uuid = primitive.Binary{Subtype: 4, Data: []byte("0123456789abcdef")}

func (r *router) handle(ctx context.Context, c mongofake.Command) bson.D {
	switch {
	case c.DB == "config" && r.noRights:
		return mongofake.Error(13, "not authorized on config to execute command")
	case c.DB == "config" && c.Body.Lookup("find").StringValue() == "collections":
		if r.plain || c.Body.Lookup("filter", "_id").StringValue() != "test.c" {
			return mongofake.Cursor("config.collections")
		}
		return mongofake.Cursor("config.collections", bson.D{
			{Key: "_id", Value: "test.c"},
			{Key: "dropped", Value: r.dropped},
			{Key: "key", Value: r.shardKey},
			{Key: "unique", Value: false},
			{Key: "uuid", Value: uuid},
		})
	case c.DB == "config" && c.Body.Lookup("find").StringValue() == "chunks":
		by := "ns"
		if r.wire >= 13 && !r.oldNames {
			by = "uuid"
		}
		if _, err := c.Body.LookupErr("filter", by); err != nil {
			return mongofake.Cursor("config.chunks")
		}
		r.lists++
		return mongofake.Cursor("config.chunks", r.chunks()...)
	case c.Name == "splitVector" && !r.plain:
		return mongofake.Error(20, "can't do command: splitVector on sharded collection")
	}
	return r.fakeCollection.handle(ctx, c)
}

func (r *router) chunks() (docs []any) {
	for i, b := range r.bounds {
		least, most := bson.D{}, bson.D{}
		for k, f := range r.shardKey {
			lo, hi := any(primitive.MinKey{}), any(primitive.MaxKey{})
			if k == 0 {
				lo = b
			}
			if k == 0 && i+1 < len(r.bounds) {
				hi = r.bounds[i+1]
			} else if i+1 < len(r.bounds) {
				hi = primitive.MinKey{}
			}
			least, most = append(least, bson.E{Key: f.Key, Value: lo}), append(most, bson.E{Key: f.Key, Value: hi})
		}
		shard := "s1"
		if r.shards != nil {
			shard = r.shards[i]
		}
		if i == 1 && r.lists <= r.holes {
			continue
		}
		docs = append(docs, bson.D{{Key: "_id", Value: fmt.Sprint(b)}, {Key: "min", Value: least}, {Key: "max", Value: most}, {Key: "shard", Value: shard}})
	}
	return docs
}

func (r *router) split(t *testing.T, ranges int, strategy string) (*splitter.Report, error) {
	t.Helper()
	s := &mongofake.Server{Handle: r.handle, Mongos: true, WireVersion: r.wire}
	return splitter.Split(t.Context(), splitter.Config{
		Collection: s.Client(t).Database("test").Collection("c"), Key: "f", Ranges: ranges, Strategy: strategy,
	})
}

func TestChunks(t *testing.T) {
	key := bson.D{{Key: "f", Value: int32(1)}}
	uneven := []any{primitive.MinKey{}, int32(10), int32(20), int32(30), int32(40), int32(90)} // 10 to 50 keys each
	var small []any                                                                            // a chunk a key
	for i := range int32(100) {
		small = append(small, i)
	}
	tests := []struct {
		name   string
		r      *router
		ranges int
		want   string // pieces, or why not
	}{
		{"before 5.0", &router{shardKey: key, bounds: uneven, wire: 7}, 3, "[MinKey, 30) 60; [30, 64) 68; [64, MaxKey] 72"},
		{"since 5.0", &router{shardKey: key, bounds: uneven, wire: 13}, 3, "[MinKey, 30) 60; [30, 64) 68; [64, MaxKey] 72"},
		{"many", &router{shardKey: key, bounds: small, wire: 7}, 4, "[MinKey, 25) 50; [25, 51) 52; [51, 77) 52; [77, MaxKey] 46"},
		{"compound shard key", &router{shardKey: append(key, bson.E{Key: "g", Value: int32(1)}), bounds: uneven, wire: 7}, 2, "[MinKey, 40) 80; [40, MaxKey] 120"},
		{"a hashed field behind", &router{shardKey: append(key, bson.E{Key: "g", Value: "hashed"}), bounds: uneven, wire: 9}, 2, "[MinKey, 40) 80; [40, MaxKey] 120"},
		{"hashed", &router{shardKey: bson.D{{Key: "f", Value: "hashed"}}, bounds: uneven, wire: 7}, 3, "the shard key f is hashed, so chunks are ranges of hashes, not of values"},
		{"another key", &router{shardKey: bson.D{{Key: "g", Value: int32(1)}, {Key: "f", Value: int32(1)}}, wire: 7}, 3, "the shard key starts with g, not with f"},
		{"not sharded", &router{plain: true, wire: 7}, 3, "the collection is not sharded"},
		{"dropped", &router{dropped: true, shardKey: key, wire: 7}, 3, "the collection is not sharded"},
		{"no rights", &router{noRights: true, shardKey: key, wire: 7}, 3, "the user may not run it (code 13): not authorized on config"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.r.n, tt.r.perKey = 100, 2
			rep, err := tt.r.split(t, tt.ranges, splitter.Chunks)
			if !strings.HasPrefix(tt.want, "[") {
				var refused *splitter.StrategyError
				if !errors.As(err, &refused) || refused.Strategy != splitter.Chunks || !strings.Contains(refused.Reason, tt.want) {
					t.Fatalf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := texts(rep); got != tt.want || rep.Strategy != splitter.Chunks {
				t.Errorf("%s gives %s", rep.Strategy, got)
			}
		})
	}
}

func TestAutoOnARouter(t *testing.T) {
	key := bson.D{{Key: "f", Value: int32(1)}}
	many := []any{primitive.MinKey{}, int32(20), int32(40), int32(60), int32(80)}
	r := router{shardKey: key, bounds: many, wire: 7}
	r.n, r.perKey = 100, 2
	rep, err := r.split(t, 5, splitter.Auto)
	if err != nil || rep.Strategy != splitter.Chunks || rep.Imbalance != 1 || len(rep.Skipped) != 1 || !strings.Contains(rep.Skipped[0].Reason, "not possible here (code 20): can't do command: splitVector on sharded collection") {
		t.Errorf("%+v, %v", rep, err)
	}
	// More ranges than chunks: they are cut inside, by $bucketAuto here.
	rep, err = r.split(t, 8, splitter.Auto)
	if err != nil || rep.Strategy != splitter.Chunks || len(rep.Pieces) != 8 || rep.Fewer != "" || rep.Imbalance > 1.5 || rep.Sharding.Inside != 5 || len(r.lastly) != 5 {
		t.Errorf("%+v, %+v, %v, %v", rep, rep.Sharding, err, r.lastly)
	}
}

// shardsOf shows the ranges with their shards and documents.
func shardsOf(rep *splitter.Report) string {
	var parts []string
	for _, p := range rep.Pieces {
		parts = append(parts, fmt.Sprintf("%s %s %d", p.Shard, p.Range, p.Documents))
	}
	return strings.Join(parts, "; ")
}

// Ranges end where the shard changes if there are enough of them, are even otherwise, and large chunks are cut inside.
func TestChunksOfShards(t *testing.T) {
	key := bson.D{{Key: "f", Value: int32(1)}}
	bounds := func(at ...int32) []any {
		all := []any{primitive.MinKey{}}
		for _, v := range at {
			all = append(all, v)
		}
		return all
	}
	tests := []struct {
		name   string
		r      *router
		ranges int
		want   string // pieces, or their shards
		spans  int
		inside int
		note   string
	}{
		{"two stretches", &router{bounds: bounds(25, 50, 75), shards: []string{"s2", "s2", "s1", "s1"}}, 2,
			"s2 [MinKey, 50) 100; s1 [50, MaxKey] 100", 0, 0, ""},
		{"a boundary off the middle", &router{bounds: bounds(10, 20, 30, 40, 50, 60, 70, 80, 90), shards: strings.Split("s1 s1 s1 s2 s2 s2 s2 s2 s2 s2", " ")}, 3,
			"s1 [MinKey, 30) 60; s2 [30, 70) 80; s2 [70, MaxKey] 60", 0, 0, ""},
		{"more stretches than ranges", &router{bounds: bounds(10, 20, 30, 40, 50, 60, 70, 80, 90), shards: strings.Split("s1 s2 s1 s2 s1 s2 s1 s2 s1 s2", " ")}, 4,
			" [MinKey, 30) 60;  [30, 60) 60;  [60, 90) 60; s2 [90, MaxKey] 20", 3, 0, "--ranges 10 or more keeps ranges on one shard"},
		{"one chunk for each shard", &router{bounds: bounds(50), shards: []string{"s1", "s2"}}, 4,
			"s1 s1 s2 s2", 0, 2, ""},
		{"a large chunk", &router{bounds: bounds(5, 10, 90), shards: []string{"s1", "s1", "s2", "s1"}}, 5, "s1 s2 s2 s2 s1", 0, 1, ""},
		{"one chunk", &router{bounds: bounds()}, 4, "s1 s1 s1 s1", 0, 1, ""},
		{"an empty stretch", &router{bounds: bounds(50, 200), shards: []string{"s1", "s1", "s2"}}, 2,
			"s1 [MinKey, 50) 100;  [50, MaxKey] 100", 1, 0, "1 of 2 ranges lies on several shards: they reach into chunks without documents"},
		{"as many stretches as ranges", &router{bounds: bounds(90), shards: []string{"s1", "s2"}}, 2,
			"s1 [MinKey, 90) 180; s2 [90, MaxKey] 20", 0, 0, "ranges end where the shard changes, in 1 places: more ranges are more even"},
		{"a hole for a moment", &router{bounds: bounds(25, 50, 75), holes: 2}, 2, "s1 [MinKey, 50) 100; s1 [50, MaxKey] 100", 0, 0, ""},
		{"a hole that stays", &router{bounds: bounds(25, 50, 75), holes: 99}, 2, " [MinKey, 50) 100;  [50, MaxKey] 100", 2, 0, "config.chunks kept changing"},
		{"named as before 5.0", &router{bounds: bounds(50), shards: []string{"s1", "s2"}, wire: 13, oldNames: true}, 2, "s1 [MinKey, 50) 100; s2 [50, MaxKey] 100", 0, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.r.n, tt.r.perKey, tt.r.shardKey = 100, 2, key
			if tt.r.wire == 0 {
				tt.r.wire = 7
			}
			rep, err := tt.r.split(t, tt.ranges, splitter.Auto)
			if err != nil {
				t.Fatal(err)
			}
			x := rep.Sharding
			if got := shardsOf(rep); rep.Strategy != splitter.Chunks || got != tt.want && strings.Join(rep.Owners(), " ") != tt.want || x.Spanning != tt.spans || x.Inside != tt.inside {
				t.Errorf("%s gives %s, %+v", rep.Strategy, got, x)
			}
			if notes := strings.Join(x.Notes, "; "); !strings.Contains(notes, tt.note) || (notes == "") != (tt.note == "") {
				t.Errorf("notes: %s", notes)
			}
			if len(rep.Pieces) != tt.ranges || tt.ranges > 2 && rep.Imbalance > 1.5 {
				t.Errorf("%d ranges, imbalance %.2f", len(rep.Pieces), rep.Imbalance)
			}
		})
	}
}

// Ranges that other strategies cut, or that were saved, have their shards too.
func TestOwnersOfOtherRanges(t *testing.T) {
	r := &router{shardKey: bson.D{{Key: "f", Value: int32(1)}}, wire: 7, bounds: []any{primitive.MinKey{}, int32(60)}, shards: []string{"s1", "s2"}}
	r.n, r.perKey = 100, 2
	rep, err := r.split(t, 4, splitter.BucketAuto)
	if err != nil {
		t.Fatal(err)
	}
	owners := rep.Owners()
	if len(owners) != 4 || owners[0] != "s1" || owners[1] != "s1" || owners[2] != "" || owners[3] != "s2" {
		t.Errorf("%s", shardsOf(rep))
	}
	s := &mongofake.Server{Handle: r.handle, Mongos: true, WireVersion: r.wire}
	again, err := splitter.Prove(t.Context(), splitter.Config{Collection: s.Client(t).Database("test").Collection("c"), Key: "f"}, rep.Ranges(), true)
	if err != nil || strings.Join(again.Owners(), ",") != strings.Join(owners, ",") {
		t.Errorf("%v, %v", again, err)
	}
	r.noRights = true
	if rep, err = r.split(t, 4, splitter.BucketAuto); err != nil || strings.Join(rep.Owners(), "") != "" {
		t.Errorf("%v, %v", rep, err)
	}
}

// Very many chunks are counted in a bounded number of stretches, of one shard each, and a heavy stretch again by its parts.
func TestManyChunksAreCountedTogether(t *testing.T) {
	r := &router{shardKey: bson.D{{Key: "f", Value: int32(1)}}, wire: 7, bounds: []any{primitive.MinKey{}}, shards: []string{"s1"}}
	r.n, r.perKey = 6000, 1
	for i := int32(1); i < 3000; i++ { // one chunk in two is empty
		at := i
		if i >= 1000 {
			at = 100_000 + i
		}
		if i >= 1000 {
			r.bounds = append(r.bounds, at)
		} else {
			r.bounds = append(r.bounds, i*6)
		}
		r.shards = append(r.shards, []string{"s1", "s2", "s3"}[i/1000])
	}
	rep, err := r.split(t, 4, splitter.Chunks)
	if err != nil {
		t.Fatal(err)
	}
	x := rep.Sharding
	if x.Chunks != 3000 || x.Counted > 64 || len(rep.Pieces) != 4 || rep.Imbalance > 1.2 || x.Spanning != 1 {
		t.Errorf("%+v, %s", x, shardsOf(rep))
	}
	if !strings.Contains(strings.Join(x.Notes, ";"), fmt.Sprintf("3000 chunks were counted as %d stretches", x.Counted)) {
		t.Errorf("%v", x.Notes)
	}
}

// A shard key of the first field alone bounds ranges of two.
func TestChunksOfAPrefix(t *testing.T) {
	r := &router{shardKey: bson.D{{Key: "f", Value: int32(1)}}, bounds: []any{primitive.MinKey{}, int32(20), int32(60)}, wire: 7}
	r.n, r.perKey = 100, 2
	r.index = bson.D{{Key: "f", Value: 1}, {Key: "g", Value: 1}}
	s := &mongofake.Server{Handle: r.handle, Mongos: true, WireVersion: r.wire}
	rep, err := splitter.Split(t.Context(), splitter.Config{
		Collection: s.Client(t).Database("test").Collection("c"), Key: "f", Then: []string{"g"}, Ranges: 3, Strategy: splitter.Chunks,
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := texts(rep), "[MinKey, (20)) 40; [(20), (60)) 80; [(60), MaxKey] 80"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
