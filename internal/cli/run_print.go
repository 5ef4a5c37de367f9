package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"mrbench/internal/bench"
	"mrbench/internal/report"
)

// print shows the result in the format asked for.
func (m *measurement) print() error {
	r := &m.result
	if err := m.app.printAs(r, runCSV(r), resultTables(r)...); err != nil {
		return err
	}
	m.app.tell("saved in %s", m.file.Path)
	return nil
}

// resultTables shows a result. It is made from what the result file keeps alone, so that run and report show the same.
func resultTables(r *bench.Result) []*report.Table {
	var tables []*report.Table
	if option(r, "ladder") != "true" && option(r, "rows") == "" && len(r.Rows) > 0 {
		if t := partsTable(r.Rows[0]); t != nil {
			tables = append(tables, t)
		}
	}
	tables = append(tables, timesTable(r))
	if t := usageTable(r); t != nil {
		tables = append(tables, t)
	}
	if t := shardsTable(r); t != nil {
		tables = append(tables, t)
	}
	tables = append(tables, countsTable(r))
	if t := differenceTable(r.Difference); t != nil {
		tables = append(tables, t)
	}
	notes := &tables[len(tables)-1].Notes
	if r.Split != nil {
		*notes = append(append(*notes, proof(r.Split)), found(r.Split)...)
	}
	*notes = append(*notes, intoNotes(r.Into)...)
	for _, w := range r.Warnings {
		*notes = append(*notes, "warning: "+w)
	}
	return tables
}

// option is the value that a flag of the run had; "" when the result does not say.
func option(r *bench.Result, name string) string {
	if v, ok := r.Context.Options[name]; ok {
		return fmt.Sprint(v)
	}
	return ""
}

// partsTable shows the ranges of one row's last run; nil when it has none.
func partsTable(row bench.Row) *report.Table {
	if len(row.Parts) < 2 {
		return nil
	}
	var times []float64
	for _, p := range row.Parts {
		times = append(times, p.Seconds)
	}
	u := report.UnitFor(times...)
	t := &report.Table{
		Title: fmt.Sprintf("the ranges of %s: %s", row.ID, row.Label),
		Columns: []report.Column{
			{Title: "#", Name: "range"},
			{Title: "from", Max: 20},
			{Title: "to", Max: 20},
			{Title: "input", Drop: 3},
			{Title: "emit", Drop: 6},
			{Title: "reduce", Drop: 5},
			{Title: "output", Drop: 4},
			{Title: "server " + u.Name, Name: "server_seconds", Drop: 2},
			{Title: "wall " + u.Name, Name: "seconds"},
			{Title: "thread", Drop: 7},
		},
	}
	for i, p := range row.Parts {
		t.Add(report.Int(int64(i+1)), report.Str(p.From), report.Str(p.To),
			report.IntOr(p.Counts.Input), report.IntOr(p.Counts.Emit), report.IntOr(p.Counts.Reduce), report.IntOr(p.Counts.Output),
			u.TimeOr(p.ServerSeconds), u.Time(p.Seconds), report.Int(int64(p.Thread+1)))
	}
	return t
}

