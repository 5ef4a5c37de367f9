package mr_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
	"pgregory.net/rapid"

	"mrbench/aggregate"
	"mrbench/internal/embedded"
	"mrbench/mr"
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

// missing stands for a field that is not there.
var missing = struct{}{}

func fill(t testing.TB, c *mongo.Collection, field string, values []any) {
	t.Helper()
	if _, err := c.Indexes().CreateOne(context.Background(), mongo.IndexModel{Keys: bson.D{{Key: field, Value: 1}}}); err != nil {
		t.Fatal(err)
	}
	var docs []any
	for i, v := range values {
		d := bson.D{{Key: "_id", Value: i}, {Key: "g", Value: i % 7}}
		if v != missing {
			d = append(d, bson.E{Key: field, Value: v})
		}
		docs = append(docs, d)
	}
	for batch := range slices.Chunk(docs, 1000) {
		if _, err := c.InsertMany(context.Background(), batch); err != nil {
			t.Fatal(err)
		}
	}
}

// keyText is the same for keys that MongoDB holds equal.
func keyText(v bson.RawValue) string {
	switch v.Type {
	case bson.TypeNull, bson.TypeUndefined, 0:
		return "null"
	case bson.TypeInt32, bson.TypeInt64:
		n, _ := v.AsInt64OK()
		return fmt.Sprint(float64(n))
	case bson.TypeDouble:
		return fmt.Sprint(v.Double() + 0)
	case bson.TypeSymbol:
		return fmt.Sprintf("%q", v.Symbol())
	case bson.TypeString:
		return fmt.Sprintf("%q", v.StringValue())
	}
	return v.String()
}

// plain counts in Go.
func plain(values []any) map[string]float64 {
	counts := map[string]float64{}
	for _, v := range values {
		if v == missing {
			v = nil
		}
		k := "null"
		if v != nil {
			k = keyText(value(v))
		}
		counts[k]++
	}
	return counts
}

func counts(t interface{ Fatalf(string, ...any) }, answer mr.Answer) map[string]float64 {
	got := map[string]float64{}
	for d, err := range answer.Results(context.Background(), false) {
		if err != nil {
			t.Fatalf("%v", err)
		}
		k := keyText(d.Lookup("_id"))
		if _, ok := got[k]; ok {
			t.Fatalf("key %s is there twice", k)
		}
		got[k] = number(d.Lookup("value"))
	}
	return got
}

func number(v bson.RawValue) float64 {
	if v.Type == bson.TypeDouble {
		return v.Double()
	}
	n, _ := v.AsInt64OK()
	return float64(n)
}

func sameCounts(a, b map[string]float64) string {
	for k, n := range a {
		if b[k] != n {
			return fmt.Sprintf("key %s: %v and %v", k, n, b[k])
		}
	}
	for k, n := range b {
		if _, ok := a[k]; !ok {
			return fmt.Sprintf("key %s: none and %v", k, n)
		}
	}
	return ""
}

var keySets = map[string][]any{
	"ints":     {int32(0), int32(1), int32(2), int32(10), int32(100), int32(-5), int32(7)},
	"numbers":  {int32(0), int64(1) << 40, 1.5, -2.25, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1e21, 1e-7, int32(3)},
	"holes":    {int32(1), int32(2), nil, missing, int32(3)},
	"booleans": {true, false, int32(1), int32(0)},
	"strings":  {"a", "b", "1", "2", "true", ""},
	"others":   {primitive.ObjectID{1}, primitive.DateTime(5), primitive.DateTime(6), nil, bson.D{{Key: "a", Value: 1.0}}},
	"longs":    {int64(1), int64(2), int32(1), int64(3), 2.0},
	"mixed":    {"1", int32(1), true, "true", nil, primitive.ObjectID{2}, primitive.DateTime(9), missing},
}

