package aggregate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/aggregate"
	"mrbench/internal/embedded"
	"mrbench/internal/mongofake"
	"mrbench/seed"
	"mrbench/splitter"
)

// uniques is a collection of an engine in memory with seeded documents.
func uniques(t testing.TB, docs, keys int64) *mongo.Collection {
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
	coll := c.Database("test").Collection("uniques")
	_, err = seed.Run(context.Background(), seed.Config{
		Collection: coll, Generator: seed.Uniques(1, "dim0", docs, keys), Documents: docs,
		Index: seed.IndexBefore, IndexKeys: bson.D{{Key: "dim0", Value: 1}}, Writers: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	return coll
}

func TestEngineWholeAndRanges(t *testing.T) {
	coll := uniques(t, 20_000, 5000)
	split, err := splitter.Split(t.Context(), splitter.Config{Collection: coll, Key: "dim0", Ranges: 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, ranges := range [][]splitter.Range{nil, split.Ranges()} {
		for _, covered := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d ranges, covered %v", len(ranges), covered), func(t *testing.T) {
				var mu sync.Mutex
				sum := map[int32]int64{}
				inPart := map[int]*sync.Mutex{}
				for i := range max(len(ranges), 1) {
					inPart[i] = &sync.Mutex{}
				}
				finished := 0
				rep, err := aggregate.Run(t.Context(), aggregate.Config{
					Collection: coll, Pipeline: aggregate.UniqueCount("dim0"), Key: "dim0", Ranges: ranges, Threads: 3, Covered: covered,
					Sink: func(part int, results []bson.Raw) error {
						if !inPart[part].TryLock() {
							t.Error("two calls for one part at a time")
						}
						defer inPart[part].Unlock()
						mu.Lock()
						defer mu.Unlock()
						for _, d := range results {
							n, _ := d.Lookup("value").AsInt64OK()
							sum[d.Lookup("_id").Int32()] += n
						}
						return nil
					},
					OnPart: func(aggregate.Part) { finished++ },
				})
				if err != nil {
					t.Fatal(err)
				}
				total := int64(0)
				for _, n := range sum {
					total += n
				}
				if total != 20_000 || rep.Output != int64(len(sum)) || finished != len(rep.Parts) || len(rep.Parts) != max(len(ranges), 1) {
					t.Errorf("%d documents in %d keys: %+v", total, len(sum), rep)
				}
				if covered && (rep.IndexUsed != "dim0_1" || !rep.IsCovered) {
					t.Errorf("index %q, covered %v", rep.IndexUsed, rep.IsCovered)
				}
				for i, p := range rep.Parts {
					if p.Index != i || p.Seconds <= 0 {
						t.Errorf("%+v", p)
					}
				}
			})
		}
	}
}

func TestEngineResultsAreOrdered(t *testing.T) {
	coll := uniques(t, 5000, 700)
	last, n := int32(-1), 0
	for d, err := range aggregate.Results(t.Context(), aggregate.Config{Collection: coll, Pipeline: aggregate.UniqueCount("dim0"), Key: "dim0", Covered: true}) {
		if err != nil {
			t.Fatal(err)
		}
		k := d.Lookup("_id").Int32()
		if k <= last {
			t.Fatalf("%d after %d", k, last)
		}
		last = k
		n++
	}
	if n < 600 {
		t.Errorf("%d results", n)
	}
}

func TestSinkErrorEndsTheRun(t *testing.T) {
	coll := uniques(t, 1000, 100)
	bad := errors.New("bad")
	_, err := aggregate.Run(t.Context(), aggregate.Config{
		Collection: coll, Pipeline: aggregate.UniqueCount("dim0"), Key: "dim0",
		Sink: func(int, []bson.Raw) error { return bad },
	})
	if !errors.Is(err, bad) {
		t.Error(err)
	}
}

func TestErrors(t *testing.T) {
	refuse := func(replies map[string]bson.D) *mongo.Collection {
		s := &mongofake.Server{Handle: func(_ context.Context, c mongofake.Command) bson.D { return replies[c.Name] }}
		return s.Client(t).Database("test").Collection("c")
	}
	pipeline := aggregate.UniqueCount("f")
	var noIndex *splitter.NoIndexError
	tests := []struct {
		name string
		c    aggregate.Config
		as   any
		want string
	}{
		{"no collection", aggregate.Config{Pipeline: pipeline}, nil, "no collection"},
		{"no pipeline", aggregate.Config{Collection: refuse(nil)}, nil, "no pipeline"},
		{"no key", aggregate.Config{Collection: refuse(nil), Pipeline: pipeline, Covered: true}, nil, "no key"},
		{"no index", aggregate.Config{Collection: refuse(map[string]bson.D{"listIndexes": mongofake.Cursor("test.c")}), Pipeline: pipeline, Key: "f", Covered: true}, &noIndex, ""},
		{"refused", aggregate.Config{
			Collection: refuse(map[string]bson.D{"aggregate": mongofake.Error(16436, "Unrecognized pipeline stage")}), Pipeline: pipeline,
			Ranges: []splitter.Range{{Key: "f", Lo: bson.RawValue{Type: bson.TypeInt32, Value: []byte{5, 0, 0, 0}}}},
		}, nil, "test.c, range [5, MaxKey] of f"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := aggregate.Run(t.Context(), tt.c)
			if err == nil || (tt.as != nil && !errors.As(err, tt.as)) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
			for _, err := range aggregate.Results(t.Context(), tt.c) {
				if err == nil {
					t.Error("Results gives a result")
				}
			}
		})
	}
}

