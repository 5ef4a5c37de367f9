package cli

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"mrbench/internal/bench"
	"mrbench/internal/report"
	"mrbench/internal/tune"
)

// tuneResult is what -o json prints.
type tuneResult struct {
	SchemaVersion int          `json:"schema_version"`
	Job           string       `json:"job,omitempty"`
	NS            string       `json:"ns"`
	Key           string       `json:"key"`
	Documents     int64        `json:"documents"`
	Server        bench.Server `json:"server"`
	CPUs          int          `json:"server_cpus"` // 0: the server does not say
	Threads       int          `json:"max_threads"`
	Seed          uint64       `json:"shuffle_seed"`
	BudgetSeconds float64      `json:"budget_seconds"`
	UsedSeconds   float64      `json:"used_seconds"`
	FirstShare    float64      `json:"first_share"` // of the documents, in the first round
	FinalShare    float64      `json:"final_share"` // in the last runs; 0 when there were none

	Candidates []tuneRow  `json:"candidates"` // finalists first, then those that came furthest
	Skipped    []tuneSkip `json:"skipped"`    // not tried at all

	Best     *tuneRow      `json:"best"`      // null when no finalist was measured, or answers differ
	RunnerUp *tuneRow      `json:"runner_up"` // null when there is none
	Versus   *bench.Versus `json:"versus"`    // a is the runner-up, b the best
	Sure     bool          `json:"sure"`      // the best is shown to be better than the runner-up
	Verdict  string        `json:"verdict"`
	Command  string        `json:"command,omitempty"` // that uses the best, or what is the best by its estimate when there is none
	Agrees   *bool         `json:"agrees"`            // whether all answers were the same; null when none was on everything

	Difference *bench.Difference `json:"difference,omitempty"`
	Warnings   []string          `json:"warnings,omitempty"`
	Context    bench.Context     `json:"context"`
	ExitCode   int               `json:"exit_code"`

	answers []tuneAnswer
}

type tuneAnswer struct {
	candidate int
	answer    bench.Answer
}

// tuneRow is a combination and what became of it.
type tuneRow struct {
	Row     string `json:"row"`
	Threads int    `json:"threads"`
	Ranges  int    `json:"ranges"`
	Layout  string `json:"layout,omitempty"`
	JSMode  bool   `json:"jsmode"`
	// Seconds are those of the last runs, on FinalShare of the documents; null for those that did not come so far.
	Seconds *bench.Seconds `json:"seconds"`
	// Estimate is the time on everything that the runs on parts suggest, in seconds; 0 when there was none.
	Estimate float64 `json:"estimate_seconds"`
	// PerMillion is the middle time of the runs on the largest part, in seconds for a million documents.
	PerMillion float64      `json:"seconds_per_million"`
	Share      float64      `json:"share"` // of the documents, that part
	Trials     []tune.Trial `json:"trials"`
	Out        string       `json:"out"`   // why it is not among the last; "" it is
	Error      string       `json:"error"` // why it failed
	Command    string       `json:"command"`
}

// The lines of a tuning in a result file.
type (
	tuneLine struct {
		Type          string        `json:"type"`
		SchemaVersion int           `json:"schema_version"`
		Job           string        `json:"job,omitempty"`
		NS            string        `json:"ns"`
		Key           string        `json:"key"`
		Documents     int64         `json:"documents"`
		Seed          uint64        `json:"shuffle_seed"`
		BudgetSeconds float64       `json:"budget_seconds"`
		Server        bench.Server  `json:"server"`
		Skipped       []tuneSkip    `json:"skipped"`
		Context       bench.Context `json:"context"`
	}
	tuneTrialLine struct {
		Type    string `json:"type"`
		Row     string `json:"row"`
		Threads int    `json:"threads"`
		Ranges  int    `json:"ranges"`
		tune.Trial
	}
	tuneEndLine struct {
		Type     string    `json:"type"`
		Finished time.Time `json:"finished"`
		*tuneResult
	}
)

// perMillion is a trial's time for a million documents.
func perMillion(t tune.Trial) float64 { return t.Seconds / float64(t.Documents) * 1e6 }

