package study

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// The published numbers, once more, as they were noted down.
func TestPublishedNumbers(t *testing.T) {
	const noted = `495,334: 105.4 · 492,524: 100.2 · 414,414: 84.8 · 298,660: 69.1 · 161,424: 29.9 · 95,551: 17.8 ·
50,000: 12.1 · 40,000: 9.5 · 30,000: 6.4 · 25,000: 5.4 · 20,000: 3.6 · 12,000: 3.6 · 11,000: 3.8 ·
10,000: 2.3 · 9,000: 3.9 · 8,000: 2.3 · 7,000: 1.8 · 6,000: 1.8 · 5,000: 1.8 · 4,500: 0.9 ·
4,000: 0.8 · 2,866: 0.5 · 2,085: 0.4 · 1,807: 0.4 · 1,550: 0.2 · 991: 0.3 · 718: 0.3 · 276: 0.1 · 59: 0.06`
	want := strings.Split(strings.ReplaceAll(noted, "\n", " "), " · ")
	var got []string
	for _, s := range Find("batch-curve").Steps {
		if s.Series == Empty {
			got = append(got, fmt.Sprintf("%s: %v", thousands(s.Documents), s.Seconds))
		} else if s.Seconds != 0 {
			t.Errorf("%s: only loads into an empty collection were published", s.ID)
		}
	}
	if strings.Join(got, " · ") != strings.Join(want, " · ") {
		t.Errorf("batch-curve: %v\nwant %v", got, want)
	}
	for _, c := range []struct {
		study, step string
		documents   int64
		seconds     float64
		ratio       float64 // of the rate to the first step's, worked out by hand
	}{
		{"bulk-insert", BulkWhole, 1_000_000, 3 + 2*60 + 18, 1},
		{"bulk-insert", BulkStreamed, 6_900_000, 1750, 0.556},
		{"bulk-insert", BulkParallel, 6_900_000, 867, 1.122},
		{"bulk-insert", BulkCount, 63_199_505, 430, 20.72},
		{"bulk-insert", BulkRanges, 63_199_505, 5088, 1.751},
		{"guid-500k", GUIDSingle, 500_000, 18.74, 1},
		{"guid-500k", GUIDBatches, 500_000, 5.005, 3.744},
		{"guid-500k", GUIDFast, 500_000, 3.50, 5.354},
		{"mapreduce-20x", "mr", 10_000_000, 1161.960, 1},
		{"mapreduce-20x", "mr-sort", 10_000_000, 192.589, 6.033},
		{"mapreduce-20x", "mr-ranges", 10_000_000, 205.790, 5.646},
		{"mapreduce-20x", "mr-ranges-dbs", 10_000_000, 105.821, 10.98},
		{"mapreduce-20x", "mr-ranges-dbs-js", 10_000_000, 70.507, 16.48},
		{"mapreduce-20x", NewerServer, 10_000_000, 62.785, 18.51},
	} {
		p := Find(c.study).Start(1, 1).Row(c.step).Published
		if p.Documents != c.documents || *p.Seconds != c.seconds || math.Abs(*p.Ratio/c.ratio-1) > 1e-3 {
			t.Errorf("%s %s: %d documents, %v s, ratio %v; want %+v", c.study, c.step, p.Documents, *p.Seconds, *p.Ratio, c)
		}
	}
	if Find("nothing") != nil {
		t.Error("found a study that does not exist")
	}
}

// as makes a result whose steps take what seconds says, at a scale of 1.
func as(t *testing.T, name string, seconds func(Step) float64) *Result {
	t.Helper()
	e := Find(name)
	r := e.Start(1, 1)
	for _, s := range e.Steps {
		n := s.Documents
		if s.ID == BulkSeed {
			n = BulkLargeFile
		}
		if x := seconds(s); x > 0 {
			r.Row(s.ID).Add(n, time.Duration(x*float64(time.Second)))
		}
	}
	r.Finish()
	return r
}

