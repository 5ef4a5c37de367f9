package bench

import (
	"math"
	"strings"
	"testing"
)

// Uranium measurements by mass spectrometry, of which 245.57 is the outlier (NIST/SEMATECH e-Handbook of Statistical
// Methods, 1.3.5.17.1, after Tietjen and Moore). Median 201.37, MAD 0.995: 0.6745 · 44.2 / 0.995 = 29.96.
func TestOutlierOfTheHandbook(t *testing.T) {
	got := Outliers([]float64{199.31, 199.53, 200.19, 200.82, 201.92, 201.95, 202.18, 245.57})
	if len(got) != 1 || got[0].Round != 8 || got[0].Seconds != 245.57 {
		t.Fatalf("%+v", got)
	}
	near(t, "distance", got[0].Distance, 29.96, 0.01)
	near(t, "ratio", got[0].Ratio, 245.57/201.37, 1e-9)
}

// What is called an outlier, or a slow first run, is in every number all the same.
func TestNothingIsLeftOut(t *testing.T) {
	o := Outcome{}
	for i, s := range []float64{9, 1, 1.01, 0.99, 5, 1.02} {
		o.Samples = append(o.Samples, Sample{Round: i + 1, Seconds: s})
	}
	var r Row
	r.Fill(&o)
	if s := r.Seconds; len(r.Outliers) != 2 || len(s.All) != 6 || s.Max != 9 || math.Abs(s.Median-1.015) > 1e-9 || *s.CI != [2]float64{0.99, 9} {
		t.Errorf("%+v, outliers %+v", s, r.Outliers)
	}
}

func TestOutliers(t *testing.T) {
	for _, c := range []struct {
		name    string
		seconds []float64
		rounds  string
	}{
		{"four runs are too few", []float64{1, 1, 1, 9}, ""},
		{"below", []float64{1, 1.01, 1.02, 1.03, 0.2}, "5"},
		{"within five percent", []float64{1, 1, 1, 1, 1.001, 1.04}, ""},
		{"more than half are equal", []float64{1, 1, 1, 1, 1, 1, 1, 3}, "8"},
		{"all equal", []float64{1, 1, 1, 1, 1}, ""},
		{"two", []float64{1, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 4, 5}, "8 9"},
	} {
		var rounds []string
		for _, o := range Outliers(c.seconds) {
			rounds = append(rounds, string(rune('0'+o.Round)))
		}
		if got := strings.Join(rounds, " "); got != c.rounds {
			t.Errorf("%s: %q, want %q", c.name, got, c.rounds)
		}
	}
}

func TestNotes(t *testing.T) {
	for _, c := range []struct {
		name   string
		warmup int
		times  [][]float64
		want   []string // kind, then a part of the text
	}{
		{"one run", 0, [][]float64{{1}, {2}}, []string{NoteFewRuns + " one run says nothing about how much times vary: --runs 6"}},
		{"three runs", 0, [][]float64{{1, 1, 1}, {2, 2, 2}}, []string{NoteFewRuns + " 3 runs are too few for intervals or to show a difference"}},
		{"four runs", 0, [][]float64{{1, 1.01, 1.02, 1.03}, {2, 2.01, 2.02, 2.03}}, []string{NoteFewRuns + " 4 runs are too few for intervals: --runs 6 gives them"}},
		{"calm", 0, [][]float64{{1, 1.01, 1.02, 1.03, 1.02, 1.01}, {2, 2.01, 2.02, 2.03, 2.02, 2.01}}, nil},
		{"slow first run", 1, [][]float64{{2.1, 1, 1.01, 0.99, 1, 1.02}}, []string{
			NoteFirstRun + " the first run of r0 took 2.1 times the median of the rest: warm up with --warmup 2",
			NoteNoisy + " the median of r0 is known to ±109%; about 9 runs",
		}},
		{"slower, but not the first", 0, [][]float64{{1, 2.1, 1, 1.01, 0.99, 1, 1.02, 1, 1}}, []string{
			NoteOutlier + " run 2 of r0 took 2.1 s, 110% above the median",
		}},
		{"no difference", 0, [][]float64{{1, 1.01, 1.02, 1.03, 1.02, 1.01}, {1.01, 1, 1.02, 1.03, 1.02, 1}}, []string{
			NoteSame + " no difference between r0 and r1 is shown (p=",
		}},
		// The quartiles of 1, 1.1, … 1.9 are 1.225 and 1.675, the median is 1.45: (1.57 · 0.45 / (0.05 · 1.45))² = 94.96.
		{"wide", 0, [][]float64{{1.9, 1, 1.8, 1.1, 1.7, 1.2, 1.6, 1.3, 1.5, 1.4}}, []string{NoteNoisy + " the median of r0 is known to ±24%; about 95 runs in all would make that ±5%"}},
	} {
		r := Result{Context: Context{Schedule: &Schedule{Warmup: c.warmup}}}
		for i, x := range c.times {
			row := Row{ID: "r" + string(rune('0'+i))}
			o := Outcome{}
			for _, s := range x {
				o.Samples = append(o.Samples, Sample{Seconds: s})
			}
			row.Fill(&o)
			r.Rows = append(r.Rows, row)
		}
		r.Annotate()
		var got []string
		for _, n := range r.Notes {
			got = append(got, n.Kind+" "+n.Text)
		}
		ok := len(got) == len(c.want)
		for i := range c.want {
			ok = ok && strings.HasPrefix(got[i], c.want[i])
		}
		if !ok {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
		before := len(r.Notes)
		if r.Annotate(); len(r.Notes) != before {
			t.Errorf("%s: notes twice", c.name)
		}
	}
}
