package splitter_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
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
	index     bson.D       // default {f: 1}
	lie       int64        // added to the quick count
	parts     atomic.Int32 // splitVector commands with bounds
	noParts   bool
	lastly    []string // the aggregations that looked for points
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
			bson.D{{Key: "key", Value: f.pattern()}, {Key: "name", Value: "f_1"}})
	case "explain":
		return bson.D{{Key: "queryPlanner", Value: bson.D{{Key: "winningPlan", Value: bson.D{
			{Key: "stage", Value: "IXSCAN"}, {Key: "indexName", Value: "f_1"}, {Key: "isMultiKey", Value: f.multikey},
		}}}}, {Key: "ok", Value: 1.0}}
	case "collStats":
		return bson.D{{Key: "count", Value: total}, {Key: "avgObjSize", Value: 36}, {Key: "ok", Value: 1.0}}
	case "splitVector":
		lo, hi := int64(0), total
		if least, ok := c.Body.Lookup("min").DocumentOK(); ok {
			f.parts.Add(1)
			if f.noParts {
				return mongofake.Error(96, "can't open a cursor to scan the range (desired range is possibly empty)")
			}
			lo, hi = f.position(least.Lookup("f")), f.position(c.Body.Lookup("max", "f"))
		}
		every := c.Body.Lookup("maxChunkSizeBytes").Int64()/72 + 1
		if m, ok := c.Body.Lookup("maxChunkObjects").AsInt64OK(); ok {
			every = min(every, m+1)
		}
		keys := bson.A{}
		for at := lo + every - 1; at < hi; at += every {
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
		return f.aggregate(c.Body)
	case "find":
		q := c.Body.Lookup("filter").Document()
		lo, hi, ok := f.bounds(q)
		if !ok {
			return mongofake.Cursor("test.c")
		}
		skip, _ := c.Body.Lookup("skip").AsInt64OK()
		limit, _ := c.Body.Lookup("limit").AsInt64OK()
		down, _ := c.Body.Lookup("sort", "f").AsInt64OK()
		var docs []any
		for at := lo*f.perKey + skip; at < hi*f.perKey && int64(len(docs)) < limit; at++ {
			v := at / f.perKey
			if down < 0 {
				v = hi - 1 - (at-lo*f.perKey)/f.perKey
			}
			docs = append(docs, bson.D{{Key: "f", Value: int32(v)}})
		}
		return mongofake.Cursor("test.c", docs...)
	}
	return mongofake.Error(59, "no such command: "+c.Name)
}

// aggregate answers the pipelines that count, sort into buckets and draw.
func (f *fakeCollection) aggregate(body bson.Raw) bson.D {
	first := body.Lookup("pipeline", "0").Document()
	docs := []any{}
	from, to := int64(0), f.n
	if second, err := body.LookupErr("pipeline", "1"); err == nil && second.Document().Lookup("$bucketAuto").Type != 0 {
		from, to, _ = f.bounds(first.Lookup("$match").Document())
		first = second.Document()
	}
	switch stage, _ := first.IndexErr(0); stage.Key() {
	case "$bucketAuto":
		f.lastly = append(f.lastly, "bucketAuto")
		if r, ok := f.refuse["$bucketAuto"]; ok {
			return r
		}
		buckets, _ := first.Lookup("$bucketAuto", "buckets").AsInt64OK()
		for lo, keys := from, max((to-from+buckets-1)/buckets, 1); lo < to; lo += keys {
			docs = append(docs, bson.D{
				{Key: "_id", Value: bson.D{{Key: "min", Value: lo}, {Key: "max", Value: lo + keys}}},
				{Key: "count", Value: min(keys, to-lo) * f.perKey},
			})
		}
	case "$sample":
		f.lastly = append(f.lastly, "sample")
		if r, ok := f.refuse["$sample"]; ok {
			return r
		}
		size, _ := first.Lookup("$sample", "size").AsInt64OK()
		for i := range size {
			docs = append(docs, bson.D{{Key: "f", Value: (i*2 + 1) * f.n / (2 * size)}})
		}
	case "$match":
		docs = append(docs, bson.D{{Key: "_id", Value: 1}, {Key: "n", Value: f.count(first.Lookup("$match").Document())}})
	default:
		docs = append(docs, bson.D{{Key: "_id", Value: 1}, {Key: "n", Value: f.n * f.perKey}})
	}
	return mongofake.Cursor("test.c", docs...)
}

