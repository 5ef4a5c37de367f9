package sweep

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"mrbench/seed"
)

func grid() Grid {
	return Grid{
		Batch: []int{1, 10, 100}, Writers: []int{1, 2}, WriteConcern: []string{"0", "1"}, Ordered: []bool{true, false},
		Index: []seed.IndexMoment{seed.IndexBefore, seed.IndexAfter, seed.IndexNone}, Prefill: []int64{0, 1000},
	}
}

func TestPointsLeavesOutWhatMakesNoSense(t *testing.T) {
	points, skipped := grid().Points(100)
	total := len(points)
	for _, s := range skipped {
		total += s.Points
	}
	if want := 3 * 2 * 2 * 2 * 3 * 2; total != want {
		t.Errorf("%d points and skipped ones, the grid has %d", total, want)
	}
	seen := map[Point]bool{}
	for _, p := range points {
		if seen[p] {
			t.Errorf("%+v is there twice", p)
		}
		seen[p] = true
		switch {
		case p.Ordered && (p.WriteConcern == "0" || p.Batch == 1), p.Index == seed.IndexAfter && p.Prefill > 0, p.Batch == 100 && p.Writers == 2:
			t.Errorf("%+v makes no sense", p)
		}
	}
	for _, must := range []Point{
		{1, 2, "0", false, seed.IndexAfter, 0}, {10, 2, "1", true, seed.IndexNone, 1000}, {100, 1, "0", false, seed.IndexBefore, 1000},
	} {
		if !seen[must] {
			t.Errorf("%+v is missing", must)
		}
	}
	// What order is left alone when there is no other to measure.
	g := grid()
	g.Ordered = []bool{true}
	points, _ = g.Points(100)
	if !slices.Contains(points, Point{1, 1, "0", true, seed.IndexNone, 0}) {
		t.Error("an order that was asked for alone is left out")
	}
	if _, skipped = g.Points(5); !slices.ContainsFunc(skipped, func(s Skip) bool { return strings.Contains(s.Reason, "more documents than a point loads") }) {
		t.Errorf("batches above the number of documents: %+v", skipped)
	}
}

func TestOrderIsAShuffleOfEachRound(t *testing.T) {
	a, b := order(7, 1, 50), order(7, 2, 50)
	if slices.Equal(a, b) || !slices.Equal(a, order(7, 1, 50)) || slices.Equal(a, order(8, 1, 50)) {
		t.Error("the order must depend on seed and round, and on nothing else")
	}
	slices.Sort(b)
	for i, x := range b {
		if i != x {
			t.Fatalf("not each point once: %v", b)
		}
	}
}

func TestFills(t *testing.T) {
	for _, c := range []struct {
		prefill, documents int64
		loads, want        int
	}{{0, 10, 5, 0}, {1000, 10, 10, 1}, {1000, 10, 11, 2}, {1000, 100, 3, 3}, {1000, 5000, 3, 3}, {1000, 10, 0, 0}} {
		if n := Fills(c.prefill, c.documents, c.loads); n != c.want {
			t.Errorf("%+v: %d", c, n)
		}
	}
}

// made is a result in which each setting multiplies the time by a factor of its own.
func made(p Point, seconds float64) Result {
	return Result{Point: p, Runs: 1, Seconds: seconds, MinSeconds: seconds, MaxSeconds: seconds, DocumentsPerSecond: 1000 / seconds}
}

