package query

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strconv"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"pgregory.net/rapid"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/store"
)

// fixture is a collection of random documents with random indexes.
type fixture struct {
	db   *store.DB
	ns   store.NS
	docs []bsonx.Doc
	c    *store.Collection
}

// drawFixture makes a collection of its own in db, numbered by n; the caller drops it.
func drawFixture(t *rapid.T, db *store.DB, n *int, arrays bool) fixture {
	g := gen{t}
	*n++
	f := fixture{db: db, ns: store.NS{DB: "law", Coll: "c" + strconv.Itoa(*n)}}
	for i := range g.n(1, 30) {
		f.docs = append(f.docs, g.document(i, arrays))
	}
	ctx := context.Background()
	if _, errs, err := db.InsertMany(ctx, f.ns, f.docs, true, store.WriteOptions{Create: true}); err != nil || errs != nil {
		t.Fatalf("insert: %v %v", errs, err)
	}
	for i := range g.n(1, 4) {
		// two arrays in one document can't be in one index, and two specs may be alike
		_, _ = db.CreateIndex(ctx, f.ns, marshal(t, g.index(i)))
	}
	snap := db.Snapshot()
	f.c = snap.Collection(f.ns)
	_ = snap.Close()
	return f
}

func (f fixture) drop(t *rapid.T) {
	if _, err := f.db.Drop(context.Background(), f.ns); err != nil {
		t.Fatalf("drop: %v", err)
	}
}

// hints are all ways to read the collection: none, and each index that is not sparse.
func (f fixture) hints() []bsonx.Value {
	out := []bsonx.Value{{}, bsonx.DocValue(oneField("$natural", bsonx.Int32(1)))}
	for _, ix := range f.c.Indexes {
		if !ix.Sparse && ix.Partial == nil {
			out = append(out, bsonx.String(ix.Name))
		}
	}
	return out
}

func byID(docs []bsonx.Doc) []bsonx.Doc {
	out := slices.Clone(docs)
	slices.SortFunc(out, func(a, b bsonx.Doc) int { return cmp.Compare(a.Get("_id").Int32(), b.Get("_id").Int32()) })
	return out
}

func same(a, b []bsonx.Doc) bool {
	return slices.EqualFunc(a, b, func(x, y bsonx.Doc) bool { return bytes.Equal(x, y) })
}

// TestPlannedEqualsMatched: whatever index is used, a filter finds the documents that match it.
func TestPlannedEqualsMatched(t *testing.T) {
	db, n := openDB(t), 0
	rapid.Check(t, func(t *rapid.T) {
		g := gen{t}
		fx := drawFixture(t, db, &n, rapid.Bool().Draw(t, "arrays"))
		defer fx.drop(t)
		for range 8 {
			src := marshal(t, g.filter(2))
			f, err := ParseFilter(src, nil)
			if err != nil {
				t.Fatalf("%s: %v", text(src), err)
			}
			var want []bsonx.Doc
			for _, d := range fx.docs {
				if ok, err := f.Match(d); err != nil {
					t.Fatalf("%s: %v", text(src), err)
				} else if ok {
					want = append(want, d)
				}
			}
			for _, hint := range fx.hints() {
				got, p := read(t, db, fx.ns, Request{Filter: f, Hint: hint})
				if !same(byID(got), byID(want)) {
					t.Fatalf("%s\nplan %s\n got %v\nwant %v", text(src), text(p.Explain()), got, want)
				}
			}
		}
	})
}

