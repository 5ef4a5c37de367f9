package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

// summary of a plan: stages from the top, index, direction when backward, bounds, and what is left to check.
func summary(p *Plan) string {
	var b strings.Builder
	d := p.Explain()
	for {
		fmt.Fprintf(&b, "%s ", d.Get("stage").Str())
		if f := d.Get("filter"); !f.IsMissing() {
			fmt.Fprintf(&b, "%s ", text(f.Doc()))
		}
		if n := d.Get("indexName"); !n.IsMissing() {
			fmt.Fprintf(&b, "%s ", n.Str())
		}
		if dir := d.Get("direction"); !dir.IsMissing() && dir.Str() == "backward" {
			b.WriteString("backward ")
		}
		if bounds := d.Get("indexBounds"); !bounds.IsMissing() {
			b.WriteString(strings.NewReplacer(`\"`, `'`, `"`, ``).Replace(text(bounds.Doc())))
		}
		if clauses := d.Get("inputStages"); !clauses.IsMissing() {
			it := clauses.Elems()
			for it.Next() {
				scan := it.Value().Doc().Get("inputStage").Doc()
				fmt.Fprintf(&b, "%s %s ", scan.Get("indexName").Str(), strings.ReplaceAll(text(scan.Get("indexBounds").Doc()), `"`, ""))
			}
			return strings.TrimSpace(b.String())
		}
		in := d.Get("inputStage")
		if in.IsMissing() {
			return strings.TrimSpace(b.String())
		}
		d = in.Doc()
	}
}

// planCollection has plain fields a, b, c, n.x; arrays in m, m2.x; text in s; indexes on all of them.
func planCollection(t *testing.T) *store.DB {
	t.Helper()
	db := openDB(t)
	for i := range 40 {
		insert(t, db, testNS, doc(t, fmt.Sprintf(`{"_id": %d, "a": %d, "b": %d, "c": %d, "n": {"x": %d}, "m": [%d, %d], "m2": [{"x": %d, "y": 1}], "s": "t%d", "p": %d}`,
			i, i%7, i%5, i%3, i, i, i+1, i, i, i)))
	}
	for _, spec := range []string{
		`{"key": {"a": 1}, "name": "a"}`, `{"key": {"b": 1, "c": -1}, "name": "bc"}`, `{"key": {"n.x": 1}, "name": "nx"}`,
		`{"key": {"m": 1}, "name": "m"}`, `{"key": {"m2.x": 1, "m2.y": 1}, "name": "m2"}`, `{"key": {"s": -1}, "name": "s"}`,
		`{"key": {"q": 1}, "name": "q", "sparse": true}`, `{"key": {"p": 1}, "name": "p", "partialFilterExpression": {"p": {"$gt": 10}}}`,
		`{"key": {"u": 1}, "name": "u"}`,
	} {
		index(t, db, testNS, spec)
	}
	return db
}

