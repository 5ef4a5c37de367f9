package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mrbench/internal/report"
	"mrbench/seed/sweep"
)

// setting is a column of a point, and how a sentence says it.
type setting struct {
	name, title string
	left        bool
	value       func(sweep.Point) report.Cell
	words       func(sweep.Point) string
}

// settings lists the settings of points. Read only.
var settings = []setting{
	{"index", "index", true, func(p sweep.Point) report.Cell { return report.Str(string(p.Index)) }, func(p sweep.Point) string {
		if p.Index == "none" {
			return "no index"
		}
		return "index " + string(p.Index)
	}},
	{"prefill", "prefilled", false, func(p sweep.Point) report.Cell { return report.Int(p.Prefill) }, func(p sweep.Point) string {
		if p.Prefill == 0 {
			return "empty"
		}
		return report.Thousands(p.Prefill) + " before"
	}},
	{"write_concern", "concern", true, func(p sweep.Point) report.Cell { return report.Str(p.WriteConcern) }, func(p sweep.Point) string {
		return "concern " + p.WriteConcern
	}},
	{"ordered", "ordered", true, func(p sweep.Point) report.Cell { return report.Str(yesNo(p.Ordered)) }, func(p sweep.Point) string {
		if p.Ordered {
			return "ordered"
		}
		return "unordered"
	}},
	{"writers", "writers", false, func(p sweep.Point) report.Cell { return report.Int(int64(p.Writers)) }, func(p sweep.Point) string {
		if p.Writers == 1 {
			return "1 writer"
		}
		return strconv.Itoa(p.Writers) + " writers"
	}},
	{"batch", "batch", false, func(p sweep.Point) report.Cell { return report.Int(int64(p.Batch)) }, func(p sweep.Point) string {
		return "batch " + report.Thousands(int64(p.Batch))
	}},
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// pointText names a point in a line, by those of its settings that are listed.
func pointText(p sweep.Point, list []setting) string {
	var words []string
	for i := len(list) - 1; i >= 0; i-- {
		words = append(words, list[i].words(p))
	}
	if len(words) == 0 {
		return "the point"
	}
	return strings.Join(words, ", ")
}

// varied are the settings with several values; fixed says the others in words.
func varied(points []sweep.Point) (list []setting, fixed string) {
	var words []string
	for _, s := range settings {
		same := true
		for _, p := range points {
			same = same && s.value(p) == s.value(points[0])
		}
		if same {
			words = append(words, s.words(points[0]))
		} else {
			list = append(list, s)
		}
	}
	return list, strings.Join(words, ", ")
}

func pointsOf(results []sweep.Result) []sweep.Point {
	points := make([]sweep.Point, len(results))
	for i, r := range results {
		points[i] = r.Point
	}
	return points
}

func sweepTables(r *sweepResult) []*report.Table {
	tables := []*report.Table{pointsTable(r)}
	if t := costsTable(r.Costs); t != nil {
		tables = append(tables, t)
	}
	return tables
}

// pointsTable shows every point, and the best one.
func pointsTable(r *sweepResult) *report.Table {
	list, fixed := varied(pointsOf(r.Points))
	t := &report.Table{Title: fmt.Sprintf("%s documents a point, %s; %s; %s",
		report.Thousands(r.Documents), madeBy(r.Generator), serverName(r.Server), times(r.Runs))}
	if fixed != "" {
		t.Title += "; all: " + fixed
	}
	for _, s := range list {
		t.Columns = append(t.Columns, report.Column{Title: s.title, Name: s.name, Left: s.left})
	}
	var all []float64
	for _, p := range r.Points {
		all = append(all, p.Seconds)
	}
	u := report.UnitFor(all...)
	t.Columns = append(t.Columns,
		report.Column{Title: u.Name, Name: "seconds"},
		report.Column{Title: "spread", Drop: 3},
		report.Column{Title: "docs/s", Name: "documents_per_second"},
		report.Column{Title: "MB/s", Name: "mb_per_second", Drop: 4},
		report.Column{Title: "p50 ms", Name: "batch_p50_ms", Drop: 5},
		report.Column{Title: "p99 ms", Name: "batch_p99_ms", Drop: 6},
		report.Column{Title: "cpu " + u.Name, Name: "cpu_seconds", Drop: 7},
		report.Column{Title: "", Name: "mark", Left: true, Drop: 1},
	)
	shown, measured := shownPoints(r.Points)
	for _, p := range shown {
		var row []report.Cell
		for _, s := range list {
			row = append(row, s.value(p.Point))
		}
		if p.Runs == 0 {
			for len(row) < len(t.Columns)-1 {
				row = append(row, report.Missing())
			}
			t.Add(append(row, report.Str("failed"))...)
			continue
		}
		spread := report.Missing()
		if p.Runs > 1 {
			spread = report.Percent(p.Spread(), 0)
		}
		t.Add(append(row, u.Time(p.Seconds), spread, report.Int(int64(p.DocumentsPerSecond)), report.Fixed(p.MBPerSecond, 1),
			report.Fixed(p.BatchP50MS, 2), report.Fixed(p.BatchP99MS, 2), u.TimeOr(p.CPUSeconds), report.Str(mark(r, p)))...)
	}
	if len(shown) < measured {
		t.Notes = append(t.Notes, fmt.Sprintf("the %d fastest of %s points, the fastest first; -o csv and -o json have all", len(shown), report.Thousands(int64(measured))))
	}
	t.Notes = append(t.Notes, sweepNotes(r, len(r.Points)-measured)...)
	return t
}

// manyPoints is how many points a table shows; of more, only some of the fastest.
const (
	manyPoints   = 40
	fastestShown = 20
)

// shownPoints are the points that were tried, as the grid has them, or the fastest of many. measured counts those tried.
func shownPoints(points []sweep.Result) (shown []sweep.Result, measured int) {
	for _, p := range points {
		if p.Runs > 0 || p.Error != "" {
			shown = append(shown, p)
		}
	}
	if measured = len(shown); measured <= manyPoints {
		return shown, measured
	}
	slices.SortStableFunc(shown, func(a, b sweep.Result) int { return cmp.Compare(b.DocumentsPerSecond, a.DocumentsPerSecond) })
	return shown[:fastestShown], measured
}

func madeBy(generator string) string {
	if generator == "files" {
		return "of the files"
	}
	return "made by " + generator
}

func mark(r *sweepResult, p sweep.Result) string {
	switch {
	case p.Error != "":
		return "failed later"
	case p.Missing > 0:
		return report.Thousands(p.Missing) + " missing"
	case r.Best != nil && *r.Best == p.Point:
		return "best"
	case r.BestAcked != nil && *r.BestAcked == p.Point:
		return "best acknowledged"
	}
	return ""
}

// near is how far below the best a point may be that one can't tell from it: a twentieth, or as much as its runs vary.
const near = 0.05

func sweepNotes(r *sweepResult, unmeasured int) []string {
	var notes []string
	for _, unacknowledged := range []bool{true, false} {
		i := sweep.Best(r.Points, unacknowledged)
		if i < 0 || !unacknowledged && r.Points[i].Point == *r.Best {
			continue
		}
		best, word := r.Points[i], "best"
		if !unacknowledged {
			word = "best that is acknowledged"
		}
		notes = append(notes, fmt.Sprintf("%s: %s: %s documents/s", word, pointText(best.Point, settings), report.Thousands(int64(best.DocumentsPerSecond))))
		close := 0
		for _, p := range r.Points {
			if p.Point != best.Point && p.Complete() && (unacknowledged || p.WriteConcern != "0") && p.MinSeconds <= best.Seconds*(1+max(near, best.Spread())) {
				close++
			}
		}
		if close > 0 {
			notes = append(notes, fmt.Sprintf("%s too near to it to tell apart (within %.0f%%, or as much as the best one's runs vary)", counted(close, "point is", "points are"), near*100))
		}
	}
	if r.Runs > 1 {
		notes = append(notes, "times and rates are medians; spread is (slowest - fastest) / median; p50 and p99 are an insert's times")
	} else {
		notes = append(notes, "one run each: take small differences for noise, or repeat with --runs; p50 and p99 are an insert's times")
	}
	switch r.CPU {
	case "shared":
		notes = append(notes, "cpu is of this whole process: the engine's and the loader's together")
	case "server":
		notes = append(notes, "cpu is the server's, for all that it did meanwhile")
	}
	concern0, missing, after := false, false, false
	for _, p := range r.Points {
		concern0 = concern0 || p.WriteConcern == "0" && p.Runs > 0
		missing = missing || p.Missing > 0
		after = after || p.Index == "after" && p.Runs > 0
	}
	if after {
		notes = append(notes, "index after: building it is inside the time")
	}
	if concern0 {
		notes = append(notes, "write concern 0: the time is until the documents were there, p50 and p99 are of sending alone; the driver's own insert sends it, which costs mrbench more a document than the prepared command of the other write concerns")
	}
	if missing {
		notes = append(notes, "missing: sent and not there 3 s after; such a point can't be the best and is compared with none")
	}
	for _, p := range r.Points {
		if p.Runs > 0 && p.BatchSent < 0.9*float64(p.Batch) && p.Batch > 1 && int64(p.Batch)*int64(p.Writers) <= r.Documents {
			notes = append(notes, fmt.Sprintf("batch %s: an insert had %s documents on average, the server's limit on its bytes being reached",
				report.Thousands(int64(p.Batch)), report.Thousands(int64(p.BatchSent))))
			break
		}
	}
	for _, p := range r.Points {
		if p.Error != "" {
			notes = append(notes, fmt.Sprintf("failed: %s: %s", pointText(p.Point, settings), p.Error))
		}
	}
	for _, s := range r.Skipped {
		notes = append(notes, fmt.Sprintf("left out: %s: %s", counted(s.Points, "point", "points"), s.Reason))
	}
	if unmeasured > 0 {
		notes = append(notes, fmt.Sprintf("%s not run", counted(unmeasured, "point was", "points were")))
	}
	return notes
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%s %s", report.Thousands(int64(n)), many)
}

// costsTable shows what each setting does; nil when no two points can be compared.
func costsTable(costs []sweep.Cost) *report.Table {
	if len(costs) == 0 {
		return nil
	}
	t := &report.Table{
		Title: "what one setting does to the time when all others stay",
		Columns: []report.Column{
			{Title: "setting", Name: "factor", Left: true},
			{Title: "from", Left: true},
			{Title: "to", Left: true},
			{Title: "pairs"},
			{Title: "time", Name: "ratio"},
			{Title: "lowest", Name: "low", Drop: 2},
			{Title: "highest", Name: "high", Drop: 2},
			{Title: "slower in", Name: "slower", Drop: 1},
		},
		Notes: []string{"time: with the second value over with the first, geometric mean over pairs of points that differ in nothing else; below 1 is faster"},
	}
	for _, c := range costs {
		t.Add(report.Str(c.Factor), report.Str(grouped(c.From)), report.Str(grouped(c.To)), report.Int(int64(c.Pairs)),
			report.Times(c.Ratio), report.Times(c.Low), report.Times(c.High),
			report.Cell{Text: fmt.Sprintf("%d of %d", c.Slower, c.Pairs), Raw: strconv.Itoa(c.Slower)})
	}
	return t
}

// grouped writes numbers with thousands separators and leaves words alone.
func grouped(s string) string {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return report.Thousands(n)
	}
	return s
}