// TestIndexOrderEqualsSorted: a sort that an index gives is the order that a blocking sort makes, and a
// limit cuts both alike.
func TestIndexOrderEqualsSorted(t *testing.T) {
	db, n := openDB(t), 0
	rapid.Check(t, func(t *rapid.T) {
		g := gen{t}
		fx := drawFixture(t, db, &n, rapid.Bool().Draw(t, "arrays"))
		defer fx.drop(t)
		for range 4 {
			f := &Filter{}
			var spec bson.D
			used := map[string]bool{}
			switch g.n(0, 2) {
			case 0:
				f = filter(t, marshal(t, g.filter(1)))
			case 1: // bounds on the field to be sorted by
				p := pick(g, "path", "a", "b", "c.x")
				f = filter(t, marshal(t, bson.D{{Key: p, Value: bson.D{{Key: pick(g, "op", "$gt", "$lt"), Value: pick[any](g, "value", 0, 1, 1.5, "a")}}}}))
				used[p] = true
				spec = bson.D{{Key: p, Value: pick[int32](g, "direction", 1, -1)}}
			}
			for range g.n(1, 2) {
				if p := g.path(); !used[p] {
					used[p] = true
					spec = append(spec, bson.E{Key: p, Value: pick[int32](g, "direction", 1, -1)})
				}
			}
			if !used["_id"] { // makes the order of equal keys known
				spec = append(spec, bson.E{Key: "_id", Value: pick[int32](g, "direction", 1, -1)})
			}
			s, err := ParseSort(marshal(t, spec))
			if err != nil {
				t.Fatalf("sort: %v", err)
			}
			r := Request{Filter: f, Sort: s, Hint: bsonx.DocValue(oneField("$natural", bsonx.Int32(1)))}
			want, _ := read(t, db, fx.ns, r)
			r.Skip, r.Limit = int64(g.n(0, 3)), int64(g.n(0, 5))
			cut := want[min(int(r.Skip), len(want)):]
			if r.Limit > 0 {
				cut = cut[:min(int(r.Limit), len(cut))]
			}
			for _, hint := range fx.hints() {
				r.Hint = hint
				got, p := read(t, db, fx.ns, r)
				if !same(got, cut) {
					t.Fatalf("sort %v\nplan %s\n got %v\nwant %v", spec, text(p.Explain()), got, cut)
				}
			}
		}
	})
}

// TestCoveredEqualsProjected: what a covered plan makes of index entries is what a projection makes of the documents.
func TestCoveredEqualsProjected(t *testing.T) {
	db, n := openDB(t), 0
	covered := 0
	rapid.Check(t, func(t *rapid.T) {
		g := gen{t}
		fx := drawFixture(t, db, &n, false)
		defer fx.drop(t)
		for _, ix := range fx.c.Indexes {
			if ix.Sparse || ix.Partial != nil {
				continue
			}
			// fields in the order in which documents hold them, so that both come out in one order
			paths := []string{"a", "b", "c", "c.x", "c.y"}
			order := []string{}
			for _, f := range ix.Fields {
				order = append(order, f.Path)
			}
			if !slices.IsSortedFunc(slices.DeleteFunc(slices.Clone(order), func(s string) bool { return s == "_id" }), cmp.Compare[string]) {
				continue
			}
			var needs []string
			for _, p := range order {
				if slices.Contains(paths, p) && rapid.Bool().Draw(t, "need") {
					needs = append(needs, p)
				}
			}
			id := rapid.Bool().Draw(t, "id")
			proj := includePaths(needs, id)
			if id {
				needs = append(needs, "_id")
			}
			if needs == nil {
				needs = []string{}
			}
			f := filter(t, marshal(t, bson.D{{Key: order[0], Value: g.operators(1, false)}}))
			var want []bsonx.Doc
			for _, d := range fx.docs {
				if ok, err := f.Match(d); err != nil {
					t.Fatalf("match: %v", err)
				} else if ok {
					w, err := proj.Apply(nil, d)
					if err != nil {
						t.Fatalf("project: %v", err)
					}
					if len(needs) == 0 {
						w = bsonx.Empty
					}
					want = append(want, w)
				}
			}
			got, p := read(t, db, fx.ns, Request{Filter: f, Needs: needs, Hint: bsonx.String(ix.Name)})
			if !p.Covered {
				t.Fatalf("not covered: needs %v, %s", needs, text(p.Explain()))
			}
			covered++
			for i, d := range got { // what the filter read is there too
				if got[i], _ = proj.Apply(nil, d); len(needs) == 0 {
					got[i] = bsonx.Empty
				}
			}
			order2 := func(a, b bsonx.Doc) int { return bytes.Compare(a, b) }
			slices.SortFunc(got, order2)
			slices.SortFunc(want, order2)
			if !same(got, want) {
				t.Fatalf("needs %v plan %s\n got %v\nwant %v", needs, text(p.Explain()), got, want)
			}
		}
	})
	if covered == 0 {
		t.Error("no plan was covered")
	}
}
