package sweep_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/internal/embedded"
	"mrbench/seed"
	"mrbench/seed/source"
	"mrbench/seed/sweep"
)

// database is one of an engine in memory.
func database(t *testing.T) *mongo.Database {
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
	return c.Database("sweeps")
}

func config(t *testing.T, g sweep.Grid) sweep.Config {
	const docs = 200
	points, _ := g.Points(docs)
	return sweep.Config{
		Database: database(t), Generator: seed.Uniques(1, "dim0", docs, 0), Documents: docs, Points: points, Runs: 2, Seed: 3,
		IndexKeys: bson.D{{Key: "dim0", Value: 1}},
	}
}

var small = sweep.Grid{
	Batch: []int{1, 50}, Writers: []int{1, 2}, WriteConcern: []string{"0", "1", "j"}, Ordered: []bool{false},
	Index: []seed.IndexMoment{seed.IndexBefore, seed.IndexNone}, Prefill: []int64{0, 4000},
}

func left(t *testing.T, db *mongo.Database) []string {
	t.Helper()
	names, err := db.ListCollectionNames(t.Context(), bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestRunMeasuresEveryPointInACollectionOfItsOwn(t *testing.T) {
	c := config(t, small)
	fills, told := 0, 0
	c.Prefilling = func(n int64) {
		fills++
		if n != 4000 {
			t.Errorf("fills %d", n)
		}
	}
	var order [3][]sweep.Point
	c.Started = func(p sweep.Point, round int) { order[round] = append(order[round], p) }
	c.Done = func(s sweep.Sample) error {
		told++
		if s.Prefill == 0 && len(left(t, c.Database)) > 2 { // prefilled ones alone stay
			t.Errorf("left behind: %v", left(t, c.Database))
		}
		return nil
	}
	used := 0.25
	c.Observe = func(context.Context) func() *float64 { return func() *float64 { return &used } }
	samples, err := sweep.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if len(samples) != 2*len(c.Points) || told != len(samples) {
		t.Errorf("%d samples, %d told, of %d points", len(samples), told, len(c.Points))
	}
	for _, s := range samples {
		if s.Error != "" || s.Documents != 200 || s.Missing != 0 || s.Seconds <= 0 || s.Bytes != 200*32 || *s.CPUSeconds != used ||
			s.Batches != int64(200/s.Batch) {
			t.Errorf("%+v", s)
		}
	}
	if slices.Equal(order[1], order[2]) {
		t.Error("both rounds had the same order")
	}
	// 24 loads go into collections with, and 24 into ones without an index, two into each.
	if want := 2 * sweep.Fills(4000, 200, 24); fills != want || want != 24 {
		t.Errorf("filled %d times, want %d", fills, want)
	}
	if names := left(t, c.Database); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}

func TestRunGoesOnWhenAPointFails(t *testing.T) {
	g := small
	g.WriteConcern, g.Prefill = []string{"1", "nosuchtag"}, []int64{0}
	c := config(t, g)
	samples, err := sweep.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	bad := 0
	for _, r := range sweep.Summarize(c.Points, samples) {
		switch {
		case r.WriteConcern == "1" && !r.Complete():
			t.Errorf("%+v", r)
		case r.WriteConcern != "1" && r.Error != "":
			bad++
		}
	}
	if len(samples) != 2*len(c.Points)-bad || bad == 0 {
		t.Errorf("%d samples, %d bad points: a failed one must not be measured again", len(samples), bad)
	}
	if names := left(t, c.Database); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}

func TestRunKeepsWhatIsFinished(t *testing.T) {
	c := config(t, small)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	n := 0
	c.Done = func(sweep.Sample) error {
		if n++; n == 5 {
			cancel(why)
		}
		return nil
	}
	samples, err := sweep.Run(ctx, c)
	if !errors.Is(err, why) || len(samples) != 5 {
		t.Errorf("%d samples, %v", len(samples), err)
	}
	c.Done = func(sweep.Sample) error { return why }
	if samples, err = sweep.Run(t.Context(), c); !errors.Is(err, why) || len(samples) != 1 {
		t.Errorf("%d samples, %v", len(samples), err)
	}
}

func TestFromFilesTakesTheFirst(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.ndjson")
	if err := os.WriteFile(file, []byte(strings.Repeat("{\"a\":1}\n{\"a\":2}\n", 5)), 0o600); err != nil {
		t.Fatal(err)
	}
	g, n, err := sweep.FromFiles(t.Context(), source.Config{Paths: []string{file}}, 4)
	if err != nil || n != 4 {
		t.Fatal(n, err)
	}
	for i, want := range []int32{1, 2, 1, 2} {
		if v := bson.Raw(g.Append(nil, int64(i))).Lookup("a").Int32(); v != want {
			t.Errorf("document %d has %d", i, v)
		}
	}
	if _, n, err = sweep.FromFiles(t.Context(), source.Config{Paths: []string{file}}, 400); err != nil || n != 10 {
		t.Error(n, err)
	}
	if _, _, err = sweep.FromFiles(t.Context(), source.Config{Paths: []string{file + "x"}}, 4); err == nil {
		t.Error("a file that is not there is no error")
	}
}

// repeating makes every tenth document with a key that was there before.
type repeating struct{ seed.Generator }

func (g repeating) Append(dst []byte, i int64) []byte {
	if i%10 == 9 && i >= 1000 { // prefilling goes well
		i--
	}
	return g.Generator.Append(dst, i)
}

// What write concern 0 loses is counted, and such a point is neither the best nor compared.
func TestRunCountsWhatIsMissing(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for documents that never come")
	}
	c := config(t, sweep.Grid{
		Batch: []int{50}, Writers: []int{1}, WriteConcern: []string{"0"}, Ordered: []bool{false},
		Index: []seed.IndexMoment{seed.IndexNone}, Prefill: []int64{1000},
	})
	c.Generator, c.Runs = repeating{c.Generator}, 2
	fills := 0
	c.Prefilling = func(int64) { fills++ }
	samples, err := sweep.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		if s.Missing != 20 || s.Documents != 180 || s.Error != "" {
			t.Errorf("%+v", s)
		}
	}
	if results := sweep.Summarize(c.Points, samples); len(samples) != 2 || results[0].Missing != 20 || sweep.Best(results, true) >= 0 {
		t.Errorf("%+v", results)
	}
	if fills != 2 {
		t.Errorf("filled %d times: a collection that lost documents must not be used again", fills)
	}
	if names := left(t, c.Database); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}
