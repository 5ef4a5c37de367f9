package cli

import (
	"fmt"
	"strings"

	"mrbench/internal/report"
	"mrbench/seed"
)

func seedTable(r *seedResult) *report.Table {
	t := &report.Table{
		Title: fmt.Sprintf("%s: %s documents with %s values of %s", r.NS, report.Thousands(r.Documents), report.Thousands(r.Keys), r.Key),
		Columns: []report.Column{
			{Title: "documents"},
			{Title: "size", Name: "bytes"},
			{Title: "s", Name: "seconds"},
			{Title: "documents/s", Name: "documents_per_second"},
			{Title: "p50 ms", Name: "batch_p50_ms", Drop: 3},
			{Title: "p95 ms", Name: "batch_p95_ms", Drop: 3},
			{Title: "max ms", Name: "batch_max_ms", Drop: 3},
			{Title: "index s", Name: "index_seconds"},
			{Title: "counted"},
		},
	}
	if r.Generator != uniquesName {
		what := "of the generator " + r.Generator
		if r.Files > 0 {
			what = "from " + plural(r.Files, "file")
		}
		t.Title = fmt.Sprintf("%s: %s %s", r.NS, documents(r.Documents), what)
	}
	if !r.Complete {
		t.Title += ", NOT FINISHED"
	}
	index := report.Missing()
	if r.Index == string(seed.IndexAfter) {
		index = report.Fixed(r.IndexSeconds, 2)
	}
	counted := report.Int(r.Counted)
	if !r.Complete && r.Counted == 0 {
		counted = report.Missing()
	}
	t.Add(report.Int(r.Documents), report.Bytes(r.Bytes), report.Fixed(r.Seconds, 2), report.Int(int64(r.DocumentsPerSecond)),
		report.Fixed(r.BatchP50MS, 1), report.Fixed(r.BatchP95MS, 1), report.Fixed(r.BatchMaxMS, 1), index, counted)
	t.Notes = append(t.Notes, fmt.Sprintf("%s, %s documents a batch (p50, p95 and max are a batch's times), write concern %s",
		plural(r.Writers, "writer"), report.Thousands(int64(r.Batch)), r.WriteConcern))
	switch index := seed.IndexMoment(r.Index); {
	case index == seed.IndexAfter && !r.Complete && r.IndexSeconds == 0:
		t.Notes = append(t.Notes, "the index was not made")
	case index == seed.IndexBefore:
		t.Notes = append(t.Notes, "the index was made first: its cost is inside the time")
	case index == seed.IndexAfter:
		t.Notes = append(t.Notes, "the index was made last: the time includes it")
	case index == seed.IndexNone:
		t.Notes = append(t.Notes, "no index was made")
	}
	if r.Files > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%.1f MB/s; %s, %s", r.MBPerSecond, some(r.Rejects, "broken record"), some(r.Duplicates, "duplicate key")))
	}
	if r.RejectsFile != "" {
		t.Notes = append(t.Notes, "the broken records are in "+r.RejectsFile)
	}
	if len(r.DuplicateKeys) > 0 {
		t.Notes = append(t.Notes, "left out, as their key was there already: "+strings.Join(r.DuplicateKeys, ", "))
	}
	if r.Earlier > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("resumed: %s documents were loaded before, %s in all", report.Thousands(r.Earlier), report.Thousands(r.Earlier+r.Documents)))
	}
	if r.PausedSeconds > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("held back for %.3g s, which the time holds: %s", r.PausedSeconds, strings.Join(r.PausedFor, ", ")))
	}
	if r.Retries > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%s sent again, the first because of: %s", batches(r.Retries), r.RetryError))
	}
	switch {
	case r.Others > 0:
		t.Notes = append(t.Notes, fmt.Sprintf("counted afterwards: %s documents are there, %s of them added by others meanwhile; when all are done, count the whole",
			report.Thousands(r.Counted), report.Thousands(r.Others)))
	case counted.Text != report.Missing().Text:
		t.Notes = append(t.Notes, fmt.Sprintf("counted afterwards: %s of %s documents are there", report.Thousands(r.Counted), report.Thousands(r.Before+r.Documents)))
	}
	return t
}

func documents(n int64) string {
	if n == 1 {
		return "1 document"
	}
	return report.Thousands(n) + " documents"
}

func batches(n int64) string {
	if n == 1 {
		return "1 batch was"
	}
	return report.Thousands(n) + " batches were"
}
