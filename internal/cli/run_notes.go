package cli

import (
	"fmt"
	"strings"
	"time"

	"mrbench/internal/bench"
	"mrbench/internal/report"
)

// mostOutliers is how many outliers are named one by one under a table.
const mostOutliers = 5

// timeNotes are the result's notes as footnotes: those of a kind that fit in a line are put together.
func timeNotes(r *bench.Result) (lines []string) {
	of := map[string][]string{}
	var outliers []string
	advice := ""
	for _, n := range r.Notes {
		switch n.Kind {
		case bench.NoteFirstRun:
			of[n.Kind] = append(of[n.Kind], fmt.Sprintf("%s %.1f×", n.Row, n.Value))
			_, advice, _ = strings.Cut(n.Text, ": ")
		case bench.NoteOutlier:
			outliers = append(outliers, outlierText(r, n))
		case bench.NoteNoisy:
			of[n.Kind] = append(of[n.Kind], fmt.Sprintf("%s %s", n.Row, report.Thousands(int64(n.Value))))
		case bench.NoteSame:
			of[n.Kind] = append(of[n.Kind], n.Row)
		default:
			lines = append(lines, n.Text)
		}
	}
	add := func(kind, format string) {
		if len(of[kind]) > 0 {
			lines = append(lines, fmt.Sprintf(format, strings.Join(of[kind], ", ")))
		}
	}
	add(bench.NoteSame, "no difference from "+firstMeasured(r)+" is shown (Mann-Whitney, p is 0.05 or more): %s")
	add(bench.NoteFirstRun, "the first run was markedly slower than the median of the rest, %s: "+advice)
	if len(outliers) > 0 {
		text := "far from the other runs of their row, and counted all the same: " + strings.Join(outliers[:min(len(outliers), mostOutliers)], "; ")
		if more := len(outliers) - mostOutliers; more > 0 {
			text += fmt.Sprintf("; %d more, which -o json names", more)
		}
		lines = append(lines, text)
	}
	add(bench.NoteNoisy, "runs in all that would make the spread ±5%%: %s (a guess from the range of the middle half)")
	return lines
}

// outlierText is the note of an outlier among others.
func outlierText(r *bench.Result, n bench.Note) string {
	row := rowOf(r, n.Row)
	if row == nil {
		return n.Text
	}
	for _, o := range row.Outliers {
		if o.Round == n.Round {
			u := report.UnitFor(o.Seconds)
			return fmt.Sprintf("run %d of %s, %s %s, %s off the median (modified z-score %.1f)", o.Round, n.Row, u.Time(o.Seconds).Text, u.Name, report.Change(o.Ratio-1).Text, o.Distance)
		}
	}
	return n.Text
}

// scheduleNote says how the runs were arranged; "" where the result does not.
func scheduleNote(r *bench.Result) string {
	s := r.Context.Schedule
	if s == nil {
		return ""
	}
	var parts []string
	switch {
	case len(r.Rows) < 2:
	case s.Shuffle == nil:
		parts = append(parts, "rows took turns in the order listed")
	default:
		parts = append(parts, fmt.Sprintf("rows took turns in an order drawn by --shuffle-seed %d", *s.Shuffle))
	}
	if s.Warmup > 0 {
		parts = append(parts, plural(s.Warmup, "round")+" before did not count")
	}
	if s.PauseSeconds > 0 {
		parts = append(parts, fmt.Sprintf("%v before each run", time.Duration(s.PauseSeconds*float64(time.Second))))
	}
	if s.Prepare != "" {
		parts = append(parts, fmt.Sprintf("%q before each run", s.Prepare))
	}
	if s.BudgetSeconds > 0 {
		parts = append(parts, fmt.Sprintf("%s of at least %d fitted in %v", plural(mostRuns(r), "run"), s.Runs, time.Duration(s.BudgetSeconds*float64(time.Second))))
	}
	return strings.Join(parts, "; ")
}
