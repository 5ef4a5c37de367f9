package pipeline

import (
	"slices"
	"testing"

	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

type stageCase struct {
	stages string
	want   []string // extended JSON of the documents, in order
	code   mongoerr.Code
}

func stageData(t *testing.T) *store.DB {
	db := openDB(t)
	insertJSON(t, db, testNS,
		`{"_id": 1, "a": 3, "b": {"c": 1, "d": [1, 2]}, "t": ["x", "y"]}`,
		`{"_id": 2, "a": 1, "b": {"c": 2}, "t": []}`,
		`{"_id": 3, "a": 2, "b": [{"c": 5, "e": 1}, 7], "t": null}`,
		`{"_id": 4, "b": 9, "t": "s"}`)
	insertJSON(t, db, store.NS{DB: "d", Coll: "other"}, `{"_id": 10, "k": 1, "v": "one"}`, `{"_id": 11, "k": [2, 3], "v": "both"}`, `{"_id": 12, "v": "none"}`)
	return db
}

func runCases(t *testing.T, cases []stageCase) {
	t.Helper()
	runCasesOn(t, stageData(t), cases)
}

func runCasesOn(t *testing.T, db *store.DB, cases []stageCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.stages, func(t *testing.T) {
			got, err := runAll(array(t, c.stages), options(db))
			if c.code != 0 || err != nil {
				if mongoerr.CodeOf(err) != c.code {
					t.Fatalf("code %d (%v), want %d; got %v", mongoerr.CodeOf(err), err, c.code, texts(got))
				}
				return
			}
			want := []string{}
			for _, w := range c.want {
				want = append(want, text(doc(t, w)))
			}
			if have := texts(got); !slices.Equal(have, want) {
				t.Errorf("\n got %v\nwant %v", have, want)
			}
		})
	}
}

func TestProject(t *testing.T) {
	runCases(t, []stageCase{
		{stages: `[{"$project": {"a": 1}}]`, want: []string{`{"_id": 1, "a": 3}`, `{"_id": 2, "a": 1}`, `{"_id": 3, "a": 2}`, `{"_id": 4}`}},
		{stages: `[{"$project": {"a": 1, "_id": 0}}, {"$limit": 1}]`, want: []string{`{"a": 3}`}},
		{stages: `[{"$project": {"b.c": 1}}]`, want: []string{`{"_id": 1, "b": {"c": 1}}`, `{"_id": 2, "b": {"c": 2}}`, `{"_id": 3, "b": [{"c": 5}]}`, `{"_id": 4}`}},
		{stages: `[{"$project": {"b": {"c": 1, "n": "$a"}}}]`, want: []string{
			`{"_id": 1, "b": {"c": 1, "n": 3}}`, `{"_id": 2, "b": {"c": 2, "n": 1}}`,
			`{"_id": 3, "b": [{"c": 5, "n": 2}, {"n": 2}]}`, `{"_id": 4, "b": {}}`,
		}},
		{stages: `[{"$project": {"b.c": 0, "t": 0}}]`, want: []string{
			`{"_id": 1, "a": 3, "b": {"d": [1, 2]}}`, `{"_id": 2, "a": 1, "b": {}}`,
			`{"_id": 3, "a": 2, "b": [{"e": 1}, 7]}`, `{"_id": 4, "b": 9}`,
		}},
		{stages: `[{"$project": {"_id": 0, "t": 0, "b": 0}}]`, want: []string{`{"a": 3}`, `{"a": 1}`, `{"a": 2}`, `{}`}},
		{
			stages: `[{"$match": {"_id": 1}}, {"$project": {"x": {"y": {"$add": ["$a", 1]}}, "lit": "s", "arr": ["$a", "$nope"]}}]`,
			want:   []string{`{"_id": 1, "x": {"y": 4}, "lit": "s", "arr": [3, null]}`},
		},
		{stages: `[{"$project": {"a": 1, "b": 0}}]`, code: 40178},
		{stages: `[{"$project": {"b": 0, "a": 1}}]`, code: 40179},
		{stages: `[{"$project": {"b": 0, "a": {"$add": [1]}}}]`, code: 40179},
		{stages: `[{"$project": {}}]`, code: 40177},
		{stages: `[{"$project": 5}]`, code: 15969},
		{stages: `[{"$project": {"a": 1, "a.b": 1}}]`, code: 40176},
		{stages: `[{"$project": {"a": {}}}]`, code: 40180},
		{stages: `[{"$project": {"a": {"b.c": 1}}}]`, code: 40183},
		{stages: `[{"$project": {"a": {"$nope": 1}}}]`, code: 168},
		{
			stages: `[{"$match": {"_id": 1}}, {"$addFields": {"a": {"$add": ["$a", 10]}, "b.c": "$$REMOVE", "z.y": 1}}]`,
			want:   []string{`{"_id": 1, "a": 13, "b": {"d": [1, 2]}, "t": ["x", "y"], "z": {"y": 1}}`},
		},
		{stages: `[{"$match": {"_id": 4}}, {"$set": {"b.c": 1}}]`, want: []string{`{"_id": 4, "b": {"c": 1}, "t": "s"}`}},
		{stages: `[{"$addFields": 3}]`, code: 40272},
		{stages: `[{"$match": {"_id": 4}}, {"$unset": ["t", "b.c"]}]`, want: []string{`{"_id": 4, "b": 9}`}},
		{stages: `[{"$unset": 3}]`, code: 31002},
		{stages: `[{"$match": {"_id": 2}}, {"$replaceRoot": {"newRoot": "$b"}}]`, want: []string{`{"c": 2}`}},
		{stages: `[{"$match": {"_id": 2}}, {"$replaceWith": {"q": "$a"}}]`, want: []string{`{"q": 1}`}},
		{stages: `[{"$match": {"_id": 4}}, {"$replaceWith": "$b"}]`, code: 40228},
		{stages: `[{"$replaceRoot": {}}]`, code: 40231},
		{stages: `[{"$match": {"_id": 1}}, {"$redact": {"$cond": [{"$eq": ["$c", 1]}, "$$PRUNE", "$$DESCEND"]}}]`, want: []string{`{"_id": 1, "a": 3, "t": ["x", "y"]}`}},
		{stages: `[{"$redact": 5}]`, code: 17053},
	})
}

