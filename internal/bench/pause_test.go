package bench

import (
	"slices"
	"testing"
)

// Pauses of the measured runs add up in the row, each reason once, and are noted.
func TestPauses(t *testing.T) {
	var r Row
	r.ID = "agg"
	r.Fill(&Outcome{Samples: []Sample{
		{Seconds: 5, PausedSeconds: 2, PausedFor: []string{"queue 35 above 20"}},
		{Seconds: 3},
		{Seconds: 9, PausedSeconds: 6.5, PausedFor: []string{"queue 35 above 20", "a", "b", "c"}},
	}})
	if r.PausedSeconds != 8.5 || r.PausedRuns != 2 || !slices.Equal(r.PausedFor, []string{"queue 35 above 20", "a", "b", "c"}) {
		t.Errorf("%+v", r)
	}
	res := Result{Rows: []Row{r}}
	res.Annotate()
	want := "agg was paused for 8.5 s in 2 of 3 runs, which its wall time holds: queue 35 above 20, a, b, and 1 more: not to be compared"
	if i := slices.IndexFunc(res.Notes, func(n Note) bool { return n.Kind == NotePaused }); i < 0 || res.Notes[i].Text != want || res.Notes[i].Value != 8.5 {
		t.Errorf("%+v", res.Notes)
	}
	r.Fill(&Outcome{Samples: []Sample{{Seconds: 5}}})
	if r.PausedRuns != 0 || r.PausedSeconds != 0 || r.PausedFor != nil {
		t.Errorf("%+v", r)
	}
}

// A speed-up is not worked out from times that hold pauses, unless these are next to nothing.
func TestPausedTimesAreNotCompared(t *testing.T) {
	row := func(paused float64) (r Row) {
		r.Fill(&Outcome{Samples: []Sample{{Seconds: 100, PausedSeconds: paused}, {Seconds: 100}}})
		return r
	}
	for _, c := range []struct {
		first, second float64
		want          []bool // rows with a speed-up
	}{{0, 0, []bool{true, true}}, {0, 50, []bool{true, false}}, {50, 0, []bool{false, false}}, {1, 1.5, []bool{true, true}}, {1, 2.5, []bool{true, false}}} {
		rows := []Row{row(c.first), row(c.second)}
		Relate(rows)
		for i, r := range rows {
			if (r.Speedup != nil) != c.want[i] || i > 0 && (r.Versus != nil) != c.want[i] {
				t.Errorf("%v, %v: row %d: %v, %v", c.first, c.second, i+1, r.Speedup, r.Versus)
			}
		}
	}
}