// conclude sets the result from what the search found.
func (s *tuning) conclude(out *tune.Outcome) {
	r := &s.result
	r.UsedSeconds, r.FinalShare = out.Used.Seconds(), out.FinalShare
	r.Warnings, r.Difference = s.m.result.Warnings, s.m.result.Difference
	rows := make([]tuneRow, len(s.list))
	order := make([]int, len(s.list))
	for i, c := range s.list {
		rows[i], order[i] = s.row(c, out.Standings[i]), i
	}
	place := func(i int) int {
		if p := slices.Index(out.Finalists, i); p >= 0 {
			return p
		}
		return len(s.list)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := rows[a], rows[b]
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(len(y.Trials), len(x.Trials)), cmp.Compare(x.Estimate, y.Estimate))
	})
	for _, i := range order {
		r.Candidates = append(r.Candidates, rows[i])
	}
	v := out.Verdict()
	r.Verdict = v.Text(func(i int) string { return s.list[i].text() })
	if len(r.answers) > 0 {
		_, _, differ := s.differ()
		agrees := !differ
		r.Agrees = &agrees
		if differ {
			r.Verdict = "nothing is recommended: the answers differ"
			return
		}
	}
	switch {
	case v.Best >= 0:
		r.Best, r.Versus, r.Sure, r.Command = &rows[v.Best], v.Versus, v.Sure(), rows[v.Best].Command
		if v.RunnerUp >= 0 {
			r.RunnerUp = &rows[v.RunnerUp]
		}
	case out.Guess >= 0:
		r.Verdict += fmt.Sprintf("; the best guess is %s, measured on %s", s.list[out.Guess].text(), shareText(rows[out.Guess].Share))
		r.Command = rows[out.Guess].Command
	}
}

func (s *tuning) row(c tuneCandidate, x tune.Standing) tuneRow {
	row := tuneRow{
		Row: c.name(), Threads: c.threads, Ranges: c.ranges, Layout: c.layoutWord(), JSMode: c.js,
		Estimate: x.Estimate, Trials: append([]tune.Trial{}, x.Trials...), Out: x.Out, Command: s.command(c),
	}
	if x.Err != nil {
		row.Error = x.Err.Error()
		if reason := bench.Skipped(x.Err); reason != "" {
			row.Error, row.Out = "", "skipped: "+reason
		}
	}
	var finals, largest []float64
	for _, t := range x.Trials {
		if t.Final {
			finals = append(finals, t.Seconds)
		}
		if t.Share > row.Share {
			row.Share, largest = t.Share, nil
		}
		if t.Share == row.Share {
			largest = append(largest, perMillion(t))
		}
	}
	row.Seconds = bench.Summarize(finals)
	if m := bench.Summarize(largest); m != nil {
		row.PerMillion = m.Median
	}
	return row
}

// budgetText is a time as people write it: 5m, not 5m0s.
func budgetText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// shareText is a part of the documents for people.
func shareText(share float64) string {
	if share >= 1 {
		return "all documents"
	}
	return shortShare(share) + " of the documents"
}

func shortShare(share float64) string {
	switch {
	case share >= 1:
		return "all"
	case share <= 0:
		return "-"
	case share > 0.55:
		return fmt.Sprintf("%.0f%%", share*100)
	}
	return fmt.Sprintf("1/%d", int(math.Round(1/share)))
}

// print writes the result. The command has a line of its own that is not broken, so that it can be copied.
func (s *tuning) print() error {
	a, r := s.app, &s.result
	if err := a.printAs(r, tuneCSV(r), s.tables()...); err != nil || r.Command == "" {
		return err
	}
	var err error
	switch a.common.output {
	case formatTable:
		_, err = fmt.Fprintf(a.env.Stdout, "\n%s %s\n", s.useIt(), r.Command)
	case formatMarkdown:
		_, err = fmt.Fprintf(a.env.Stdout, "\n%s `%s`\n", s.useIt(), r.Command)
	}
	return err
}

func (s *tuning) useIt() string {
	if s.result.Best == nil {
		return "the guess:"
	}
	return "use it:"
}

func (s *tuning) tables() (tables []*report.Table) {
	if t := finalsTable(&s.result); t != nil {
		tables = append(tables, t)
	}
	tables = append(tables, triedTable(&s.result))
	if t := differenceTable(s.result.Difference); t != nil {
		tables = append(tables, t)
	}
	return tables
}

// finalsTable shows the last runs, and what is sure.
func finalsTable(r *tuneResult) *report.Table {
	t := &report.Table{
		Title: fmt.Sprintf("last runs, on %s", shareText(r.FinalShare)),
		Columns: []report.Column{
			{Title: "row", Left: true},
			{Title: "thr"},
			{Title: "rng"},
			{Title: "dbs", Left: true, Drop: 2},
			{Title: "runs"},
			{}, // the times, in their unit
			{Title: "interval", Drop: 1},
			{Title: "spread", Drop: 3},
			{Title: "s/M docs"},
			{Title: "best's"},
		},
	}
	var all []float64
	for _, c := range r.Candidates {
		if c.Seconds != nil {
			all = append(all, c.Seconds.Max)
		}
	}
	if len(all) == 0 {
		return nil
	}
	u := report.UnitFor(all...)
	t.Columns[5].Title = u.Name
	best := 0.0
	for _, c := range r.Candidates {
		x := c.Seconds
		if x == nil {
			continue
		}
		if best == 0 {
			best = x.Median
		}
		interval := report.Missing()
		if x.CI != nil {
			interval = report.Str(u.Time(x.CI[0]).Text + "–" + u.Time(x.CI[1]).Text)
		}
		t.Add(report.Str(c.Row), report.Int(int64(c.Threads)), report.Int(int64(c.Ranges)), report.Str(c.Layout), report.Int(int64(len(x.All))),
			u.Time(x.Median), interval, report.Percent(x.Spread(), 0), report.Fixed(c.PerMillion, 3), report.Times(x.Median/max(best, 1e-9)))
	}
	t.Notes = append(t.Notes, r.Verdict)
	if r.Agrees != nil && *r.Agrees {
		t.Notes = append(t.Notes, fmt.Sprintf("answers: all %d runs on everything agree", len(r.answers)))
	}
	if r.FinalShare < 1 {
		t.Notes = append(t.Notes, "there was no time for four runs of two of them on everything: no answers were compared, and what comes with size alone was not seen")
	}
	return t
}

