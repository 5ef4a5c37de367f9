package mimic

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// shardedBy starts a router with the collection d.u, sharded.
func shardedBy(t *testing.T, version string, key bson.D) *mongo.Collection {
	t.Helper()
	client := Start(t, Config{Version: version, Topology: Mongos}).Client(t)
	for _, cmd := range []bson.D{{{Key: "enableSharding", Value: "d"}}, {{Key: "shardCollection", Value: "d.u"}, {Key: "key", Value: key}}} {
		if err := client.Database("admin").RunCommand(t.Context(), cmd).Err(); err != nil {
			t.Fatal(err)
		}
	}
	return client.Database("d").Collection("u")
}

// failures are the write errors of a command, "index code text".
func failures(t *testing.T, err error) (list []string) {
	t.Helper()
	var bulk mongo.BulkWriteException
	if err != nil && !errors.As(err, &bulk) {
		t.Fatalf("%v", err)
	}
	for _, e := range bulk.WriteErrors {
		list = append(list, fmt.Sprint(e.Index, " ", e.Code, " ", e.Message))
	}
	return list
}

// A router before 4.4 takes no document without the shard key, later ones none with an array in it; the others of the command are written.
func TestInsertsNeedTheShardKey(t *testing.T) {
	t.Parallel()
	docs := func(change bson.E) []any {
		return []any{
			bson.D{{Key: "_id", Value: 0}, {Key: "a", Value: bson.D{{Key: "b", Value: 1}}}, {Key: "c", Value: nil}},
			append(bson.D{{Key: "_id", Value: 1}, {Key: "c", Value: 1.5}}, change),
			bson.D{{Key: "_id", Value: 0}, {Key: "a", Value: bson.D{{Key: "b", Value: 2}}}, {Key: "c", Value: "x"}},
			bson.D{{Key: "_id", Value: 3}, {Key: "a", Value: bson.D{{Key: "b", Value: 3}}}, {Key: "c", Value: true}},
		}
	}
	other := bson.E{Key: "x", Value: "y"}
	array := bson.E{Key: "a", Value: bson.A{bson.D{{Key: "b", Value: int64(2)}}}}
	const pattern = " does not contain shard key for pattern { a.b: 1, c: 1 }"
	for _, c := range []struct {
		version string
		change  bson.E
		text    string // of document 1's error; "": it is taken
	}{
		{"3.6.23", other, `61 document { _id: 1, c: 1.5, x: "y" }` + pattern},
		{"4.0.3", other, `61 document { _id: 1, c: 1.5, x: "y" }` + pattern},
		{"4.2.24", array, `61 document { _id: 1, c: 1.5, a: [ { b: 2 } ] }` + pattern},
		{"4.4.29", other, ""},
		{"8.0.4", array, "61 Shard key cannot contain array values or array descendants."},
	} {
		for _, ordered := range []bool{true, false} {
			t.Run(fmt.Sprint(c.version, ordered), func(t *testing.T) {
				t.Parallel()
				coll := shardedBy(t, c.version, bson.D{{Key: "a.b", Value: 1}, {Key: "c", Value: 1}})
				_, err := coll.InsertMany(t.Context(), docs(c.change), options.InsertMany().SetOrdered(ordered))
				got := failures(t, err)
				refused := c.text != ""
				want := 0
				if refused {
					want++
				}
				if !ordered || !refused {
					want++ // the duplicate
				}
				if len(got) != want || refused && !strings.Contains(strings.Join(got, "\n"), "1 "+c.text) || !ordered && !strings.Contains(strings.Join(got, "\n"), "2 11000 ") {
					t.Errorf("%q", got)
				}
				there := map[bool]int64{true: 1, false: 2}[ordered]
				if !refused {
					there++
				}
				if n, err := coll.CountDocuments(t.Context(), bson.D{}); n != there || err != nil {
					t.Errorf("%d documents, not %d, %v", n, there, err)
				}
			})
		}
	}
}

// Updates name a shard: upserts by the key, those of one document by the key or _id.
func TestUpdatesNeedTheShardKey(t *testing.T) {
	t.Parallel()
	set := bson.D{{Key: "$set", Value: bson.D{{Key: "v", Value: 1}}}}
	id, k, both := bson.D{{Key: "_id", Value: 1}}, bson.D{{Key: "k", Value: 1}}, bson.D{{Key: "_id", Value: 1}, {Key: "k", Value: bson.D{{Key: "$eq", Value: 1}}}}
	for _, c := range []struct {
		name  string
		model mongo.WriteModel
		code  map[string]int // by version
		text  string         // on 4.0
	}{
		{"by key", mongo.NewUpdateOneModel().SetFilter(k).SetUpdate(set), nil, ""},
		{"by _id", mongo.NewUpdateOneModel().SetFilter(id).SetUpdate(set), nil, ""},
		{"all", mongo.NewUpdateManyModel().SetFilter(bson.D{}).SetUpdate(set), nil, ""},
		{"by another field", mongo.NewUpdateOneModel().SetFilter(bson.D{{Key: "v", Value: 1}}).SetUpdate(set), map[string]int{"4.0.3": 61, "4.2.24": 72, "6.0.5": 72}, "A single update on a sharded collection must contain an exact match on _id"},
		{"by a range", mongo.NewUpdateOneModel().SetFilter(bson.D{{Key: "k", Value: bson.D{{Key: "$gt", Value: 1}}}}).SetUpdate(set), map[string]int{"4.0.3": 61, "4.2.24": 72, "6.0.5": 72}, "A single update"},
		{"upsert by key", mongo.NewUpdateOneModel().SetFilter(both).SetUpdate(set).SetUpsert(true), nil, ""},
		{"upsert by _id", mongo.NewUpdateOneModel().SetFilter(id).SetUpdate(set).SetUpsert(true), map[string]int{"4.0.3": 61, "4.2.24": 61, "6.0.5": 61}, "An upsert on a sharded collection must contain the shard key and have the simple collation. Update request: { q: { _id: 1 }, u: { $set: { v: 1 } }, upsert: true"},
		{"replacement with it", mongo.NewReplaceOneModel().SetFilter(id).SetReplacement(bson.D{{Key: "_id", Value: 1}, {Key: "k", Value: 1}}).SetUpsert(true), nil, ""},
		{"replacement without it", mongo.NewReplaceOneModel().SetFilter(id).SetReplacement(bson.D{{Key: "v", Value: 1}}).SetUpsert(true), map[string]int{"4.0.3": 61, "4.2.24": 61}, "shard key pattern: { k: 1 }"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, version := range []string{"4.0.3", "4.2.24", "6.0.5", "7.0.2"} {
				coll := shardedBy(t, version, k)
				if _, err := coll.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}, {Key: "k", Value: 1}}); err != nil {
					t.Fatal(err)
				}
				_, err := coll.BulkWrite(t.Context(), []mongo.WriteModel{c.model})
				got := failures(t, err)
				code := c.code[version]
				if (code != 0) != (len(got) == 1) || code != 0 && !strings.HasPrefix(got[0], fmt.Sprint("0 ", code, " ")) {
					t.Errorf("%s: %q, not %d", version, got, code)
				}
				if version == "4.0.3" && code != 0 && !strings.Contains(got[0], c.text) {
					t.Errorf("%s: %q", version, got)
				}
			}
		})
	}
}