func TestPlans(t *testing.T) {
	db := planCollection(t)
	none := []string(nil)
	for _, c := range []struct {
		filter, sort, hint string
		needs              []string
		want               string
	}{
		{`{}`, ``, ``, none, `COLLSCAN`},
		{`{}`, ``, ``, []string{"a"}, `COLLSCAN`},
		{`{"zz": 1}`, ``, ``, none, `COLLSCAN {"zz":1}`},
		{`{"_id": 5}`, ``, ``, none, `FETCH IXSCAN _id_ {_id:[[5, 5]]}`},
		{`{"_id": {"$gte": 5, "$lt": 7}}`, `{"_id": -1}`, ``, none, `FETCH IXSCAN _id_ backward {_id:[(7, 5]]}`},
		{`{"a": 5}`, ``, ``, none, `FETCH IXSCAN a {a:[[5, 5]]}`},
		{`{"a": {"$gt": 2, "$lte": 5}}`, ``, ``, []string{"a"}, `PROJECTION_COVERED IXSCAN a {a:[(2, 5]]}`},
		{`{"a": {"$lt": 5}}`, ``, ``, []string{}, `PROJECTION_COVERED IXSCAN a {a:[[-inf, 5)]}`},
		{`{"a": {"$gte": 5}}`, ``, ``, none, `FETCH IXSCAN a {a:[[5, inf]]}`},
		{`{"a": {"$ne": 5}}`, ``, ``, none, `FETCH IXSCAN a {a:[[MinKey, 5),(5, MaxKey]]}`},
		{`{"a": {"$in": [5, 1, null]}}`, ``, ``, none, `FETCH IXSCAN a {a:[[null, null],[1, 1],[5, 5]]}`},
		{`{"a": {"$exists": true}}`, ``, ``, none, `COLLSCAN {"a":{"$exists":true}}`},
		{`{"a": {"$exists": false}}`, ``, ``, []string{"a"}, `PROJECTION_COVERED IXSCAN {"a":{"$exists":false}} a {a:[[null, null]]}`},
		{`{"a": {"$type": "number"}}`, ``, ``, []string{"a"}, `PROJECTION_COVERED IXSCAN a {a:[[NaN, inf]]}`},
		{`{"a": {"$type": "int"}}`, ``, ``, []string{"a"}, `PROJECTION_COVERED IXSCAN {"a":{"$type":"int"}} a {a:[[NaN, inf]]}`},
		{`{"a": 1, "zz": 2}`, ``, ``, none, `FETCH {"zz":2} IXSCAN a {a:[[1, 1]]}`},
		{`{"a": {"$gt": 5, "$lt": 3}}`, ``, ``, none, `FETCH IXSCAN a {a:[]}`},
		// compound: equality, then range, then tests of the entry
		{`{"b": 1, "c": {"$gt": 1}}`, ``, ``, none, `FETCH IXSCAN bc {b:[[1, 1]],c:[[inf, 1)]}`},
		{`{"b": {"$gt": 1}, "c": 2}`, ``, ``, []string{"b", "c"}, `PROJECTION_COVERED IXSCAN bc {b:[(1, inf]],c:[[2, 2]]}`},
		{`{"b": 1}`, `{"c": 1}`, ``, none, `FETCH IXSCAN bc backward {b:[[1, 1]],c:[[MinKey, MaxKey]]}`},
		{`{}`, `{"b": 1, "c": -1}`, ``, none, `FETCH IXSCAN bc {b:[[MinKey, MaxKey]],c:[[MaxKey, MinKey]]}`},
		{`{}`, `{"b": 1, "c": 1}`, ``, none, `SORT COLLSCAN`},
		{`{"c": 1}`, ``, ``, none, `COLLSCAN {"c":1}`},
		// sorts
		{`{}`, `{"a": 1}`, ``, none, `FETCH IXSCAN a {a:[[MinKey, MaxKey]]}`},
		{`{}`, `{"a": -1}`, ``, []string{"a"}, `PROJECTION_COVERED IXSCAN a backward {a:[[MaxKey, MinKey]]}`},
		{`{}`, `{"a": 1, "_id": 1}`, ``, none, `FETCH IXSCAN a {a:[[MinKey, MaxKey]]}`},
		{`{"a": 5}`, `{"b": 1}`, ``, none, `SORT FETCH IXSCAN a {a:[[5, 5]]}`},
		{`{}`, `{"s": 1}`, ``, none, `FETCH IXSCAN s backward {s:[[MinKey, MaxKey]]}`},
		// arrays
		{`{"m": {"$gte": 5, "$lt": 7}}`, ``, ``, []string{"m"}, `FETCH {"m":{"$lt":7}} IXSCAN m {m:[[5, inf]]}`},
		{`{"m": {"$elemMatch": {"$gte": 5, "$lt": 7}}}`, ``, ``, none, `FETCH {"m":{"$elemMatch":{"$gte":5,"$lt":7}}} IXSCAN m {m:[[5, 7)]}`},
		{`{"m": {"$not": {"$lt": 5}}}`, ``, ``, none, `FETCH {"m":{"$not":{"$lt":5}}} IXSCAN m {m:[[MinKey, -inf),[5, MaxKey]]}`},
		{`{"m": 5}`, ``, ``, none, `FETCH IXSCAN m {m:[[5, 5]]}`},
		{`{}`, `{"m": 1}`, ``, none, `FETCH IXSCAN m {m:[[MinKey, MaxKey]]}`},
		{`{"m": {"$gt": 5}}`, `{"m": 1}`, ``, none, `SORT FETCH IXSCAN m {m:[(5, inf]]}`},
		{`{"m2.x": 1, "m2.y": 1}`, ``, ``, none, `FETCH {"$and":[{"m2.x":1},{"m2.y":1}]} IXSCAN m2 {m2.x:[[1, 1]],m2.y:[[MinKey, MaxKey]]}`},
		{`{"$expr": {"$eq": ["$m", 5]}}`, ``, ``, none, `COLLSCAN {"$expr":{"$eq":["$m",5]}}`},
		// clauses with an index each; a clause without one spoils it
		{`{"$or": [{"a": 1}, {"b": 2, "c": 1}], "s": {"$ne": "x"}}`, ``, ``, none, `OR a {a:[[1, 1]]} bc {b:[[2, 2]],c:[[1, 1]]}`},
		{`{"$or": [{"a": 1}, {"b": 2}, {"n.x": 7}]}`, ``, ``, none, `OR a {a:[[1, 1]]} bc {b:[[2, 2]],c:[[MaxKey, MinKey]]} nx {n.x:[[7, 7]]}`},
		{`{"$or": [{"a": 1}, {"b": 2}], "zz": null}`, `{"s": 1}`, ``, none, `SORT OR a {a:[[1, 1]]} bc {b:[[2, 2]],c:[[MaxKey, MinKey]]}`},
		{`{"$or": [{"a": 1}, {"zz": 2}]}`, ``, ``, none, `COLLSCAN {"$or":[{"a":1},{"zz":2}]}`},
		// text
		{`{"s": {"$regex": "^t1"}}`, ``, ``, []string{"s"}, `PROJECTION_COVERED IXSCAN s {s:[[/^t1/, /^t1/],('t2', 't1']]}`},
		{`{"s": {"$regex": "t1"}}`, ``, ``, []string{"s"}, `PROJECTION_COVERED IXSCAN {"s":{"$regex":"t1"}} s {s:[[/t1/, /t1/],({}, '']]}`},
		// nested and partial and sparse
		{`{"n.x": {"$lt": 3}}`, ``, ``, []string{"n.x"}, `PROJECTION_COVERED IXSCAN nx {n.x:[[-inf, 3)]}`},
		{`{"n.x": {"$lt": 3}}`, ``, ``, []string{"n"}, `FETCH IXSCAN nx {n.x:[[-inf, 3)]}`},
		{`{"q": {"$gt": 1}}`, ``, ``, none, `FETCH IXSCAN q {q:[(1, inf]]}`},
		{`{"q": {"$ne": 1}}`, ``, ``, none, `COLLSCAN {"q":{"$ne":1}}`},
		{`{}`, `{"q": 1}`, ``, none, `SORT COLLSCAN`},
		{`{"p": {"$gt": 20}}`, ``, ``, none, `FETCH IXSCAN p {p:[(20, inf]]}`},
		{`{"p": {"$gt": 5}}`, ``, ``, none, `COLLSCAN {"p":{"$gt":5}}`},
		// hints
		{`{}`, ``, `"a"`, []string{"a"}, `PROJECTION_COVERED IXSCAN a {a:[[MinKey, MaxKey]]}`},
		{`{"a": 1}`, ``, `{"b": 1.0, "c": -1}`, none, `FETCH {"a":1} IXSCAN bc {b:[[MinKey, MaxKey]],c:[[MaxKey, MinKey]]}`},
		{`{"a": 1}`, ``, `{"$natural": -1}`, none, `COLLSCAN {"a":1} backward`},
		{`{}`, `{"$natural": -1}`, ``, none, `COLLSCAN backward`},
		// expressions follow the order of all types; null and missing need a look
		{`{"$expr": {"$and": [{"$gte": ["$a", {"$literal": 2}]}, {"$lt": ["$a", {"$literal": "x"}]}]}}`, ``, ``, []string{"a"}, `PROJECTION_COVERED IXSCAN a {a:[[2, 'x')]}`},
		{`{"$expr": {"$lt": ["$a", 2]}}`, ``, ``, []string{"a"}, `PROJECTION_COVERED IXSCAN a {a:[[MinKey, 2)]}`},
		{`{"$expr": {"$gt": ["$a", null]}}`, ``, ``, []string{"a"}, `PROJECTION_COVERED IXSCAN a {a:[(null, MaxKey]]}`},
		{`{"$expr": {"$gte": [2, "$a"]}}`, ``, ``, []string{"a"}, `PROJECTION_COVERED IXSCAN a {a:[[MinKey, 2]]}`},
	} {
		r := Request{Filter: filter(t, doc(t, c.filter)), Needs: c.needs}
		if c.sort != "" {
			s, err := ParseSort(doc(t, c.sort))
			if err != nil {
				t.Fatal(err)
			}
			r.Sort = s
		}
		if c.hint != "" {
			r.Hint = val(t, c.hint)
		}
		_, p := read(t, db, testNS, r)
		want := c.want
		if got := summary(p); got != want {
			t.Errorf("%s sort %s hint %s needs %v:\n got %s\nwant %s", c.filter, c.sort, c.hint, c.needs, got, want)
		}
	}
}

