package mimic

import (
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
)

// Into a sharded collection a router before 4.4 brings, of each chunk, only the results that {$gte: min, $lt: max} finds; and it makes the collection anew, in
// one chunk, while the primary shard has nothing of it.
func TestResultsLostOnTheWay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		at     []any // the result is cut at
		moved  bool  // the first chunk is on the other shard
		holds  any   // a key that the result holds
		output int64
		chunks int64
	}{
		{"one chunk takes all", nil, false, 3, 5, 1},
		{"chunks take values of their bounds' type", []any{5}, false, 3, 3, 2},
		{"a chunk between types takes nothing", []any{5, "b"}, false, 3, 2, 3},
		{"an empty one is made anew", []any{5}, false, nil, 4, 1},
		{"one that is empty on the primary shard is dropped", []any{5}, true, 3, 4, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client := Start(t, Config{Topology: Mongos}).Client(t)
			db, admin := client.Database("d"), client.Database("admin")
			if _, err := db.Collection("u").InsertMany(t.Context(), []any{
				bson.D{{Key: "k", Value: nil}}, bson.D{{Key: "k", Value: 1}}, bson.D{{Key: "k", Value: 7}}, bson.D{{Key: "k", Value: "a"}},
			}); err != nil {
				t.Fatal(err)
			}
			setup := []bson.D{{{Key: "enableSharding", Value: "d"}}, {{Key: "shardCollection", Value: "d.o"}, {Key: "key", Value: bson.D{{Key: "_id", Value: 1}}}}}
			for _, v := range c.at {
				setup = append(setup, bson.D{{Key: "split", Value: "d.o"}, {Key: "middle", Value: bson.D{{Key: "_id", Value: v}}}})
			}
			for _, cmd := range setup {
				if err := admin.RunCommand(t.Context(), cmd).Err(); err != nil {
					t.Fatal(err)
				}
			}
			if c.moved {
				if err := admin.RunCommand(t.Context(), bson.D{{Key: "moveChunk", Value: "d.o"}, {Key: "find", Value: bson.D{{Key: "_id", Value: 1}}}, {Key: "to", Value: "s2"}}).Err(); err != nil {
					t.Fatal(err)
				}
			}
			if c.holds != nil {
				if _, err := db.Collection("o").InsertOne(t.Context(), bson.D{{Key: "_id", Value: c.holds}}); err != nil {
					t.Fatal(err)
				}
			}
			raw, err := db.RunCommand(t.Context(), bson.D{
				{Key: "mapReduce", Value: "u"}, {Key: "map", Value: primitive.JavaScript("function () { emit(this.k, 1); }")},
				{Key: "reduce", Value: primitive.JavaScript("function (k, v) { return Array.sum(v); }")},
				{Key: "out", Value: bson.D{{Key: "merge", Value: "o"}, {Key: "sharded", Value: true}, {Key: "nonAtomic", Value: true}}},
			}).Raw()
			if err != nil {
				t.Fatal(err)
			}
			if n, _ := raw.Lookup("counts", "output").Int64OK(); n != c.output {
				t.Errorf("%v", raw)
			}
			got, err := db.Collection("o").Distinct(t.Context(), "_id", bson.D{})
			if err != nil || int64(len(got)) != c.output {
				t.Errorf("%v, %v", got, err)
			}
			if n, err := client.Database("config").Collection("chunks").CountDocuments(t.Context(), bson.D{{Key: "ns", Value: "d.o"}}); n != c.chunks || err != nil {
				t.Errorf("%d chunks, %v", n, err)
			}
			names, err := db.ListCollectionNames(t.Context(), bson.D{})
			if err != nil || len(names) != 2 {
				t.Errorf("left: %v, %v", names, err)
			}
		})
	}
}

// What a router before 4.4 hands out to shards it takes few options for, whether the source is sharded or the output names a database.
func TestFieldsThatRoutersRefuse(t *testing.T) {
	t.Parallel()
	db := Start(t, Config{Topology: Mongos}).Client(t).Database("d")
	if _, err := db.Collection("u").InsertOne(t.Context(), bson.D{{Key: "k", Value: 1}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		out   bson.D
		more  bson.E
		taken bool
	}{
		{bson.D{{Key: "replace", Value: "o"}}, bson.E{Key: "jsMode", Value: true}, true},
		{bson.D{{Key: "replace", Value: "o"}}, bson.E{Key: "limit", Value: 5}, true},
		{bson.D{{Key: "replace", Value: "o"}, {Key: "db", Value: "d"}}, bson.E{Key: "jsMode", Value: true}, false},
		{bson.D{{Key: "replace", Value: "o"}, {Key: "db", Value: "e"}}, bson.E{Key: "limit", Value: 5}, false},
		{bson.D{{Key: "replace", Value: "o"}, {Key: "db", Value: "e"}}, bson.E{Key: "verbose", Value: true}, true},
		{bson.D{{Key: "merge", Value: "s"}, {Key: "sharded", Value: true}}, bson.E{Key: "jsMode", Value: true}, false},
	} {
		raw, err := db.RunCommand(t.Context(), bson.D{
			{Key: "mapReduce", Value: "u"}, {Key: "map", Value: primitive.JavaScript("function () { emit(this.k, 1); }")},
			{Key: "reduce", Value: primitive.JavaScript("function (k, v) { return Array.sum(v); }")}, {Key: "out", Value: c.out}, c.more,
		}).Raw()
		if (err == nil) != c.taken {
			t.Errorf("%v, %v: %v", c.out, c.more, err)
		}
		if _, shards := raw.Lookup("shardCounts").DocumentOK(); err == nil && shards != (len(c.out) > 1) {
			t.Errorf("%v, %v: %v", c.out, c.more, raw)
		}
	}
}
