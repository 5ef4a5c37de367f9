package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRoundsInterleaveAndCarryOn(t *testing.T) {
	var log []string
	job := func(id string, failFrom int, err error) Job {
		return Job{ID: id, Run: func(_ context.Context, t Turn) (Sample, error) {
			log = append(log, id)
			if t.Round >= failFrom {
				return Sample{}, err
			}
			return Sample{Seconds: float64(t.Round)}, nil
		}}
	}
	boom := errors.New("boom")
	var done []Sample
	out, err := Rounds(t.Context(), Plan{
		Jobs: []Job{job("a", 99, nil), job("b", 2, boom), job("c", 0, &SkipError{"not here"})},
		Runs: 3, Warmup: 1,
		Done: func(s Sample) error { done = append(done, s); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(log, ""), "abc"+"ab"+"ab"+"a"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
	if n := len(out["a"].Samples); n != 3 {
		t.Errorf("a has %d samples; the warm-up must not count", n)
	}
	if !errors.Is(out["b"].Err, boom) || len(out["b"].Samples) != 1 {
		t.Errorf("b: %+v", out["b"])
	}
	if Skipped(out["c"].Err) != "not here" {
		t.Errorf("c: %v", out["c"].Err)
	}
	if len(done) != 6 || !done[0].Warmup || done[0].Row != "a" {
		t.Errorf("told about %d runs: %+v", len(done), done)
	}
}

func TestRoundsStopWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("interrupted")
	out, err := Rounds(ctx, Plan{Runs: 2, Jobs: []Job{
		{ID: "a", Run: func(context.Context, Turn) (Sample, error) { return Sample{Seconds: 1}, nil }},
		{ID: "b", Run: func(ctx context.Context, _ Turn) (Sample, error) { cancel(why); return Sample{}, ctx.Err() }},
		{ID: "c", Run: func(context.Context, Turn) (Sample, error) { t.Error("c was run"); return Sample{}, nil }},
	}})
	if !errors.Is(err, why) {
		t.Errorf("error %v, want %v", err, why)
	}
	if len(out["a"].Samples) != 1 || out["b"].Err != nil {
		t.Errorf("outcomes: %+v %+v", out["a"], out["b"])
	}
}

func TestSummarize(t *testing.T) {
	if Summarize(nil) != nil {
		t.Error("no runs have no summary")
	}
	s := Summarize([]float64{3, 1, 2, 10})
	if s.Median != 2.5 || s.Min != 1 || s.Max != 10 || s.CI != nil || s.Spread() != 3.6 {
		t.Errorf("%+v", s)
	}
	// The interval of six values at 95 % spans them all: it would miss the median only when all six fall on one side, 2/64.
	s = Summarize([]float64{6, 5, 4, 3, 2, 1})
	if s.CI == nil || *s.CI != [2]float64{1, 6} || s.All[0] != 6 {
		t.Errorf("%+v %v", s, s.CI)
	}
}

func TestUnsteadyRowsFail(t *testing.T) {
	n := func(i int64) *int64 { return &i }
	for _, c := range []struct {
		name    string
		samples []Sample
		want    string
	}{
		{"equal", []Sample{{Round: 1, Answer: &Answer{1, "1", "a"}}, {Round: 2, Answer: &Answer{1, "1", "a"}}}, ""},
		{"answer", []Sample{{Round: 1, Answer: &Answer{1, "1", "a"}}, {Round: 2, Answer: &Answer{2, "1", "b"}}}, "another answer"},
		{"input", []Sample{{Round: 1, Counts: Counts{Input: n(1)}}, {Round: 2, Counts: Counts{Input: n(2)}}}, "the collection changed"},
	} {
		var r Row
		r.Fill(&Outcome{Samples: c.samples})
		if c.want == "" && r.Error != "" || !strings.Contains(r.Error, c.want) {
			t.Errorf("%s: error %q, want %q", c.name, r.Error, c.want)
		}
	}
}

func result() *Result {
	yes, sec := true, 0.5
	return &Result{
		SchemaVersion: SchemaVersion,
		Dataset:       Dataset{NS: "test.uniques", Documents: 20000, Key: "dim0", UUID: "u", Spec: &DataSpec{"uniques", 1, 20000, "dim0", 2000, ""}},
		Server:        Server{Kind: "embedded", Version: "1", Topology: "embedded"},
		Split:         &Split{Strategy: "walk", Documents: 20000, Pieces: []Piece{{"MinKey", "5", 1, ""}}},
		Context:       Context{RunID: "x", Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Options: map[string]any{"threads": 4.0}, Schedule: &Schedule{Runs: 2, Prepare: "sync"}},
		Warnings:      []string{"w"},
		Notes:         []Note{{NoteOutlier, "mr", 2, 1.5, "far"}},
		Samples:       []Sample{{Row: "mr", Round: 1, Order: 2, Start: 0.5, Seconds: 9}},
		Telemetry: &Telemetry{
			IntervalSeconds: 0.25, Server: SameHost, PID: 7, Notes: []string{"n"},
			Runs: []Series{{Row: "mr", Round: 1, Start: 0.5, At: []float64{0.25, 0.5}, ServerCPU: []float64{1.5, 0}}},
		},
		Difference: &Difference{Row: "agg", First: "mr", Keys: []KeyDiff{{"1", "2", "3"}}},
		ExitCode:   5,
		Rows: []Row{
			{ID: "mr", Seconds: Summarize([]float64{2, 3}), MergeSeconds: &sec, Outliers: []Outlier{{2, 3, 1.5, 9}}},
			{ID: "agg", Seconds: Summarize([]float64{1}), Agrees: &yes, Versus: CompareTimes([]float64{2, 3}, []float64{1}), Parts: []Part{{From: "MinKey", To: "5"}}},
		},
	}
}

func TestFileRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.ndjson")
	want := result()
	for range 2 {
		f, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		plan, load := *want, *want.Telemetry
		load.Runs, plan.Telemetry = nil, &load
		plan.Rows = []Row{{ID: "mr"}, {ID: "agg"}}
		check := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		check(f.Begin(&plan))
		check(f.Sample(want.Samples[0]))
		check(f.Series(want.Telemetry.Runs[0]))
		check(f.Row(want.Rows[0]))
		check(f.Row(want.Rows[1]))
		check(f.End(want, time.Now()))
		check(f.Close())
	}
	got, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 {
		t.Fatalf("%d runs", len(got))
	}
	if d := cmp.Diff(want, got[1]); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestUnusedFileIsRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.ndjson")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("still there: %v", err)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", "no result"},
		{"not json", "hello\n", "line 1"},
		{"other json", `{"a":1}` + "\n", "not a result"},
		{"newer", `{"type":"context","schema_version":99}` + "\n", "newer mrbench"},
		{"broken in the middle", `{"type":"context","schema_version":1}` + "\n{\n" + `{"type":"end"}` + "\n", "line 2"},
		{"object of another version", "{\n\"schema_version\": 7\n}", "schema_version 7"},
	} {
		_, err := Read(strings.NewReader(c.in))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// The document shows a killed run; cutting the last line short makes no difference to what is before it.
func TestDocumentedExampleIsReadAfterACrash(t *testing.T) {
	example := regexp.MustCompile("(?s)```json\n(.*?)```").FindStringSubmatch(formatDoc(t))[1]
	for _, in := range []string{example, example + `{"type":"row","id":"agg","thr`} {
		rs, err := Read(strings.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		r := rs[0]
		if r.ExitCode != -1 || len(r.Rows) != 2 {
			t.Fatalf("%+v", r)
		}
		agg := r.Rows[1]
		if agg.Seconds == nil || agg.Seconds.Median != 0.02 || *agg.Speedup != 15.5 || agg.Agrees == nil || !*agg.Agrees {
			t.Errorf("row from samples: %+v", agg)
		}
	}
}

func formatDoc(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../../docs/result-format.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// docs/result-format.md is the contract: it names every field that is written, and no other.
func TestFormatIsDocumented(t *testing.T) {
	documented := map[string][]string{}
	section := ""
	for line := range strings.Lines(formatDoc(t)) {
		if s, ok := strings.CutPrefix(line, "### "); ok {
			section = strings.TrimSpace(s)
		} else if strings.HasPrefix(line, "## ") {
			section = ""
		} else if m := regexp.MustCompile("^\\| `([a-z0-9_]+)` \\|").FindStringSubmatch(line); m != nil && section != "" {
			documented[section] = append(documented[section], m[1])
		}
	}
	written := map[string][]string{}
	for _, v := range []any{Result{}, Dataset{}, DataSpec{}, Server{}, Context{}, Schedule{}, Split{}, SplitPlan{}, Into{}, IntoCheck{}, Skip{}, Piece{}, Row{}, NoEffect{}, Seconds{}, Outlier{}, Versus{}, Note{}, Counts{}, Answer{}, Part{}, PartShard{}, ShardLoad{}, Difference{}, KeyDiff{}, Sample{}, Usage{}, Telemetry{}, Series{}} {
		typ := reflect.TypeOf(v)
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if name == "" {
				t.Errorf("%s.%s has no json name", typ.Name(), typ.Field(i).Name)
			}
			written[strings.ToLower(typ.Name())] = append(written[strings.ToLower(typ.Name())], name)
		}
	}
	for _, m := range []map[string][]string{documented, written} {
		for _, f := range m {
			slices.Sort(f)
		}
	}
	if d := cmp.Diff(written, documented); d != "" {
		t.Errorf("code (-) and docs/result-format.md (+) differ:\n%s", d)
	}
}

func TestParseLoad(t *testing.T) {
	if got := parseLoad("0.50 1.25 2.00 1/100 999\n"); got == nil || *got != [3]float64{0.5, 1.25, 2} {
		t.Errorf("%v", got)
	}
	for _, s := range []string{"", "1 2", "a b c"} {
		if got := parseLoad(s); got != nil {
			t.Errorf("%q: %v", s, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"type":"context","schema_version":1,"plan":[{"id":"a"}]}` + "\n" + `{"type":"sample","row":"a","seconds":1}` + "\n")
	f.Add("{\n\"schema_version\": 1\n}")
	f.Add(`{"type":"row"}`)
	f.Fuzz(func(_ *testing.T, s string) {
		_, _ = Read(strings.NewReader(s)) // must not panic
	})
}

func TestUsageOfARow(t *testing.T) {
	cpu, peak := func(x float64) *float64 { return &x }, func(n int64) *int64 { return &n }
	var r Row
	r.Fill(&Outcome{Samples: []Sample{
		{Usage: &Usage{ServerCPUSeconds: cpu(3), ServerPeakBytes: peak(10), SentBytes: peak(100)}},
		{Usage: &Usage{ServerCPUSeconds: cpu(1), ServerPeakBytes: peak(30), SentBytes: peak(300)}},
		{Usage: &Usage{ServerCPUSeconds: cpu(2), ServerPeakBytes: peak(20), SentBytes: peak(200)}},
		{},
	}})
	want := &Usage{ServerCPUSeconds: cpu(2), ServerPeakBytes: peak(30), SentBytes: peak(200)}
	if d := cmp.Diff(want, r.Usage); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	r.Fill(&Outcome{Samples: []Sample{{}}})
	if r.Usage != nil {
		t.Errorf("nothing was observed, and yet %+v", r.Usage)
	}
}

// A budget adds whole rounds while another one fits, and never takes any of the wanted ones away.
func TestTimeBudget(t *testing.T) {
	for _, c := range []struct {
		budget       time.Duration
		runs, warmup int
		want         int
	}{
		{0, 3, 0, 3},
		{time.Second, 3, 0, 3},       // less than the wanted rounds take
		{35 * time.Second, 1, 0, 11}, // a round takes 3 s, the twelfth would end after 36 s
		{36 * time.Second, 1, 0, 12},
		{36 * time.Second, 1, 2, 10}, // warm-up is part of it
		{36 * time.Second, 20, 0, 20},
	} {
		m := newMachine(1)
		m.sigma = 0
		rows := m.measure(t, Plan{Jobs: []Job{m.row("a", 1), m.row("b", 2)}, Runs: c.runs, Warmup: c.warmup, Budget: c.budget})
		for _, r := range rows {
			if got := len(r.Seconds.All); got != c.want {
				t.Errorf("%v, at least %d runs after %d: %s has %d, want %d", c.budget, c.runs, c.warmup, r.ID, got, c.want)
			}
		}
	}
	skip := Job{ID: "a", Run: func(context.Context, Turn) (Sample, error) { return Sample{}, &SkipError{"not here"} }}
	if _, err := Rounds(t.Context(), Plan{Jobs: []Job{skip}, Budget: time.Hour}); err != nil {
		t.Error(err) // it ends, though nothing uses the budget up
	}
}

// What comes before a run is not measured; its failure ends the plan, and what was measured stays.
func TestBefore(t *testing.T) {
	m := newMachine(1)
	m.sigma = 0
	var log []string
	boom := errors.New("boom")
	seed := uint64(3)
	out, err := Rounds(t.Context(), Plan{
		Jobs: []Job{m.row("a", 1), m.row("b", 2), m.row("c", 3)}, Runs: 2, Warmup: 1, Shuffle: &seed,
		Now: func() time.Time { return m.now }, Started: time.Unix(-100, 0),
		Before: func(_ context.Context, turn Turn) error {
			m.now = m.now.Add(10 * time.Second)
			log = append(log, fmt.Sprintf("%s %d %d %v", turn.Row, turn.Round, turn.Order, turn.Warmup))
			if len(log) == 8 {
				return boom
			}
			return nil
		},
		Done: func(s Sample) error {
			log[len(log)-1] += fmt.Sprintf(" at %v", s.Start)
			return nil
		},
	})
	if !errors.Is(err, boom) {
		t.Fatalf("error %v", err)
	}
	n := 0
	for _, id := range []string{"a", "b", "c"} {
		for _, s := range out[id].Samples {
			n++
			if want := map[string]float64{"a": 1, "b": 2, "c": 3}[id]; s.Seconds != want {
				t.Errorf("%s took %v", id, s.Seconds)
			}
		}
	}
	if n != 4 {
		t.Errorf("%d runs were measured, want the three of round 1 and one", n)
	}
	if !strings.HasSuffix(log[0], " 0 1 true at 110") || !strings.Contains(log[3], " 1 1 false") || strings.Contains(log[7], "at") {
		t.Errorf("turns:\n%s", strings.Join(log, "\n"))
	}
}

// A line that a crash cut off is completed before the next run of the file begins, and read over.
func TestRunAfterACrashInTheSameFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.ndjson")
	for range 2 {
		f, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(f.Begin(result()), f.Sample(Sample{Row: "mr", Round: 1, Seconds: 9}), f.Close()); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(b, `{"type":"sample","row":"agg","seco`...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	rs, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(rs) != 2 || len(rs[0].Samples) != 1 || len(rs[1].Samples) != 1 || rs[1].Rows[0].Seconds == nil {
		t.Errorf("%d runs: %+v", len(rs), rs)
	}
}

func TestRowsThatReadAnotherNumberOfDocumentsFail(t *testing.T) {
	n := func(i int64) *int64 { return &i }
	rows := []Row{{ID: "agg"}, {ID: "mr", Counts: Counts{Input: n(5)}}, {ID: "mr-sort", Counts: Counts{Input: n(5)}}, {ID: "mr-ranges", Counts: Counts{Input: n(4)}}}
	SameInput(rows)
	if rows[2].Error != "" || rows[3].Error != "it read 4 documents and mr read 5" {
		t.Errorf("%+v", rows)
	}
}