// A server that does not know explain for pipelines is asked the older way; one
// that can't explain at all still aggregates.
func TestExplainForms(t *testing.T) {
	plan := bson.D{{Key: "stages", Value: bson.A{bson.D{{Key: "$cursor", Value: bson.D{{Key: "queryPlanner", Value: bson.D{
		{Key: "winningPlan", Value: bson.D{{Key: "stage", Value: "PROJECTION"}, {Key: "inputStage", Value: bson.D{{Key: "stage", Value: "IXSCAN"}, {Key: "indexName", Value: "f_1"}}}}},
	}}}}}}}, {Key: "ok", Value: 1.0}}
	index := mongofake.Cursor("test.c", bson.D{{Key: "key", Value: bson.D{{Key: "f", Value: 1}}}, {Key: "name", Value: "f_1"}})
	for _, older := range []bool{true, false} {
		s := &mongofake.Server{Handle: func(_ context.Context, c mongofake.Command) bson.D {
			_, explain := c.Body.Lookup("explain").BooleanOK()
			switch {
			case c.Name == "listIndexes":
				return index
			case c.Name == "explain" || (explain && !older):
				return mongofake.Error(59, "no such command")
			case explain:
				return plan
			}
			if hint, _ := c.Body.Lookup("hint").StringValueOK(); hint != "f_1" {
				t.Errorf("no hint in %s", c.Body)
			}
			return mongofake.Cursor("test.c", bson.D{{Key: "_id", Value: 1}, {Key: "value", Value: 2}})
		}}
		rep, err := aggregate.Run(t.Context(), aggregate.Config{Collection: s.Client(t).Database("test").Collection("c"), Pipeline: aggregate.UniqueCount("f"), Key: "f", Covered: true})
		if err != nil {
			t.Fatal(err)
		}
		if rep.Output != 1 || rep.IsCovered != older || (rep.IndexUsed == "f_1") != older {
			t.Errorf("older %v: %+v", older, rep)
		}
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &mongofake.Server{Handle: func(ctx context.Context, c mongofake.Command) bson.D {
		if c.Name == "aggregate" {
			cancel()
			<-ctx.Done()
		}
		return nil
	}}
	_, err := aggregate.Run(ctx, aggregate.Config{Collection: s.Client(t).Database("test").Collection("c"), Pipeline: aggregate.UniqueCount("f"), Ranges: make([]splitter.Range, 3), Threads: 2})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
