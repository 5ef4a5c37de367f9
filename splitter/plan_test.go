package splitter

import (
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
)

func TestReadPlan(t *testing.T) {
	tests := []struct{ name, explain, want string }{
		{
			"find, 4.0, covered",
			`{"queryPlanner":{"parsedQuery":{"stage":"FETCH"},"winningPlan":{"stage":"PROJECTION","inputStage":{"stage":"IXSCAN","indexName":"f_1","isMultiKey":false,"multiKeyPaths":{"f":[]}}},"rejectedPlans":[{"stage":"FETCH","inputStage":{"stage":"IXSCAN","indexName":"other"}}]}}`,
			`[f_1] covered=true multikey=false`,
		},
		{
			"find, fetch",
			`{"queryPlanner":{"winningPlan":{"stage":"FETCH","inputStage":{"stage":"IXSCAN","indexName":"f_1","isMultiKey":false}}}}`,
			`[f_1] covered=false multikey=false`,
		},
		{"collection scan", `{"queryPlanner":{"winningPlan":{"stage":"COLLSCAN"}}}`, `[] covered=false multikey=false`},
		{
			"aggregate, 4.0",
			`{"stages":[{"$cursor":{"query":{},"queryPlanner":{"winningPlan":{"stage":"PROJECTION","transformBy":{"f":1},"inputStage":{"stage":"IXSCAN","indexName":"f_1"}}}}},{"$group":{"_id":"$f"}}]}`,
			`[f_1] covered=true multikey=false`,
		},
		{
			"aggregate, slot based",
			`{"explainVersion":"2","queryPlanner":{"winningPlan":{"queryPlan":{"stage":"GROUP","inputStage":{"stage":"PROJECTION_COVERED","inputStage":{"stage":"IXSCAN","indexName":"f_1","isMultiKey":false}}},"slotBasedPlan":{"stages":"FETCH","slots":""}}}}`,
			`[f_1] covered=true multikey=false`,
		},
		{
			"two shards, one fetches",
			`{"shards":{"s1":{"stages":[{"$cursor":{"queryPlanner":{"winningPlan":{"stage":"IXSCAN","indexName":"f_1"}}}}]},"s2":{"queryPlanner":{"winningPlan":{"stage":"SHARDING_FILTER","inputStage":{"stage":"FETCH","inputStage":{"stage":"IXSCAN","indexName":"f_1"}}}}}}}`,
			`[f_1] covered=false multikey=false`,
		},
		{
			"router's find",
			`{"queryPlanner":{"winningPlan":{"stage":"SHARD_MERGE","shards":[{"winningPlan":{"stage":"IXSCAN","indexName":"f_1","isMultiKey":true,"multiKeyPaths":{"f":["f"]}}}]}}}`,
			`[f_1] covered=true multikey=true`,
		},
		{
			"an array in another field of the index",
			`{"queryPlanner":{"winningPlan":{"stage":"IXSCAN","indexName":"f_1_g_1","isMultiKey":true,"multiKeyPaths":{"f":[],"g":["g"]}}}}`,
			`[f_1_g_1] covered=true multikey=false`,
		},
		{
			"multikey by an old index",
			`{"queryPlanner":{"winningPlan":{"stage":"IXSCAN","indexName":"f_1","isMultiKey":true}}}`,
			`[f_1] covered=true multikey=true`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var doc bson.Raw
			if err := bson.UnmarshalExtJSON([]byte(tt.explain), false, &doc); err != nil {
				t.Fatal(err)
			}
			p := ReadPlan(doc)
			if got := fmt.Sprintf("%v covered=%v multikey=%v", p.Indexes, p.Covered(), p.multikeyOn("f")); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// Which shards a router asks stands in the reply to the explain of a pipeline, and in the plan of a find.
func TestPlanOfShards(t *testing.T) {
	for _, tt := range []struct{ name, explain, want string }{
		{"a pipeline", `{"mergeType":"mongos","splitPipeline":{},"shards":{"s2":{"host":"h:2","stages":[]},"s1":{"host":"h:1","stages":[]}},"ok":1}`, "[s1 s2]"},
		{"a find", `{"queryPlanner":{"mongosPlannerVersion":1,"winningPlan":{"stage":"SINGLE_SHARD","shards":[{"shardName":"s2","winningPlan":{"stage":"IXSCAN","indexName":"f_1"}}]}}}`, "[s2]"},
		{"no router", `{"queryPlanner":{"winningPlan":{"stage":"COLLSCAN"}}}`, "[]"},
	} {
		var d bson.Raw
		if err := bson.UnmarshalExtJSON([]byte(tt.explain), false, &d); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(ReadPlan(d).Shards); got != tt.want {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
}