// sweepCSV has a line for each point, with every setting.
func sweepCSV(r *sweepResult) *report.Table {
	t := &report.Table{}
	for _, name := range []string{
		"batch", "writers", "write_concern", "ordered", "index", "prefill", "runs", "median_seconds", "min_seconds", "max_seconds",
		"documents_per_second", "mb_per_second", "batch_p50_ms", "batch_p99_ms", "cpu_seconds", "missing", "error", "documents", "generator", "server", "version",
	} {
		t.Columns = append(t.Columns, report.Column{Title: name})
	}
	for _, p := range r.Points {
		cells := []report.Cell{
			report.Int(int64(p.Batch)), report.Int(int64(p.Writers)), report.Str(p.WriteConcern), report.Str(strconv.FormatBool(p.Ordered)),
			report.Str(string(p.Index)), report.Int(p.Prefill), report.Int(int64(p.Runs)),
		}
		numbers := []float64{p.Seconds, p.MinSeconds, p.MaxSeconds, p.DocumentsPerSecond, p.MBPerSecond, p.BatchP50MS, p.BatchP99MS}
		for _, x := range numbers {
			if p.Runs == 0 {
				cells = append(cells, report.Missing())
			} else {
				cells = append(cells, report.Fixed(x, 6))
			}
		}
		cpu := report.Missing()
		if p.CPUSeconds != nil {
			cpu = report.Fixed(*p.CPUSeconds, 6)
		}
		t.Add(append(cells, cpu, report.Int(p.Missing), report.Str(p.Error),
			report.Int(r.Documents), report.Str(r.Generator), report.Str(r.Server.Kind), report.Str(r.Server.Version))...)
	}
	return t
}
