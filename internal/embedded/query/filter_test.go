package query

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		filter, doc string
		want        bool
	}{
		// equality
		{`{}`, `{"a": 1}`, true},
		{`{"a": {"b": 1, "c": 2}}`, `{"a": {"b": 1, "c": 2}}`, true},
		{`{"a": {"b": 1, "c": 2}}`, `{"a": {"c": 2, "b": 1}}`, false},
		{`{"a": {"b": 1}}`, `{"a": {"b": {"$numberLong": "1"}}}`, true},
		{`{"a": [1, 2]}`, `{"a": [1, 2]}`, true},
		{`{"a": [1, 2]}`, `{"a": [[1, 2], 3]}`, true},
		{`{"a": [1]}`, `{"a": [1, 2]}`, false},
		{`{"a": null}`, `{}`, true},
		{`{"a": null}`, `{"a": {"$undefined": true}}`, true},
		{`{"a": null}`, `{"a": []}`, false},
		{`{"a.b": null}`, `{"a": 5}`, true},
		{`{"a.b": null}`, `{"a": [1, 2]}`, false},
		{`{"a.b": null}`, `{"a": [{"b": 1}, {}]}`, true},
		{`{"a": {"$ne": null}}`, `{}`, false},
		// paths
		{`{"a.b.c": 1}`, `{"a": [{"b": [{"c": 2}, {"c": 1}]}]}`, true},
		{`{"a.0": 1}`, `{"a": [1, 2]}`, true},
		{`{"a.1": 1}`, `{"a": [1, 2]}`, false},
		{`{"a.0": 1}`, `{"a": {"0": 1}}`, true},
		{`{"a.0": 1}`, `{"a": [{"0": 1}]}`, true},
		{`{"a.1.b": 2}`, `{"a": [{"b": 1}, {"b": 2}]}`, true},
		{`{"a.0.b": 1}`, `{"a": [[{"b": 1}]]}`, true},
		{`{"a.0.1": 6}`, `{"a": [[5, 6]]}`, true},
		{`{"a.0": [5, 6]}`, `{"a": [[5, 6]]}`, true},
		{`{"a.00": 1}`, `{"a": [1]}`, false},
		// ranges keep to the type
		{`{"a": {"$lt": 5}}`, `{"a": "x"}`, false},
		{`{"a": {"$gte": 5, "$lt": 6}}`, `{"a": [6, 9]}`, false},
		{`{"a": {"$gt": 5, "$lt": 6}}`, `{"a": [1, 9]}`, true},
		{`{"a": {"$gte": {"$numberDouble": "NaN"}}}`, `{"a": {"$numberDecimal": "NaN"}}`, true},
		{`{"a": {"$lt": 1}}`, `{"a": {"$numberDouble": "NaN"}}`, false},
		// sets
		{`{"a": {"$in": [1, "x"]}}`, `{"a": ["y", "x"]}`, true},
		{`{"a": {"$in": []}}`, `{"a": 1}`, false},
		{`{"a": {"$in": [null]}}`, `{}`, true},
		{`{"a": {"$in": [1, 2, 3, 4, 5, 6, 7, 8]}}`, `{"a": 8.0}`, true},
		{`{"a": {"$in": [{"$regularExpression": {"pattern": "^x", "options": ""}}]}}`, `{"a": "xy"}`, true},
		{`{"a": {"$nin": [1, 2]}}`, `{"a": [3, 2]}`, false},
		{`{"a": {"$nin": [1, 2]}}`, `{}`, true},
		// elements
		{`{"a": {"$exists": true}}`, `{"a": null}`, true},
		{`{"a.b": {"$exists": false}}`, `{"a": []}`, true},
		{`{"a": {"$type": 2}}`, `{"a": [1, "x"]}`, true},
		{`{"a": {"$type": "array"}}`, `{"a": []}`, true},
		{`{"a": {"$type": ["number", "bool"]}}`, `{"a": true}`, true},
		{`{"a": {"$type": -1}}`, `{"a": {"$minKey": 1}}`, true},
		// logic
		{`{"a": {"$not": {"$gt": 5}}}`, `{"a": [1, 9]}`, false},
		{`{"a": {"$not": {"$regularExpression": {"pattern": "x", "options": ""}}}}`, `{"a": "y"}`, true},
		{`{"$nor": [{"a": 1}, {"b": 1}]}`, `{"a": 2}`, true},
		{`{"$or": [{"a": 1}, {"b": 1}]}`, `{"b": 1}`, true},
		{`{"$alwaysFalse": 1}`, `{}`, false},
		// arrays
		{`{"a": {"$all": [1, 2]}}`, `{"a": [2, 3, 1]}`, true},
		{`{"a": {"$all": [[1, 2]]}}`, `{"a": [1, 2]}`, true},
		{`{"a": {"$all": []}}`, `{"a": []}`, false},
		{`{"a": {"$all": [{"$elemMatch": {"x": 1}}, {"$elemMatch": {"x": 2}}]}}`, `{"a": [{"x": 1}, {"x": 2}]}`, true},
		{`{"a": {"$elemMatch": {"$gt": 5, "$lt": 7}}}`, `{"a": [5, 7]}`, false},
		{`{"a": {"$elemMatch": {"$not": {"$gt": 5}}}}`, `{"a": [9, 5]}`, true},
		{`{"a": {"$elemMatch": {"x": 1, "y": 2}}}`, `{"a": [{"x": 1}, {"y": 2}]}`, false},
		{`{"a": {"$elemMatch": {"$or": [{"x": 1}, {"y": 2}]}}}`, `{"a": [{"y": 2}]}`, true},
		{`{"a": {"$elemMatch": {"$elemMatch": {"$gt": 1}}}}`, `{"a": [[0], [2]]}`, true},
		{`{"a": {"$elemMatch": {"$gt": 1}}}`, `{"a": 2}`, false},
		{`{"a": {"$size": 2}}`, `{"a": [1, [2]]}`, true},
		{`{"a": {"$size": 1}}`, `{"a": [[1], [2]]}`, false},
		// numbers
		{`{"a": {"$mod": [4, 1]}}`, `{"a": 5.9}`, true},
		{`{"a": {"$mod": [4, 1]}}`, `{"a": {"$numberDouble": "Infinity"}}`, false},
		{`{"a": {"$mod": [-1, 0]}}`, `{"a": {"$numberLong": "-9223372036854775808"}}`, true},
		{`{"a": {"$bitsAllSet": [0, 2]}}`, `{"a": 5}`, true},
		{`{"a": {"$bitsAllClear": 2}}`, `{"a": 5}`, true},
		{`{"a": {"$bitsAnySet": [70]}}`, `{"a": -1}`, true},
		{`{"a": {"$bitsAnyClear": 4}}`, `{"a": 4.5}`, false},
		{`{"a": {"$bitsAllSet": {"$binary": {"base64": "AQ==", "subType": "00"}}}}`, `{"a": {"$binary": {"base64": "Aw==", "subType": "00"}}}`, true},
		// patterns
		{`{"a": {"$regex": "^AB", "$options": "i"}}`, `{"a": "abc"}`, true},
		{`{"a": {"$regex": "b$"}}`, `{"a": "ab\n"}`, true},
		{`{"a": {"$regex": "a . c", "$options": "x"}}`, `{"a": "abc"}`, true},
		{`{"a": {"$regex": "a(?!b)"}}`, `{"a": "ab"}`, false},
		{`{"a": {"$regex": "(a)\\1"}}`, `{"a": "xaa"}`, true},
		{`{"a": {"$regex": "a.c", "$options": "s"}}`, `{"a": "a\nc"}`, true},
		{`{"a": {"$regex": "^b", "$options": "m"}}`, `{"a": "a\nb"}`, true},
		{`{"a": {"$regex": "x"}}`, `{"a": {"$regularExpression": {"pattern": "x", "options": ""}}}`, true},
		// expressions and scripts
		{`{"$expr": {"$gt": ["$a", "$b"]}}`, `{"a": 2, "b": 1}`, true},
		{`{"$expr": {"$lt": ["$a", null]}}`, `{}`, true},
		{`{"$where": "this.a == this.b"}`, `{"a": 2, "b": 2}`, true},
		{`{"$where": "function() { return this.a > 5 }"}`, `{"a": 2}`, false},
		{`{"$comment": "says nothing", "a": 1}`, `{"a": 1}`, true},
		{`{"a": {"$ref": "c", "$id": 1}}`, `{"a": {"$ref": "c", "$id": 1}}`, true},
	} {
		f := filter(t, doc(t, c.filter))
		for range 2 { // the second time a finder knows the way
			got, err := f.Match(doc(t, c.doc))
			if err != nil || got != c.want {
				t.Errorf("%s on %s: %v, %v", c.filter, c.doc, got, err)
			}
		}
		if got, err := f.Clone().Match(doc(t, c.doc)); err != nil || got != c.want {
			t.Errorf("clone of %s on %s: %v, %v", c.filter, c.doc, got, err)
		}
		again := filter(t, f.Source())
		if got, err := again.Match(doc(t, c.doc)); err != nil || got != c.want {
			t.Errorf("%s, the source of %s, on %s: %v, %v", text(f.Source()), c.filter, c.doc, got, err)
		}
	}
}

