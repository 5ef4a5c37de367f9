package splitter_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/internal/mongofake"
	"mrbench/splitter"
)

// fakeCollection is a server with ints 0 … n-1, each in perKey documents, under
// the key f, that can refuse commands.
type fakeCollection struct {
	n, perKey int64
	refuse    map[string]bson.D // replies by command name
	multikey  bool
	lie       int64 // added to the quick count
	splits    []bson.Raw
}

func (f *fakeCollection) handle(_ context.Context, c mongofake.Command) bson.D {
	if r, ok := f.refuse[c.Name]; ok {
		return r
	}
	total := f.n * f.perKey
	switch c.Name {
	case "listIndexes":
		return mongofake.Cursor("test.$cmd.listIndexes.c",
			bson.D{{Key: "key", Value: bson.D{{Key: "_id", Value: 1}}}, {Key: "name", Value: "_id_"}},
			bson.D{{Key: "key", Value: bson.D{{Key: "f", Value: 1}}}, {Key: "name", Value: "f_1"}})
	case "explain":
		return bson.D{{Key: "queryPlanner", Value: bson.D{{Key: "winningPlan", Value: bson.D{
			{Key: "stage", Value: "IXSCAN"}, {Key: "indexName", Value: "f_1"}, {Key: "isMultiKey", Value: f.multikey},
		}}}}, {Key: "ok", Value: 1.0}}
	case "collStats":
		return bson.D{{Key: "count", Value: total}, {Key: "avgObjSize", Value: 36}, {Key: "ok", Value: 1.0}}
	case "splitVector":
		f.splits = append(f.splits, c.Body)
		every := c.Body.Lookup("maxChunkSizeBytes").Int64()/72 + 1
		if m, ok := c.Body.Lookup("maxChunkObjects").AsInt64OK(); ok {
			every = min(every, m+1)
		}
		keys := bson.A{}
		for at := every - 1; at < total; at += every {
			keys = append(keys, bson.D{{Key: "f", Value: int32(at / f.perKey)}})
		}
		return bson.D{{Key: "splitKeys", Value: keys}, {Key: "ok", Value: 1.0}}
	case "count":
		q, _ := c.Body.Lookup("query").DocumentOK()
		n := f.count(q)
		if len(q) <= 5 {
			n += f.lie
		}
		return bson.D{{Key: "n", Value: n}, {Key: "ok", Value: 1.0}}
	case "aggregate":
		return mongofake.Cursor("test.c", bson.D{{Key: "_id", Value: 1}, {Key: "n", Value: total}})
	case "find":
		q := c.Body.Lookup("filter").Document()
		lo, hi, ok := f.bounds(q)
		if !ok {
			return mongofake.Cursor("test.c")
		}
		skip, _ := c.Body.Lookup("skip").AsInt64OK()
		limit, _ := c.Body.Lookup("limit").AsInt64OK()
		var docs []any
		for at := lo*f.perKey + skip; at < hi*f.perKey && int64(len(docs)) < limit; at++ {
			docs = append(docs, bson.D{{Key: "f", Value: int32(at / f.perKey)}})
		}
		return mongofake.Cursor("test.c", docs...)
	}
	return mongofake.Error(59, "no such command: "+c.Name)
}

// bounds reads a plain filter of numbers; false when it is for another type.
func (f *fakeCollection) bounds(q bson.Raw) (lo, hi int64, ok bool) {
	lo, hi = 0, f.n
	if len(q) <= 5 {
		return lo, hi, true
	}
	d, isDoc := q.Lookup("f").DocumentOK()
	if !isDoc {
		return 0, 0, false
	}
	elements, _ := d.Elements()
	for _, e := range elements {
		v, isInt := e.Value().AsInt64OK()
		if !isInt || e.Value().Type == bson.TypeDouble {
			if e.Value().Type != bson.TypeDouble { // -Infinity bounds nothing
				return 0, 0, false
			}
			continue
		}
		switch e.Key() {
		case "$gte":
			lo = max(lo, v)
		case "$gt":
			lo = max(lo, v+1)
		case "$lt":
			hi = min(hi, v)
		case "$eq":
			lo, hi = v, v+1
		default:
			return 0, 0, false
		}
	}
	return lo, hi, true
}

func (f *fakeCollection) count(q bson.Raw) int64 {
	lo, hi, ok := f.bounds(q)
	if !ok || hi < lo {
		return 0
	}
	return (hi - lo) * f.perKey
}