func TestSimpleStages(t *testing.T) {
	runCases(t, []stageCase{
		{stages: `[{"$sort": {"a": 1}}, {"$project": {"_id": 1}}]`, want: []string{`{"_id": 4}`, `{"_id": 2}`, `{"_id": 3}`, `{"_id": 1}`}},
		{stages: `[{"$sort": {"a": -1}}, {"$limit": 2}, {"$skip": 1}, {"$project": {"_id": 1}}]`, want: []string{`{"_id": 3}`}},
		{stages: `[{"$skip": 1}, {"$limit": 2}, {"$limit": 1}, {"$project": {"_id": 1}}]`, want: []string{`{"_id": 2}`}},
		{stages: `[{"$limit": 2}, {"$skip": 3}]`, want: nil},
		{stages: `[{"$limit": 2}, {"$match": {"a": {"$lt": 3}}}, {"$project": {"_id": 1}}]`, want: []string{`{"_id": 2}`}},
		{stages: `[{"$limit": 0}]`, code: 15958},
		{stages: `[{"$limit": "x"}]`, code: 15957},
		{stages: `[{"$skip": -1}]`, code: 15956},
		{stages: `[{"$sort": 1}]`, code: 15973},
		{stages: `[{"$sort": {}}]`, code: 15976},
		{stages: `[{"$unwind": "$t"}, {"$project": {"t": 1}}]`, want: []string{`{"_id": 1, "t": "x"}`, `{"_id": 1, "t": "y"}`, `{"_id": 4, "t": "s"}`}},
		{
			stages: `[{"$unwind": {"path": "$t", "preserveNullAndEmptyArrays": true, "includeArrayIndex": "i.n"}}, {"$project": {"t": 1, "i": 1}}]`,
			want: []string{
				`{"_id": 1, "t": "x", "i": {"n": {"$numberLong": "0"}}}`, `{"_id": 1, "t": "y", "i": {"n": {"$numberLong": "1"}}}`,
				`{"_id": 2, "i": {"n": null}}`, `{"_id": 3, "t": null, "i": {"n": null}}`, `{"_id": 4, "t": "s", "i": {"n": null}}`,
			},
		},
		{stages: `[{"$match": {"_id": 1}}, {"$unwind": "$b.d"}, {"$project": {"b": 1}}]`, want: []string{`{"_id": 1, "b": {"c": 1, "d": 1}}`, `{"_id": 1, "b": {"c": 1, "d": 2}}`}},
		{stages: `[{"$unwind": "t"}]`, code: 28818},
		{stages: `[{"$unwind": 5}]`, code: 15981},
		{stages: `[{"$unwind": {}}]`, code: 28812},
		{stages: `[{"$count": "n"}]`, want: []string{`{"n": 4}`}},
		{stages: `[{"$skip": 3}, {"$count": "n"}]`, want: []string{`{"n": 1}`}},
		{stages: `[{"$match": {"a": {"$gt": 1}}}, {"$count": "n"}]`, want: []string{`{"n": 2}`}},
		{stages: `[{"$count": ""}]`, code: 40157},
		{stages: `[{"$count": 5}]`, code: 40156},
		{stages: `[{"$sortByCount": {"$type": "$t"}}, {"$limit": 1}]`, want: []string{`{"_id": "array", "count": 2}`}},
		{stages: `[{"$sortByCount": "t"}]`, code: 40148},
		{stages: `[{"$sample": {"size": 10}}, {"$count": "n"}]`, want: []string{`{"n": 4}`}},
		{stages: `[{"$sample": {"size": 2}}, {"$count": "n"}]`, want: []string{`{"n": 2}`}},
		{stages: `[{"$sample": {"size": -1}}]`, code: 28747},
		{stages: `[{"$sample": {}}]`, code: 28749},
		{stages: `[{"$bucket": {"groupBy": "$a", "boundaries": [1, 3], "default": "x"}}]`, want: []string{`{"_id": 1, "count": 2}`, `{"_id": "x", "count": 2}`}},
		{stages: `[{"$bucket": {"groupBy": "$a", "boundaries": [1, 3]}}]`, code: 40066},
		{stages: `[{"$bucket": {"groupBy": "$a", "boundaries": [3, 1]}}]`, code: 40194},
		{stages: `[{"$bucket": {"groupBy": "$a"}}]`, code: 40198},
		{
			stages: `[{"$bucketAuto": {"groupBy": "$_id", "buckets": 2, "output": {"s": {"$sum": "$_id"}}}}]`,
			want:   []string{`{"_id": {"min": 1, "max": 3}, "s": 3}`, `{"_id": {"min": 3, "max": 4}, "s": 7}`},
		},
		{stages: `[{"$bucketAuto": {"groupBy": "$_id", "buckets": 0}}]`, code: 40243},
		{
			stages: `[{"$facet": {"n": [{"$count": "n"}], "m": [{"$match": {"a": 1}}, {"$project": {"a": 1}}], "e": []}}, {"$project": {"e": {"$size": "$e"}, "n": 1, "m": 1}}]`,
			want:   []string{`{"n": [{"n": 4}], "m": [{"_id": 2, "a": 1}], "e": 4}`},
		},
		{stages: `[{"$facet": {}}]`, code: 40169},
		{stages: `[{"$facet": {"a": [{"$out": "x"}]}}]`, code: 40600},
		{stages: `[{"$facet": {"a": [{"$replaceWith": 1}], "b": []}}]`, code: 40228},
		{
			stages: `[{"$match": {"a": 1}}, {"$project": {"a": 1}}, {"$unionWith": {"coll": "other", "pipeline": [{"$match": {"k": 1}}]}}]`,
			want:   []string{`{"_id": 2, "a": 1}`, `{"_id": 10, "k": 1, "v": "one"}`},
		},
		{stages: `[{"$documents": [{"a": 1}, {"a": {"$add": [1, 1]}}]}, {"$match": {"a": 2}}]`, want: []string{`{"a": 2}`}},
		{stages: `[{"$nope": 1}]`, code: 40324},
		{stages: `[{"$changeStream": {}}]`, code: 40573},
		{stages: `[{"$graphLookup": {}}]`, code: mongoerr.FailedToParse},
		{stages: `[{"$setWindowFields": {}}]`, code: 40414},
		{stages: `[{}]`, code: 40323},
		{stages: `[{"$match": {}, "$limit": 1}]`, code: 40323},
		{stages: `[5]`, code: 14},
		{stages: `[{"$limit": 1}, {"$collStats": {}}]`, code: 40602},
		{stages: `[{"$merge": "x"}, {"$limit": 1}]`, code: 40601},
		{stages: `[{"$indexStats": {}}, {"$project": {"name": 1}}]`, want: []string{`{"name": "_id_"}`}},
		{stages: `[{"$match": {"$expr": {"$lt": [{"$rand": {}}, 2]}}}, {"$count": "n"}]`, want: []string{`{"n": 4}`}},
	})
}