func TestCostsComparesOnlyMatchedPoints(t *testing.T) {
	points, _ := grid().Points(1000)
	var results []Result
	for _, p := range points {
		seconds := 10 / math.Log10(10*float64(p.Batch))
		if p.Index == seed.IndexBefore {
			seconds *= 2
		}
		if p.WriteConcern == "1" {
			seconds *= 1.5
		}
		if p.Ordered {
			seconds *= 1.1
		}
		seconds /= float64(p.Writers)
		results = append(results, made(p, seconds))
	}
	want := map[string]float64{
		"index none before": 2, "index none after": 1, "index after before": 2, "write-concern 0 1": 1.5, "ordered false true": 1.1,
		"writers 1 2": 0.5, "batch 1 10": 0.5, "batch 1 100": 1.0 / 3, "prefill 0 1000": 1,
	}
	for _, c := range Costs(results) {
		key := c.Factor + " " + c.From + " " + c.To
		if w, ok := want[key]; !ok || math.Abs(c.Ratio-w) > 1e-9 || math.Abs(c.Low-w) > 1e-9 || math.Abs(c.High-w) > 1e-9 {
			t.Errorf("%s: %+v, want %v", key, c, w)
		}
		if slower := c.Slower == c.Pairs; (c.Ratio > 1.01) != slower && c.Ratio != 1 {
			t.Errorf("%s: slower in %d of %d", key, c.Slower, c.Pairs)
		}
		delete(want, key)
	}
	if len(want) > 0 {
		t.Errorf("not compared: %v", want)
	}
}

func TestCostsGeometricMeanAndWhatDoesNotCount(t *testing.T) {
	p := func(batch int, index seed.IndexMoment) Point { return Point{batch, 1, "1", false, index, 0} }
	lost, broken := made(p(4, seed.IndexBefore), 50), made(p(5, seed.IndexBefore), 50)
	lost.Missing, broken.Error = 3, "boom"
	costs := Costs([]Result{
		made(p(1, seed.IndexNone), 1), made(p(1, seed.IndexBefore), 8),
		made(p(2, seed.IndexNone), 4), made(p(2, seed.IndexBefore), 2),
		made(p(3, seed.IndexNone), 1), // its counterpart was not measured
		made(p(4, seed.IndexNone), 1), lost,
		made(p(5, seed.IndexNone), 1), broken,
	})
	i := slices.IndexFunc(costs, func(c Cost) bool { return c.Factor == FactorIndex })
	if i < 0 {
		t.Fatal("the index is not compared")
	}
	if c := costs[i]; c.Pairs != 2 || c.Slower != 1 || math.Abs(c.Ratio-2) > 1e-9 || c.Low != 0.5 || c.High != 8 {
		t.Errorf("%+v; want the geometric mean 2 of 8 and 0.5", c)
	}
}

func TestWriteConcernsAreComparedWithOne(t *testing.T) {
	var results []Result
	for i, w := range []string{"majority", "j", "1", "0"} {
		results = append(results, made(Point{1, 1, w, false, seed.IndexNone, 0}, float64(int(8)>>i)))
	}
	var got []string
	for _, c := range Costs(results) {
		got = append(got, fmt.Sprint(c.From, "→", c.To, " ", c.Ratio))
	}
	if s := strings.Join(got, ", "); s != "0→1 2, 1→majority 4, 1→j 2" {
		t.Error(s)
	}
}

func TestSummarizeAndBest(t *testing.T) {
	a := Point{10, 1, "1", false, seed.IndexNone, 0}
	b, c, d := a, a, a
	b.WriteConcern, c.Batch, d.Batch = "0", 20, 30
	cpu := 0.5
	sample := func(p Point, seconds float64, documents, missing int64) Sample {
		return Sample{Point: p, Seconds: seconds, Documents: documents, Missing: missing, Bytes: 100 * documents, Batches: 10, CPUSeconds: &cpu}
	}
	results := Summarize([]Point{a, b, c, d}, []Sample{
		sample(a, 3, 100, 0), sample(a, 1, 100, 0), sample(a, 2, 100, 0), sample(b, 1, 100, 0), sample(c, 0.1, 90, 10),
		{Point: d, Error: "boom"},
	})
	r := results[0]
	if r.Runs != 3 || r.Seconds != 2 || r.MinSeconds != 1 || r.MaxSeconds != 3 || r.DocumentsPerSecond != 50 || r.Spread() != 1 || r.BatchSent != 10 || *r.CPUSeconds != 0.5 {
		t.Errorf("%+v", r)
	}
	if results[2].Missing != 10 || results[2].Complete() || results[3].Complete() || results[3].Error != "boom" {
		t.Errorf("%+v", results[2:])
	}
	if Best(results, true) != 1 || Best(results, false) != 0 || Best(nil, true) != -1 {
		t.Error("the best is the fastest that lost nothing")
	}
}
