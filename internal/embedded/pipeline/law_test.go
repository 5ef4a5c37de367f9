package pipeline

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson/primitive"
	"pgregory.net/rapid"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
)

// anyValue draws values of many types that often equal each other.
func anyValue(arrays bool) *rapid.Generator[bsonx.Value] {
	return rapid.Custom(func(t *rapid.T) bsonx.Value {
		n := rapid.Int64Range(-3, 12).Draw(t, "n")
		top := 13
		if arrays {
			top = 15
		}
		switch rapid.IntRange(0, top).Draw(t, "type") {
		case 0, 1, 2:
			return bsonx.Int32(int32(n))
		case 3:
			return bsonx.Int64(n)
		case 4:
			return bsonx.Double(float64(n))
		case 5:
			return bsonx.Double(float64(n) / 2)
		case 6:
			d, err := primitive.ParseDecimal128(fmt.Sprintf("%d.%s", n, []string{"0", "50", "00"}[rapid.IntRange(0, 2).Draw(t, "frac")]))
			if err != nil {
				t.Fatal(err)
			}
			return bsonx.Decimal(d.GetBytes())
		case 7:
			return bsonx.String(strings.Repeat("k", int(n+3)))
		case 8:
			return null
		case 9:
			return bsonx.Value{}
		case 10:
			return bsonx.Bool(n > 4)
		case 11:
			return []bsonx.Value{
				bsonx.Double(math.NaN()), bsonx.Double(math.Copysign(0, -1)), bsonx.Int64(math.MaxInt64), bsonx.Int64(math.MinInt64),
				bsonx.Double(0x1p63), bsonx.Double(math.Inf(1)), bsonx.Double(1e300),
			}[rapid.IntRange(0, 6).Draw(t, "odd")]
		case 12:
			return bsonx.Date(n)
		case 13:
			return makeDoc("x", bsonx.Int32(int32(n%3)))
		case 14:
			return bsonx.Array()
		}
		return bsonx.Array(bsonx.Int32(int32(n)), bsonx.Int32(1))
	})
}

type lawDoc struct{ k, v bsonx.Value }

func drawDocs(t *rapid.T, arrays bool) []lawDoc {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) lawDoc {
		return lawDoc{anyValue(arrays).Draw(t, "k"), anyValue(true).Draw(t, "v")}
	}), 0, 60).Draw(t, "docs")
}

func lawBSON(docs []lawDoc) []bsonx.Doc {
	var out []bsonx.Doc
	for i, d := range docs {
		b := bsonx.AppendElem(bsonx.BeginDoc(nil), "_id", bsonx.Int32(int32(i)))
		if !d.k.IsMissing() {
			b = bsonx.AppendElem(b, "k", d.k)
		}
		if !d.v.IsMissing() {
			b = bsonx.AppendElem(b, "v", d.v)
		}
		out = append(out, bsonx.EndDoc(b, 0))
	}
	return out
}

// plainGroup is the grouping written down as simply as possible.
func plainGroup(docs []lawDoc) []string {
	type group struct {
		id    bsonx.Value
		n     int64
		sum   expr.Sum
		nums  int64
		max   bsonx.Value
		first bsonx.Value
	}
	var groups []*group
	for _, d := range docs {
		k := orNull(d.k)
		i := slices.IndexFunc(groups, func(g *group) bool { return bsonx.Compare(g.id, k) == 0 })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &group{id: k, first: orNull(d.v)})
		}
		g := groups[i]
		g.n++
		g.sum.Add(d.v)
		if d.v.IsNumber() {
			g.nums++
		}
		if !d.v.IsNullish() && (g.max.IsMissing() || bsonx.CompareAgg(d.v, g.max) > 0) {
			g.max = d.v
		}
	}
	var out []string
	for _, g := range groups {
		out = append(out, text(makeDoc("_id", g.id, "n", intOrLong(g.n), "max", orNull(g.max), "first", g.first, "nums", bsonx.Int64(g.nums)).Doc()))
	}
	slices.Sort(out)
	return out
}

const lawStages = `{"_id": "$k", "n": {"$sum": 1}, "max": {"$max": "$v"}, "first": {"$first": "$v"}, "nums": {"$sum": {"$cond": [{"$isNumber": "$v"}, {"$numberLong": "1"}, {"$numberLong": "0"}]}}}`

