package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mrbench/internal/bench"
	"mrbench/internal/report"
)

func (a *app) newCompare() *cobra.Command {
	return &cobra.Command{
		Use:   "compare [OLD NEW]",
		Short: "Shows two saved results side by side",
		Long: `compare sets two results side by side, row by row: files that run saved (of a file with several
results the last one counts), or without arguments the last two in the data directory with a finished
row. It warns when they were not measured on the same data or server.`,
		Example: `  mrbench compare
  mrbench compare before.ndjson after.ndjson -o markdown`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 0 && len(args) != 2 {
				return usageError("compare takes two result files, or none for the last two; %d given", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.runCompare(args) },
	}
}

// comparison is what -o json prints.
type comparison struct {
	Old      *bench.Result `json:"old"`
	New      *bench.Result `json:"new"`
	Rows     []comparedRow `json:"rows"`
	Warnings []string      `json:"warnings"`
	files    [2]string     `json:"-"`
}

type comparedRow struct {
	ID    string   `json:"id"`
	Label string   `json:"label"`
	Old   *float64 `json:"old_seconds"` // medians; null when the result does not have the row
	New   *float64 `json:"new_seconds"`
	Ratio *float64 `json:"ratio"` // new over old: below 1 is faster
}

func (a *app) runCompare(args []string) error {
	var files [2]string
	if len(args) == 2 {
		files = [2]string{a.env.path(args[0]), a.env.path(args[1])}
	} else {
		dir, err := a.dataDir()
		if err != nil {
			return err
		}
		if files, err = lastTwo(resultsDir(dir)); err != nil {
			return err
		}
	}
	var results [2]*bench.Result
	for i, f := range files {
		rs, err := bench.Load(f)
		if err != nil {
			return err
		}
		results[i] = rs[len(rs)-1]
		if files[0] == files[1] && i == 0 {
			if len(rs) < 2 {
				return usageError("%s holds one result; compare needs two", f)
			}
			results[0] = rs[len(rs)-2]
		}
	}
	c := compareResults(results[0], results[1])
	c.files = files
	return a.print(c, comparisonTable(c))
}

// lastTwo returns the two newest result files. Their names sort by time.
func lastTwo(dir string) (files [2]string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return files, fmt.Errorf("results: %w", err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".ndjson") && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	found := 0
	for _, name := range slices.Backward(names) {
		file := filepath.Join(dir, name)
		if !anyFinished(file) {
			continue
		}
		files[1-found] = file
		if found++; found == 2 {
			return files, nil
		}
	}
	return files, withCode(exitFailed, "compare needs two results with a finished row and %s has %d; make one with: mrbench run", dir, found)
}

// anyFinished says whether the file's last result has a measured row: an interrupted run may have none. A file
// that can't be read counts, so that compare names it.
func anyFinished(file string) bool {
	rs, err := bench.Load(file)
	if err != nil {
		return true
	}
	return len(rs) > 0 && slices.ContainsFunc(rs[len(rs)-1].Rows, func(r bench.Row) bool { return r.Seconds != nil })
}

// compareResults matches rows by id, in the order of the new result.
func compareResults(old, new *bench.Result) comparison {
	c := comparison{Old: old, New: new, Warnings: []string{}}
	find := func(r *bench.Result, id string) *bench.Row {
		if i := slices.IndexFunc(r.Rows, func(row bench.Row) bool { return row.ID == id }); i >= 0 {
			return &r.Rows[i]
		}
		return nil
	}
	add := func(o, n *bench.Row) {
		row := comparedRow{}
		for _, side := range []struct {
			row *bench.Row
			to  **float64
		}{{o, &row.Old}, {n, &row.New}} {
			if side.row == nil {
				continue
			}
			row.ID, row.Label = side.row.ID, side.row.Label
			if side.row.Seconds != nil {
				*side.to = &side.row.Seconds.Median
			}
		}
		if row.Old != nil && row.New != nil && *row.Old > 0 {
			ratio := *row.New / *row.Old
			row.Ratio = &ratio
		}
		c.Rows = append(c.Rows, row)
	}
	for i := range new.Rows {
		add(find(old, new.Rows[i].ID), &new.Rows[i])
	}
	for i := range old.Rows {
		if find(new, old.Rows[i].ID) == nil {
			add(&old.Rows[i], nil)
		}
	}
	c.warn(old, new)
	return c
}

// warn names what makes times not comparable.
func (c *comparison) warn(old, new *bench.Result) {
	differ := func(what string, a, b any) {
		if a != b {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s differs: %v and %v", what, a, b))
		}
	}
	differ("the collection", old.Dataset.NS, new.Dataset.NS)
	differ("the key", old.Dataset.Key, new.Dataset.Key)
	differ("the number of documents", report.Thousands(old.Dataset.Documents), report.Thousands(new.Dataset.Documents))
	differ("the server", serverName(old.Server), serverName(new.Server))
	differ("the server's address", old.Server.Address, new.Server.Address)
	differ("the topology", old.Server.Topology, new.Server.Topology)
	differ("mrbench", old.Context.Mrbench, new.Context.Mrbench)
	differ("the machine", old.Context.Host, new.Context.Host)
	differ("the number of processors", old.Context.CPUs, new.Context.CPUs)
	for _, n := range new.Rows {
		i := slices.IndexFunc(old.Rows, func(o bench.Row) bool { return o.ID == n.ID })
		if i < 0 {
			continue
		}
		o := old.Rows[i]
		if o.Threads != n.Threads || o.Ranges != n.Ranges {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s: %d ranges in %d threads and %d in %d", n.ID, o.Ranges, o.Threads, n.Ranges, n.Threads))
		}
		if o.Answer != nil && n.Answer != nil && *o.Answer != *n.Answer {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s: the answers differ: %s and %s keys with sums %s and %s", n.ID,
				report.Thousands(o.Answer.Keys), report.Thousands(n.Answer.Keys), o.Answer.Sum, n.Answer.Sum))
		}
	}
}