func TestLookup(t *testing.T) {
	runCases(t, []stageCase{
		{
			stages: `[{"$lookup": {"from": "other", "localField": "a", "foreignField": "k", "as": "j"}}, {"$project": {"j": "$j.v"}}]`,
			want:   []string{`{"_id": 1, "j": ["both"]}`, `{"_id": 2, "j": ["one"]}`, `{"_id": 3, "j": ["both"]}`, `{"_id": 4, "j": ["none"]}`},
		},
		{
			stages: `[{"$lookup": {"from": "other", "localField": "b.d", "foreignField": "k", "as": "b.j"}}, {"$match": {"_id": 1}}, {"$project": {"b": {"d": 1, "j": {"v": 1}}}}]`,
			want:   []string{`{"_id": 1, "b": {"d": [1, 2], "j": [{"v": "one"}, {"v": "both"}]}}`},
		},
		{
			stages: `[{"$lookup": {"from": "other", "let": {"x": "$a"}, "pipeline": [{"$match": {"$expr": {"$eq": ["$k", "$$x"]}}}, {"$project": {"v": 1, "_id": 0}}], "as": "j"}}, {"$project": {"j": 1}}]`,
			want:   []string{`{"_id": 1, "j": []}`, `{"_id": 2, "j": [{"v": "one"}]}`, `{"_id": 3, "j": []}`, `{"_id": 4, "j": [{"v": "none"}]}`},
		},
		{
			stages: `[{"$match": {"_id": {"$lt": 3}}}, {"$lookup": {"from": "other", "pipeline": [{"$count": "n"}], "as": "j"}}, {"$project": {"j": 1}}]`,
			want:   []string{`{"_id": 1, "j": [{"n": 3}]}`, `{"_id": 2, "j": [{"n": 3}]}`},
		},
		{
			stages: `[{"$match": {"_id": 2}}, {"$lookup": {"from": "other", "localField": "a", "foreignField": "k", "pipeline": [{"$project": {"_id": 1}}], "as": "j"}}, {"$project": {"j": 1}}]`,
			want:   []string{`{"_id": 2, "j": [{"_id": 10}]}`},
		},
		{
			stages: `[{"$match": {"_id": 2}}, {"$lookup": {"from": "nope", "localField": "a", "foreignField": "k", "as": "a"}}, {"$project": {"a": 1}}]`,
			want:   []string{`{"_id": 2, "a": []}`},
		},
		{stages: `[{"$lookup": 5}]`, code: 9},
		{stages: `[{"$lookup": {"from": "x", "localField": "$a", "foreignField": "b", "as": "y"}}]`, code: 16410},
		{stages: `[{"$lookup": {"from": "x", "localField": "", "foreignField": "b", "as": "y"}}]`, code: 40352},
		{stages: `[{"$lookup": {"from": "x", "pipeline": 5, "as": "y"}}]`, code: 14},
		{stages: `[{"$facet": {"a": [5]}}]`, code: 40171},
		{stages: `[{"$limit": "x"}, {"$nope": 1}]`, code: 40324},
		{stages: `[{"$limit": "x"}, {}]`, code: 40323},
		{stages: `[{"$sort": {"a": {"b": 1}}}]`, code: 17312},
		{stages: `[{"$sort": {"a": {"$meta": "x"}}}]`, code: 17308},
		{stages: `[{"$sort": {"a.": 1}}]`, code: 40353},
		{stages: `[{"$sort": {"a": "x"}}]`, code: 15974},
		{stages: `[{"$sort": {"a": 2}}]`, code: 15975},
		{stages: `[{"$match": {"$where": "true"}}]`, code: 2},
		{stages: `[{"$match": {"$or": [{"a": 1}, {"$where": "true"}]}}]`, code: 2},
		{stages: `[{"$match": {"a": {"$near": [1, 2]}}}]`, code: 2},
		{stages: `[{"$lookup": {"from": "x", "as": "y"}}]`, code: 9},
		{stages: `[{"$lookup": {"from": "x", "pipeline": [{"$nope": 1}], "as": "y"}}]`, code: 40324},
	})
}