// On a machine where everything is as published, but ten times as fast, all findings hold.
func TestAllHoldsWhenItIsAsPublished(t *testing.T) {
	for _, e := range Experiments() {
		r := as(t, e.Name, func(s Step) float64 {
			switch s.Series {
			case Indexed, PrefilledIndexed: // "more than twice as long"
				s.Seconds = 2.2 * 0.00024 * float64(s.Documents)
			case Prefilled, Empty:
				if s.Seconds == 0 || s.Documents > 1000 {
					s.Seconds = 0.00024 * float64(s.Documents)
				}
			}
			switch s.ID {
			case BulkWhole2:
				return 0
			case BulkSeed:
				return 80
			case GUIDBest:
				s.Seconds = 4.5
			case GUIDLarge:
				s.Seconds = 9
			}
			return s.Seconds / 10
		})
		if strings.Contains(r.Paragraph, "no longer") || !strings.Contains(r.Paragraph, "that holds") || strings.Contains(r.Paragraph, "not measured") {
			t.Errorf("%s: %s", e.Name, r.Paragraph)
		}
	}
}

// Where every document costs the same in every step, no difference that was published holds.
func TestNothingHoldsWhenAllIsAlike(t *testing.T) {
	for _, c := range []struct {
		study         string
		holds, failed int
	}{
		{"bulk-insert", 0, 3},
		{"guid-500k", 1, 4},   // batches of 600 are no worse than others
		{"batch-curve", 2, 2}, // larger sizes and prefilled collections made no difference then either
		{"mapreduce-20x", 1, 4},
	} {
		r := as(t, c.study, func(s Step) float64 {
			if s.ID == BulkSeed {
				s.Documents = BulkLargeFile
			}
			return 1e-5 * float64(s.Documents)
		})
		if h, f := strings.Count(r.Paragraph, "that holds"), strings.Count(r.Paragraph, "no longer holds"); h != c.holds || f != c.failed {
			t.Errorf("%s: %d hold and %d do not, want %+v\n%s", c.study, h, f, c, r.Paragraph)
		}
	}
}

func TestFindings(t *testing.T) {
	for _, c := range []struct {
		published, measured float64
		want                string
	}{
		{2, 2, "published 2.00 times as fast, here 2.00 times as fast: that holds."},
		{2, 1.2, "published 2.00 times as fast, here 1.20 times as fast: that holds, by less."},
		{2, 4, "published 2.00 times as fast, here 4.00 times as fast: that holds, by more."},
		{2, 1.1, "published 2.00 times as fast, here no difference: that no longer holds."},
		{2, 0.5, "published 2.00 times as fast, here 2.00 times as slow: that no longer holds, it is the other way round."},
		{0.5, 0.5, "published 2.00 times as slow, here 2.00 times as slow: that holds."},
		{0.5, 0.25, "published 2.00 times as slow, here 4.00 times as slow: that holds, by more."},
		{0.5, 0.8, "published 2.00 times as slow, here 1.25 times as slow: that holds, by less."},
		{1, 1.05, "published no difference, here no difference: that holds."},
		{1, 12.3, "published no difference, here 12.3 times as fast: that no longer holds."},
	} {
		f := finding{subject: "X", published: c.published, measured: c.measured, known: true, faster: "%s times as fast", slower: "%s times as slow"}
		if got := f.String(); got != "X: "+c.want {
			t.Errorf("%v, %v: %s", c.published, c.measured, got)
		}
	}
}

// What was not measured is said to be so, and nothing is made up about it.
func TestUnmeasured(t *testing.T) {
	for _, e := range Experiments() {
		r := e.Start(0.1, 1)
		r.Finish()
		if strings.Contains(r.Paragraph, "holds") || !strings.Contains(r.Paragraph, "not measured here") {
			t.Errorf("%s: %s", e.Name, r.Paragraph)
		}
		r = as(t, e.Name, func(s Step) float64 { // the first step failed
			if s.ID == e.Steps[0].ID {
				return 0
			}
			return 1
		})
		if r.Rows[1].Measured.Ratio != nil {
			t.Errorf("%s: a ratio to a step that failed", e.Name)
		}
	}
}

func TestMedianOfRuns(t *testing.T) {
	r := Find("guid-500k").Start(1, 3)
	for _, s := range []int{3, 1, 2} {
		r.Rows[0].Add(12, time.Duration(s)*time.Second)
	}
	if m := r.Rows[0].Measured; m.Seconds != 2 || m.Rate != 6 || len(m.All) != 3 {
		t.Errorf("%+v", m)
	}
	r.Rows[0].Add(12, 4*time.Second)
	if m := r.Rows[0].Measured; m.Seconds != 2.5 {
		t.Errorf("%+v", m)
	}
}
