package page

import (
	"fmt"
	"slices"
	"strings"

	"mrbench/internal/bench"
	"mrbench/internal/report"
)

// lead says in a sentence what was measured where.
func lead(r *bench.Result) string {
	s := fmt.Sprintf("%d rows on %s", len(r.Rows), serverName(r))
	if len(r.Rows) == 1 {
		s = "One row on " + serverName(r)
	}
	if r.Server.Topology != "" && r.Server.Topology != r.Server.Kind {
		s += " (" + topology(r.Server) + ")"
	}
	if r.Context.Host != "" {
		s += fmt.Sprintf(", measured from %s", r.Context.Host)
	}
	if !r.Context.Started.IsZero() {
		s += r.Context.Started.UTC().Format(" on 2 January 2006, 15:04 UTC")
	}
	return s + "."
}

func topology(s bench.Server) string {
	if s.Throwaway {
		return s.Topology + ", thrown away after the run"
	}
	return s.Topology
}

func serverName(r *bench.Result) string {
	if r.Server.Kind == "embedded" {
		return "the embedded engine"
	}
	return strings.TrimSpace("MongoDB " + r.Server.Version)
}

// tile is a number that is worth the first glance.
type tile struct {
	Name, Value, Detail string
	Class               string // good, bad or ""
}

func tiles(r *bench.Result) []tile {
	var all []tile
	u := unitOf(r)
	if i := fastest(r); i >= 0 {
		row := r.Rows[i]
		t := tile{Name: "Fastest median", Value: u.Time(row.Seconds.Median).Text + " " + u.Name, Detail: row.ID}
		all = append(all, t)
		if row.Speedup != nil {
			all = append(all, tile{Name: "Speed-up", Value: report.Times(*row.Speedup).Text, Detail: "over " + firstID(r)})
		}
	} else if i := slices.IndexFunc(r.Rows, func(r bench.Row) bool { return r.Seconds != nil }); i >= 0 {
		all = append(all, tile{Name: "Wall time", Value: u.Time(r.Rows[i].Seconds.Median).Text + " " + u.Name, Detail: r.Rows[i].ID})
	}
	agree, differ, runs, unrun := 0, 0, 0, 0
	for _, row := range r.Rows {
		switch {
		case row.Agrees != nil && *row.Agrees:
			agree++
		case row.Agrees != nil:
			differ++
		}
		if row.Seconds != nil {
			runs = max(runs, len(row.Seconds.All))
		} else {
			unrun++
		}
	}
	switch {
	case differ > 0:
		all = append(all, tile{"Answers", fmt.Sprintf("%d differ", differ), "from that of " + firstID(r), "bad"})
	case agree > 0:
		all = append(all, tile{"Answers", "all agree", fmt.Sprintf("%d compared with that of %s", agree, firstID(r)), "good"})
	}
	t := tile{Name: "Runs", Value: fmt.Sprint(runs), Detail: "of each row"}
	if unrun > 0 {
		t.Detail = fmt.Sprintf("of each row; without %d of %d rows", unrun, len(r.Rows))
	}
	return append(all, t)
}

func firstID(r *bench.Result) string {
	for _, row := range r.Rows {
		if row.Seconds != nil {
			return row.ID
		}
	}
	return "the first row"
}

// remark is something a reader has to know before the numbers.
type remark struct {
	Kind string // Wrong or Warning
	Text string
}

func remarks(r *bench.Result) []remark {
	var all []remark
	if r.ExitCode == -1 {
		all = append(all, remark{"Warning", "the run did not come to its end: rows are what was finished"})
	}
	if d := r.Difference; d != nil {
		all = append(all, remark{"Wrong", fmt.Sprintf("the answers of %s and %s differ; the first keys are in a table below", d.First, d.Row)})
	}
	for _, w := range r.Warnings {
		all = append(all, remark{"Warning", w})
	}
	return all
}

// mostFindings is how many findings are shown.
const mostFindings = 30

func findings(all []string) []string {
	if more := len(all) - mostFindings; more > 0 {
		return append(slices.Clone(all[:mostFindings]), fmt.Sprintf("%d more are in the result file", more))
	}
	return all
}

// factGroup is a part of the context.
type factGroup struct {
	Title string
	Facts []fact
}

type fact struct{ Name, Value string }