func TestFilterErrors(t *testing.T) {
	for _, c := range []struct {
		filter string
		code   mongoerr.Code
	}{
		{`{"a": {"$nope": 1}}`, 2},
		{`{"$nope": 1}`, 2},
		{`{"a": {"$gt": 1, "b": 1}}`, 2},
		{`{"$and": 1}`, 2},
		{`{"$or": []}`, 2},
		{`{"$nor": [1]}`, 2},
		{`{"$and": [{"a": {"$nope": 1}}]}`, 2},
		{`{"a": {"$in": 1}}`, 2},
		{`{"a": {"$in": [{"$gt": 1}]}}`, 2},
		{`{"a": {"$nin": {}}}`, 2},
		{`{"a": {"$not": 1}}`, 2},
		{`{"a": {"$not": {}}}`, 2},
		{`{"a": {"$not": {"b": 1}}}`, 2},
		{`{"a": {"$all": 1}}`, 2},
		{`{"a": {"$all": [{"$gt": 1}]}}`, 2},
		{`{"a": {"$elemMatch": 1}}`, 2},
		{`{"a": {"$size": "x"}}`, 2},
		{`{"a": {"$size": -1}}`, 2},
		{`{"a": {"$size": 1.5}}`, 2},
		{`{"a": {"$mod": [0, 1]}}`, 2},
		{`{"a": {"$mod": [1]}}`, 2},
		{`{"a": {"$mod": 1}}`, 2},
		{`{"a": {"$type": "nope"}}`, 2},
		{`{"a": {"$type": 99}}`, 2},
		{`{"a": {"$type": {}}}`, 14},
		{`{"a": {"$type": []}}`, 9},
		{`{"a": {"$regex": 1}}`, 2},
		{`{"a": {"$options": "i"}}`, 2},
		{`{"a": {"$regex": "("}}`, 51091},
		{`{"a": {"$regex": "a", "$options": "q"}}`, 51108},
		{`{"a": {"$gt": {"$regularExpression": {"pattern": "x", "options": ""}}}}`, 2},
		{`{"a": {"$undefined": true}}`, 2},
		{`{"a": {"$gt": {"$undefined": true}}}`, 2},
		{`{"a": {"$bitsAllSet": -1}}`, 2},
		{`{"a": {"$bitsAllSet": "x"}}`, 2},
		{`{"a": {"$bitsAnySet": [-1]}}`, 2},
		{`{"$expr": {"$nope": 1}}`, 168},
		{`{"$text": {"$search": "x"}}`, 27},
		{`{"$jsonSchema": {}}`, 115},
		{`{"a": {"$near": [0, 0]}}`, 291},
		{`{"$where": 1}`, 2},
		{`{"a": {"$elemMatch": {"$where": "1"}}}`, 2},
	} {
		_, err := ParseFilter(doc(t, c.filter), nil)
		if got := mongoerr.CodeOf(err); got != c.code {
			t.Errorf("%s: code %d (%v), want %d", c.filter, got, err, c.code)
		}
	}
}

