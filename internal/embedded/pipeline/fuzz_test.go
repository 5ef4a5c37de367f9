package pipeline

import (
	"testing"

	"mrbench/internal/embedded/bsonx"
)

// FuzzParse: no pipeline, however odd, may do worse than fail; what parses runs on one document.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`[{"$match": {"a": 1}}]`, `[{"$project": {"a.b": 1, "c": {"$add": ["$a", 1]}}}]`, `[{"$group": {"_id": {"x": "$a"}, "n": {"$sum": "$b"}}}]`,
		`[{"$bucketAuto": {"groupBy": "$a", "buckets": 3}}]`, `[{"$unwind": {"path": "$a", "includeArrayIndex": "i"}}]`, `[{"$facet": {"a": [{"$sort": {"a": 1}}]}}]`,
		`[{"$addFields": {"a": {"$map": {"input": "$b", "in": {"$concat": ["$$this", "x"]}}}}}]`, `[{"$redact": "$$KEEP"}]`, `[{"$sortByCount": "$a"}]`,
		`[{"$lookup": {"from": "x", "let": {"a": "$a"}, "pipeline": [], "as": "z"}}]`, `[{"$merge": {"into": "x", "whenMatched": [{"$set": {"a": "$$new.a"}}]}}]`,
		`[{"$bucket": {"groupBy": "$a", "boundaries": [1, 2], "default": 3}}]`, `[{"$group": {"_id": 1, "t": {"$topN": {"n": 2, "sortBy": {"a": 1}, "output": "$b"}}}}]`,
		`[{"$setWindowFields": {"partitionBy": {"$size": "$a"}, "sortBy": {"_id": 1}, "output": {"x": {"$sum": "$_id", "window": {"range": [-1, "current"]}}}}}]`,
		`[{"$fill": {"sortBy": {"_id": 1}, "output": {"y": {"method": "linear"}}}}]`, `[{"$densify": {"field": "b.c", "range": {"step": 2, "bounds": [5, 6]}}}]`,
		`[{"$bucketAuto": {"groupBy": "$b.c", "buckets": 2, "granularity": "E6"}}]`, `[{"$set": {"m": {"$median": {"input": "$a", "method": "approximate"}}}}]`,
	} {
		f.Add([]byte(array(f, s)))
	}
	input := doc(f, `{"_id": 1, "a": [1, {"b": "x"}], "b": {"c": 5}}`)
	f.Fuzz(func(t *testing.T, b []byte) {
		if bsonx.Validate(b, 100) != nil {
			return
		}
		p, err := Parse(b, Options{NS: testNS})
		if err != nil {
			return
		}
		for _, s := range p.stages {
			switch s.name {
			case "$out", "$merge", "$lookup", "$graphLookup", "$unionWith", "$collStats", "$indexStats", "$currentOp", "$facet":
				return // they need a store
			}
		}
		got, err := p.RunOn(ctx, input)
		if err == nil {
			if err := bsonx.Validate(got, 300); err != nil {
				t.Errorf("%v makes a malformed document: %v", bsonx.ArrayValue(b), err)
			}
		}
	})
}