func facts(r *bench.Result) []factGroup {
	var groups []factGroup
	add := func(title string, facts ...fact) {
		facts = slices.DeleteFunc(facts, func(f fact) bool { return f.Value == "" })
		if len(facts) > 0 {
			groups = append(groups, factGroup{title, facts})
		}
	}
	d, s, c := r.Dataset, r.Server, r.Context
	data := []fact{{"Collection", d.NS}, {"Documents", report.Thousands(d.Documents)}, {"Key", d.Key}, {"UUID", d.UUID}}
	if d.Spec != nil {
		data = append(data, fact{"Filled by", fmt.Sprintf("generator %s, seed %d, %s documents", d.Spec.Generator, d.Spec.Seed, report.Thousands(d.Spec.Documents))})
		if d.Spec.Keys > 0 {
			data = append(data, fact{"Keys asked for", report.Thousands(d.Spec.Keys)})
		}
	}
	add("Data", data...)
	add("Server", fact{"Kind", map[string]string{"embedded": "embedded engine of mrbench", "mongodb": "MongoDB"}[s.Kind]}, fact{"Version", s.Version}, fact{"Topology", topology(s)}, fact{"Shards", strings.Join(s.Shards, ", ")}, fact{"Balancer", s.Balancer}, fact{"Address", s.Address}, fact{"Wire version", fmt.Sprint(s.WireVersion)})
	host := []fact{{"Host", c.Host}, {"Processor", c.CPU}}
	if c.CPUs > 0 {
		host = append(host, fact{"Logical processors", fmt.Sprint(c.CPUs)})
	}
	if c.MemoryBytes > 0 {
		host = append(host, fact{"Memory", report.Bytes(c.MemoryBytes).Text})
	}
	if c.Load != nil {
		host = append(host, fact{"Load at the start", fmt.Sprintf("%.2f, %.2f, %.2f (1, 5, 15 minutes)", c.Load[0], c.Load[1], c.Load[2])})
	}
	host = append(host, fact{"System", strings.TrimSpace(c.OS + " " + c.Arch)}, fact{"mrbench", c.Mrbench}, fact{"Go", c.Go})
	add("Where mrbench ran", host...)
	run := []fact{{"Run", c.RunID}}
	if !c.Started.IsZero() {
		run = append(run, fact{"Started", c.Started.UTC().Format("2006-01-02 15:04:05 UTC")})
	}
	if x := c.Schedule; x != nil {
		run = append(run, fact{"Rounds", fmt.Sprintf("%d at least, after %d to warm up", x.Runs, x.Warmup)})
		if x.Shuffle != nil {
			run = append(run, fact{"Order of rows", fmt.Sprintf("shuffled, seed %d", *x.Shuffle)})
		}
		if x.BudgetSeconds > 0 {
			run = append(run, fact{"Time budget", fmt.Sprintf("%g s", x.BudgetSeconds)})
		}
		if x.PauseSeconds > 0 {
			run = append(run, fact{"Pause", fmt.Sprintf("%g s before each run", x.PauseSeconds)})
		}
		run = append(run, fact{"Before each run", x.Prepare})
	}
	if x := r.Split; x != nil {
		run = append(run, fact{"Ranges", fmt.Sprintf("%d by %s; the largest holds %.2f times the mean; together %s documents, which is all", len(x.Pieces), x.Strategy, x.Imbalance, report.Thousands(x.Documents))})
	}
	add("Run", run...)
	var options []fact
	for name, v := range c.Options {
		text := fmt.Sprint(v)
		if text == "" || text == "false" || text == "[]" {
			continue
		}
		options = append(options, fact{"--" + name, text})
	}
	slices.SortFunc(options, func(a, b fact) int { return strings.Compare(a.Name, b.Name) })
	add("Options", options...)
	return groups
}

// table is a report.Table for the template.
type table struct {
	ID, Title string
	Head      []cell
	Rows      [][]cell
	Notes     []string
}

type cell struct {
	Text string
	Left bool
}

// mostLines is how many lines of a table are shown.
const mostLines = 64

// tableOf prepares a table. Notes that are told elsewhere are left out.
func tableOf(i int, t *report.Table, told []string) table {
	v := table{ID: fmt.Sprintf("table-%d", i+1), Title: t.Title}
	for _, n := range t.Notes {
		if !slices.Contains(told, n) {
			v.Notes = append(v.Notes, n)
		}
	}
	if v.Title == "" {
		v.Title = "What was counted"
	}
	shown := t.Shown()
	for _, c := range shown {
		v.Head = append(v.Head, cell{t.Columns[c].Title, t.Columns[c].Left})
	}
	for n, row := range t.Rows {
		if n == mostLines {
			v.Notes = append(v.Notes, fmt.Sprintf("%s more lines are in the result file", report.Thousands(int64(len(t.Rows)-n))))
			break
		}
		var line []cell
		for _, c := range shown {
			line = append(line, cell{row[c].Text, t.Columns[c].Left})
		}
		v.Rows = append(v.Rows, line)
	}
	return v
}