func TestFilterDepth(t *testing.T) {
	n := 400
	d := doc(t, `{"a": 1}`)
	for range n {
		d = oneField("$or", bsonx.Array(bsonx.DocValue(d)))
	}
	_, err := ParseFilter(d, nil)
	if mongoerr.CodeOf(err) != mongoerr.BadValue {
		t.Errorf("a filter %d deep: %v", n, err)
	}
}

func TestMatchAllocatesNothing(t *testing.T) {
	d := marshal(t, benchDoc)
	for _, src := range []string{
		`{"dim0": {"$gte": 1000, "$lt": 5000}}`, `{"tags": "c", "n.x": 1.5}`, `{"dim0": {"$in": [1, 2, 3, 4, 5, 6, 7, 4711]}}`,
		`{"$or": [{"dim0": {"$type": "string"}}, {"dim0": {"$ne": 5}}]}`,
	} {
		f := filter(t, doc(t, src))
		if ok, _ := f.Match(d); !ok {
			t.Errorf("%s does not match", src)
		}
		if n := testing.AllocsPerRun(100, func() { _, _ = f.Match(d) }); n > 0 {
			t.Errorf("%s: %v allocations for a document", src, n)
		}
	}
}

func TestFilterDeps(t *testing.T) {
	f := filter(t, doc(t, `{"a.b": 1, "$or": [{"c": {"$gt": 1}}, {"$expr": {"$eq": ["$d.e", 1]}}], "f": {"$elemMatch": {"g": 1}}}`))
	var got []string
	whole := f.Deps(func(p string) { got = append(got, p) })
	if want := "a.b c d.e f"; whole || strings.Join(got, " ") != want {
		t.Errorf("got %v, whole %v; want %s", got, whole, want)
	}
	if !filter(t, doc(t, `{"$where": "1"}`)).Deps(func(string) {}) {
		t.Error("$where reads the whole document")
	}
}