func TestLookupByIndex(t *testing.T) {
	db := stageData(t)
	const q = `[{"$lookup": {"from": "other", "localField": "a", "foreignField": "k", "as": "j"}}]`
	before := texts(aggregate(t, db, q))
	index(t, db, store.NS{DB: "d", Coll: "other"}, `{"key": {"k": 1}, "name": "k_1"}`)
	if after := texts(aggregate(t, db, q)); !slices.Equal(before, after) {
		t.Errorf("with an index %v, without %v", after, before)
	}
}

func TestGroupStage(t *testing.T) {
	runCases(t, []stageCase{
		{
			stages: `[{"$group": {"_id": null, "n": {"$sum": 1}, "l": {"$sum": {"$numberLong": "2"}}, "c": {"$count": {}}}}]`,
			want:   []string{`{"_id": null, "n": 4, "l": {"$numberLong": "8"}, "c": 4}`},
		},
		{
			stages: `[{"$sort": {"_id": 1}}, {"$group": {"_id": null, "f": {"$first": "$a"}, "l": {"$last": "$a"}, "p": {"$push": "$a"}, "min": {"$min": "$a"}, "max": {"$max": "$a"}, "avg": {"$avg": "$a"}}}]`,
			want:   []string{`{"_id": null, "f": 3, "l": null, "p": [3, 1, 2], "min": 1, "max": 3, "avg": {"$numberDouble": "2.0"}}`},
		},
		{
			stages: `[{"$sort": {"_id": 1}}, {"$group": {"_id": null, "f": {"$firstN": {"n": 2, "input": "$a"}}, "l": {"$lastN": {"n": 2, "input": "$_id"}}, "x": {"$maxN": {"n": 2, "input": "$a"}},
			"m": {"$minN": {"n": 2, "input": "$a"}}, "t": {"$top": {"sortBy": {"a": -1}, "output": "$_id"}}, "bn": {"$bottomN": {"n": 2, "sortBy": {"a": 1}, "output": "$a"}}}}]`,
			want: []string{`{"_id": null, "f": [3, 1], "l": [3, 4], "x": [3, 2], "m": [1, 2], "t": 1, "bn": [2, 3]}`},
		},
		{stages: `[{"$match": {"_id": {"$lt": 3}}}, {"$group": {"_id": null, "m": {"$mergeObjects": "$b"}}}]`, want: []string{`{"_id": null, "m": {"c": 2, "d": [1, 2]}}`}},
		{stages: `[{"$match": {"_id": 4}}, {"$group": {"_id": {"x": "$a", "y": {"z": "$b"}}}}]`, want: []string{`{"_id": {"x": null, "y": {"z": 9}}}`}},
		{stages: `[{"$group": {"_id": 1, "x": {"$nope": 1}}}]`, code: 15952},
		{stages: `[{"$group": {"_id": 1, "x": {"$sum": [1, 2]}}}]`, code: 40237},
		{stages: `[{"$group": {"_id": 1, "x": {"$sum": 1, "$avg": 1}}}]`, code: 40238},
		{stages: `[{"$group": {"_id": 1, "x.y": {"$sum": 1}}}]`, code: 40235},
		{stages: `[{"$group": 1}]`, code: 15947},
		{stages: `[{"$group": {"_id": 1, "x": {"$mergeObjects": "$_id"}}}]`, code: 40400},
	})
}