// The law of the package: mapReduce in ranges == one mapReduce == aggregation ==
// a plain count, for keys of all sorts, both layouts, with and without jsMode.
func TestEngineLaw(t *testing.T) {
	client := engine(t)
	ctx := context.Background()
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		name := rapid.SampledFrom([]string{"ints", "numbers", "holes", "booleans", "strings", "others", "longs", "mixed"}).Draw(rt, "keys")
		values := rapid.SliceOfN(rapid.SampledFrom(keySets[name]), 1, 300).Draw(rt, "values")
		coll := client.Database("law").Collection(fmt.Sprint("c", run))
		fill(t, coll, "f", values)
		want := plain(values)
		strategy := rapid.SampledFrom([]string{splitter.SplitVector, splitter.Walk}).Draw(rt, "strategy")
		form := rapid.SampledFrom([]splitter.Predicate{splitter.Brackets, splitter.Expr}).Draw(rt, "form")
		split, err := splitter.Split(ctx, splitter.Config{Collection: coll, Key: "f", Ranges: rapid.IntRange(1, 6).Draw(rt, "ranges"), Strategy: strategy, Predicate: form})
		if err != nil {
			rt.Fatal(err)
		}
		job := mr.UniqueCount("f")
		if rapid.Bool().Draw(rt, "sort") {
			job.Sort = bson.D{{Key: "f", Value: 1}}
		}
		for i, c := range []mr.Config{
			{},
			{Ranges: split.Ranges()},
			{Ranges: split.Ranges(), Layout: mr.SeparateDatabases},
			{JSMode: true},
			{Ranges: split.Ranges(), JSMode: true, Layout: mr.SeparateDatabases},
		} {
			c.Client, c.DB, c.Coll, c.Job, c.Predicate = client, "law", coll.Name(), job, form
			c.Threads, c.KeyTypes, c.Prefix = 2, split.Types, fmt.Sprintf("law%d_%d", run, i)
			rep, err := mr.Run(ctx, c)
			if c.JSMode && name == "mixed" && errors.Is(err, mr.ErrAmbiguousKeys) {
				continue
			}
			if err != nil {
				rt.Fatalf("run %d: %v", i, err)
			}
			if diff := sameCounts(want, counts(rt, rep.Answer)); diff != "" {
				rt.Fatalf("run %d (%v, types %v, mode %s): %s", i, split.Pieces, split.Types, rep.Mode, diff)
			}
			if rep.Counts.Known && rep.Counts.Input != int64(len(values)) {
				rt.Fatalf("run %d: %d of %d documents", i, rep.Counts.Input, len(values))
			}
			for _, db := range rep.Databases {
				if err := client.Database(db).Drop(ctx); err != nil {
					rt.Fatal(err)
				}
			}
		}
		for i, c := range []aggregate.Config{{}, {Ranges: split.Ranges()}, {Covered: true}, {Ranges: split.Ranges(), Covered: true}} {
			c.Collection, c.Pipeline, c.Key, c.Predicate, c.Threads = coll, aggregate.UniqueCount("f"), "f", form, 1
			got := map[string]float64{}
			c.Sink = func(_ int, results []bson.Raw) error {
				for _, d := range results {
					got[keyText(d.Lookup("_id"))] += number(d.Lookup("value"))
				}
				return nil
			}
			rep, err := aggregate.Run(ctx, c)
			if err != nil {
				rt.Fatalf("aggregation %d: %v", i, err)
			}
			if diff := sameCounts(want, got); diff != "" {
				rt.Fatalf("aggregation %d (%v): %s", i, split.Pieces, diff)
			}
			if c.Covered && rep.IndexUsed != "f_1" {
				rt.Fatalf("aggregation %d: index %q", i, rep.IndexUsed)
			}
		}
	})
}

// Ranges that are not of the emit key overlap in their keys: the parts are
// reduced again, and finalize sees each key once, at the end.
func TestEngineReducesAgain(t *testing.T) {
	client := engine(t)
	ctx := context.Background()
	var values []any
	for i := range 500 {
		values = append(values, i%50)
	}
	coll := client.Database("again").Collection("c")
	fill(t, coll, "f", values)
	split, err := splitter.Split(ctx, splitter.Config{Collection: coll, Key: "f", Ranges: 4})
	if err != nil {
		t.Fatal(err)
	}
	job := mr.Job{
		Map:    "function () { emit(this.g, {n: 1}); }",
		Reduce: "function (k, values) { var n = 0; values.forEach(function (v) { n += v.n; }); return {n: n}; }",
	}
	finalized := job
	finalized.Finalize = "function (k, v) { return {final: v.n}; }"
	for i, c := range []mr.Config{
		{Job: job},
		{Job: job, Layout: mr.SeparateDatabases},
		{Job: finalized},
		{Job: finalized, Layout: mr.SeparateDatabases},
		{Job: job, JSMode: true, KeyTypes: []string{"int"}},
		{Job: finalized, JSMode: true, KeyTypes: []string{"int"}},
		{Job: finalized, Ranges: []splitter.Range{}},
	} {
		c.Client, c.DB, c.Coll, c.Threads, c.Prefix = client, "again", "c", 2, fmt.Sprint("again_out", i)
		if c.Ranges == nil {
			c.Ranges = split.Ranges()
		}
		rep, err := mr.Run(ctx, c)
		if err != nil {
			t.Fatalf("run %d: %v", i, err)
		}
		field := "n"
		if c.Job.Finalize != "" {
			field = "final"
		}
		n, last := 0, -1.0
		for d, err := range rep.Answer.Results(ctx, true) {
			if err != nil {
				t.Fatal(err)
			}
			k := d.Lookup("_id").Double()
			if k <= last {
				t.Errorf("run %d: key %v after %v", i, k, last)
			}
			last = k
			want := math.Ceil((500 - k) / 7)
			if got := number(d.Lookup("value", field)); got != want {
				t.Errorf("run %d: %s, want %v", i, d, want)
			}
			n++
		}
		if n != 7 {
			t.Errorf("run %d: %d keys", i, n)
		}
	}
}

