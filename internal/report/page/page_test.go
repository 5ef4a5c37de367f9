package page

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mrbench/internal/bench"
	"mrbench/internal/report"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestGolden(t *testing.T) {
	got := render(t, small(t))
	path := filepath.Join("testdata", "small.html")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, d)
	}
}

// mostBytes is how large a page may be.
const mostBytes = 400_000

func TestSizeOfALadder(t *testing.T) {
	n := len(render(t, ladder()))
	t.Logf("nine rows, ten runs: %d bytes", n)
	if n >= mostBytes {
		t.Errorf("%d bytes", n)
	}
}

// However much there is to show, a page stays a page.
func TestManyOfEverythingStaySmall(t *testing.T) {
	p := ladder()
	r := p.Result
	for i := range r.Rows {
		row := &r.Rows[i]
		var all []float64
		for range 10_000 {
			all = append(all, row.Seconds.All...)
		}
		row.Seconds = &bench.Seconds{Median: row.Seconds.Median, Min: row.Seconds.Min, Max: row.Seconds.Max, All: all}
		row.Parts = nil
		for k := range 10_000 {
			row.Parts = append(row.Parts, bench.Part{From: fmt.Sprint(k), To: fmt.Sprint(k + 1), Thread: k % 1000, Start: float64(k/1000) * row.Seconds.Median / 10, Seconds: row.Seconds.Median / 11})
		}
	}
	one := r.Telemetry.Runs[0]
	for k := range 5_000 {
		s := one
		s.Round, s.Start = k+100, one.Start+float64(k+100)*20
		r.Telemetry.Runs = append(r.Telemetry.Runs, s)
	}
	long := &report.Table{Columns: []report.Column{{Title: "n"}}}
	for k := range 10_000 {
		long.Add(report.Int(int64(k)))
	}
	p.Tables = append(p.Tables, long)
	page := render(t, p)
	t.Logf("%d bytes", len(page))
	if len(page) >= mostBytes {
		t.Errorf("%d bytes", len(page))
	}
	if !strings.Contains(string(page), "9,936 more lines are in the result file") {
		t.Error("a table was cut without a word")
	}
}

// Whatever a file holds is text.
func hostile(t testing.TB) Page {
	t.Helper()
	p := ladder()
	for i, s := range []string{
		`</title></style><script>document.title="owned"</script>`, `"><img src=x onerror=alert(1)>`, `javascript:alert(1)`, `{{.Title}}`, "'-->]]><svg onload=alert(1)>",
		strings.Repeat("long", 100), "שלום \u202e right to left", "a\x00b\u2028c",
	} {
		row := &p.Result.Rows[i]
		row.ID, row.Label = s, s+" "+s
		p.Result.Warnings = append(p.Result.Warnings, s)
		p.Result.Context.Options[s] = s
		p.Result.Telemetry.Notes = append(p.Result.Telemetry.Notes, s)
		p.Result.Telemetry.Runs[i].Row = s
		for k := range row.Parts {
			row.Parts[k].From = s
		}
	}
	h := `<script>document.title="owned"</script>`
	p.Result.Dataset.NS, p.Result.Dataset.Key, p.Command, p.Source = h+strings.Repeat("x", 250), h, "mrbench "+h, h
	p.Result.Server.Version, p.Result.Server.Topology, p.Result.Context.Host, p.Result.Context.Mrbench = h, h, h, h
	p.Result.Rows[8].Seconds, p.Result.Rows[8].Error = nil, h
	p.Tables[0].Title, p.Tables[0].Notes = h, []string{h}
	p.Tables[0].Rows[0][0].Text = h
	return p
}

func TestHostileStringsAreText(t *testing.T) {
	page := string(render(t, hostile(t)))
	for _, bad := range []string{"<script", "<img", "<svg onload", "owned\"<"} {
		if strings.Contains(strings.ToLower(page), bad) {
			t.Errorf("%q is in the page as it is", bad)
		}
	}
}

// Nothing in a page leads out of it: what the templates themselves refer to is in the page.
func TestPageRefersToItselfAlone(t *testing.T) {
	for _, text := range []string{pageText, style} {
		for _, attr := range []string{"src=", "href=", "url(", "@import", "srcset=", "action=", "http:", "https:"} {
			for _, after := range strings.Split(text, attr)[1:] {
				if !strings.HasPrefix(after, `"#`) && !strings.HasPrefix(after, `"data:,"`) {
					t.Errorf("%s%.40s", attr, after)
				}
			}
		}
	}
	if !strings.Contains(pageText, `content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"`) {
		t.Error("the page does not forbid to load things")
	}
}