func (f *fakeCollection) split(t *testing.T, ranges int, strategy string) (*splitter.Report, error) {
	t.Helper()
	s := &mongofake.Server{Handle: f.handle, NoHello: true}
	return splitter.Split(t.Context(), splitter.Config{
		Collection: s.Client(t).Database("test").Collection("c"), Key: "f", Ranges: ranges, Strategy: strategy,
	})
}

func texts(r *splitter.Report) string {
	var out []string
	for _, p := range r.Pieces {
		out = append(out, fmt.Sprintf("%s %d", p.Range, p.Documents))
	}
	return strings.Join(out, "; ")
}

func TestSplitVectorIsEven(t *testing.T) {
	f := &fakeCollection{n: 100_000, perKey: 10}
	r, err := f.split(t, 4, "")
	if err != nil {
		t.Fatal(err)
	}
	if r.Strategy != splitter.SplitVector || len(r.Pieces) != 4 || r.Total != 1_000_000 || r.Imbalance > 1.04 || r.SplitKeys < 100 {
		t.Errorf("%+v", r)
	}
	if fmt.Sprint(r.Types) != "[int]" || len(r.Skipped) != 0 || r.Index != "f_1" {
		t.Errorf("%+v", r)
	}
}

func TestSplitVectorRefused(t *testing.T) {
	for code, want := range map[int32]string{
		13: "may not run splitVector (code 13)", 20: "not possible here (code 20)", 59: "has no splitVector", 27: "refused it (code 27)", 8000: "refused it (code 8000)",
	} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			f := &fakeCollection{n: 1000, perKey: 10, refuse: map[string]bson.D{"splitVector": mongofake.Error(code, "no")}}
			r, err := f.split(t, 4, splitter.Auto)
			if err != nil {
				t.Fatal(err)
			}
			if r.Strategy != splitter.Walk || len(r.Skipped) != 1 || !strings.Contains(r.Skipped[0].Reason, want) || r.Imbalance != 1 {
				t.Errorf("%+v", r)
			}
			if _, err := f.split(t, 4, splitter.SplitVector); err == nil || !strings.Contains(err.Error(), "splitVector") {
				t.Errorf("asked for alone it gives %v", err)
			}
		})
	}
}

// Newer servers take sizes of 1 MB and more only; the number of documents then does the cutting.
func TestSplitVectorSizeLimits(t *testing.T) {
	f := &fakeCollection{n: 10_000, perKey: 10}
	s := &mongofake.Server{WireVersion: 21, Handle: func(ctx context.Context, c mongofake.Command) bson.D {
		if size, _ := c.Body.Lookup("maxChunkSizeBytes").AsInt64OK(); c.Name == "splitVector" && size < 1<<20 {
			return mongofake.Error(51024, "BSON field 'maxChunkSizeBytes' value must be >= 1048576")
		}
		return f.handle(ctx, c)
	}}
	r, err := splitter.Split(t.Context(), splitter.Config{Collection: s.Client(t).Database("test").Collection("c"), Key: "f", Ranges: 4})
	if err != nil {
		t.Fatal(err)
	}
	if r.Strategy != splitter.SplitVector || len(r.Pieces) != 4 || r.Imbalance > 1.1 {
		t.Errorf("%+v", r)
	}
}

