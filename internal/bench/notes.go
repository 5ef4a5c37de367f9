package bench

import (
	"fmt"
	"math"
	"slices"
)

const (
	// enoughForOutliers is the least number of runs of which one can be called far from the others.
	enoughForOutliers = 5
	// farFrom is the modified z-score from which Iglewicz and Hoaglin ("How to Detect and Handle Outliers", 1993) call a
	// value an outlier.
	farFrom = 3.5
	// leastFar is the distance from the median, as a share of it, below which nothing is an outlier: where all runs
	// are within a few percent nobody is misled.
	leastFar = 0.05
	// slowFirst is how many times the median of the rest a first run has to take.
	slowFirst = 1.1
	// wide is the margin of a median from which more runs are suggested.
	wide = 0.05
)

// Outliers returns the runs that are far from the others of their row: a modified z-score, 0.6745 (x - median) / MAD,
// beyond 3.5, and more than 5 % from the median. They stay in every summary. Below five runs nothing is far.
func Outliers(seconds []float64) []Outlier {
	if len(seconds) < enoughForOutliers {
		return nil
	}
	var far []Outlier
	m := median(seconds)
	for i, x := range seconds {
		if z := score(x, m, seconds); math.Abs(z) > farFrom && math.Abs(x-m) > leastFar*m {
			far = append(far, Outlier{Round: i + 1, Seconds: x, Ratio: x / m, Distance: z})
		}
	}
	return far
}

// mostScore is where scores end: where more than half of the others are equal, they have no spread to measure by.
const mostScore = 999

// score is the modified z-score of x; m is the median of all.
func score(x, m float64, all []float64) float64 {
	off := make([]float64, len(all))
	sum := 0.0
	for i, y := range all {
		off[i] = math.Abs(y - m)
		sum += off[i]
	}
	unit := median(off) / 0.6745
	if unit == 0 { // more than half are equal; the mean deviation stands in, as the source says
		unit = 1.253314 * sum / float64(len(all))
	}
	switch {
	case x == m:
		return 0
	case unit == 0:
		return math.Copysign(mostScore, x-m)
	}
	return max(-mostScore, min(mostScore, (x-m)/unit))
}

// firstRun is the first time over the median of the rest when it is markedly slower, else 0.
func firstRun(seconds []float64) float64 {
	if len(seconds) < 3 {
		return 0
	}
	first, rest := seconds[0], seconds[1:]
	m := median(rest)
	if m <= 0 || first < slowFirst*m || first <= slices.Max(rest) || score(first, m, rest) <= farFrom {
		return 0
	}
	return first / m
}

// Annotate compares every row with the first and notes what the times show.
func (r *Result) Annotate() {
	Relate(r.Rows)
	r.Notes = nil
	warmup := 0
	if s := r.Context.Schedule; s != nil {
		warmup = s.Warmup
	}
	least, base := 0, ""
	for _, row := range r.Rows {
		if row.Seconds == nil {
			continue
		}
		if base == "" {
			base = row.ID
		}
		if n := len(row.Seconds.All); least == 0 || n < least {
			least = n
		}
		r.Notes = append(r.Notes, row.notes(base, warmup)...)
	}
	if least > 0 && least < enoughForCI && r.Into == nil { // which is put in once
		r.Notes = append(r.Notes, Note{Kind: NoteFewRuns, Value: enoughForCI, Text: fewRuns(least)})
	}
}

func fewRuns(n int) string {
	switch {
	case n == 1:
		return fmt.Sprintf("one run says nothing about how much times vary: --runs %d gives intervals and shows which rows differ", enoughForCI)
	case !CanShow(n, n):
		return fmt.Sprintf("%d runs are too few for intervals or to show a difference: --runs %d gives both", n, enoughForCI)
	}
	return fmt.Sprintf("%d runs are too few for intervals: --runs %d gives them", n, enoughForCI)
}

func (r *Row) notes(base string, warmup int) (notes []Note) {
	add := func(kind string, round int, value float64, format string, args ...any) {
		notes = append(notes, Note{kind, r.ID, round, value, fmt.Sprintf(format, args...)})
	}
	if r.PausedRuns > 0 {
		add(NotePaused, 0, r.PausedSeconds, "%s", r.pauseText())
	}
	first := firstRun(r.Seconds.All)
	if first > 0 {
		add(NoteFirstRun, 1, first, "the first run of %s took %.1f times the median of the rest: warm up with --warmup %d", r.ID, first, warmup+1)
	}
	for _, o := range r.Outliers {
		if o.Round == 1 && first > 0 {
			continue
		}
		how := "above"
		if o.Ratio < 1 {
			how = "below"
		}
		add(NoteOutlier, o.Round, o.Ratio, "run %d of %s took %.4g s, %.0f%% %s the median: far from the other runs (modified z-score %.1f), and counted all the same",
			o.Round, r.ID, o.Seconds, 100*math.Abs(o.Ratio-1), how, o.Distance)
	}
	if by := r.Seconds.Margin(); by > wide {
		runs := runsFor(r.Seconds.All, wide)
		add(NoteNoisy, 0, float64(runs), "the median of %s is known to ±%.0f%%; about %d runs in all would make that ±%.0f%%, if they vary like these", r.ID, 100*by, runs, 100*wide)
	}
	if v := r.Versus; v != nil && !v.Shown && CanShow(v.RunsA, v.RunsB) {
		add(NoteSame, 0, float64(v.Needed), "no difference between %s and %s is shown (p=%.2f, n=%d+%d)", base, r.ID, v.P, v.RunsA, v.RunsB)
	}
	return notes
}

// enoughToTrim is the least number of runs whose interval leaves the slowest and the fastest out.
const enoughToTrim = 9

// runsFor is how many runs in all would bring the margin of the median down to a share of it: by the notch of McGill,
// Tukey and Larsen ("Variations of box plots", The American Statistician 32 (1978) 12-16), which is 1.57 times the
// interquartile range over the square root of the runs. The range is used because a single slow run does not move it,
// as it moves the interval of few runs. It is a guess: of few runs the range itself is known badly.
func runsFor(seconds []float64, share float64) int {
	x := slices.Sorted(slices.Values(seconds))
	root := 1.57 * (quantile(x, 0.75) - quantile(x, 0.25)) / (share * median(x))
	return max(int(math.Ceil(root*root-1e-9)), len(x)+1, enoughToTrim)
}

// quantile lies between the two values next to it; x ascends.
func quantile(x []float64, q float64) float64 {
	at := q * float64(len(x)-1)
	i := int(at)
	if i+1 >= len(x) {
		return x[len(x)-1]
	}
	return x[i] + (at-float64(i))*(x[i+1]-x[i])
}
