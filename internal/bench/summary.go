package bench

import (
	"fmt"
	"slices"

	"golang.org/x/perf/benchmath"
)

// enoughForCI is the smallest number of runs whose 95 % confidence interval of the median is bounded.
const enoughForCI = 6

// Summarize returns the median (with its interval when there are runs enough), minimum and maximum of times in
// seconds, or nil when there are none.
func Summarize(seconds []float64) *Seconds {
	if len(seconds) == 0 {
		return nil
	}
	s := &Seconds{Median: median(seconds), Min: slices.Min(seconds), Max: slices.Max(seconds), All: slices.Clone(seconds)}
	if len(seconds) >= enoughForCI {
		sum := benchmath.AssumeNothing.Summary(benchmath.NewSample(slices.Clone(seconds), &benchmath.DefaultThresholds), 0.95)
		s.CI = &[2]float64{sum.Lo, sum.Hi}
	}
	return s
}

// Spread is (max - min) / median.
func (s *Seconds) Spread() float64 {
	if s.Median == 0 {
		return 0
	}
	return (s.Max - s.Min) / s.Median
}

// Margin is how far the farther end of the interval is from the median, as a share of it; 0 when there is no interval.
func (s *Seconds) Margin() float64 {
	if s.CI == nil || s.Median == 0 {
		return 0
	}
	return max(s.CI[1]-s.Median, s.Median-s.CI[0]) / s.Median
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	n := len(x)
	if n%2 == 1 {
		return x[n/2]
	}
	return (x[n/2-1] + x[n/2]) / 2
}

// Fill sets the row's measured fields from its outcome.
func (r *Row) Fill(o *Outcome) {
	var wall, merge, server []float64
	for _, s := range o.Samples {
		wall = append(wall, s.Seconds)
		if s.MergeSeconds != nil {
			merge = append(merge, *s.MergeSeconds)
		}
		if s.ServerSeconds != nil {
			server = append(server, *s.ServerSeconds)
		}
	}
	r.Seconds = Summarize(wall)
	r.Outliers = Outliers(wall)
	r.MergeSeconds = medianOf(merge)
	r.ServerSeconds = medianOf(server)
	r.Usage = usageOf(o.Samples)
	r.addPauses(o.Samples)
	if n := len(o.Samples); n > 0 {
		last := o.Samples[n-1]
		r.Counts, r.Mode, r.IndexUsed, r.Covered = last.Counts, last.Mode, last.IndexUsed, last.Covered
		r.OutputDBs, r.Answer, r.Parts = last.OutputDBs, last.Answer, last.Parts
	}
	if o.Err != nil {
		if r.Skipped = Skipped(o.Err); r.Skipped == "" {
			r.Error = o.Err.Error()
		}
		return
	}
	if err := steady(o.Samples); err != nil {
		r.Error = err.Error()
	}
}

func medianOf(x []float64) *float64 {
	if len(x) == 0 {
		return nil
	}
	m := median(x)
	return &m
}

// steady checks that every run read and wrote the same documents and gave the same answer. How often reduce is called may
// differ: servers reduce when it suits them.
func steady(samples []Sample) error {
	for _, s := range samples {
		first := samples[0]
		if a, b := first.Answer, s.Answer; a != nil && b != nil && *a != *b {
			return fmt.Errorf("run %d gave another answer than run %d: %d keys with sum %s, before %d keys with sum %s", s.Round, first.Round, b.Keys, b.Sum, a.Keys, a.Sum)
		}
		if a, b := first.Counts.Input, s.Counts.Input; differ(a, b) {
			return fmt.Errorf("run %d read %d documents, run %d read %d: the collection changed meanwhile", s.Round, *b, first.Round, *a)
		}
		if a, b := first.Counts.Emit, s.Counts.Emit; differ(a, b) {
			return fmt.Errorf("run %d emitted %d times, run %d %d times: the map function or the collection is not the same in every run", s.Round, *b, first.Round, *a)
		}
		if a, b := first.Counts.Output, s.Counts.Output; differ(a, b) {
			return fmt.Errorf("run %d gave %d documents, run %d gave %d", s.Round, *b, first.Round, *a)
		}
	}
	return nil
}

func differ(a, b *int64) bool { return a != nil && b != nil && *a != *b }

// SameInput gives rows an error that read another number of documents than the first row that says how many it read.
func SameInput(rows []Row) {
	var first *Row
	for i := range rows {
		r := &rows[i]
		switch {
		case r.Counts.Input == nil || r.Error != "":
		case first == nil:
			first = r
		case *r.Counts.Input != *first.Counts.Input:
			r.Error = fmt.Sprintf("it read %d documents and %s read %d", *r.Counts.Input, first.ID, *first.Counts.Input)
		}
	}
}

// Relate sets speed-up and agreement of every row. The first row that has an answer is the measure; its index comes
// back, -1 when there is none.
func Relate(rows []Row) int {
	base := slices.IndexFunc(rows, func(r Row) bool { return r.Seconds != nil })
	if base < 0 {
		return base
	}
	first := &rows[base]
	for i := range rows {
		r := &rows[i]
		r.Speedup, r.Agrees, r.Versus = nil, nil, nil
		if r.Seconds != nil && r.Seconds.Median > 0 && !first.paused() && !r.paused() {
			x := first.Seconds.Median / r.Seconds.Median
			r.Speedup = &x
		}
		if i == base {
			continue
		}
		if r.Seconds != nil && !first.paused() && !r.paused() {
			r.Versus = CompareTimes(first.Seconds.All, r.Seconds.All)
		}
		if r.Answer != nil && first.Answer != nil {
			same := *r.Answer == *first.Answer
			r.Agrees = &same
		}
	}
	return base
}