func TestWhereIsInterrupted(t *testing.T) {
	f := filter(t, doc(t, `{"$where": "function() { while (true) {} }"}`))
	db := openDB(t)
	insert(t, db, testNS, doc(t, `{"_id": 1}`))
	snap := db.Snapshot()
	defer func() { _ = snap.Close() }()
	p, err := MakePlan(snap, snap.Collection(testNS), Request{Filter: f})
	if err != nil {
		t.Fatal(err)
	}
	src, err := p.Open(snap)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := src.Next(ctx); err == nil {
		t.Error("an endless script ended without an error")
	}
}

func TestAnd(t *testing.T) {
	a, b := filter(t, doc(t, `{"a": 1}`)), filter(t, doc(t, `{"b": {"$gt": 1}}`))
	if got := text(And(a, b).Source()); got != `{"$and":[{"a":1},{"b":{"$gt":1}}]}` {
		t.Error(got)
	}
	if And(nil, b) != b || And(a, &Filter{}) != a || !And(nil, nil).Empty() {
		t.Error("an empty side must leave the other as it is")
	}
}

// TestCompileFilter: the predicate of a partial index is used by many writers at once.
func TestCompileFilter(t *testing.T) {
	pred, err := CompileFilter(doc(t, `{"a": {"$in": [1, 2, 3, 4, 5, 6, 7, 8]}, "b.c": {"$gt": 1}}`))
	if err != nil {
		t.Fatal(err)
	}
	yes, no := doc(t, `{"a": 8, "b": {"c": 2}}`), doc(t, `{"x": 1, "a": 9, "b": {"c": 2}}`)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				if !pred(yes) || pred(no) {
					t.Error("wrong answer")
					return
				}
			}
		})
	}
	wg.Wait()
	for _, bad := range []string{`{"$where": "1"}`, `{"a": {"$nope": 1}}`} {
		if _, err := CompileFilter(doc(t, bad)); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
}

func FuzzParseFilter(f *testing.F) {
	for _, s := range []string{
		`{"a": {"$gte": 1, "$lt": 5}, "b.c": {"$in": [1, null]}}`, `{"$or": [{"a": {"$type": "string"}}, {"a": {"$regex": "^x(?=y)"}}]}`,
		`{"a": {"$elemMatch": {"$gt": 1, "$not": {"$mod": [3, 1]}}}}`, `{"$expr": {"$gt": ["$a", 1]}}`, `{"a": {"$bitsAllSet": [1, 70]}}`,
	} {
		f.Add([]byte(doc(f, s)), []byte(doc(f, `{"_id": 1, "a": [1, {"b": "xy"}], "b": {"c": null}}`)))
	}
	f.Fuzz(func(t *testing.T, src, d []byte) {
		if bsonx.Validate(src, 180) != nil || bsonx.Validate(d, 180) != nil || strings.Contains(string(src), "$where") || strings.Contains(string(src), "$function") {
			t.Skip()
		}
		flt, err := ParseFilter(src, nil)
		if err != nil {
			return
		}
		got, err := flt.Match(d)
		if err != nil {
			return
		}
		again, err2 := flt.Clone().Match(d)
		if err2 != nil || again != got {
			t.Errorf("%s on %s: %v, the clone says %v (%v)", bsonx.Doc(src), bsonx.Doc(d), got, again, err2)
		}
	})
}

// TestSampleRate: about so many documents match, none at 0, all at 1.
func TestSampleRate(t *testing.T) {
	for _, c := range []struct {
		rate   float64
		lo, hi int
	}{{0, 0, 0}, {1, 4000, 4000}, {0.25, 800, 1200}} {
		f, err := ParseFilter(doc(t, fmt.Sprintf(`{"$sampleRate": %v}`, c.rate)), nil)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for i := range 4000 {
			if ok, err := f.Match(doc(t, fmt.Sprintf(`{"_id": %d}`, i))); err != nil {
				t.Fatal(err)
			} else if ok {
				n++
			}
		}
		if n < c.lo || n > c.hi { // 0.25: 7 standard deviations
			t.Errorf("rate %v: %d of 4000", c.rate, n)
		}
	}
	for _, v := range []string{"-0.1", "1.1", `"x"`} {
		if _, err := ParseFilter(doc(t, `{"$sampleRate": `+v+`}`), nil); mongoerr.CodeOf(err) != mongoerr.BadValue {
			t.Errorf("%v: %v", v, err)
		}
	}
}
