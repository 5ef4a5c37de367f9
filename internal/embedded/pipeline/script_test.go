package pipeline

import (
	"context"
	"errors"
	"testing"
	"time"

	"mrbench/internal/embedded/mongoerr"
)

func TestScript(t *testing.T) {
	runCases(t, []stageCase{
		{
			stages: `[{"$match": {"_id": {"$lt": 3}}}, {"$project": {"x": {"$function": {"body": "function(a, b) { return a * 10 + b }", "args": ["$a", 1], "lang": "js"}}}}]`,
			want:   []string{`{"_id": 1, "x": {"$numberDouble": "31"}}`, `{"_id": 2, "x": {"$numberDouble": "11"}}`},
		},
		{
			stages: `[{"$group": {"_id": null, "avg": {"$accumulator": {"init": "function(n) { return {n: n, s: 0} }", "initArgs": [0], "accumulate": "function(st, x) { if (x) { st.n++; st.s += x } return st }",
			"accumulateArgs": ["$a"], "merge": "function(a, b) { return {n: a.n + b.n, s: a.s + b.s} }", "finalize": "function(st) { return st.s / st.n }", "lang": "js"}}}}]`,
			want: []string{`{"_id": null, "avg": {"$numberDouble": "2"}}`},
		},
		{stages: `[{"$project": {"x": {"$function": {"body": "function() { throw 'no' }", "args": [], "lang": "js"}}}}]`, code: mongoerr.JSInterpreterFailure},
		{stages: `[{"$project": {"x": {"$function": {"args": [], "lang": "js"}}}}]`, code: 4660802},
	})
}

// TestScriptStops: the end of the context ends an endless script.
func TestScriptStops(t *testing.T) {
	db := stageData(t)
	p, err := Parse(array(t, `[{"$match": {"$expr": {"$function": {"body": "function() { for (;;) {} }", "args": [], "lang": "js"}}}}]`), options(db))
	if err != nil {
		t.Fatal(err)
	}
	snap := db.Snapshot()
	defer snap.Close()
	src, err := p.Run(ctx, snap)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if _, err = src.Next(short); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