func TestOddResults(t *testing.T) {
	one := 1.0
	for name, r := range map[string]*bench.Result{
		"nothing":         {},
		"a row, no run":   {Rows: []bench.Row{{ID: "a", Error: "broken"}}},
		"zero seconds":    {Rows: []bench.Row{{ID: "a", Seconds: bench.Summarize([]float64{0})}, {ID: "b", Seconds: bench.Summarize([]float64{0, 0})}}},
		"odd parts":       {Rows: []bench.Row{{ID: "a", Seconds: bench.Summarize([]float64{1}), Parts: []bench.Part{{Thread: -1}, {Thread: 1 << 30, Seconds: -5}, {Start: 1e300, Seconds: 1e300}}}}},
		"no times":        {Rows: []bench.Row{{ID: "a", Seconds: &bench.Seconds{Median: 1}, Speedup: &one, Parts: make([]bench.Part, 3)}}},
		"uneven columns":  {Telemetry: &bench.Telemetry{Runs: []bench.Series{{Row: "x", At: []float64{1, 2}, ServerCPU: []float64{1}, Inserts: []float64{1, 2, 3}, Commands: []float64{1, 2}}}}},
		"no length":       {Telemetry: &bench.Telemetry{Runs: []bench.Series{{Row: "x", At: []float64{0}, Commands: []float64{1}}}}},
		"empty telemetry": {Telemetry: &bench.Telemetry{}},
	} {
		page := string(render(t, Page{Result: r}))
		for _, bad := range []string{"NaN", "Inf"} {
			if strings.Contains(page, bad) {
				t.Errorf("%s: the page holds %s", name, bad)
			}
		}
	}
}

func FuzzWrite(f *testing.F) {
	b, err := os.ReadFile("testdata/small.ndjson")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		rs, err := bench.Read(bytes.NewReader(b))
		if err != nil {
			return
		}
		for _, r := range rs {
			if err := Write(&bytes.Buffer{}, Page{Result: r}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Without telemetry there is still the throughput, from the runs' times.
func TestThroughputWithoutTelemetry(t *testing.T) {
	p := ladder()
	p.Result.Telemetry = nil
	l := loadOf(p.Result)
	if l == nil || len(l.Panels) != 1 || l.Panels[0].Title != "Throughput of each run" || len(l.Bands) != 90 {
		t.Fatalf("%+v", l)
	}
	p.Result.Samples = nil
	if l := loadOf(p.Result); l != nil {
		t.Errorf("%+v", l)
	}
}

// Joined steps keep means of amounts and peaks of levels.
func TestStepsOfManyIntervals(t *testing.T) {
	s := bench.Series{Row: "a"}
	for i := range 6000 {
		s.At = append(s.At, float64(i+1))
		s.Commands = append(s.Commands, float64(i%2)*10)
		s.Queued = append(s.Queued, map[bool]float64{true: 7}[i == 3000])
	}
	runs := []bench.Series{s}
	of := func(level bool, of func(*bench.Series) []float64) []step {
		return stepsOf(runs, quantity{"", level, of}, 0, 6000)
	}
	mean, level := of(false, func(s *bench.Series) []float64 { return s.Commands }), of(true, func(s *bench.Series) []float64 { return s.Queued })
	if len(mean) > mostSteps || len(mean) < mostSteps/3 {
		t.Errorf("%d steps", len(mean))
	}
	for _, x := range mean {
		if math.Abs(x.value-5) > 1 {
			t.Errorf("mean %v", x)
		}
	}
	if !slices.ContainsFunc(level, func(x step) bool { return x.value == 7 }) {
		t.Error("the peak is gone")
	}
	if last := mean[len(mean)-1]; last.to != 6000 {
		t.Errorf("ends at %v", last.to)
	}
}

func TestScale(t *testing.T) {
	for _, c := range []struct {
		most float64
		want string
	}{
		{14.7, "0 5 10 15"}, {1, "0 0.2 0.4 0.6 0.8 1"}, {0.003, "0 0.001 0.002 0.003"}, {100, "0 20 40 60 80 100"}, {0, "0 0.2 0.4 0.6 0.8 1"}, {97, "0 20 40 60 80 100"},
	} {
		var got []string
		s := newScale(c.most, 5, func(v float64) string { return short(tidy(v)) })
		for _, x := range s.ticks {
			got = append(got, x.Text)
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("%v: %s, want %s", c.most, g, c.want)
		}
	}
}

// What is told under a figure is not told again under a table.
func TestFindingsAreToldOnce(t *testing.T) {
	p := ladder()
	page := string(render(t, p))
	if len(p.Findings) == 0 {
		t.Fatal("no findings")
	}
	for _, f := range p.Findings {
		if n := strings.Count(page, f); n != 1 {
			t.Errorf("%q is told %d times", f, n)
		}
	}
	p.Findings = slices.Repeat([]string{"x"}, mostFindings+5)
	if page := string(render(t, p)); strings.Count(page, "<li>x</li>") != mostFindings || !strings.Contains(page, "5 more are in the result file") {
		t.Error("many findings are not cut with a word")
	}
}