func TestTooFewSplitKeys(t *testing.T) {
	f := &fakeCollection{n: 3, perKey: 1000, refuse: map[string]bson.D{"splitVector": {{Key: "splitKeys", Value: bson.A{}}, {Key: "ok", Value: 1.0}}}}
	r, err := f.split(t, 4, "")
	if err != nil {
		t.Fatal(err)
	}
	if r.Strategy != splitter.Walk || len(r.Skipped) != 1 || !strings.Contains(r.Skipped[0].Reason, "gave 0 split keys") {
		t.Errorf("%+v", r)
	}
	if got, want := texts(r), "[MinKey, 1) 1000; [1, 2) 1000; [2, MaxKey] 1000"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestWalkEndsAtAHeavyKey(t *testing.T) {
	f := &fakeCollection{n: 1, perKey: 100_000}
	r, err := f.split(t, 4, splitter.Walk)
	if err != nil {
		t.Fatal(err)
	}
	if got := texts(r); got != "[MinKey, MaxKey] 100000" {
		t.Error(got)
	}
}

func TestSplitRefusals(t *testing.T) {
	var (
		noCollection *splitter.NoCollectionError
		noIndex      *splitter.NoIndexError
		multikey     *splitter.MultikeyError
		notCovered   *splitter.NotCoveredError
		server       mongo.CommandError
	)
	refuse := func(name string, d bson.D) *fakeCollection {
		return &fakeCollection{n: 100, perKey: 2, refuse: map[string]bson.D{name: d}}
	}
	found := &fakeCollection{n: 100, perKey: 2, multikey: true}
	tests := []struct {
		name string
		f    *fakeCollection
		as   any
		want string
	}{
		{"no collection", refuse("listIndexes", mongofake.Error(26, "ns does not exist")), &noCollection, "test.c does not exist"},
		{"no index", refuse("listIndexes", mongofake.Cursor("test.x", bson.D{{Key: "key", Value: bson.D{{Key: "f", Value: "hashed"}}}, {Key: "name", Value: "h"}})), &noIndex, "h is of kind hashed"},
		{"view", refuse("listIndexes", mongofake.Error(166, "is a view")), &server, "is a view"},
		{"arrays", found, &multikey, `field "f" holds arrays (index f_1)`},
		{"explain is unknown", refuse("explain", mongofake.Error(59, "no")), nil, ""},
		{"count fails", refuse("count", mongofake.Error(13, "no")), &server, "test.c: count"},
		{"find fails", refuse("find", mongofake.Error(13, "no")), &server, "test.c: find"},
	}
	found.refuse = map[string]bson.D{"find": mongofake.Cursor("test.c", bson.D{{Key: "_id", Value: 1}})}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tt.f.split(t, 2, splitter.Walk)
			if tt.as == nil {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if !errors.As(err, tt.as) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("not covered", func(t *testing.T) {
		f := &fakeCollection{n: 100, perKey: 2, lie: 1, refuse: map[string]bson.D{"aggregate": mongofake.Cursor("test.x", bson.D{{Key: "n", Value: 201}})}}
		_, err := f.split(t, 2, "")
		if !errors.As(err, &notCovered) || notCovered.Pieces != 200 || notCovered.Total != 201 {
			t.Errorf("got %v", err)
		}
	})
	t.Run("quick count wrong", func(t *testing.T) {
		r, err := (&fakeCollection{n: 100, perKey: 2, lie: 7}).split(t, 2, "")
		if err != nil || r.Total != 200 {
			t.Errorf("got %+v, %v", r, err)
		}
	})
	t.Run("empty", func(t *testing.T) {
		r, err := (&fakeCollection{perKey: 1}).split(t, 4, "")
		if err != nil || texts(r) != "[MinKey, MaxKey] 0" || r.Imbalance != 1 {
			t.Errorf("got %+v, %v", r, err)
		}
	})
	t.Run("router", func(t *testing.T) {
		f := &fakeCollection{n: 100, perKey: 2}
		s := &mongofake.Server{Mongos: true, Handle: func(ctx context.Context, c mongofake.Command) bson.D {
			if q, ok := c.Body.Lookup("query").DocumentOK(); c.Name == "count" && ok && len(q) > 5 {
				t.Error("the count command counts orphaned documents on a router")
			}
			if c.Name != "aggregate" {
				return f.handle(ctx, c)
			}
			stages, _ := c.Body.Lookup("pipeline").Array().Values()
			return mongofake.Cursor("test.c", bson.D{{Key: "n", Value: f.count(stages[0].Document().Lookup("$match").Document())}})
		}}
		r, err := splitter.Split(t.Context(), splitter.Config{Collection: s.Client(t).Database("test").Collection("c"), Key: "f", Ranges: 2})
		if err != nil || texts(r) != "[MinKey, 50) 100; [50, MaxKey] 100" {
			t.Errorf("got %+v, %v", r, err)
		}
	})
	t.Run("settings", func(t *testing.T) {
		if _, err := (&fakeCollection{n: 9, perKey: 1}).split(t, 0, ""); err == nil {
			t.Error("0 ranges are taken")
		}
		if _, err := (&fakeCollection{n: 9, perKey: 1}).split(t, 2, "guess"); err == nil || !strings.Contains(err.Error(), `"guess"`) {
			t.Error(err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := &mongofake.Server{Handle: func(ctx context.Context, _ mongofake.Command) bson.D { cancel(); <-ctx.Done(); return nil }}
		_, err := splitter.Split(ctx, splitter.Config{Collection: s.Client(t).Database("test").Collection("c"), Key: "f", Ranges: 2})
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
