package cli

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/perf/benchfmt"

	"mrbench/internal/bench"
	"mrbench/internal/report"
)

// measuredRow has runs times around a median, the same ones every time.
func measuredRow(id, label string, median float64, runs int) bench.Row {
	r := rand.New(rand.NewPCG(uint64(runs), uint64(median*1000)))
	o := bench.Outcome{}
	input := int64(1_000_000)
	for i := range runs {
		o.Samples = append(o.Samples, bench.Sample{
			Round: i + 1, Seconds: median * (1 + 0.03*r.NormFloat64()), Counts: bench.Counts{Input: &input},
			Answer: &bench.Answer{Keys: 100_000, Sum: "1000000", Digest: "0c31c29b8d9a2f0e5b0a7f2f3d0c7a11"}, OutputDBs: 1,
		})
	}
	row := bench.Row{ID: id, Label: label, Threads: 1, Ranges: 1}
	row.Fill(&o)
	return row
}

func measuredResult(hour int, rows ...bench.Row) *bench.Result {
	seed := uint64(42)
	r := &bench.Result{
		SchemaVersion: bench.SchemaVersion,
		Dataset:       bench.Dataset{NS: "shop.orders", Documents: 1_000_000, Key: "customer"},
		Server:        bench.Server{Kind: "mongodb", Version: "4.2.24", Topology: "standalone", Address: "db1:27017"},
		Context: bench.Context{
			RunID: "x", Started: time.Date(2026, 1, 2, hour, 4, 5, 0, time.Local), Mrbench: "v1.0.0", Go: "go1.26", Host: "client1", CPU: "Fast 3000", CPUs: 8,
			Options: map[string]any{"ladder": "true"}, Schedule: &bench.Schedule{Runs: 10, Warmup: 1, Shuffle: &seed},
		},
		Rows: rows,
	}
	r.Annotate()
	return r
}

func before() *bench.Result {
	return measuredResult(3, measuredRow("mr", "mapReduce as written", 25.11, 10), measuredRow("mr-sort", "mapReduce, sort", 17.06, 10),
		measuredRow("agg", "aggregation $group", 5.16, 10), measuredRow("agg-ranges", "$group, 4 ranges", 1.74, 10))
}

func after() *bench.Result {
	return measuredResult(4, measuredRow("mr", "mapReduce as written", 25.3, 10), measuredRow("mr-sort", "mapReduce, sort", 14.2, 10),
		measuredRow("agg", "aggregation $group", 5.9, 6), measuredRow("agg-covered", "$group, index alone", 1.47, 10))
}

func elsewhere() *bench.Result {
	r := measuredResult(5, measuredRow("mr", "mapReduce as written", 12, 2), bench.Row{ID: "mr-sort", Skipped: "the server refuses mapReduce"},
		measuredRow("agg", "aggregation $group", 3.1, 2), measuredRow("agg-ranges", "$group, 4 ranges", 0.9, 2))
	r.Server.Version, r.Server.Address, r.Context.Host, r.Context.CPUs = "8.0.4", "db2:27017", "client2", 16
	r.Rows[0].Ranges = 2
	r.ExitCode = exitDiffer
	return r
}

func compared(results ...*bench.Result) comparison {
	var picks []picked
	for i, r := range results {
		picks = append(picks, picked{name: string(rune('a'+i)) + ".ndjson", runs: []*bench.Result{r}})
	}
	return compareResults(picks)
}

func (c *comparison) allTables() []*report.Table {
	var tables []*report.Table
	for i := range c.Sets {
		tables = append(tables, c.table(&c.Sets[i]))
	}
	last := tables[len(tables)-1]
	last.Notes = append(last.Notes, c.notes()...)
	return tables
}

func TestCompareGolden(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]comparison{
		"compare_two":   compared(before(), after()),
		"compare_three": compared(before(), after(), elsewhere()),
	} {
		for suffix, width := range map[string]int{"_100.txt": 100, "_80.txt": 80, "_50.txt": 50} {
			var b bytes.Buffer
			if err := report.Text(&b, width, c.allTables()...); err != nil {
				t.Fatal(err)
			}
			golden(t, name+suffix, b.String())
			for line := range strings.Lines(b.String()) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width {
					t.Errorf("%s: %d characters: %s", name+suffix, n, line)
				}
			}
		}
		var md, csv, lines bytes.Buffer
		if err := report.Markdown(&md, c.allTables()...); err != nil {
			t.Fatal(err)
		}
		if err := report.CSV(&csv, c.csv()); err != nil {
			t.Fatal(err)
		}
		if err := c.Gobench(&lines); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".md", md.String())
		golden(t, name+".csv", csv.String())
		golden(t, name+".gobench", lines.String())
	}
}