func (f *fakeCollection) pattern() bson.D {
	if f.index == nil {
		return bson.D{{Key: "f", Value: 1}}
	}
	return f.index
}

// position is how many documents lie below a value.
func (f *fakeCollection) position(v bson.RawValue) int64 {
	switch v.Type {
	case bson.TypeMinKey:
		return 0
	case bson.TypeMaxKey:
		return f.n * f.perKey
	}
	return min(max(int64(math.Ceil(v.Double())), 0), f.n) * f.perKey
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
	for _, noParts := range []bool{false, true} {
		f := &fakeCollection{n: 100_000, perKey: 10, noParts: noParts}
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
		if n := f.parts.Load(); n == 0 {
			t.Error("the index was not read in parts")
		}
	}
}

func TestSplitVectorRefused(t *testing.T) {
	for code, want := range map[int32]string{
		13: "the user may not run it (code 13)", 20: "not possible here (code 20)", 59: "has no splitVector", 27: "refused it (code 27)", 8000: "refused it (code 8000)",
	} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			f := &fakeCollection{n: 1000, perKey: 10, refuse: map[string]bson.D{"splitVector": mongofake.Error(code, "no")}}
			r, err := f.split(t, 4, splitter.Auto)
			if err != nil {
				t.Fatal(err)
			}
			if r.Strategy != splitter.BucketAuto || len(r.Skipped) != 2 || !strings.Contains(r.Skipped[0].Reason, want) || r.Imbalance > 1.03 {
				t.Errorf("%+v", r)
			}
			var refused *splitter.StrategyError
			if _, err := f.split(t, 4, splitter.SplitVector); !errors.As(err, &refused) || !strings.Contains(refused.Reason, want) {
				t.Errorf("asked for alone it gives %v", err)
			}
		})
	}
}

// Auto goes on to the next strategy and says why not the one before.
func TestAutoSaysWhyNot(t *testing.T) {
	refuse := func(names ...string) map[string]bson.D {
		m := map[string]bson.D{}
		for _, n := range names {
			m[n] = mongofake.Error(13, "not authorized")
		}
		return m
	}
	tests := []struct {
		name      string
		f         *fakeCollection
		ranges    int
		want      string
		imbalance float64
		skipped   []string
	}{
		{"all is well", &fakeCollection{n: 10_000, perKey: 10}, 4, splitter.SplitVector, 1.04, nil},
		{
			"small",
			&fakeCollection{n: 10_000, perKey: 10, refuse: refuse("splitVector")}, 4, splitter.BucketAuto, 1.02,
			[]string{"splitVector: the user may not run it (code 13)", "chunks: this server is no mongos"},
		},
		{
			"large",
			&fakeCollection{n: 1_000_000, perKey: 10, refuse: refuse("splitVector")}, 4, splitter.Sample, 1.01,
			[]string{"splitVector: ", "chunks: ", "bucketAuto: it sorts all 10000000 documents; auto has it sort at most 100000"},
		},
		{
			"sample refused",
			&fakeCollection{n: 1_000_000, perKey: 10, refuse: refuse("splitVector", "$sample")}, 4, splitter.Walk, 1.01,
			[]string{"splitVector: ", "chunks: ", "bucketAuto: ", "sample: the user may not run it (code 13)"},
		},
		{
			"many ranges",
			&fakeCollection{n: 100_000, perKey: 2, refuse: refuse("splitVector")}, 400, splitter.Walk, 1.01,
			[]string{"splitVector: ", "chunks: ", "bucketAuto: ", "sample: 200000 documents are too few for a quick sample that gives 400 even ranges"},
		},
		{
			"few values",
			&fakeCollection{n: 3, perKey: 100_000, refuse: refuse("splitVector")}, 8, splitter.Walk, 1,
			[]string{"splitVector: ", "chunks: ", "bucketAuto: ", "sample: it gave 2 split keys, 8 ranges need 7"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := tt.f.split(t, tt.ranges, splitter.Auto)
			if err != nil {
				t.Fatal(err)
			}
			if r.Strategy != tt.want || r.Imbalance > tt.imbalance || len(r.Skipped) != len(tt.skipped) {
				t.Errorf("%s, imbalance %.3f, skipped %q", r.Strategy, r.Imbalance, r.Skipped)
			}
			for i, s := range r.Skipped {
				if got := s.Strategy + ": " + s.Reason; !strings.HasPrefix(got, tt.skipped[i]) {
					t.Errorf("skipped %q, want %q", got, tt.skipped[i])
				}
			}
		})
	}
}