// timesTable is the comparison.
func timesTable(r *bench.Result) *report.Table {
	u := unitOf(r)
	runs := mostRuns(r)
	t := &report.Table{
		Title: fmt.Sprintf("%s: %s documents %s; %s; %s",
			r.Dataset.NS, report.Thousands(r.Dataset.Documents), r.Dataset.What(), serverName(r.Server), times(runs)),
		Columns: []report.Column{
			{Title: "row", Name: "id", Left: true},
			{Title: "thr", Name: "threads", Drop: 5},
			{Title: "rng", Name: "ranges", Drop: 7},
			{Title: "dbs", Name: "output_dbs", Drop: 6},
			{Title: "wall " + u.Name, Name: "wall_seconds"},
			{Title: "spread", Drop: 3},
			{Title: "paused " + u.Name, Name: "paused_seconds", Drop: 1},
			{Title: "server " + u.Name, Name: "server_seconds", Drop: 8},
			{Title: "merge " + u.Name, Name: "merge_seconds", Drop: 4},
			{Title: "speed-up", Name: "speedup"},
			{Title: "agrees", Left: true},
			{Title: "effect", Left: true, Drop: 2, Max: 18},
		},
	}
	ci := false
	for _, row := range r.Rows {
		if row.Seconds == nil {
			t.Add(report.Str(row.ID), report.Int(int64(row.Threads)), report.Int(int64(row.Ranges)), report.Missing(),
				report.Missing(), report.Missing(), report.Missing(), report.Missing(), report.Missing(), report.Missing(), report.Str("-"), report.Str(notRun(row)))
			continue
		}
		spread, paused, speedup := report.Missing(), report.Missing(), report.Missing()
		switch {
		case row.Seconds.CI != nil:
			ci = true
			spread = report.Cell{Text: "±" + report.Percent(row.Seconds.Margin(), 0).Text}
		case len(row.Seconds.All) > 1:
			spread = report.Percent(row.Seconds.Spread(), 0)
		}
		if row.PausedRuns > 0 {
			paused = u.Time(row.PausedSeconds)
		}
		if row.Speedup != nil {
			speedup = report.Times(*row.Speedup)
		}
		t.Add(report.Str(row.ID), report.Int(int64(row.Threads)), report.Int(int64(row.Ranges)), dbs(row),
			u.Time(row.Seconds.Median), spread, paused, u.TimeOr(row.ServerSeconds), u.TimeOr(row.MergeSeconds),
			speedup, report.Str(agrees(row)), report.Str(effect(row)))
	}
	t.Bars = timeBars(r.Rows)
	t.Notes = append(t.Notes, "thr: commands at a time; rng: ranges; dbs: output databases")
	first := firstMeasured(r)
	if first != "" {
		t.Notes = append(t.Notes, fmt.Sprintf("speed-up is over %s; agrees compares each answer with that of %s: number of keys, sum and digest", first, first))
	}
	switch {
	case ci:
		t.Notes = append(t.Notes, "times are medians; spread is how far their 95 % interval reaches")
	case runs > 1:
		t.Notes = append(t.Notes, "times are medians; spread is (slowest - fastest) / median")
	}
	if n := scheduleNote(r); n != "" {
		t.Notes = append(t.Notes, n)
	}
	t.Notes = append(t.Notes, timeNotes(r)...)
	t.Notes = append(t.Notes, skippedNotes(r.Rows)...)
	unrun, stopped := 0, ""
	for _, row := range r.Rows {
		switch {
		case row.Skipped != "": // see skippedNotes
		case strings.HasPrefix(row.Error, notRunPrefix):
			unrun++
			stopped = strings.TrimPrefix(row.Error, notRunPrefix)
		case row.Error != "":
			t.Notes = append(t.Notes, fmt.Sprintf("%s failed: %s", row.ID, row.Error))
		}
		if row.Mode == "mixed" {
			t.Notes = append(t.Notes, fmt.Sprintf("%s left jsMode on the way: more than 500,000 keys in a range, or keys that are objects", row.ID))
		}
		if row.Mode == "ignored" && row.NoEffect == nil {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: this server ignores jsMode", row.ID))
		}
	}
	t.Notes = append(t.Notes, noEffectNotes(r.Rows)...)
	if unrun > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%s: %d of %d rows were not run", stopped, unrun, len(r.Rows)))
	}
	return t
}

// skippedNotes say why rows were skipped, each reason once.
func skippedNotes(rows []bench.Row) (notes []string) {
	ids := map[string][]string{}
	var reasons []string
	for _, row := range rows {
		if row.Skipped == "" {
			continue
		}
		if ids[row.Skipped] == nil {
			reasons = append(reasons, row.Skipped)
		}
		ids[row.Skipped] = append(ids[row.Skipped], row.ID)
	}
	for _, why := range reasons {
		were := "was"
		if len(ids[why]) > 1 {
			were = "were"
		}
		notes = append(notes, fmt.Sprintf("%s %s skipped: %s", strings.Join(ids[why], ", "), were, why))
	}
	return notes
}