// triedTable shows every combination.
func triedTable(r *tuneResult) *report.Table {
	t := &report.Table{
		Title: fmt.Sprintf("%s of %s, %s documents, %s; %.1f s of %s used", counted(len(r.Candidates), "combination", "combinations"), r.NS,
			report.Thousands(r.Documents), serverName(r.Server), r.UsedSeconds, budgetText(time.Duration(r.BudgetSeconds*1e9))),
		Columns: []report.Column{
			{Title: "row", Left: true},
			{Title: "thr"},
			{Title: "rng"},
			{Title: "runs", Drop: 3},
			{Title: "part"},
			{Title: "s/M docs"},
			{Title: "whole s", Drop: 2},
			{Title: "what became of it", Left: true, Fold: true},
		},
	}
	for _, c := range r.Candidates {
		part, speed, whole := report.Missing(), report.Missing(), report.Missing()
		if len(c.Trials) > 0 {
			part, speed = report.Str(shortShare(c.Share)), report.Fixed(c.PerMillion, 3)
		}
		if c.Estimate > 0 {
			whole = report.Fixed(c.Estimate, 2)
		}
		fate := c.Out
		switch {
		case c.Error != "":
			fate = "failed: " + c.Error
		case fate == "" && c.Seconds != nil:
			fate = "among the last"
		case fate == "":
			fate = "still in"
		}
		t.Add(report.Str(c.Row), report.Int(int64(c.Threads)), report.Int(int64(c.Ranges)), report.Int(int64(len(c.Trials))), part, speed, whole, report.Str(fate))
	}
	if r.FinalShare == 0 {
		t.Notes = append(t.Notes, r.Verdict)
	}
	if slices.ContainsFunc(r.Candidates, func(c tuneRow) bool { return strings.Contains(c.Out, " of ") }) {
		t.Notes = append(t.Notes, "round 1: 20 of 38: left out after round 1 as the 20th of 38; no time: the same where the budget had no room for another round")
	}
	t.Notes = append(t.Notes, "s/M docs: seconds for a million documents, on the largest part; whole s: what runs on parts suggest for all documents, before the last runs")
	if r.FirstShare < 1 {
		t.Notes = append(t.Notes, "parts: the beginning of each range; without ranges the first documents read, which have fewer documents for a key than the whole")
	}
	for i, k := range r.Skipped {
		if slices.ContainsFunc(r.Skipped[:i], func(other tuneSkip) bool { return other.Reason == k.Reason }) {
			continue // said already
		}
		var what []string
		for _, other := range r.Skipped {
			if other.Reason == k.Reason {
				what = append(what, other.What)
			}
		}
		t.Notes = append(t.Notes, fmt.Sprintf("not tried: %s: %s", strings.Join(what, ", "), k.Reason))
	}
	for _, w := range r.Warnings {
		t.Notes = append(t.Notes, "warning: "+w)
	}
	return t
}

// tuneCSV has a line for each trial.
func tuneCSV(r *tuneResult) *report.Table {
	t := &report.Table{}
	for _, name := range []string{"row", "threads", "ranges", "layout", "jsmode", "round", "final", "share", "documents", "seconds", "seconds_per_million", "out", "error"} {
		t.Columns = append(t.Columns, report.Column{Title: name})
	}
	for _, c := range r.Candidates {
		start := []report.Cell{report.Str(c.Row), report.Int(int64(c.Threads)), report.Int(int64(c.Ranges)), report.Str(c.Layout), report.Str(fmt.Sprint(c.JSMode))}
		end := []report.Cell{report.Str(c.Out), report.Str(c.Error)}
		if len(c.Trials) == 0 {
			m := report.Missing()
			t.Add(slices.Concat(start, []report.Cell{m, m, m, m, m, m}, end)...)
		}
		for _, x := range c.Trials {
			t.Add(slices.Concat(start, []report.Cell{
				report.Int(int64(x.Round)), report.Str(fmt.Sprint(x.Final)), report.Fixed(x.Share, 6), report.Int(x.Documents), report.Fixed(x.Seconds, 6), report.Fixed(perMillion(x), 6),
			}, end)...)
		}
	}
	return t
}