func TestEngineFinalizeOfDisjointParts(t *testing.T) {
	client := engine(t)
	ctx := context.Background()
	coll := client.Database("fin").Collection("c")
	fill(t, coll, "f", []any{1, 1, 2, 3, 3, 3})
	split, err := splitter.Split(ctx, splitter.Config{Collection: coll, Key: "f", Ranges: 2, Strategy: splitter.Walk})
	if err != nil {
		t.Fatal(err)
	}
	job := mr.UniqueCount("f")
	job.Finalize = "function (k, v) { return v * 10; }"
	job.Query = bson.D{{Key: "f", Value: bson.D{{Key: "$ne", Value: 2}}}}
	for i, js := range []bool{false, true} {
		rep, err := mr.Run(ctx, mr.Config{Client: client, DB: "fin", Coll: "c", Job: job, Ranges: split.Ranges(), Prefix: fmt.Sprint("fin_out", i), JSMode: js, KeyTypes: split.Types})
		if err != nil {
			t.Fatal(err)
		}
		if diff := sameCounts(map[string]float64{"1": 20, "3": 30}, counts(t, rep.Answer)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestEngineErrors(t *testing.T) {
	client := engine(t)
	ctx := context.Background()
	coll := client.Database("err").Collection("c")
	fill(t, coll, "f", []any{1, 1, 2, 3})
	run := func(prefix, coll string, j mr.Job) error {
		_, err := mr.Run(ctx, mr.Config{Client: client, DB: "err", Coll: coll, Job: j, Prefix: prefix})
		return err
	}
	j := mr.UniqueCount("f")
	j.Reduce = "function (k, values) {\n  return none.such;\n}"
	var script *mr.ScriptError
	if err := run("e1", "c", j); !errors.As(err, &script) || script.Function != "reduce" || script.Line != 2 || !strings.Contains(script.Message, "none") {
		t.Errorf("got %v", err)
	}
	j = mr.UniqueCount("f")
	j.Map = "function () { emit("
	if err := run("e2", "c", j); !errors.As(err, &script) || script.Function != "map" {
		t.Errorf("got %v", err)
	}
	if err := run("e3", "none", mr.UniqueCount("f")); err == nil || !strings.Contains(err.Error(), "err.none does not exist") {
		t.Errorf("got %v", err)
	}
	if err := run("e4", "c", mr.UniqueCount("f")); err != nil {
		t.Fatal(err)
	}
	var exists *mr.OutputExistsError
	if err := run("e4", "c", mr.UniqueCount("f")); !errors.As(err, &exists) {
		t.Errorf("got %v", err)
	}
	// map emits something else than it says: the parts share a key
	j = mr.Job{Map: "function () { emit(1, 1); }", Reduce: mr.UniqueCount("f").Reduce, EmitKey: "f"}
	ranges := []splitter.Range{{Key: "f", Hi: value(int32(2))}, {Key: "f", Lo: value(int32(2))}}
	_, err := mr.Run(ctx, mr.Config{Client: client, DB: "err", Coll: "c", Job: j, Ranges: ranges, Prefix: "e5"})
	var dup *mr.DuplicateKeysError
	if !errors.As(err, &dup) {
		t.Errorf("got %v", err)
	}
}

func TestEngineCancel(t *testing.T) {
	client := engine(t)
	coll := client.Database("cancel").Collection("c")
	var values []any
	for i := range 2000 {
		values = append(values, i)
	}
	fill(t, coll, "f", values)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	j := mr.UniqueCount("f")
	j.Map = "function () { emit(this.f, 1); sleep(20); }"
	ranges := []splitter.Range{{Key: "f", Hi: value(int32(1000))}, {Key: "f", Lo: value(int32(1000))}}
	go func() { // once both run
		defer cancel()
		for range 500 {
			if len(running(client)) >= 2 {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	_, err := mr.Run(ctx, mr.Config{Client: client, DB: "cancel", Coll: "c", Job: j, Ranges: ranges, Threads: 2, Prefix: "cancel_out"})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left := running(client); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
}

// running lists the mapReduce commands that the server runs.
func running(client *mongo.Client) []string {
	raw, err := client.Database("admin").RunCommand(context.Background(), bson.D{{Key: "currentOp", Value: 1}}).Raw()
	if err != nil {
		return nil
	}
	var found []string
	list, _ := raw.Lookup("inprog").ArrayOK()
	values, _ := list.Values()
	for _, v := range values {
		if v.Document().Lookup("command", "mapReduce").Type != 0 {
			found = append(found, v.String())
		}
	}
	return found
}
