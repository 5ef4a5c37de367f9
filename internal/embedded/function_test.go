package embedded

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
)

// TestFunctionInFilters: $function in a filter's $expr works in every command that takes a filter, and is stopped at
// maxTimeMS in each.
func TestFunctionInFilters(t *testing.T) {
	filter := func(body string) bson.D {
		return bson.D{{Key: "$expr", Value: bson.D{{Key: "$function", Value: bson.D{
			{Key: "body", Value: body}, {Key: "args", Value: bson.A{"$a"}}, {Key: "lang", Value: "js"},
		}}}}}
	}
	odd := filter("function(a) { return a % 2 == 1 }")
	endless := filter("function(a) { for (;;) {} }")
	for _, c := range []struct {
		name string
		cmd  func(f bson.D) bson.D
		want string // of the reply, or of its part
		part string
	}{
		{"find", func(f bson.D) bson.D {
			return bson.D{{Key: "find", Value: "c"}, {Key: "filter", Value: f}, {Key: "projection", Value: bson.D{{Key: "_id", Value: 1}}}}
		}, `[{"_id": {"$numberInt":"1"}},{"_id": {"$numberInt":"3"}}]`, "cursor.firstBatch"},
		{"sorted find", func(f bson.D) bson.D {
			return bson.D{{Key: "find", Value: "c"}, {Key: "filter", Value: f}, {Key: "sort", Value: bson.D{{Key: "a", Value: -1}}}, {Key: "limit", Value: 1}, {Key: "projection", Value: bson.D{{Key: "_id", Value: 1}}}}
		}, `[{"_id": {"$numberInt":"3"}}]`, "cursor.firstBatch"},
		{"count", func(f bson.D) bson.D { return bson.D{{Key: "count", Value: "c"}, {Key: "query", Value: f}} }, `{"$numberInt":"2"}`, "n"},
		{"distinct", func(f bson.D) bson.D {
			return bson.D{{Key: "distinct", Value: "c"}, {Key: "key", Value: "a"}, {Key: "query", Value: f}}
		}, `[{"$numberInt":"1"},{"$numberInt":"3"}]`, "values"},
		{"aggregate", func(f bson.D) bson.D {
			return bson.D{{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: bson.A{bson.D{{Key: "$match", Value: f}}, bson.D{{Key: "$count", Value: "n"}}}}, {Key: "cursor", Value: bson.D{}}}
		}, `[{"n": {"$numberInt":"2"}}]`, "cursor.firstBatch"},
		{"updateMany", func(f bson.D) bson.D {
			return bson.D{{Key: "update", Value: "c"}, {Key: "updates", Value: bson.A{bson.D{{Key: "q", Value: f}, {Key: "u", Value: bson.D{{Key: "$set", Value: bson.D{{Key: "b", Value: 1}}}}}, {Key: "multi", Value: true}}}}}
		}, `{"$numberInt":"2"}`, "nModified"},
		{"updateOne", func(f bson.D) bson.D {
			return bson.D{{Key: "update", Value: "c"}, {Key: "updates", Value: bson.A{bson.D{{Key: "q", Value: f}, {Key: "u", Value: bson.D{{Key: "$set", Value: bson.D{{Key: "b", Value: 2}}}}}}}}}
		}, `{"$numberInt":"1"}`, "nModified"},
		{"findAndModify", func(f bson.D) bson.D {
			return bson.D{{Key: "findAndModify", Value: "c"}, {Key: "query", Value: f}, {Key: "sort", Value: bson.D{{Key: "a", Value: -1}}}, {Key: "remove", Value: true}, {Key: "fields", Value: bson.D{{Key: "a", Value: 1}}}}
		}, `{"_id": {"$numberInt":"3"},"a": {"$numberInt":"3"}}`, "value"},
		{"mapReduce", func(f bson.D) bson.D {
			return bson.D{{Key: "mapReduce", Value: "c"}, {Key: "map", Value: "function() { emit(1, 1) }"}, {Key: "reduce", Value: "function(k, v) { return Array.sum(v) }"}, {Key: "query", Value: f}, {Key: "out", Value: bson.D{{Key: "inline", Value: 1}}}}
		}, `{"$numberInt":"2"}`, "counts.input"},
		{"delete", func(f bson.D) bson.D {
			return bson.D{{Key: "delete", Value: "c"}, {Key: "deletes", Value: bson.A{bson.D{{Key: "q", Value: f}, {Key: "limit", Value: 0}}}}}
		}, `{"$numberInt":"2"}`, "n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := connect(t, openEngine(t)).Database("d")
			docs := bson.A{}
			for i := range 4 {
				docs = append(docs, bson.D{{Key: "_id", Value: i}, {Key: "a", Value: i}})
			}
			run(t, db, bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: docs}})
			late := append(c.cmd(endless), bson.E{Key: "maxTimeMS", Value: 50})
			err := db.RunCommand(t.Context(), late).Err()
			if got := codeOf(err); got != 50 {
				t.Errorf("endless: code %d (%v), want 50", got, err)
			}
			got := run(t, db, c.cmd(odd)).Lookup(strings.Split(c.part, ".")...).String()
			if got != c.want {
				t.Errorf("%s is %s, want %s", c.part, got, c.want)
			}
		})
	}
}
