package splitter_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
	"pgregory.net/rapid"

	"mrbench/internal/embedded"
	"mrbench/splitter"
)

// engine is a client of an engine in memory.
func engine(t testing.TB) *mongo.Client {
	t.Helper()
	e, err := embedded.Open(embedded.Config{Dir: "data", FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	c, err := mongo.Connect(context.Background(), options.Client().ApplyURI("mongodb://embedded/?directConnection=true").SetDialer(e))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Disconnect(context.Background())
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func fill(t testing.TB, c *mongo.Collection, index bson.D, values []any) {
	t.Helper()
	if _, err := c.Indexes().CreateOne(context.Background(), mongo.IndexModel{Keys: index}); err != nil {
		t.Fatal(err)
	}
	var docs []any
	for i, v := range values {
		d := bson.D{{Key: "_id", Value: i}}
		if v != missing {
			d = append(d, bson.E{Key: "f", Value: v})
		}
		docs = append(docs, d)
	}
	for batch := range slices.Chunk(docs, 1000) {
		if _, err := c.InsertMany(context.Background(), batch); err != nil {
			t.Fatal(err)
		}
	}
}

// missing stands for a field that is not there.
var missing = struct{}{}

func decimal(s string) primitive.Decimal128 {
	d, err := primitive.ParseDecimal128(s)
	if err != nil {
		panic(err)
	}
	return d
}

// every has values of all types but array.
var every = []any{
	missing, nil,
	primitive.Undefined{},
	primitive.MinKey{},
	primitive.MaxKey{},
	math.NaN(), decimal("NaN"), math.Inf(-1), math.Inf(1), math.Copysign(0, -1), int32(0), int64(1), 1.0, decimal("1"), 1.5, decimal("-1E+40"),
	int64(1<<53 + 1), float64(1 << 53), "", "a", primitive.Symbol("a"), "b", "é",
	bson.D{},
	bson.D{{Key: "a", Value: int32(1)}},
	bson.D{{Key: "a", Value: "x"}},
	primitive.Binary{},
	primitive.Binary{Subtype: 5, Data: []byte{1}},
	primitive.ObjectID{},
	primitive.ObjectID{1},
	false, true,
	primitive.DateTime(-1), primitive.DateTime(1),
	primitive.Timestamp{I: 1},
	primitive.Timestamp{T: 1 << 31},
	primitive.Regex{Pattern: "a"},
	primitive.Regex{Pattern: "b", Options: "i"},
	primitive.DBPointer{DB: "a.b", Pointer: primitive.ObjectID{1}},
	primitive.JavaScript("f()"),
	primitive.CodeWithScope{Code: "f()", Scope: bson.D{{Key: "x", Value: int32(1)}}},
}

// The server finds each document by the filter of exactly one range, in both
// forms, for random values of all types and random points among them.
func TestEngineFindsEveryDocumentInOneRange(t *testing.T) {
	client := engine(t)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		c := client.Database("laws").Collection(fmt.Sprintf("c%d", n))
		values := rapid.SliceOfN(rapid.SampledFrom(every), 1, 25).Draw(rt, "values")
		fill(t, c, bson.D{{Key: "f", Value: rapid.SampledFrom([]int{1, -1}).Draw(rt, "direction")}}, values)
		var points []bson.RawValue
		for _, v := range values {
			if v != missing && rapid.Bool().Draw(rt, "point") {
				points = append(points, value(v))
			}
		}
		slices.SortFunc(points, splitter.Compare)
		points = slices.CompactFunc(points, func(a, b bson.RawValue) bool { return splitter.Compare(a, b) == 0 })
		var ranges []splitter.Range
		lo := bson.RawValue{}
		for _, p := range points {
			ranges = append(ranges, splitter.Range{Key: "f", Lo: lo, Hi: p})
			lo = p
		}
		ranges = append(ranges, splitter.Range{Key: "f", Lo: lo})
		for _, form := range []splitter.Predicate{splitter.Brackets, splitter.Expr} {
			found := map[int32]int{}
			for i, r := range ranges {
				for _, id := range ids(t, c, r.Filter(form)) {
					if before, ok := found[id]; ok {
						rt.Fatalf("document %d (%v) is in ranges %s and %s, form %d", id, values[id], ranges[before], r, form)
					}
					found[id] = i
					v := bson.RawValue{}
					if values[id] != missing {
						v = value(values[id])
					}
					if !r.Contains(v) {
						rt.Fatalf("document %d (%v) is found in %s, form %d", id, values[id], r, form)
					}
				}
			}
			if len(found) != len(values) {
				rt.Fatalf("%d of %d documents are found, form %d: %v in %v", len(found), len(values), form, values, ranges)
			}
		}
	})
}

func ids(t testing.TB, c *mongo.Collection, filter bson.D) []int32 {
	t.Helper()
	cur, err := c.Find(context.Background(), filter)
	if err != nil {
		text, _ := bson.MarshalExtJSON(filter, true, false)
		t.Fatalf("%s: %v", text, err)
	}
	var out []int32
	for cur.Next(context.Background()) {
		out = append(out, cur.Current.Lookup("_id").Int32())
	}
	if err := cur.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func value(v any) bson.RawValue {
	if v == nil {
		return bson.RawValue{Type: bson.TypeNull}
	}
	t, b, err := bson.MarshalValue(v)
	if err != nil {
		panic(err)
	}
	return bson.RawValue{Type: t, Value: b}
}

// Split proves its cut by both strategies and forms, on data of all types with
// heavy keys, over ascending, descending and compound indexes.
func TestEngineSplits(t *testing.T) {
	client := engine(t)
	r := rand.New(rand.NewPCG(1, 2))
	data := map[string][]any{}
	documents := 4000
	if testing.Short() {
		documents = 1000
	}
	for range documents {
		data["numbers"] = append(data["numbers"], int32(r.IntN(1000)))
		data["all"] = append(data["all"], every[r.IntN(len(every))])
		v := any(r.IntN(50))
		if r.IntN(2) == 0 {
			v = 7
		}
		data["heavy"] = append(data["heavy"], v)
		data["one"] = append(data["one"], "x")
		w := any(primitive.Regex{Pattern: "m"}) // a heavy key of a type that filters do not compare
		if r.IntN(2) == 0 {
			w = primitive.Regex{Pattern: fmt.Sprintf("%c%d", 'a'+rune(r.IntN(26)), r.IntN(10))}
		}
		data["regexes"] = append(data["regexes"], w)
		w = any(nil) // a heavy key that is all of its type
		if r.IntN(2) == 0 {
			w = every[r.IntN(len(every))]
		}
		data["nulls"] = append(data["nulls"], w)
		if r.IntN(3) == 0 {
			v = missing
		}
		data["holes"] = append(data["holes"], v)
		data["strings"] = append(data["strings"], fmt.Sprint("k", r.IntN(5000)))
	}
	for name, values := range data {
		for i, index := range []bson.D{{{Key: "f", Value: 1}}, {{Key: "f", Value: -1}}, {{Key: "f", Value: -1}, {Key: "_id", Value: 1}}} {
			c := client.Database("splits").Collection(fmt.Sprint(name, i))
			fill(t, c, index, values)
			for _, strategy := range []string{splitter.SplitVector, splitter.Walk} {
				for _, form := range []splitter.Predicate{splitter.Brackets, splitter.Expr} {
					t.Run(fmt.Sprintf("%s/%d/%s/%d", name, i, strategy, form), func(t *testing.T) {
						rep, err := splitter.Split(context.Background(), splitter.Config{Collection: c, Key: "f", Ranges: 5, Strategy: strategy, Predicate: form})
						if err != nil {
							t.Fatal(err)
						}
						if rep.Total != int64(documents) || rep.Strategy != strategy {
							t.Errorf("%+v", rep)
						}
						switch name {
						case "numbers", "strings":
							if len(rep.Pieces) != 5 || rep.Imbalance > 1.1 {
								t.Errorf("%v: imbalance %.2f", rep.Pieces, rep.Imbalance)
							}
						case "one":
							if len(rep.Pieces) != 1 {
								t.Error(rep.Pieces)
							}
						case "heavy", "regexes", "nulls": // one key has half: few of the rest are with it
							if rep.Imbalance > 2.8 {
								t.Errorf("%v: imbalance %.2f", rep.Pieces, rep.Imbalance)
							}
						case "holes":
							if got := fmt.Sprint(rep.Types); got != "[missing int]" {
								t.Error(got)
							}
						case "all":
							if len(rep.Types) < 20 {
								t.Error(rep.Types)
							}
						}
					})
				}
			}
		}
	}
}

func TestEngineRefusals(t *testing.T) {
	client := engine(t)
	db := client.Database("refusals")
	split := func(coll, key string) error {
		_, err := splitter.Split(context.Background(), splitter.Config{Collection: db.Collection(coll), Key: key, Ranges: 3})
		return err
	}
	var (
		noCollection *splitter.NoCollectionError
		noIndex      *splitter.NoIndexError
		multikey     *splitter.MultikeyError
	)
	if err := split("nothing", "f"); !errors.As(err, &noCollection) {
		t.Error(err)
	}
	fill(t, db.Collection("arrays"), bson.D{{Key: "f", Value: 1}}, []any{1, bson.A{1, 2}, 3})
	if err := split("arrays", "f"); !errors.As(err, &multikey) {
		t.Error(err)
	}
	if err := split("arrays", "g"); !errors.As(err, &noIndex) {
		t.Error(err)
	}
	if err := split("arrays", "_id"); err != nil {
		t.Error(err)
	}
	// An index that has seen an array forgets it no more; the data decides.
	if _, err := db.Collection("arrays").DeleteOne(context.Background(), bson.D{{Key: "_id", Value: 1}}); err != nil {
		t.Fatal(err)
	}
	if err := split("arrays", "f"); err != nil {
		t.Error(err)
	}
	// An array in a parent of a dotted path.
	c := db.Collection("nested")
	if _, err := c.Indexes().CreateOne(context.Background(), mongo.IndexModel{Keys: bson.D{{Key: "a.b", Value: 1}}}); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if _, err := c.InsertOne(context.Background(), bson.D{{Key: "a", Value: bson.D{{Key: "b", Value: i}}}}); err != nil {
			t.Fatal(err)
		}
	}
	rep, err := splitter.Split(context.Background(), splitter.Config{Collection: c, Key: "a.b", Ranges: 4})
	if err != nil || len(rep.Pieces) != 4 || rep.Total != 100 {
		t.Errorf("%+v, %v", rep, err)
	}
	if _, err := c.InsertOne(context.Background(), bson.D{{Key: "a", Value: bson.A{bson.D{{Key: "b", Value: 1}}}}}); err != nil {
		t.Fatal(err)
	}
	if err := split("nested", "a.b"); !errors.As(err, &multikey) {
		t.Error(err)
	}
}

// Ranges of the first field alone can't be even when one value of it is most of the
// collection; further fields cut within it, whatever the strategy and the index's directions.
func TestEngineCutsWithinHeavyKeys(t *testing.T) {
	client := engine(t)
	for n, index := range []bson.D{
		{{Key: "country", Value: 1}, {Key: "address.city", Value: 1}},
		{{Key: "country", Value: -1}, {Key: "address.city", Value: 1}},
		{{Key: "country", Value: 1}, {Key: "address.city", Value: -1}, {Key: "x", Value: 1}},
	} {
		c := client.Database("heavy").Collection(fmt.Sprint("c", n))
		if _, err := c.Indexes().CreateOne(context.Background(), mongo.IndexModel{Keys: index}); err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(7, uint64(n)))
		var docs []any
		for range 5000 {
			country := "AT"
			if r.IntN(10) == 0 {
				country = []string{"AL", "BE", "CH"}[r.IntN(3)]
			}
			docs = append(docs, bson.D{{Key: "country", Value: country}, {Key: "address", Value: bson.D{{Key: "city", Value: fmt.Sprint("c", r.IntN(500))}}}})
		}
		if _, err := c.InsertMany(context.Background(), docs); err != nil {
			t.Fatal(err)
		}
		alone, err := splitter.Split(context.Background(), splitter.Config{Collection: c, Key: "country", Ranges: 8})
		if err != nil || len(alone.Pieces) != 4 || alone.Imbalance < 3 || alone.Next != "address.city" {
			t.Errorf("%+v, %v", alone, err)
		}
		for _, strategy := range []string{splitter.SplitVector, splitter.BucketAuto, splitter.Sample, splitter.Walk} {
			rep, err := splitter.Split(context.Background(), splitter.Config{
				Collection: c, Key: "country", Then: []string{"address.city"}, Ranges: 8, Strategy: strategy,
			})
			if err != nil || len(rep.Pieces) != 8 || rep.Imbalance > 1.3 {
				t.Errorf("%v, %s: %+v, %v", index, strategy, rep, err)
			}
		}
	}
}