// TestRangePredicate: a range over all types, written for servers whose $lt keeps to a type, is one exact and covered scan.
func TestRangePredicate(t *testing.T) {
	db := planCollection(t)
	for _, src := range []string{
		`{"$or": [{"a": {"$lt": 5}}, {"a": {"$type": ["minKey", "undefined", "null"]}}, {"a": null}, {"a": {"$numberDouble": "NaN"}}]}`,
		`{"$or": [{"a": {"$gte": 5}}, {"a": {"$type": ["string", "symbol", "object", "binData", "objectId", "bool", "date", "timestamp", "regex", "dbPointer", "javascript", "javascriptWithScope", "maxKey"]}}, {"a": {"$type": "array"}}]}`,
		`{"$or": [{"a": {"$gte": 5}}, {"a": {"$type": ["string", "symbol"]}}, {"a": {"$lt": {"x": 1}}}]}`,
		`{"a": {"$gte": 1, "$lt": 5}}`,
	} {
		got, p := read(t, db, testNS, Request{Filter: filter(t, doc(t, src)), Needs: []string{"a"}})
		if !p.Covered || p.Residual != nil || len(p.Bounds) == 0 || p.Index.Name != "a" {
			t.Errorf("%s: %s", src, summary(p))
		}
		want, _ := read(t, db, testNS, Request{Filter: filter(t, doc(t, src)), Hint: val(t, `{"$natural": 1}`)})
		if len(got) != len(want) {
			t.Errorf("%s: %d documents, want %d", src, len(got), len(want))
		}
	}
}

