package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"mrbench/internal/bench"
	"mrbench/internal/report"
)

// table shows a set: with two results all there is to say about each row, with more of them a change for each.
func (c *comparison) table(set *comparedSet) *report.Table {
	var all []float64
	for _, row := range set.Rows {
		for _, s := range row.Sides {
			if s.Seconds != nil {
				all = append(all, s.Seconds.Median)
			}
		}
	}
	u := report.UnitFor(all...)
	t := &report.Table{
		Title:   fmt.Sprintf("%s: %s documents %s; %s", set.Dataset.NS, report.Thousands(set.Dataset.Documents), set.Dataset.What(), c.servers(set)),
		Columns: []report.Column{{Title: "row", Name: "id", Left: true}},
	}
	two := len(c.Results) == 2
	for i, r := range c.Results {
		t.Columns = append(t.Columns, report.Column{Title: r.Name + " " + u.Name, Drop: 100 * i})
		if two {
			t.Columns = append(t.Columns, report.Column{Title: "±", Drop: 5})
		} else if i > 0 {
			t.Columns = append(t.Columns, report.Column{Title: "change", Drop: i})
		}
	}
	if two {
		t.Columns[3].Drop = 0
		t.Columns = append(t.Columns, report.Column{Title: "change"}, report.Column{Title: "95% interval", Left: true, Drop: 2}, report.Column{Title: "p", Drop: 1}, report.Column{Title: "n", Drop: 3})
	}
	for _, row := range set.Rows {
		cells := []report.Cell{report.Str(row.ID)}
		for i, s := range row.Sides {
			cells = append(cells, sideTime(u, s))
			if two {
				cells = append(cells, margin(s.Seconds))
			} else if i > 0 {
				cells = append(cells, changeCell(s.Versus))
			}
		}
		if two {
			v := row.Sides[1].Versus
			cells = append(cells, changeCell(v), intervalCell(v))
			if v == nil {
				cells = append(cells, report.Missing(), report.Missing())
			} else {
				cells = append(cells, report.Str(pText(v.P)), report.Str(nText(v)))
			}
		}
		t.Add(cells...)
	}
	c.addMean(t, set, two)
	return t
}

// addMean adds the line of geometric means, when there is more than one row to take it over.
func (c *comparison) addMean(t *report.Table, set *comparedSet, two bool) {
	if set.Shared < 2 {
		return
	}
	cells := []report.Cell{report.Str("geometric mean")}
	for i, m := range set.Mean {
		cells = append(cells, report.Str(""))
		switch {
		case two:
			cells = append(cells, report.Str(""))
		case i > 0:
			cells = append(cells, report.Change(*m-1))
		}
	}
	if two {
		cells = append(cells, report.Change(*set.Mean[1]-1))
	}
	t.Add(cells...)
	if set.Shared < len(set.Rows) {
		t.Notes = append(t.Notes, fmt.Sprintf("the geometric mean is over the %d rows that were measured in all", set.Shared))
	}
}

func (c *comparison) servers(set *comparedSet) string {
	var names []string
	for _, r := range set.results {
		if r == nil {
			continue
		}
		if n := serverName(r.Server); len(names) == 0 || names[len(names)-1] != n {
			names = append(names, n)
		}
	}
	return strings.Join(names, ", ")
}

func sideTime(u report.Unit, s comparedSide) report.Cell {
	if s.Seconds == nil {
		return report.Missing()
	}
	return u.Time(s.Seconds.Median)
}

// margin is how far the interval of a median reaches, as a share of it.
func margin(s *bench.Seconds) report.Cell {
	if s == nil || s.CI == nil || s.Median == 0 {
		return report.Missing()
	}
	return report.Percent(s.Margin(), 0)
}

func changeCell(v *bench.Versus) report.Cell {
	switch {
	case v == nil:
		return report.Missing()
	case !v.Shown:
		return report.Str("~")
	}
	return report.Change(v.Ratio - 1)
}

func intervalCell(v *bench.Versus) report.Cell {
	if v == nil || v.CI == nil {
		return report.Missing()
	}
	return report.Str(report.Change(v.CI[0]-1).Text + " to " + report.Change(v.CI[1]-1).Text)
}

func pText(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}

func nText(v *bench.Versus) string {
	return fmt.Sprintf("%d+%d", v.RunsA, v.RunsB)
}

// notes are what a reader has to know about the numbers.
func (c *comparison) notes() []string {
	var notes []string
	for _, r := range c.Results {
		notes = append(notes, fmt.Sprintf("%s: %s, %s, %s", r.Name, r.Started, times(r.Runs), r.File))
	}
	notes = append(notes, "times are medians, ± how far their 95 % interval reaches; change is the middle of all ratios of two runs, negative when "+
		c.Results[len(c.Results)-1].Name+" is faster; ~ no difference is shown (p is 0.05 or more)")
	return append(append(notes, c.doubts()...), c.missing()...)
}