// A number in a path is a place in an array to filters and a name to expressions.
func TestEnginePlacesInArrays(t *testing.T) {
	c := engine(t).Database("places").Collection("c")
	ctx := context.Background()
	if _, err := c.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{Key: "a.0", Value: 1}}}); err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		v := any(i)
		if i%2 == 0 {
			v = fmt.Sprint(i)
		}
		if _, err := c.InsertOne(ctx, bson.D{{Key: "a", Value: bson.D{{Key: "0", Value: v}}}}); err != nil {
			t.Fatal(err)
		}
	}
	split := func() (*splitter.Report, error) {
		return splitter.Split(ctx, splitter.Config{Collection: c, Key: "a.0", Ranges: 3, Predicate: splitter.Expr})
	}
	if rep, err := split(); err != nil || len(rep.Pieces) != 3 {
		t.Errorf("%+v, %v", rep, err)
	}
	if _, err := c.InsertOne(ctx, bson.D{{Key: "a", Value: bson.A{1, 2}}}); err != nil {
		t.Fatal(err)
	}
	var multikey *splitter.MultikeyError
	if _, err := split(); !errors.As(err, &multikey) {
		t.Error(err)
	}
}

// Arrays in a field behind the key make an index hold a document several times; ranges of the key count it once.
func TestEngineArraysBehindTheKey(t *testing.T) {
	c := engine(t).Database("behind").Collection("c")
	ctx := context.Background()
	if _, err := c.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{Key: "f", Value: 1}, {Key: "tags", Value: 1}}}); err != nil {
		t.Fatal(err)
	}
	var docs []any
	for i := range 900 {
		tags := bson.A{}
		for n := range i % 7 {
			tags = append(tags, n)
		}
		docs = append(docs, bson.D{{Key: "f", Value: i % 90}, {Key: "tags", Value: tags}})
	}
	if _, err := c.InsertMany(ctx, docs); err != nil {
		t.Fatal(err)
	}
	for _, strategy := range here {
		rep, err := splitter.Split(ctx, splitter.Config{Collection: c, Key: "f", Ranges: 5, Strategy: strategy, Histogram: true})
		if err != nil || len(rep.Pieces) != 5 || rep.Total != 900 || rep.Imbalance > 1.3 || rep.Histogram.Counts[0].Documents != 900 {
			t.Errorf("%s: %+v, %v", strategy, rep, err)
		}
	}
	var multikey *splitter.MultikeyError
	_, err := splitter.Split(ctx, splitter.Config{Collection: c, Key: "f", Then: []string{"tags"}, Ranges: 5})
	if !errors.As(err, &multikey) || multikey.Key != "tags" {
		t.Error(err)
	}
}