// TestLargeIn: many thousand values are points of one scan, found in reasonable time.
func TestLargeIn(t *testing.T) {
	db := planCollection(t)
	in := newArray("$in")
	for i := range 20_000 {
		in.add(bsonx.Int32(int32(i * 3)))
	}
	for _, path := range []string{"n.x", "b"} {
		r := Request{Filter: filter(t, oneField(path, bsonx.DocValue(in.doc())))}
		got, p := read(t, db, testNS, r)
		r.Hint = val(t, `{"$natural": 1}`)
		want, _ := read(t, db, testNS, r)
		if len(p.Bounds) != 20_000 || len(got) != len(want) || len(got) == 0 {
			t.Errorf("%s: %d bounds, %d documents, want %d", path, len(p.Bounds), len(got), len(want))
		}
	}
}

func TestHintErrors(t *testing.T) {
	db := planCollection(t)
	snap := db.Snapshot()
	defer func() { _ = snap.Close() }()
	c := snap.Collection(testNS)
	for _, c2 := range []struct {
		name string
		r    Request
		code mongoerr.Code
	}{
		{"name", Request{Hint: val(t, `"nope"`)}, 2},
		{"pattern", Request{Hint: val(t, `{"a": -1}`)}, 2},
		{"type", Request{Hint: val(t, `5`)}, 9},
		{"partial index that leaves documents out", Request{Hint: val(t, `"p"`)}, 2},
		{"min of no index", Request{Min: doc(t, `{"zz": 1}`)}, 2},
		{"min of another index than the hint", Request{Min: doc(t, `{"a": 1}`), Hint: val(t, `"m"`)}, 51174},
		{"max below min", Request{Min: doc(t, `{"a": 5}`), Max: doc(t, `{"a": 1}`)}, 51175},
	} {
		_, err := MakePlan(snap, c, c2.r)
		if got := mongoerr.CodeOf(err); got != c2.code {
			t.Errorf("%s: code %d (%v), want %d", c2.name, got, err, c2.code)
		}
	}
}