// TestGroupLaw: $group is the plain grouping, with and without an index, spilled or not, however it is read.
func TestGroupLaw(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		docs := drawDocs(rt, true)
		db := openDB(t)
		if len(docs) > 0 {
			insert(rt, db, testNS, lawBSON(docs)...)
		}
		want := plainGroup(docs)
		check := func(what, stages string, o Options) {
			got, err := runAll(array(rt, stages), o)
			if err != nil {
				rt.Fatalf("%s: %v", what, err)
			}
			have := texts(got)
			slices.Sort(have)
			if !slices.Equal(have, want) {
				rt.Fatalf("%s:\n got %v\nwant %v", what, have, want)
			}
		}
		o := options(db)
		small := o
		small.MemoryLimit = 1
		check("by table", `[{"$group": `+lawStages+`}]`, o)
		shared := o
		shared.Parallel, shared.parallelFrom = 3, 1
		check("by several workers", `[{"$group": `+lawStages+`}]`, shared)
		check("spilled", `[{"$group": `+lawStages+`}]`, small)
		check("sorted", `[{"$sort": {"_id": 1}}, {"$group": `+lawStages+`}]`, o)
		if len(docs) == 0 {
			return
		}
		index(rt, db, testNS, `{"key": {"k": 1, "_id": 1}, "name": "k"}`)
		check("by index", `[{"$sort": {"k": 1, "_id": 1}}, {"$group": `+lawStages+`}]`, o)
	})
}

// TestCoveredGroupLaw: counting by entries of an index gives what counting by documents gives.
func TestCoveredGroupLaw(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		docs := drawDocs(rt, rapid.Bool().Draw(rt, "arrays"))
		dir := rapid.SampledFrom([]string{"1", "-1"}).Draw(rt, "dir")
		second := rapid.SampledFrom([]string{"", `, "v": 1`, `, "_id": -1`}).Draw(rt, "second")
		if len(docs) == 0 {
			return
		}
		if second == `, "v": 1` { // one array at most may be in a compound index
			for i := range docs {
				docs[i].v = bsonx.Int32(int32(i % 4))
			}
		}
		db := openDB(t)
		insert(rt, db, testNS, lawBSON(docs)...)
		o := options(db)
		run := func(stages string) []string {
			got, err := runAll(array(rt, stages), o)
			if err != nil {
				rt.Fatal(err)
			}
			return texts(got)
		}
		const count = `{"$group": {"_id": "$k", "n": {"$sum": 1}, "m": {"$sum": {"$numberLong": "3"}}}}`
		const ids = `{"$group": {"_id": "$k"}}`
		wantCount, wantIDs := run(`[`+count+`]`), run(`[`+ids+`]`)
		index(rt, db, testNS, `{"key": {"k": `+dir+second+`}, "name": "i"}`)
		o.Parallel, o.parallelFrom = rapid.IntRange(1, 3).Draw(rt, "workers"), 1
		for _, sort := range []string{`{"$sort": {"k": 1}}`, `{"$sort": {"k": -1}}`, `{"$match": {"k": {"$in": []}}}`} {
			if sort[2] == '$' && sort[3] == 'm' {
				wantCount, wantIDs = nil, nil
			}
			for _, c := range []struct {
				stage string
				want  []string
			}{{count, wantCount}, {ids, wantIDs}} {
				got := run(`[` + sort + `, ` + c.stage + `]`)
				// Which of several equal _ids stands for the group depends on the order: compare by value.
				if !sameGroups(got, c.want) {
					rt.Fatalf("%s %s:\n got %v\nwant %v", sort, c.stage, got, c.want)
				}
			}
		}
	})
}

// sameGroups compares groups without the types of their _ids.
func sameGroups(a, b []string) bool {
	canon := func(in []string) []string {
		var out []string
		for _, s := range in {
			out = append(out, canonGroup(s))
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(canon(a), canon(b))
}

func canonGroup(s string) string {
	var t testingT
	d := doc(&t, s)
	key := bsonx.AppendKey(nil, d.Get("_id"), false)
	return fmt.Sprintf("%x %v %v", key, d.Get("n"), d.Get("m"))
}

type testingT struct{}

func (*testingT) Helper()                   {}
func (*testingT) Fatal(a ...any)            { panic(fmt.Sprint(a...)) }
func (*testingT) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }
func (*testingT) Errorf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }

// TestSortLaw: $sort is a stable sort by Compare, with and without a limit.
func TestSortLaw(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		docs := drawDocs(rt, false)
		if len(docs) == 0 {
			return
		}
		limit := rapid.IntRange(1, 70).Draw(rt, "limit")
		db := openDB(t)
		all := lawBSON(docs)
		insert(rt, db, testNS, all...)
		slices.SortStableFunc(all, func(a, b bsonx.Doc) int { return -bsonx.Compare(orNull(a.Get("k")), orNull(b.Get("k"))) })
		want := texts(all[:min(limit, len(all))])
		for _, memory := range []int64{0, 1} {
			o := options(db)
			o.MemoryLimit = memory
			// The unwind keeps the sort from going into the plan.
			for _, pre := range []string{``, `{"$unwind": {"path": "$nope", "preserveNullAndEmptyArrays": true}}, `} {
				got, err := runAll(array(rt, fmt.Sprintf(`[%s{"$sort": {"k": -1}}, {"$limit": %d}]`, pre, limit)), o)
				if err != nil {
					rt.Fatal(err)
				}
				if have := texts(got); !slices.Equal(have, want) {
					rt.Fatalf("\n got %v\nwant %v", have, want)
				}
			}
		}
	})
}