// doubts are about what could not be shown, and what was shown too easily.
func (c *comparison) doubts() (notes []string) {
	var few, needed, never []string
	tested := 0
	for _, set := range c.Sets {
		for _, row := range set.Rows {
			for i, s := range row.Sides {
				v, name := s.Versus, c.rowName(row.ID, i)
				switch {
				case v == nil:
					continue
				case !bench.CanShow(v.RunsA, v.RunsB):
					few = append(few, name)
					continue
				case v.Shown:
				case v.Needed == 0:
					never = append(never, name)
				default:
					needed = append(needed, fmt.Sprintf("%s %d", name, v.Needed))
				}
				tested++
			}
		}
	}
	if len(few) > 0 {
		notes = append(notes, "too few runs to show any difference (4 on each side can; --runs 6 also gives intervals): "+strings.Join(few, ", "))
	}
	if len(never) > 0 {
		needed = append(needed, fmt.Sprintf("more than %s for %s", report.Thousands(bench.MostNeeded), strings.Join(never, ", ")))
	}
	if len(needed) > 0 {
		notes = append(notes, "runs on each side that would, four times out of five, show a change as large as the one seen: "+strings.Join(needed, ", ")+
			" (Noether's formula, which takes what was seen for real: a guess, the rougher the fewer runs there were)")
	}
	if tested > 0 {
		notes = append(notes, "the test knows how times vary within a result; what changes from one start of mrbench to the next, it takes for a change of the rows")
	}
	if tested >= 5 {
		notes = append(notes, fmt.Sprintf("%d rows were tested: of 20 that did not change, one is expected to be shown as if it had", tested))
	}
	return notes
}

// missing says which rows have no time where, and the warnings.
func (c *comparison) missing() (notes []string) {
	rows := map[string][]string{}
	var order []string
	for _, set := range c.Sets {
		for _, row := range set.Rows {
			for i, s := range row.Sides {
				if s.Seconds != nil {
					continue
				}
				where := fmt.Sprintf("%s in %s", s.Why, c.Results[i].Name)
				if rows[where] == nil {
					order = append(order, where)
				}
				rows[where] = append(rows[where], row.ID)
			}
		}
	}
	for _, where := range order {
		notes = append(notes, where+": "+strings.Join(rows[where], ", "))
	}
	for _, w := range c.Warnings {
		notes = append(notes, "warning: "+w)
	}
	return notes
}

// csv has a line for each row of each result.
func (c *comparison) csv() *report.Table {
	t := &report.Table{}
	for _, name := range []string{
		"ns", "key", "documents", "id", "label", "result", "file", "run_id", "runs", "median_seconds", "ci95_low", "ci95_high",
		"ratio", "ratio_low", "ratio_high", "p", "shown", "needed",
	} {
		t.Columns = append(t.Columns, report.Column{Title: name})
	}
	number := func(x float64) report.Cell {
		if math.IsNaN(x) {
			return report.Missing()
		}
		return report.Str(strconv.FormatFloat(x, 'g', 6, 64))
	}
	nan := math.NaN()
	for _, set := range c.Sets {
		for _, row := range set.Rows {
			for i, s := range row.Sides {
				runs, median, lo, hi := 0, nan, nan, nan
				if s.Seconds != nil {
					runs, median = len(s.Seconds.All), s.Seconds.Median
					if ci := s.Seconds.CI; ci != nil {
						lo, hi = ci[0], ci[1]
					}
				}
				cells := []report.Cell{
					report.Str(set.Dataset.NS), report.Str(set.Dataset.Key), report.Int(set.Dataset.Documents), report.Str(row.ID), report.Str(row.Label),
					report.Str(c.Results[i].Name), report.Str(c.Results[i].File), report.Str(c.Results[i].RunID), report.Int(int64(runs)),
					number(median), number(lo), number(hi),
				}
				if v := s.Versus; v != nil {
					lo, hi = nan, nan
					if v.CI != nil {
						lo, hi = v.CI[0], v.CI[1]
					}
					needed := report.Missing()
					if v.Needed > 0 {
						needed = report.Int(int64(v.Needed))
					}
					cells = append(cells, number(v.Ratio), number(lo), number(hi), number(v.P), report.Str(strconv.FormatBool(v.Shown)), needed)
				}
				t.Add(cells...)
			}
		}
	}
	return t
}

func mostRuns(r *bench.Result) int {
	runs := 0
	for _, row := range r.Rows {
		if row.Seconds != nil {
			runs = max(runs, len(row.Seconds.All))
		}
	}
	return runs
}
