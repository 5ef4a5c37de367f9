package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"mrbench/internal/bench"
	"mrbench/internal/report"
)

// ladderOf is a result whose rows take what is given here at a million documents, in proportion with 0.05 s each for the
// commands, on two cores.
func ladderOf(name string, documents int64, runs int) *bench.Result {
	keys, million := documents/10, float64(documents)/1e6
	r := measuredResult(3)
	r.Dataset.Documents, r.Context.RunID, r.Context.CPUs = documents, name, 2
	r.Telemetry = &bench.Telemetry{Server: bench.SameHost}
	r.Split = &bench.Split{Imbalance: 1.08, Seconds: 0.8 * million, CountSeconds: 0.2 * million}
	for _, x := range []struct {
		id      string
		ranges  int
		seconds float64
		merge   float64
	}{{"mr", 1, 14.7, 0}, {"mr-sort", 1, 7.3, 0}, {"mr-ranges", 2, 5.3, 0.4}, {"agg", 1, 1, 0}, {"agg-ranges", 2, 0.71, 0}} {
		row := measuredRow(x.id, x.id, 0.05+x.seconds*million, runs)
		row.Threads, row.Ranges, row.Answer.Keys = x.ranges, x.ranges, keys
		if x.merge > 0 {
			merge := x.merge * million
			row.MergeSeconds = &merge
		}
		cpu, client, received := 0.95*row.Seconds.Median*float64(x.ranges), 0.05*row.Seconds.Median, int64(200)
		if row.ID == "agg" || row.ID == "agg-ranges" {
			received += 38 * keys
		}
		row.Usage = &bench.Usage{ServerCPUSeconds: &cpu, ClientCPUSeconds: &client, ReceivedBytes: &received}
		r.Rows = append(r.Rows, row)
	}
	return r
}

// saveJSON writes a result as run -o json prints it.
func saveJSON(t *testing.T, dir, name string, r *bench.Result) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := report.JSON(f, r); err != nil {
		t.Fatal(err)
	}
}

func predictSession(t *testing.T) *session {
	s := newSession(t)
	saveJSON(t, s.dir, "small.json", ladderOf("small", 100_000, 5))
	saveJSON(t, s.dir, "large.json", ladderOf("large", 1_000_000, 5))
	saveJSON(t, s.dir, "once.json", ladderOf("once", 1_000_000, 1))
	return s
}

func TestPredictGolden(t *testing.T) {
	t.Parallel()
	s := predictSession(t)
	for name, args := range map[string]string{
		"predict":       "predict small.json large.json --docs 1e9 --shards 4 --cores 8 --network 1000",
		"predict_one":   "predict once.json --threads 2 --ranges 4",
		"predict_check": "predict --check small.json large.json",
	} {
		for suffix, width := range map[string]int{"_100.txt": 100, "_80.txt": 80} {
			s.columns = width
			code, out, errs := s.run(strings.Fields(args)...)
			if code != exitOK || errs != "" {
				t.Fatalf("%s: exit code %d: %s", args, code, errs)
			}
			golden(t, name+suffix, out)
			for line := range strings.Lines(out) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width {
					t.Errorf("%s%s: %d characters: %s", name, suffix, n, line)
				}
			}
		}
		for suffix, format := range map[string]string{".md": "markdown", ".csv": "csv", ".json": "json"} {
			code, out, errs := s.run(append(strings.Fields(args), "-o", format)...)
			if code != exitOK || errs != "" {
				t.Fatalf("%s -o %s: exit code %d: %s", args, format, code, errs)
			}
			golden(t, name+suffix, out)
		}
	}
}

func TestPredictRefusals(t *testing.T) {
	t.Parallel()
	s := predictSession(t)
	empty := ladderOf("empty", 1_000_000, 5)
	for i := range empty.Rows {
		empty.Rows[i].Seconds, empty.Rows[i].Error = nil, "no server"
	}
	saveJSON(t, s.dir, "empty.json", empty)
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"predict", exitFailed, "has 0 results with a finished row and 1 would be needed; make one with: mrbench run"},
		{"predict --check", exitFailed, "2 would be needed"},
		{"predict missing.json", exitUsage, "missing.json"},
		{"predict empty.json", exitFailed, "no row of run empty has a time: measure some with mrbench run --ladder"},
		{"predict large.json --docs 1e12", exitUsage, "more than 10,000 times the 1,000,000 that were measured: measure at least 10,000,000,000"},
		{"predict large.json --keys 2M", exitUsage, "2,000,000 keys are more than the 1,000,000 documents"},
		{"predict large.json --shards 0", exitUsage, "from 1 to 10000"},
		{"predict --check small.json large.json --docs 5", exitUsage, "--check predicts a result as it was measured, so --docs has no place beside it"},
		{"predict --check large.json once.json", exitFailed, "both have 1,000,000 documents in the same ranges and threads: there is nothing to predict"},
		{"predict large.json -o gobench", exitUsage, "gobench"},
	} {
		code, out, errs := s.run(strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(errs, c.want) || out != "" {
			t.Errorf("%s: exit code %d, want %d: %s%s", c.args, code, c.code, out, errs)
		}
	}
}

// What run saves is what predict reads.
func TestPredictOwnRun(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	for _, args := range []string{
		"run --docs 3000 --rows mr-sort,mr-ranges,agg --threads 2",
		"run --docs 6000 --ns test.more --rows mr-sort,mr-ranges,agg --threads 2",
		"predict --docs 60000 --shards 2",
		"predict latest~1 latest --docs 60000",
		"predict --check",
	} {
		code, out, errs := s.run(strings.Fields(args)...)
		if code != exitOK {
			t.Fatalf("%s: exit code %d: %s", args, code, errs)
		}
		if strings.HasPrefix(args, "predict") && (!strings.Contains(out, "\nmr-ranges ") || !strings.Contains(out, "embedded engine")) {
			t.Errorf("%s: %s", args, out)
		}
	}
}

// What docs/scaling.md shows is what the commands in it print.
func TestScalingDocument(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	dir, err := filepath.Abs("testdata/predict")
	if err != nil {
		t.Fatal(err)
	}
	s.dir = dir
	shown := 0
	for i, block := range strings.Split(read(t, "../../docs/scaling.md"), "```") {
		_, text, _ := strings.Cut(block, "\n")
		session, ok := strings.CutPrefix(text, "$ mrbench ")
		if i%2 == 0 || !ok {
			continue
		}
		command, output, _ := strings.Cut(session, "\n")
		code, out, errs := s.run(strings.Fields(command)...)
		if code != exitOK || errs != "" {
			t.Errorf("%s: exit code %d: %s", command, code, errs)
		}
		if d := cmp.Diff(output, out); d != "" {
			t.Errorf("docs/scaling.md: %s (-shown +printed):\n%s", command, d)
		}
		shown++
	}
	if shown < 2 {
		t.Errorf("%d commands are shown with what they print", shown)
	}
}
