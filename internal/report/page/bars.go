package page

import (
	"fmt"
	"slices"
	"strings"

	"mrbench/internal/bench"
	"mrbench/internal/report"
)

// bars is a figure of one bar for each row.
type bars struct {
	Bars  []bar
	Ticks []tick
	Notes []string
	One   string // where the line of 1 stands; "" there is none
}

type bar struct {
	N                   int
	ID, Label           string
	Class               string // first, fastest or ""
	Value, Second, Tail string // texts beside the bar
	Missing             string // why there is no bar
	Width               string
	Interval            bool
	Low, High           string
	Dots                []dot
	Alt                 string
	Raw                 float64 // what the bar shows, for readers of the page's source
}

type dot struct {
	X   string
	Y   int
	Far bool // an outlier
}

// mostDots is how many runs of a row are drawn.
const mostDots = 100

func ladderOf(r *bench.Result) *bars {
	most, u := 0.0, unitOf(r)
	first, best := -1, fastest(r)
	for i, row := range r.Rows {
		if s := row.Seconds; s != nil {
			if first < 0 {
				first = i
			}
			most = max(most, s.Max, s.Median)
			if s.CI != nil {
				most = max(most, s.CI[1])
			}
		}
	}
	if first < 0 {
		return nil
	}
	axis := newScale(u.in(most), 5, func(v float64) string { return short(tidy(v)) + " " + u.Name })
	f := &bars{Ticks: axis.ticks}
	at := func(seconds float64) string { return percent(u.in(seconds), axis.end) }
	intervals, dots := false, false
	for i, row := range r.Rows {
		b := bar{N: i + 1, ID: row.ID, Label: row.Label, Missing: whyMissing(row)}
		s := row.Seconds
		if s != nil {
			b.Missing, b.Class = "", class(i, first, best)
			b.Width, b.Raw = at(s.Median), s.Median
			b.Value = u.Time(s.Median).Text + " " + u.Name
			b.Alt = fmt.Sprintf("median %s", b.Value)
			switch {
			case s.CI != nil:
				intervals = true
				b.Interval, b.Low, b.High = true, at(s.CI[0]), at(s.CI[1])
				b.Second = u.Time(s.CI[0]).Text + " – " + u.Time(s.CI[1]).Text
				b.Alt += fmt.Sprintf(", 95 %% interval %s", b.Second)
			case len(s.All) > 1:
				b.Second = u.Time(s.Min).Text + " – " + u.Time(s.Max).Text
				b.Alt += fmt.Sprintf(", fastest to slowest %s", b.Second)
			}
			if len(s.All) > 1 {
				dots = true
				b.Dots = dotsOf(row, at)
			}
			if row.Error != "" {
				b.Tail = "failed: " + row.Error
			}
		}
		f.Bars = append(f.Bars, b)
	}
	f.Notes = append(f.Notes, "Bars are median wall times; shorter is faster.")
	if intervals {
		f.Notes = append(f.Notes, "The line across a bar's end is the 95 % confidence interval of its median, which the numbers below the time give.")
	} else if dots {
		f.Notes = append(f.Notes, "The numbers below a time are its fastest and slowest run: six runs or more give a confidence interval.")
	}
	if dots {
		f.Notes = append(f.Notes, "Dots are single runs; hollow ones are outliers, which count all the same.")
	}
	return f
}

// dotsOf draws runs so that they do not hide each other, and of very many only some, the extremes among them.
func dotsOf(row bench.Row, at func(float64) string) []dot {
	all := row.Seconds.All
	step := (len(all) + mostDots - 1) / mostDots
	lo, hi := slices.Index(all, row.Seconds.Min), slices.Index(all, row.Seconds.Max)
	var dots []dot
	for i, s := range all {
		if i%step != 0 && i != lo && i != hi {
			continue
		}
		far := slices.ContainsFunc(row.Outliers, func(o bench.Outlier) bool { return o.Seconds == s })
		dots = append(dots, dot{X: at(s), Y: 25 + (i%3-1)*2, Far: far})
	}
	return dots
}

func speedupsOf(r *bench.Result) *bars {
	most, first, best := 1.0, -1, fastest(r)
	for i, row := range r.Rows {
		if row.Speedup != nil && row.Seconds != nil {
			if first < 0 {
				first = i
			}
			most = max(most, *row.Speedup)
			if lo, hi, ok := speedupInterval(row); ok && lo > 0 {
				most = max(most, hi)
			}
		}
	}
	if first < 0 || len(r.Rows) < 2 {
		return nil
	}
	axis := newScale(most, 5, func(v float64) string { return short(tidy(v)) + "×" })
	f := &bars{Ticks: axis.ticks, One: percent(1, axis.end)}
	intervals := false
	for i, row := range r.Rows {
		b := bar{N: i + 1, ID: row.ID, Label: row.Label, Missing: whyMissing(row)}
		if row.Speedup != nil && row.Seconds != nil {
			b.Missing, b.Class = "", class(i, first, best)
			b.Width, b.Raw = percent(*row.Speedup, axis.end), *row.Speedup
			b.Value = report.Times(*row.Speedup).Text
			b.Alt = b.Value
			if lo, hi, ok := speedupInterval(row); ok {
				intervals = true
				b.Interval, b.Low, b.High = true, percent(lo, axis.end), percent(hi, axis.end)
				b.Second = report.Times(lo).Text + " – " + report.Times(hi).Text
				b.Alt += ", 95 % interval " + b.Second
			}
			if row.Versus != nil && row.Versus.CI != nil && !row.Versus.Shown {
				b.Tail = "no difference shown"
			}
		}
		f.Bars = append(f.Bars, b)
	}
	f.Notes = append(f.Notes, fmt.Sprintf("The median of %s over that of each row; longer is faster. The dashed line is 1×.", r.Rows[first].ID))
	if intervals {
		f.Notes = append(f.Notes, "The line across a bar's end is the 95 % confidence interval of the ratio.")
	}
	return f
}

// speedupInterval turns the interval of this row over the first into one of the first over this row.
func speedupInterval(row bench.Row) (lo, hi float64, ok bool) {
	if row.Versus == nil || row.Versus.CI == nil || row.Versus.CI[0] <= 0 || row.Versus.CI[1] <= 0 {
		return 0, 0, false
	}
	return 1 / row.Versus.CI[1], 1 / row.Versus.CI[0], true
}

func class(i, first, best int) string {
	switch i {
	case best:
		return "fastest"
	case first:
		return "first"
	}
	return ""
}

func whyMissing(row bench.Row) string {
	switch {
	case row.Skipped != "":
		return "skipped: " + row.Skipped
	case row.Error != "":
		if strings.HasPrefix(row.Error, "not run") {
			return row.Error
		}
		return "failed: " + row.Error
	default:
		return "no finished run"
	}
}

// fastest is the row with the smallest median, -1 when there are not two to choose from.
func fastest(r *bench.Result) int {
	best, n := -1, 0
	for i, row := range r.Rows {
		if row.Seconds == nil {
			continue
		}
		n++
		if best < 0 || row.Seconds.Median < r.Rows[best].Seconds.Median {
			best = i
		}
	}
	if n < 2 {
		return -1
	}
	return best
}

// unit is report's, which also turns seconds into its own measure.
type unit struct{ report.Unit }

func (u unit) in(seconds float64) float64 {
	if u.Name == "ms" {
		return seconds * 1000
	}
	return seconds
}

func unitOf(r *bench.Result) unit {
	var all []float64
	for _, row := range r.Rows {
		if row.Seconds != nil {
			all = append(all, row.Seconds.Median)
		}
	}
	return unit{report.UnitFor(all...)}
}