func ids(docs []bsonx.Doc) []int32 {
	out := []int32{}
	for _, d := range docs {
		out = append(out, d.Get("_id").Int32())
	}
	return out
}

func TestMinMax(t *testing.T) {
	db := planCollection(t)
	got, _ := read(t, db, testNS, Request{Min: doc(t, `{"n.x": 5}`), Max: doc(t, `{"n.x": 8}`)})
	if want := []int32{5, 6, 7}; !slices.Equal(ids(got), want) {
		t.Errorf("got %v, want %v", ids(got), want)
	}
	got, _ = read(t, db, testNS, Request{Max: doc(t, `{"s": "t38"}`), Filter: filter(t, doc(t, `{"_id": {"$ne": 9}}`)), Hint: val(t, `"s"`), Limit: 3})
	if want := []int32{8, 7, 6}; !slices.Equal(ids(got), want) {
		t.Errorf("got %v, want %v", ids(got), want)
	}
}

func TestOpenEntries(t *testing.T) {
	db := planCollection(t)
	snap := db.Snapshot()
	defer func() { _ = snap.Close() }()
	plan := func(r Request) *Plan {
		p, err := MakePlan(snap, snap.Collection(testNS), r)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := plan(Request{Filter: filter(t, doc(t, `{"a": {"$gte": 2, "$lt": 4}}`)), Needs: []string{"a"}})
	it, ok := p.OpenEntries(snap)
	if !ok {
		t.Fatal("a covered plan without a residual filter has no entries")
	}
	n := 0
	for it.Next() {
		v, _, _, err := bsonx.DecodeKey(it.Key(), it.TypeBits(), false)
		if err != nil || v.Int32() < 2 || v.Int32() > 3 {
			t.Errorf("entry %v %v", v, err)
		}
		n++
	}
	if err := errors.Join(it.Err(), it.Close()); err != nil || n != 12 {
		t.Errorf("%d entries, %v", n, err)
	}
	for _, r := range []Request{
		{Filter: filter(t, doc(t, `{"a": {"$type": "int"}}`)), Needs: []string{"a"}},
		{Filter: filter(t, doc(t, `{"a": 1}`))},
		{Filter: filter(t, doc(t, `{"a": 1}`)), Needs: []string{"a"}, Limit: 1},
		{Filter: filter(t, doc(t, `{"m": 1}`)), Needs: []string{"m"}},
	} {
		if _, ok := plan(r).OpenEntries(snap); ok {
			t.Errorf("%s: entries alone do not answer", text(r.Filter.Source()))
		}
	}
}

func TestSourceStopsWithItsContext(t *testing.T) {
	db := planCollection(t)
	for _, r := range []Request{{}, {Filter: filter(t, doc(t, `{"a": 1}`))}, {Filter: filter(t, doc(t, `{"a": 1}`)), Needs: []string{}}, {Sort: &SortSpec{Fields: []store.IndexField{{Path: "zz"}}}}} {
		snap := db.Snapshot()
		p, err := MakePlan(snap, snap.Collection(testNS), r)
		if err != nil {
			t.Fatal(err)
		}
		src, err := p.Open(snap)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := src.Next(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", summary(p), err)
		}
		if err := errors.Join(src.Close(), snap.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestStats(t *testing.T) {
	db := planCollection(t)
	for _, c := range []struct {
		filter, hint string
		needs        []string
		keys, docs   int64
	}{
		{`{"b": 1}`, `{"$natural": 1}`, nil, 0, 40},
		{`{"b": 1}`, `"bc"`, nil, 8, 8},
		{`{"b": 1}`, `"bc"`, []string{"b"}, 8, 0},
		{`{"_id": {"$lt": 4}}`, `"_id_"`, nil, 4, 4},
		{`{"m": {"$gte": 38}}`, `"m"`, nil, 5, 3},
	} {
		_, p := read(t, db, testNS, Request{Filter: filter(t, doc(t, c.filter)), Hint: val(t, c.hint), Needs: c.needs})
		if keys, docs := p.Stats(); keys != c.keys || docs != c.docs {
			t.Errorf("%s: %d keys, %d documents; want %d, %d", summary(p), keys, docs, c.keys, c.docs)
		}
	}
}
