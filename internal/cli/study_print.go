package cli

import (
	"fmt"
	"math"

	"mrbench/internal/report"
	"mrbench/internal/study"
)

// studyTables are the steps, for CSV and for people, and the paragraph.
func studyTables(r *studyResult) (csv *report.Table, tables []*report.Table) {
	t := stepsTable(r)
	if r.Study == "batch-curve" {
		t = curveTable(r)
	}
	server := serverName(r.Server)
	t.Title = fmt.Sprintf("%s at scale %s: %s", r.Study, showScale(r.Scale), r.What)
	t.Notes = append([]string{
		fmt.Sprintf("published: %s; here: %s, %s", r.Published, server, times(r.Runs)),
		"×1st: documents a second over the first step's. Seconds of other machines can't be compared, these ratios can",
	}, t.Notes...)
	for _, row := range r.Rows {
		switch {
		case row.Error != "":
			t.Notes = append(t.Notes, fmt.Sprintf("%s failed: %s", stepName(row), row.Error))
		case row.Skipped != "":
			t.Notes = append(t.Notes, fmt.Sprintf("%s was skipped: %s", stepName(row), row.Skipped))
		default:
			said := ""
			if row.Published != nil {
				said = row.Published.Said
			}
			switch {
			case said != "" && row.Note != "":
				t.Notes = append(t.Notes, fmt.Sprintf("%s: published: %s; here: %s", stepName(row), said, row.Note))
			case said != "":
				t.Notes = append(t.Notes, fmt.Sprintf("%s: published: %s", stepName(row), said))
			case row.Note != "":
				t.Notes = append(t.Notes, fmt.Sprintf("%s: %s", stepName(row), row.Note))
			}
		}
	}
	t.Notes = append(t.Notes, r.Remarks...)
	paragraph := &report.Table{Title: "what holds here, and what does not", Notes: []string{r.Paragraph}}
	if r.Runs == 1 {
		paragraph.Notes = append(paragraph.Notes, fmt.Sprintf("one run each, and below %.0f%% counts as no difference; --runs repeats", 100*study.Tolerance))
	} else {
		paragraph.Notes = append(paragraph.Notes, fmt.Sprintf("below %.0f%% counts as no difference", 100*study.Tolerance))
	}
	return studyCSV(r), []*report.Table{t, paragraph}
}

func stepName(row *study.Row) string {
	if row.Series != "" {
		return row.Series + ", " + row.Label
	}
	return row.Label
}

func stepsTable(r *studyResult) *report.Table {
	var all []float64
	for _, row := range r.Rows {
		if row.Measured != nil {
			all = append(all, row.Measured.Seconds)
		}
	}
	u := report.UnitFor(all...)
	t := &report.Table{Columns: []report.Column{
		{Title: "step", Left: true},
		{Title: "publ. s"},
		{Title: "×1st"},
		{Title: "documents", Drop: 3},
		{Title: "here " + u.Name},
		{Title: "docs/s", Drop: 2},
		{Title: "×1st"},
		{Title: "", Left: true, Drop: 1},
	}}
	for _, row := range r.Rows {
		cells := []report.Cell{report.Str(row.Label), report.Missing(), report.Missing()}
		if p := row.Published; p != nil {
			if p.Seconds != nil {
				cells[1], cells[2] = published(*p.Seconds), report.Times(*p.Ratio)
			}
		}
		m := row.Measured
		switch {
		case m != nil:
			cells = append(cells, report.Int(m.Documents), u.Time(m.Seconds), report.Int(int64(m.Rate)), ratioCell(m.Ratio))
		default:
			cells = append(cells, report.Missing(), report.Missing(), report.Missing(), report.Missing())
		}
		t.Add(append(cells, report.Str(stepState(row)))...)
	}
	return t
}