// A file with runs on several data sets is compared with the same data sets of the other.
func TestCompareMatchesDataSets(t *testing.T) {
	t.Parallel()
	on := func(r *bench.Result, ns string) *bench.Result { r.Dataset.NS = ns; return r }
	c := compareResults([]picked{
		{name: "old", runs: []*bench.Result{on(after(), "a.a"), on(before(), "a.a"), on(before(), "b.b")}},
		{name: "new", runs: []*bench.Result{on(before(), "c.c"), on(after(), "b.b"), on(after(), "a.a")}},
	})
	if len(c.Sets) != 2 || c.Sets[0].Dataset.NS != "a.a" || c.Sets[1].Dataset.NS != "b.b" || len(c.Warnings) != 0 {
		t.Fatalf("%+v", c)
	}
	if got := c.Sets[0].Rows[1].Sides[0].Seconds.Median; got < 16 {
		t.Errorf("of two runs on the same data set the last counts: %v", got)
	}
	// Without a data set in common there is a warning.
	c = compared(on(before(), "a.a"), on(after(), "b.b"))
	if len(c.Sets) != 1 || c.Sets[0].Shared != 3 || strings.Join(c.Warnings, "") != "the collection differs: a.a and b.b" {
		t.Errorf("%+v", c)
	}
}

func TestFailIfSlower(t *testing.T) {
	t.Parallel()
	limit := func(x float64) *float64 { return &x }
	slower := func(runs int, by float64) comparison {
		return compared(measuredResult(1, measuredRow("agg", "", 2, runs)), measuredResult(2, measuredRow("agg", "", 2*(1+by), runs)))
	}
	gone := compared(before(), after())
	for _, c := range []struct {
		name     string
		c        comparison
		limit    *float64
		code     int
		unproved string
	}{
		{"shown and above", slower(10, 0.5), limit(0.1), exitSlower, ""},
		{"shown and below", slower(10, 0.5), limit(0.9), exitOK, ""},
		{"above, too few runs", slower(3, 0.5), limit(0.1), exitOK, "3+3 runs can't show any difference"},
		{"above, not shown", compared(measuredResult(1, measuredRow("mr", "", 25.11, 10)), measuredResult(2, measuredRow("mr", "", 25.3, 10))), limit(0.001), exitOK, "but not shown to be (p="},
		{"faster", slower(10, -0.5), limit(0), exitOK, ""},
		{"no limit", slower(10, 5), nil, exitOK, ""},
		{"a row is gone", gone, limit(0.5), exitOK, "agg-ranges has no time in new (not measured)"},
		{"nothing in common", compared(measuredResult(1, measuredRow("mr", "", 1, 6)), measuredResult(1, measuredRow("agg", "", 1, 6))), nil, exitFailed, ""},
	} {
		err := c.c.verdict(c.limit)
		if got := exitCode(t.Context(), err); got != c.code {
			t.Errorf("%s: exit code %d (%v), want %d", c.name, got, err, c.code)
		}
		if got := strings.Join(c.c.Unproved, "\n"); (c.unproved == "") != (got == "") || !strings.Contains(got, c.unproved) {
			t.Errorf("%s: %q, want %q", c.name, got, c.unproved)
		}
	}
}

// benchstat's reader finds every time of both results, told apart by the key "result".
func TestCompareGobenchIsRead(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := compared(before(), after()).Gobench(&b); err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	in := benchfmt.NewReader(&b, "test")
	for in.Scan() {
		r, ok := in.Result().(*benchfmt.Result)
		if !ok {
			t.Fatalf("%v", in.Result())
		}
		found[r.GetConfig("result")+" "+r.Name.String()]++
	}
	for name, n := range map[string]int{"old Run/row=agg/threads=1/ranges=1": 10, "new Run/row=agg/threads=1/ranges=1": 6, "new Run/row=agg-covered/threads=1/ranges=1": 10} {
		if found[name] != n {
			t.Errorf("%s: %d times, want %d; %v", name, found[name], n, found)
		}
	}
}

// The tables of run with everything that notes can say.
func TestRunNotesGolden(t *testing.T) {
	t.Parallel()
	row := func(id string, seconds ...float64) bench.Row {
		r := measuredRow(id, id, 1, len(seconds))
		o := bench.Outcome{}
		for i, s := range seconds {
			o.Samples = append(o.Samples, bench.Sample{Round: i + 1, Seconds: s, Answer: r.Answer})
		}
		r.Fill(&o)
		return r
	}
	r := measuredResult(3,
		row("mr", 4.4, 2, 2.01, 1.99, 2.02, 2.03, 1.98, 2),
		row("mr-sort", 5, 2.01, 2, 2.02, 1.97, 2.04, 1.98, 2.01),
		row("agg", 0.5, 0.51, 0.49, 0.9, 0.5, 0.52, 0.48, 0.5),
		row("agg-ranges", 0.2, 0.4, 0.3, 0.25, 0.35, 0.31, 0.29, 0.28))
	s := r.Context.Schedule
	s.BudgetSeconds, s.PauseSeconds, s.Prepare, s.Runs = 600, 1.5, "sync; sleep 1", 6
	for suffix, width := range map[string]int{"_100.txt": 100, "_80.txt": 80} {
		var b bytes.Buffer
		if err := report.Text(&b, width, timesTable(r)); err != nil {
			t.Fatal(err)
		}
		golden(t, "run_notes"+suffix, b.String())
	}
	s.Shuffle, s.BudgetSeconds, s.PauseSeconds, s.Prepare, s.Warmup = nil, 0, 0, "", 0
	if got := scheduleNote(r); got != "rows took turns in the order listed" {
		t.Errorf("%q", got)
	}
}