// The random cursor of $sample can fail by chance: it is asked again, but not for ever.
func TestSampleTriesAgain(t *testing.T) {
	f := &fakeCollection{n: 1000, perKey: 10, refuse: map[string]bson.D{"$sample": mongofake.Error(28799, "$sample stage could not find a non-duplicate document")}}
	var refused *splitter.StrategyError
	if _, err := f.split(t, 4, splitter.Sample); !errors.As(err, &refused) || !strings.Contains(err.Error(), "in 3 tries (code 28799)") || len(f.lastly) != 3 {
		t.Errorf("after %v: %v", f.lastly, err)
	}
}

// What the message about too few pieces says is true of the strategy.
func TestFewerPieces(t *testing.T) {
	tests := []struct {
		f        *fakeCollection
		strategy string
		want     string
	}{
		{&fakeCollection{n: 3, perKey: 10}, splitter.Walk, "the key has too few different values for more than 3"},
		{&fakeCollection{n: 1, perKey: 10}, splitter.BucketAuto, "all documents have the same key"},
		{&fakeCollection{n: 3, perKey: 10}, splitter.Sample, "sample gave only 2 split keys; walk finds every key there is"},
		{&fakeCollection{perKey: 1}, splitter.Auto, "the collection is empty"},
		{&fakeCollection{n: 30, perKey: 10}, splitter.Walk, ""},
	}
	for _, tt := range tests {
		r, err := tt.f.split(t, 8, tt.strategy)
		if err != nil {
			t.Fatal(err)
		}
		if r.Fewer != tt.want || (r.Fewer == "") != (len(r.Pieces) == 8) {
			t.Errorf("%s: %d pieces: %q, want %q", tt.strategy, len(r.Pieces), r.Fewer, tt.want)
		}
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
	if r.Strategy != splitter.BucketAuto || len(r.Skipped) != 2 || !strings.Contains(r.Skipped[0].Reason, "gave 0 split keys") {
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
		view         *splitter.ViewError
		collation    *splitter.CollationError
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
		{"no index", refuse("listIndexes", mongofake.Cursor("test.x", bson.D{{Key: "key", Value: bson.D{{Key: "f", Value: "hashed"}}}, {Key: "name", Value: "h"}})), &noIndex, "h is hashed: hashes have another order than the values): create one on {f: 1}"},
		{"view", refuse("listIndexes", mongofake.Error(166, "is a view")), &view, "is a view"},
		{"collation", refuse("listIndexes", mongofake.Cursor("test.x",
			bson.D{{Key: "key", Value: bson.D{{Key: "_id", Value: 1}}}, {Key: "name", Value: "_id_"}, {Key: "collation", Value: bson.D{{Key: "locale", Value: "de"}}}},
			bson.D{{Key: "key", Value: bson.D{{Key: "f", Value: 1}}}, {Key: "name", Value: "f_1"}})), &collation, `by the collation "de"`},
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
