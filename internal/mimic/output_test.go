package mimic

import (
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

// Outputs that a version or router does not write to are refused with the codes of the real ones.
func TestOutputs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version  string
		topology Topology
		out      bson.D
		sharded  bool // the output is
		null     bool // there is a document without the key
		want     int32
	}{
		{"4.0.3", Mongos, bson.D{{Key: "merge", Value: "o"}, {Key: "nonAtomic", Value: true}}, true, false, 15920},
		{"4.0.3", Mongos, bson.D{{Key: "merge", Value: "o"}, {Key: "sharded", Value: true}, {Key: "nonAtomic", Value: true}}, true, true, 0},
		{"4.0.3", Mongos, bson.D{{Key: "reduce", Value: "o"}, {Key: "sharded", Value: true}}, false, true, 0},
		{"4.4.29", Mongos, bson.D{{Key: "merge", Value: "o"}, {Key: "nonAtomic", Value: true}}, true, false, 0},
		{"4.4.29", Standalone, bson.D{{Key: "merge", Value: "o"}, {Key: "nonAtomic", Value: true}}, false, true, 51132},
		{"4.4.29", Standalone, bson.D{{Key: "replace", Value: "o"}}, false, true, 0},
		{"4.2.24", Standalone, bson.D{{Key: "merge", Value: "o"}, {Key: "nonAtomic", Value: true}}, false, true, 0},
	} {
		t.Run(c.version, func(t *testing.T) {
			t.Parallel()
			client := Start(t, Config{Version: c.version, Topology: c.topology}).Client(t)
			db := client.Database("d")
			doc := bson.D{{Key: "k", Value: 1}}
			if c.null {
				doc = bson.D{{Key: "x", Value: 1}}
			}
			if _, err := db.Collection("u").InsertOne(t.Context(), doc); err != nil {
				t.Fatal(err)
			}
			if c.sharded {
				for _, cmd := range []bson.D{{{Key: "enableSharding", Value: "d"}}, {{Key: "shardCollection", Value: "d.o"}, {Key: "key", Value: bson.D{{Key: "_id", Value: 1}}}}} {
					if err := client.Database("admin").RunCommand(t.Context(), cmd).Err(); err != nil {
						t.Fatal(err)
					}
				}
			}
			err := db.RunCommand(t.Context(), bson.D{
				{Key: "mapReduce", Value: "u"}, {Key: "map", Value: "function () { emit(this.k, 1); }"},
				{Key: "reduce", Value: "function (k, v) { return Array.sum(v); }"}, {Key: "out", Value: c.out},
			}).Err()
			if code(err) != c.want || c.want == 0 && err != nil {
				t.Errorf("%v: %v, not %d", c.out, err, c.want)
			}
			if !c.sharded {
				return
			}
			if _, err := db.Collection("u").Aggregate(t.Context(), mongo.Pipeline{{{Key: "$out", Value: "o"}}}); code(err) != 28769 {
				t.Errorf("$out: %v", err)
			}
		})
	}
}
