package embedded

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
)

// edge is a command and what a 4.0 server answers: a code (of a write error when whole is false), or a part of the reply.
type edge struct {
	cmd   string
	code  int64
	whole bool   // the command itself fails
	path  string // of the reply, dots and all
	want  string // extended JSON of what is there
}

// TestEdges: neighbours of the recorded cases, where commands are easily answered otherwise.
func TestEdges(t *testing.T) {
	e := openEngine(t)
	db := connect(t, e).Database("edges")
	ctx := context.Background()
	seed := func() {
		if err := db.Drop(ctx); err != nil {
			t.Fatal(err)
		}
		var docs []any
		for i := range 4 {
			docs = append(docs, bson.D{{Key: "_id", Value: int32(i)}, {Key: "a", Value: int32(i)}, {Key: "b", Value: bson.A{1, 2, 3}}})
		}
		if _, err := db.Collection("w").InsertMany(ctx, docs); err != nil {
			t.Fatal(err)
		}
	}
	seed()
	for _, c := range []edge{
		// A statement that can't be read fails the whole command, before anything is written.
		{cmd: `{"update": "w", "updates": [{"q": {}, "u": {"$set": {"z": 1}}}, {"q": 5, "u": {}}]}`, code: 14, whole: true},
		{cmd: `{"update": "w", "updates": [{"q": {}, "u": {"$set": {"z": 1}}}, {"u": {}}]}`, code: 40414, whole: true},
		{cmd: `{"update": "w", "updates": [{"q": {}, "u": 5}]}`, code: 14, whole: true},
		{cmd: `{"update": "w", "updates": [{"q": {}, "u": {"$set": {"z": 1}}, "nope": 1}]}`, code: 40415, whole: true},
		{cmd: `{"update": "w", "updates": [{"q": {}, "u": {"$set": {"z": 1}}, "arrayFilters": 5}]}`, code: 14, whole: true},
		{cmd: `{"delete": "w", "deletes": [{"q": {}, "limit": 0}, {"q": {}, "limit": 2}]}`, code: 9, whole: true},
		{cmd: `{"delete": "w", "deletes": [{"q": {}, "limit": {"$numberDouble": "0.5"}}]}`, code: 9, whole: true},
		{cmd: `{"delete": "w", "deletes": [{"q": {}}]}`, code: 40414, whole: true},
		{cmd: `{"count": "w", "query": {"z": {"$exists": false}}}`, path: "n", want: `4`},
		{cmd: `{"update": "w", "updates": [{"q": {"a": {"$nope": 1}}, "u": {"$set": {"z": 1}}}]}`, code: 2},
		// Names with $ below the top level of what an update stores.
		{cmd: `{"update": "w", "updates": [{"q": {"_id": 1}, "u": {"$set": {"z": {"$x": 1}}}}]}`, code: 52},
		{cmd: `{"update": "w", "updates": [{"q": {"_id": 1}, "u": {"$push": {"b": {"$each": [{"y": {"$x": 1}}]}}}}]}`, code: 52},
		{cmd: `{"update": "w", "updates": [{"q": {"_id": 1}, "u": {"$push": {"b": {"$slice": 1}}}}]}`, code: 52},
		{cmd: `{"update": "w", "updates": [{"q": {"_id": 1}, "u": {"z": [{"$x": 1}]}}]}`, code: 52},
		{cmd: `{"update": "w", "updates": [{"q": {"_id": 99}, "u": {"$set": {"z": {"$x": 1}}}}]}`, path: "n", want: `0`},
		{cmd: `{"update": "w", "updates": [{"q": {"_id": 1}, "u": {"$set": {"z": {"$ref": "x", "$id": 1}}}}]}`, path: "nModified", want: `1`},
		{cmd: `{"insert": "w", "documents": [{"_id": {"a": {"$x": 1}}}]}`, code: 52},
		{cmd: `{"insert": "w", "documents": [{"_id": 10, "a": {"$x": 1}}]}`, path: "n", want: `1`},
		{cmd: `{"update": "w", "updates": [{"q": {"_id": 10}, "u": {"$set": {"z": 1}}}]}`, path: "nModified", want: `1`},
		// Array elements as the target of $rename, $ without a match.
		{cmd: `{"update": "w", "updates": [{"q": {"_id": 1}, "u": {"$rename": {"a": "b.0"}}}]}`, code: 2},
		{cmd: `{"update": "w", "updates": [{"q": {"_id": 2}, "u": {"$rename": {"a": "b"}}}]}`, path: "nModified", want: `1`},
		{cmd: `{"update": "w", "updates": [{"q": {"_id": 50, "b": 2}, "u": {"$set": {"b.$": 1}}, "upsert": true}]}`, code: 2},
		// Sorts and types.
		{cmd: `{"find": "w", "sort": {"a": 5}}`, code: 2, whole: true},
		{cmd: `{"find": "w", "sort": {"a": "x"}}`, code: 2, whole: true},
		{cmd: `{"find": "w", "limit": "x"}`, code: 9, whole: true},
		{cmd: `{"find": "w", "projection": 5}`, code: 9, whole: true},
		{cmd: `{"find": "w", "filter": {"a": {"$type": true}}}`, code: 14, whole: true},
		{cmd: `{"findAndModify": "w", "sort": {"a": 5}, "update": {"$set": {"z": 1}}}`, code: 2, whole: true},
		{cmd: `{"count": "w", "limit": "x"}`, code: 2, whole: true},
		{cmd: `{"dropIndexes": "w"}`, code: 27, whole: true},
		{cmd: `{"dropIndexes": "w", "index": 5}`, code: 27, whole: true},
		// Cursors.
		{cmd: `{"getMore": {"$numberLong": "0"}, "collection": "w"}`, code: 2, whole: true},
		{cmd: `{"getMore": {"$numberLong": "5"}}`, code: 9, whole: true},
		{cmd: `{"killCursors": "w", "cursors": []}`, code: 2, whole: true},
		{cmd: `{"killCursors": "w", "cursors": [5]}`, code: 9, whole: true},
		{cmd: `{"killCursors": "w"}`, code: 9, whole: true},
		{cmd: `{"aggregate": "w", "cursor": {}}`, code: 14, whole: true},
		{cmd: `{"aggregate": "w", "pipeline": [], "cursor": {"x": 1}}`, code: 2, whole: true},
		{cmd: `{"aggregate": 1, "pipeline": [], "cursor": {}}`, code: 73, whole: true},
		{cmd: `{"aggregate": 1, "pipeline": [{"$match": {}}], "cursor": {}}`, code: 73, whole: true},
		{cmd: `{"aggregate": 1, "pipeline": [{"$documents": [{"a": 1}]}], "cursor": {}}`, path: "cursor.firstBatch.0.a", want: `1`},
		// A constant that fails, fails without documents too.
		{cmd: `{"aggregate": "none", "pipeline": [{"$project": {"x": {"$divide": [1, 0]}}}], "cursor": {}}`, code: 16608, whole: true},
		// mapReduce.
		{cmd: `{"mapReduce": 5, "map": "x", "reduce": "x", "out": {"inline": 1}}`, code: 14, whole: true},
		{cmd: `{"mapReduce": "none", "map": "x", "reduce": "x", "out": 5}`, code: 13606, whole: true},
		{cmd: `{"mapReduce": "none", "map": "x", "reduce": "x", "out": {"inline": 1}, "query": {"$nope": 1}}`, code: 26, whole: true},
		{cmd: `{"mapReduce": "w", "map": "x", "reduce": "x", "out": {"inline": 1}, "query": {"$nope": 1}}`, code: 17238, whole: true},
		{cmd: `{"mapReduce": "w", "map": "x", "reduce": "x", "out": {"inline": 1}, "collation": null}`, code: 40082, whole: true},
		{cmd: `{"mapReduce": "w", "map": "function () { emit(1, 1); }", "reduce": "function (k, v) { return v.length; }", "out": {"replace": "o", "db": ""}}`, path: "result", want: `"o"`},
	} {
		t.Run(c.cmd, func(t *testing.T) {
			var cmd bson.D
			if err := bson.UnmarshalExtJSON([]byte(c.cmd), false, &cmd); err != nil {
				t.Fatal(err)
			}
			raw, _ := bson.Marshal(cmd)
			if err := c.check(reply(ctx, db, raw)); err != nil {
				t.Error(err)
			}
		})
	}
}

func (c edge) check(r bson.Raw) error {
	failed := asFloat(r.Lookup("ok")) == 0
	code, _ := r.Lookup("code").AsInt64OK()
	if list, ok := r.Lookup("writeErrors").ArrayOK(); ok {
		code = list.Index(0).Value().Document().Lookup("code").AsInt64()
	}
	switch {
	case code != c.code || failed != c.whole:
		return fmt.Errorf("code %d, the command failed: %v; want %d, %v: %v", code, failed, c.code, c.whole, r)
	case c.path == "":
		return nil
	}
	var want bson.Raw
	if err := bson.UnmarshalExtJSON([]byte(`{"v": `+c.want+`}`), false, &want); err != nil {
		return err
	}
	if got, w := r.Lookup(strings.Split(c.path, ".")...), want.Lookup("v"); canon(got, nil, false) != canon(w, nil, false) {
		return fmt.Errorf("%s is %v, want %v: %v", c.path, got, w, r)
	}
	return nil
}