// timeBars are the rows' medians.
func timeBars(rows []bench.Row) *report.Bars {
	b := &report.Bars{Title: "wall"}
	for _, row := range rows {
		v := math.NaN()
		if row.Seconds != nil {
			v = row.Seconds.Median
		}
		b.Values = append(b.Values, v)
	}
	return b
}

func times(runs int) string {
	switch runs {
	case 0:
		return "no run finished"
	case 1:
		return "1 run each"
	default:
		return fmt.Sprintf("%d runs each", runs)
	}
}

func serverName(s bench.Server) string {
	if s.Kind == "embedded" {
		return "embedded engine"
	}
	return "MongoDB " + s.Version
}

func unitOf(r *bench.Result) report.Unit {
	var all []float64
	for _, row := range r.Rows {
		if row.Seconds != nil {
			all = append(all, row.Seconds.Median)
		}
	}
	return report.UnitFor(all...)
}

func firstMeasured(r *bench.Result) string {
	for _, row := range r.Rows {
		if row.Seconds != nil {
			return row.ID
		}
	}
	return ""
}

func notRun(row bench.Row) string {
	if row.Skipped != "" {
		return "skipped"
	}
	if strings.HasPrefix(row.Error, notRunPrefix) {
		return "not run"
	}
	return "failed"
}

func dbs(row bench.Row) report.Cell {
	if row.OutputDBs == 0 {
		return report.Missing()
	}
	return report.Int(int64(row.OutputDBs))
}

func agrees(row bench.Row) string {
	switch {
	case row.Agrees == nil:
		return "-"
	case *row.Agrees:
		return "yes"
	default:
		return "NO"
	}
}

// effect says what the row's options did on this server.
func effect(row bench.Row) string {
	if row.NoEffect != nil {
		return strings.TrimSuffix(row.NoEffect.Option, "Mode") + ": none" // there is little room
	}
	var did []string
	switch {
	case row.Covered != nil && *row.Covered:
		did = append(did, "covered")
	case row.Covered != nil && row.IndexUsed != "":
		did = append(did, "index, not covered")
	case row.IndexUsed != "":
		did = append(did, "index")
	}
	switch {
	case row.Mode == "":
	case row.Mode == "js":
		did = append(did, "js")
	default:
		did = append(did, "js "+row.Mode)
	}
	if len(did) == 0 {
		return "-"
	}
	return strings.Join(did, ", ")
}

// countsTable shows what was counted.
func countsTable(r *bench.Result) *report.Table {
	t := &report.Table{
		Columns: []report.Column{
			{Title: "row", Name: "id", Left: true},
			{Title: "what", Name: "label", Left: true},
			{Title: "input", Drop: 2},
			{Title: "emit", Drop: 3},
			{Title: "reduce", Drop: 1},
			{Title: "output"},
		},
	}
	for _, row := range r.Rows {
		t.Add(report.Str(row.ID), report.Str(row.Label), report.IntOr(row.Counts.Input), report.IntOr(row.Counts.Emit),
			report.IntOr(row.Counts.Reduce), report.IntOr(row.Counts.Output))
	}
	return t
}

func differenceTable(d *bench.Difference) *report.Table {
	if d == nil {
		return nil
	}
	t := &report.Table{
		Title:   fmt.Sprintf("the first keys on which %s and %s differ", d.First, d.Row),
		Columns: []report.Column{{Title: "key", Max: 40}, {Title: d.First, Max: 24}, {Title: d.Row, Max: 24}},
	}
	side := func(s string) report.Cell {
		if s == "" {
			return report.Str("(no such key)")
		}
		return report.Str(s)
	}
	for _, k := range d.Keys {
		t.Add(report.Str(k.Key), side(k.First), side(k.Row))
	}
	if len(d.Keys) == 0 {
		t.Notes = append(t.Notes, "the digests differ and a second reading shows no difference: the collection changed meanwhile")
	}
	return t
}