func comparisonTable(c comparison) *report.Table {
	var all []float64
	for _, r := range c.Rows {
		for _, s := range []*float64{r.Old, r.New} {
			if s != nil {
				all = append(all, *s)
			}
		}
	}
	u := report.UnitFor(all...)
	t := &report.Table{
		Title: fmt.Sprintf("%s: %s documents counted by %s; %s", c.New.Dataset.NS, report.Thousands(c.New.Dataset.Documents), c.New.Dataset.Key, serverName(c.New.Server)),
		Columns: []report.Column{
			{Title: "row", Name: "id", Left: true},
			{Title: "what", Name: "label", Left: true, Drop: 2},
			{Title: "old " + u.Name, Name: "old_seconds"},
			{Title: "new " + u.Name, Name: "new_seconds"},
			{Title: "new/old", Name: "ratio"},
			{Title: "change", Drop: 1},
		},
	}
	for _, r := range c.Rows {
		ratio, change := report.Missing(), report.Missing()
		if r.Ratio != nil {
			ratio = report.Fixed(*r.Ratio, 3)
			change = report.Change(*r.Ratio - 1)
		}
		t.Add(report.Str(r.ID), report.Str(r.Label), u.TimeOr(r.Old), u.TimeOr(r.New), ratio, change)
	}
	t.Notes = append(t.Notes, "old: "+described(c.Old, c.files[0]), "new: "+described(c.New, c.files[1]))
	if len(all) > 0 {
		t.Notes = append(t.Notes, "medians; below 1 the new one is faster")
	}
	for _, w := range c.Warnings {
		t.Notes = append(t.Notes, "warning: "+w)
	}
	return t
}

func described(r *bench.Result, file string) string {
	runs := 0
	for _, row := range r.Rows {
		if row.Seconds != nil {
			runs = max(runs, len(row.Seconds.All))
		}
	}
	text := fmt.Sprintf("%s, %s", r.Context.Started.Local().Format("2006-01-02 15:04:05"), times(runs))
	if r.ExitCode == -1 {
		text += ", not finished"
	}
	return text + ", " + filepath.Base(file)
}
