package pipeline

import (
	"fmt"
	"strings"
	"testing"

	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

func graph(extra string) string {
	return `[{"$match": {"_id": 4}}, {"$graphLookup": {"from": "c", "startWith": "$boss", "connectFromField": "boss", "connectToField": "name", "as": "up"` + extra + `}}, {"$unwind": "$up"}, {"$replaceRoot": {"newRoot": "$up"}}, {"$sort": {"_id": -1}}]`
}

func TestGraphLookup(t *testing.T) {
	overDocs(t, []string{`{"_id": 1, "name": "ann"}`, `{"_id": 2, "name": "bob", "boss": "ann"}`, `{"_id": 3, "name": "cid", "boss": ["bob", "dan"]}`, `{"_id": 4, "name": "dan", "boss": "cid"}`, `{"_id": 5, "name": null}`}, []stageCase{
		{stages: graph(``), want: []string{`{"_id": 4, "name": "dan", "boss": "cid"}`, `{"_id": 3, "name": "cid", "boss": ["bob", "dan"]}`, `{"_id": 2, "name": "bob", "boss": "ann"}`, `{"_id": 1, "name": "ann"}`}},
		{stages: graph(`, "maxDepth": 0`), want: []string{`{"_id": 3, "name": "cid", "boss": ["bob", "dan"]}`}},
		{stages: graph(`, "maxDepth": 2, "depthField": "far.steps", "restrictSearchWithMatch": {"_id": {"$lt": 4}}`), want: []string{
			`{"_id": 3, "name": "cid", "boss": ["bob", "dan"], "far": {"steps": {"$numberLong": "0"}}}`, `{"_id": 2, "name": "bob", "boss": "ann", "far": {"steps": {"$numberLong": "1"}}}`, `{"_id": 1, "name": "ann", "far": {"steps": {"$numberLong": "2"}}}`,
		}},
		{stages: `[{"$match": {"_id": 1}}, {"$graphLookup": {"from": "nowhere", "startWith": "$name", "connectFromField": "a", "connectToField": "b", "as": "x.y"}}]`, want: []string{`{"_id": 1, "name": "ann", "x": {"y": []}}`}},
		{stages: `[{"$match": {"_id": 1}}, {"$graphLookup": {"from": "c", "startWith": ["ann", {"$concat": ["bo", "b"]}], "connectFromField": "x", "connectToField": "name", "as": "x"}}, {"$project": {"x._id": 1}}]`, want: []string{`{"_id": 1, "x": [{"_id": 1}, {"_id": 2}]}`}},
		{stages: `[{"$graphLookup": 4}]`, code: 9},
		{stages: graph(`, "maxDepth": "s"`), code: 40100},
		{stages: graph(`, "maxDepth": -1`), code: 40101},
		{stages: graph(`, "maxDepth": 2.3`), code: 40102},
		{stages: graph(`, "from": 1`), code: 9},
		{stages: graph(`, "from": ""`), code: 73},
		{stages: graph(`, "as": 0`), code: 40103},
		{stages: graph(`, "as": "$x"`), code: 16410},
		{stages: graph(`, "depthField": 0`), code: 40103},
		{stages: graph(`, "restrictSearchWithMatch": "x"`), code: 40185},
		{stages: graph(`, "restrictSearchWithMatch": {"$expr": {"$eq": ["$x", "$$unbound"]}}`), code: 17276},
		{stages: graph(`, "notAField": 1`), code: 40104},
		{stages: `[{"$graphLookup": {"from": "c", "startWith": "$a", "connectFromField": "b", "as": "x"}}]`, code: 40105},
		{stages: `[{"$graphLookup": {"startWith": "$a", "connectFromField": "b", "connectToField": "b", "as": "x"}}]`, code: 9},
	})
}

// TestGraphLookupMemory: a search that finds too much is refused.
func TestGraphLookupMemory(t *testing.T) {
	db := openDB(t)
	insertJSON(t, db, testNS, `{"_id": 1}`)
	var docs []string
	for i := range 40 {
		docs = append(docs, fmt.Sprintf(`{"_id": %d, "a": 1, "s": "%s"}`, i, strings.Repeat("x", 50_000)))
	}
	insertJSON(t, db, store.NS{DB: "d", Coll: "big"}, docs...)
	o := options(db)
	o.MemoryLimit = 1 << 20
	_, err := runAll(array(t, `[{"$graphLookup": {"from": "big", "startWith": 1, "connectFromField": "none", "connectToField": "a", "as": "x"}}]`), o)
	if mongoerr.CodeOf(err) != 40099 {
		t.Errorf("got %v", err)
	}
}