// runCSV is all of a result in one table with one line for each row.
func runCSV(r *bench.Result) *report.Table {
	t := &report.Table{}
	for _, name := range []string{
		"id", "label", "threads", "ranges", "output_dbs", "median_seconds", "min_seconds", "max_seconds", "ci95_low", "ci95_high", "runs",
		"server_seconds", "merge_seconds", "input", "emit", "reduce", "output", "mode", "index_used", "covered",
		"speedup", "keys", "sum", "digest", "agrees", "skipped", "error", "ns", "documents", "server", "version",
		"server_cpu_seconds", "client_cpu_seconds", "process_cpu_seconds", "server_peak_bytes", "client_peak_bytes", "process_peak_bytes",
		"disk_read_bytes", "disk_written_bytes", "sent_bytes", "received_bytes", "per_shard", "shards", "paused_seconds", "paused_runs",
	} {
		t.Columns = append(t.Columns, report.Column{Title: name})
	}
	float := func(f *float64) report.Cell {
		if f == nil {
			return report.Missing()
		}
		return report.Fixed(*f, 6)
	}
	truth := func(b *bool) report.Cell {
		if b == nil {
			return report.Missing()
		}
		return report.Str(strconv.FormatBool(*b))
	}
	for _, row := range r.Rows {
		var median, least, most, low, high *float64
		runs := 0
		if s := row.Seconds; s != nil {
			median, least, most, runs = &s.Median, &s.Min, &s.Max, len(s.All)
			if s.CI != nil {
				low, high = &s.CI[0], &s.CI[1]
			}
		}
		paused, pausedRuns := report.Missing(), report.Missing()
		if row.Seconds != nil {
			paused, pausedRuns = report.Fixed(row.PausedSeconds, 6), report.Int(int64(row.PausedRuns))
		}
		keys, sum, digest := report.Missing(), report.Missing(), report.Missing()
		if x := row.Answer; x != nil {
			keys, sum, digest = report.Int(x.Keys), report.Str(x.Sum), report.Str(x.Digest)
		}
		used := row.Usage
		if used == nil {
			used = &bench.Usage{}
		}
		t.Add(report.Str(row.ID), report.Str(row.Label), report.Int(int64(row.Threads)), report.Int(int64(row.Ranges)), report.Int(int64(row.OutputDBs)),
			float(median), float(least), float(most), float(low), float(high), report.Int(int64(runs)), float(row.ServerSeconds), float(row.MergeSeconds),
			report.IntOr(row.Counts.Input), report.IntOr(row.Counts.Emit), report.IntOr(row.Counts.Reduce), report.IntOr(row.Counts.Output),
			report.Str(row.Mode), report.Str(row.IndexUsed), truth(row.Covered), float(row.Speedup), keys, sum, digest, truth(row.Agrees),
			report.Str(row.Skipped), report.Str(row.Error), report.Str(r.Dataset.NS), report.Int(r.Dataset.Documents), report.Str(r.Server.Kind), report.Str(r.Server.Version),
			float(used.ServerCPUSeconds), float(used.ClientCPUSeconds), float(used.ProcessCPUSeconds),
			report.IntOr(used.ServerPeakBytes), report.IntOr(used.ClientPeakBytes), report.IntOr(used.ProcessPeakBytes),
			report.IntOr(used.DiskReadBytes), report.IntOr(used.DiskWrittenBytes), report.IntOr(used.SentBytes), report.IntOr(used.ReceivedBytes),
			orMissing(int64(row.PerShard)), report.Str(shardsText(row.Shards)), paused, pausedRuns)
	}
	return t
}
