package embedded

import (
	"context"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

// TestExplain: the plan shows which index is used and whether its entries answer alone, for each command that reads.
func TestExplain(t *testing.T) {
	coll := connect(t, openEngine(t)).Database("d").Collection("c")
	insertNumbers(t, coll, 100, bson.E{Key: "a", Value: 5}, bson.E{Key: "b", Value: "x"})
	if _, err := coll.Indexes().CreateOne(context.Background(), mongo.IndexModel{Keys: bson.D{{Key: "a", Value: 1}}}); err != nil {
		t.Fatal(err)
	}
	a5 := bson.D{{Key: "a", Value: 5}}
	for _, c := range []struct {
		name   string
		cmd    bson.D
		has    []string
		hasNot []string
	}{
		{
			"covered",
			bson.D{{Key: "find", Value: "c"}, {Key: "filter", Value: a5}, {Key: "projection", Value: bson.D{{Key: "_id", Value: 0}, {Key: "a", Value: 1}}}},
			[]string{"IXSCAN", "a_1"},
			[]string{"FETCH", "COLLSCAN"},
		},
		{"fetched", bson.D{{Key: "find", Value: "c"}, {Key: "filter", Value: a5}}, []string{"IXSCAN", "FETCH", "a_1"}, []string{"COLLSCAN"}},
		{"scanned", bson.D{{Key: "find", Value: "c"}, {Key: "filter", Value: bson.D{{Key: "b", Value: "x"}}}}, []string{"COLLSCAN"}, []string{"IXSCAN"}},
		{"count", bson.D{{Key: "count", Value: "c"}, {Key: "query", Value: a5}}, []string{"IXSCAN", "a_1"}, []string{"FETCH", "COLLSCAN"}},
		{"distinct", bson.D{{Key: "distinct", Value: "c"}, {Key: "key", Value: "a"}, {Key: "query", Value: a5}}, []string{"a_1"}, []string{"FETCH", "COLLSCAN"}},
		{"update", bson.D{{Key: "update", Value: "c"}, {Key: "updates", Value: bson.A{bson.D{{Key: "q", Value: a5}, {Key: "u", Value: bson.D{{Key: "$set", Value: bson.D{{Key: "z", Value: 1}}}}}}}}}, []string{"a_1"}, []string{"COLLSCAN"}},
		{"delete", bson.D{{Key: "delete", Value: "c"}, {Key: "deletes", Value: bson.A{bson.D{{Key: "q", Value: a5}, {Key: "limit", Value: 0}}}}}, []string{"a_1"}, []string{"COLLSCAN"}},
		{"findAndModify", bson.D{{Key: "findAndModify", Value: "c"}, {Key: "query", Value: a5}, {Key: "remove", Value: true}}, []string{"a_1"}, []string{"COLLSCAN"}},
		{"mapReduce", bson.D{{Key: "mapReduce", Value: "c"}, {Key: "map", Value: "function(){}"}, {Key: "reduce", Value: "function(){}"}, {Key: "out", Value: "o"}, {Key: "sort", Value: bson.D{{Key: "a", Value: 1}}}}, []string{"a_1"}, []string{"COLLSCAN"}},
		{"aggregate", bson.D{{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: bson.A{bson.D{{Key: "$match", Value: a5}}, bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$a"}, {Key: "n", Value: bson.D{{Key: "$sum", Value: 1}}}}}}}}, {Key: "cursor", Value: bson.D{}}}, []string{"IXSCAN", "a_1"}, []string{"FETCH", "COLLSCAN"}},
		{"missing collection", bson.D{{Key: "find", Value: "nope"}}, []string{"EOF"}, nil},
	} {
		for _, verbosity := range []string{"queryPlanner", "executionStats"} {
			r := run(t, coll.Database(), bson.D{{Key: "explain", Value: c.cmd}, {Key: "verbosity", Value: verbosity}}).String()
			for _, s := range c.has {
				if !strings.Contains(r, s) {
					t.Errorf("%s: no %s in %s", c.name, s, r)
				}
			}
			for _, s := range c.hasNot {
				if strings.Contains(r, `"`+s+`"`) {
					t.Errorf("%s: %s in %s", c.name, s, r)
				}
			}
		}
	}
	if n := run(t, coll.Database(), bson.D{{Key: "count", Value: "c"}}).Lookup("n").Int32(); n != 100 {
		t.Errorf("explain of writes left %d documents", n)
	}
	r := run(t, coll.Database(), bson.D{{Key: "explain", Value: bson.D{{Key: "find", Value: "c"}, {Key: "filter", Value: a5}}}, {Key: "verbosity", Value: "executionStats"}})
	if n := r.Lookup("executionStats", "nReturned").AsInt64(); n != 100 {
		t.Errorf("nReturned %d", n)
	}
	fails(t, coll.Database(), 59, bson.D{{Key: "explain", Value: bson.D{{Key: "insert", Value: "c"}}}})
}