// TestSpillAll: every accumulator survives spilling and merging.
func TestSpillAll(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		docs := drawDocs(rt, true)
		if len(docs) == 0 {
			return
		}
		db := openDB(t)
		all := lawBSON(docs)
		for len(all) < 3000 { // several blocks
			for _, d := range lawBSON(docs) {
				all = append(all, mergeDocs(d, makeDoc("_id", bsonx.Int32(int32(len(all)))).Doc()))
			}
		}
		insert(rt, db, testNS, all...)
		const stages = `[{"$sort": {"_id": 1}}, {"$group": {"_id": {"$mod": ["$_id", 7]}, "first": {"$first": "$v"}, "last": {"$last": "$k"}, "push": {"$push": "$v"},
			"set": {"$addToSet": "$k"}, "min": {"$min": "$v"}, "fn": {"$firstN": {"n": 3, "input": "$v"}}, "ln": {"$lastN": {"n": 3, "input": "$v"}},
			"mx": {"$maxN": {"n": 3, "input": "$k"}}, "bn": {"$bottomN": {"n": 3, "sortBy": {"k": 1}, "output": "$_id"}}, "n": {"$sum": 1}, "ints": {"$sum": {"$cond": [{"$eq": [{"$type": "$v"}, "int"]}, "$v", 0]}}}}, {"$sort": {"_id": 1}}]`
		run := func(memory int64) []string {
			o := options(db)
			o.MemoryLimit = memory
			got, err := runAll(array(rt, stages), o)
			if err != nil {
				rt.Fatal(err)
			}
			return texts(got)
		}
		if a, b := run(0), run(1<<16); !slices.Equal(a, b) {
			rt.Fatalf("spilling changes the result:\n%v\n%v", a, b)
		}
	})
}

// TestNoDisk: without permission to use the disk too many groups are an error.
func TestNoDisk(t *testing.T) {
	db := openDB(t)
	var docs []bsonx.Doc
	for i := range 2000 {
		docs = append(docs, makeDoc("_id", bsonx.Int32(int32(i))).Doc())
	}
	insert(t, db, testNS, docs...)
	o := Options{DB: db, NS: testNS, MemoryLimit: 1 << 12}
	for _, stages := range []string{`[{"$group": {"_id": "$_id", "x": {"$push": "$_id"}}}]`, `[{"$unwind": "$_id"}, {"$sort": {"x": 1}}]`, `[{"$bucketAuto": {"groupBy": "$_id", "buckets": 3}}]`} {
		if _, err := runAll(array(t, stages), o); err == nil {
			t.Errorf("%s: no error", stages)
		}
	}
}

// TestParallelLaw: sharing a scan among workers changes nothing, not even which of several equal _ids
// stands for a group, and gives up where the order of adding would show.
func TestParallelLaw(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		docs := drawDocs(rt, true)
		if len(docs) == 0 {
			return
		}
		if rapid.Bool().Draw(rt, "whole") {
			for i := range docs {
				docs[i].v = bsonx.Int64(int64(i) << 40)
			}
		}
		db := openDB(t)
		insert(rt, db, testNS, lawBSON(docs)...)
		run := func(workers int, memory int64) []string {
			o := options(db)
			o.Parallel, o.parallelFrom, o.MemoryLimit = workers, 1, memory
			got, err := runAll(array(rt, `[{"$match": {"_id": {"$gte": 2}}}, {"$group": {"_id": "$k", "n": {"$sum": 1}, "s": {"$sum": "$v"}, "a": {"$avg": "$v"}}}]`), o)
			if err != nil {
				rt.Fatal(err)
			}
			have := texts(got)
			slices.Sort(have)
			return have
		}
		want := run(1, 0)
		for _, memory := range []int64{0, 1} {
			if got := run(4, memory); !slices.Equal(got, want) {
				rt.Fatalf("\n got %v\nwant %v", got, want)
			}
		}
	})
}

func TestSplit(t *testing.T) {
	db := openDB(t)
	var docs []bsonx.Doc
	for i := range 5000 {
		docs = append(docs, makeDoc("_id", bsonx.Int32(int32(i)), "k", bsonx.Int32(int32(i%700))).Doc())
	}
	insert(t, db, testNS, docs...)
	snap := db.Snapshot()
	defer snap.Close()
	c := snap.Collection(testNS)
	pieces, err := splitAll(nil, recordEdges(snap, c), false)
	if err != nil {
		t.Fatal(err)
	}
	if len(pieces) < 32 {
		t.Errorf("%d pieces", len(pieces))
	}
	total := 0
	for i, p := range pieces {
		if i > 0 && string(p.Lo) != string(pieces[i-1].Hi) {
			t.Errorf("piece %d does not begin where the one before ends", i)
		}
		n := 0
		it := snap.Records(c, pieces[i:i+1], false)
		for it.Next() {
			n++
		}
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
		if n > 500 {
			t.Errorf("piece %d has %d documents", i, n)
		}
		total += n
	}
	if total != len(docs) {
		t.Errorf("%d documents in the pieces, want %d", total, len(docs))
	}
}