// published is a time as it was published: with as many decimals as it says something.
func published(seconds float64) report.Cell {
	switch {
	case seconds >= 100:
		return report.Fixed(seconds, 0)
	case seconds >= 1:
		return report.Fixed(seconds, 1)
	}
	return report.Fixed(seconds, 2)
}

func ratioCell(r *float64) report.Cell {
	if r == nil {
		return report.Missing()
	}
	return report.Times(*r)
}

func stepState(row *study.Row) string {
	switch {
	case row.Error != "":
		return "failed"
	case row.Skipped != "":
		return "skipped"
	case row.Measured == nil:
		return "not run"
	}
	return ""
}

// curveTable has a row for each number of documents and columns for the series.
func curveTable(r *studyResult) *report.Table {
	series := []string{study.Empty, study.Indexed, study.Prefilled, study.PrefilledIndexed}
	n := len(r.Rows) / len(series)
	t := &report.Table{Columns: []report.Column{
		{Title: "publ. n"},
		{Title: "publ. s"},
		{Title: "×1st"},
		{Title: "n"},
		{Title: "empty ms"},
		{Title: "×1st"},
		{Title: "indexed ms"},
		{Title: "filled ms"},
		{Title: "both ms"},
	}}
	for i := range n {
		row := r.Rows[i]
		documents := report.Missing()
		var cells [4]report.Cell
		var ratio *float64
		for k := range series {
			x := r.Rows[k*n+i]
			cells[k] = report.Missing()
			switch {
			case x.Error != "":
				cells[k] = report.Str("failed")
			case x.Measured != nil:
				documents, cells[k] = report.Int(x.Measured.Documents), threeDigits(1000*x.Measured.Seconds)
				if k == 0 {
					ratio = x.Measured.Ratio
				}
			}
		}
		t.Add(report.Int(row.Published.Documents), published(*row.Published.Seconds), report.Times(*row.Published.Ratio),
			documents, cells[0], ratioCell(ratio), cells[1], cells[2], cells[3])
	}
	t.Notes = append(t.Notes, fmt.Sprintf("filled: into a collection that held %s documents before the first of these inserts, published %s",
		report.Thousands(study.Scaled(study.CurvePrefill, r.Scale, 1)), report.Thousands(study.CurvePrefill)))
	return t
}

// threeDigits shows times that are far apart, each with about three digits.
func threeDigits(x float64) report.Cell {
	return report.Fixed(x, max(0, min(3, 2-int(math.Floor(math.Log10(max(x, 1e-6)))))))
}

// studyCSV has a line for each step.
func studyCSV(r *studyResult) *report.Table {
	t := &report.Table{}
	for _, name := range []string{
		"id", "series", "label", "published_documents", "published_seconds", "published_ratio", "documents", "seconds", "runs",
		"documents_per_second", "ratio", "note", "skipped", "error", "study", "scale", "server", "version",
	} {
		t.Columns = append(t.Columns, report.Column{Title: name})
	}
	float := func(x *float64) report.Cell {
		if x == nil {
			return report.Missing()
		}
		return report.Fixed(*x, 6)
	}
	for _, row := range r.Rows {
		cells := []report.Cell{report.Str(row.ID), report.Str(row.Series), report.Str(row.Label), report.Missing(), report.Missing(), report.Missing()}
		if p := row.Published; p != nil {
			cells[3], cells[4], cells[5] = report.Int(p.Documents), float(p.Seconds), float(p.Ratio)
		}
		if m := row.Measured; m != nil {
			cells = append(cells, report.Int(m.Documents), float(&m.Seconds), report.Int(int64(len(m.All))), float(&m.Rate), float(m.Ratio))
		} else {
			cells = append(cells, report.Missing(), report.Missing(), report.Int(0), report.Missing(), report.Missing())
		}
		t.Add(append(cells, report.Str(row.Note), report.Str(row.Skipped), report.Str(row.Error),
			report.Str(r.Study), report.Str(showScale(r.Scale)), report.Str(r.Server.Kind), report.Str(r.Server.Version))...)
	}
	return t
}
