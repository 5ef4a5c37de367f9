package main

import (
	"fmt"
	"io"

	"mrbench/internal/report"
)

// width of what is printed, in characters.
const width = 100

// barDocuments is the size that the bars are for.
const barDocuments = 10_000_000

// bars are what the steps may take for 10,000,000 documents on two cores, and what a MongoDB 4.0.3 server took there: seconds. 0: none.
var bars = map[string]struct{ mongodb, most float64 }{
	stepSeedBefore:       {91, 40},
	stepIndex:            {0, 15},
	"mr":                 {225, 60},
	"mr-sort":            {87, 35},
	"mr-ranges":          {66, 0},
	"mr-ranges-dbs":      {67, 20},
	"mr-ranges-dbs-js":   {58, 18},
	"agg":                {20.1, 6},
	"agg-ranges":         {7.0, 3},
	"agg-covered":        {12.3, 2.5},
	"agg-covered-ranges": {6.3, 1.5},
	stepSplit:            {4.3, 1.5},
	stepDistinct:         {10.3, 2.5},
	stepMerge:            {0, 2},
	stepOpen:             {0, 0.5},
}

func printTable(w io.Writer, f, old *figures) error {
	t := &report.Table{
		Title: fmt.Sprintf("%s documents, %d CPUs (%s), %s, runs of each step: %d", report.Thousands(f.Documents), f.CPUs, f.CPU, f.Go, f.Runs),
		Columns: []report.Column{
			{Title: "step", Left: true},
			{Title: "s"},
			{Title: "ns/doc"},
			{Title: "peak MiB", Drop: 2},
			{Title: "at most s", Drop: 1},
			{Title: "MongoDB 4.0 s", Drop: 3},
			{Title: "saved s", Drop: 1},
			{Title: "ratio", Drop: 1},
		},
	}
	for _, s := range f.Steps {
		row := []report.Cell{
			report.Str(s.Name), number(s.Seconds, 2), number(s.Seconds*1e9/float64(f.Documents), 0), number(s.PeakMiB, 0), {}, {}, {}, {},
		}
		if b := bars[s.Name]; f.Documents == barDocuments {
			row[4], row[5] = number(b.most, 1), number(b.mongodb, 1)
		}
		if old != nil {
			if o := old.step(s.Name); o != nil && o.Seconds > 0 && old.Documents == f.Documents {
				row[6] = number(o.Seconds, 2)
				row[7] = report.Str(fmt.Sprintf("%.2f", s.Seconds/o.Seconds))
			}
		}
		t.Add(row...)
	}
	t.Notes = append(t.Notes, "ns/doc: wall time over documents; peak: resident memory of client and engine together, in the most demanding run")
	if f.Documents == barDocuments {
		t.Notes = append(t.Notes, "at most: what docs/performance.md allows on two cores; MongoDB 4.0: a 4.0.3 server on two cores, client on the same host")
	}
	if old != nil && old.Documents != f.Documents {
		t.Notes = append(t.Notes, fmt.Sprintf("the saved figures are for %s documents and can't be compared", report.Thousands(old.Documents)))
	} else if old != nil {
		t.Notes = append(t.Notes, "ratio: these seconds over the saved ones; below 1 is faster")
	}
	return report.Text(w, width, t)
}

// printBreakdown says where the CPU time of a document goes.
func printBreakdown(w io.Writer, f *figures) error {
	t := &report.Table{
		Title:   "\nCPU nanoseconds a document, of all threads",
		Columns: []report.Column{{Title: "step", Left: true}, {Title: "sum"}},
	}
	for _, part := range partOrder {
		t.Columns = append(t.Columns, report.Column{Title: part})
	}
	for _, s := range f.Steps {
		if s.Parts == nil {
			continue
		}
		var sum float64
		for _, part := range partOrder {
			sum += s.Parts[part]
		}
		row := []report.Cell{report.Str(s.Name), number(sum, 0)}
		for _, part := range partOrder {
			row = append(row, number(s.Parts[part], 0))
		}
		t.Add(row...)
	}
	t.Notes = append(t.Notes,
		"read: storage and matching; JS: JavaScript; convert: BSON to and from JavaScript; group: grouping, expressions, sorting; write: log, tables, index keys",
		"wire: driver and messages; client: making documents, merging and comparing answers; gc: Go's collector; for `seed` the index build is in the same profile as the load")
	return report.Text(w, width, t)
}

// number is a figure with decimals, or nothing for 0.
func number(x float64, decimals int) report.Cell {
	if x == 0 {
		return report.Str("-")
	}
	if decimals == 0 {
		return report.Int(int64(x + 0.5))
	}
	return report.Str(fmt.Sprintf("%.*f", decimals, x))
}