// here are the strategies of a server that is no router.
var here = []string{splitter.Auto, splitter.SplitVector, splitter.BucketAuto, splitter.Sample, splitter.Walk}

// Where there is nothing to cut, there is one piece, and why is said.
func TestEngineNothingToCut(t *testing.T) {
	db := engine(t).Database("nothing")
	index := bson.D{{Key: "f", Value: 1}, {Key: "g", Value: 1}}
	fill(t, db.Collection("one"), index, slices.Repeat([]any{"x"}, 500))
	fill(t, db.Collection("none"), index, nil)
	fill(t, db.Collection("missing"), index, slices.Repeat([]any{missing, nil}, 100))
	for _, then := range [][]string{nil, {"g"}} {
		for _, strategy := range here {
			for coll, why := range map[string]string{"one": "same key", "missing": "same key", "none": "the collection is empty"} {
				rep, err := splitter.Split(context.Background(), splitter.Config{Collection: db.Collection(coll), Key: "f", Then: then, Ranges: 4, Strategy: strategy})
				if err != nil || len(rep.Pieces) != 1 || !rep.Pieces[0].Range.Everything() {
					t.Fatalf("%s, %s: %+v, %v", coll, strategy, rep, err)
				}
				if strategy == splitter.SplitVector || strategy == splitter.Sample {
					if coll != "none" { // they may have missed keys
						why = strategy + " gave only 0 split keys"
					}
				}
				if !strings.Contains(rep.Fewer, why) {
					t.Errorf("%s, %s: %q", coll, strategy, rep.Fewer)
				}
			}
		}
	}
}
