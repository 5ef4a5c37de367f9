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
	bounds   []any // lower bounds of the chunks, of the first field
	wire     int32
	plain    bool // not sharded
	dropped  bool
	noRights bool
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
		if r.wire >= 13 {
			by = "uuid"
		}
		if _, err := c.Body.LookupErr("filter", by); err != nil {
			return mongofake.Cursor("config.chunks")
		}
		var docs []any
		for _, b := range r.bounds {
			least := bson.D{}
			for i, f := range r.shardKey {
				v := b
				if i > 0 {
					v = primitive.MinKey{}
				}
				least = append(least, bson.E{Key: f.Key, Value: v})
			}
			docs = append(docs, bson.D{{Key: "_id", Value: fmt.Sprint(b)}, {Key: "min", Value: least}, {Key: "shard", Value: "s1"}})
		}
		return mongofake.Cursor("config.chunks", docs...)
	case c.Name == "splitVector" && !r.plain:
		return mongofake.Error(20, "can't do command: splitVector on sharded collection")
	}
	return r.fakeCollection.handle(ctx, c)
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
		{"before 5.0", &router{shardKey: key, bounds: uneven, wire: 7}, 3, "[MinKey, 40) 80; [40, 90) 100; [90, MaxKey] 20"},
		{"since 5.0", &router{shardKey: key, bounds: uneven, wire: 13}, 3, "[MinKey, 40) 80; [40, 90) 100; [90, MaxKey] 20"},
		{"many", &router{shardKey: key, bounds: small, wire: 7}, 4, "[MinKey, 24) 48; [24, 50) 52; [50, 75) 50; [75, MaxKey] 50"},
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
	rep, err = r.split(t, 8, splitter.Auto)
	if err != nil || rep.Strategy != splitter.BucketAuto || len(rep.Skipped) != 2 || rep.Skipped[1].Reason != "it gave 4 split keys, 8 ranges need 7" {
		t.Errorf("%+v, %v", rep, err)
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
