package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mrbench/seed/sweep"
)

// docs/result-format.md names every field of a sweep's lines.
func TestSweepLinesAreDocumented(t *testing.T) {
	t.Parallel()
	documented(t, "\n## Sweeps\n",
		sweepLine{}, sweepSampleLine{Sample: sweep.Sample{Error: "x"}}, sweepEndLine{Warnings: []string{""}}, sweep.Result{Error: "x"}, sweep.Cost{}, sweep.Skip{})
}

// documented checks that a section of docs/result-format.md names every field of the values.
func documented(t *testing.T, section string, values ...any) {
	t.Helper()
	b, err := os.ReadFile("../../docs/result-format.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(b), section)
	if !ok {
		t.Fatalf("no section %q", section)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	for _, v := range values {
		line, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(line, &fields); err != nil {
			t.Fatal(err)
		}
		for f := range fields {
			if f != "type" && !strings.Contains(text, "`"+f+"`") {
				t.Errorf("%T: %s is not documented", v, f)
			}
		}
	}
}

// An interrupt ends a sweep, prints and saves what is finished, and drops its collections.
func TestInterruptedSweep(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	signals := make(chan os.Signal, 1)
	stderr := &watcher{text: "round 1 of", seen: func() { signals <- syscall.SIGINT }}
	var out bytes.Buffer
	env := s.environ([]string{"seed", "--sweep", "batch=1,10", "prefill=0,500", "index=none,before", "--docs", "50", "--runs", "1000", "--save", "s.ndjson"}, &out, nil)
	env.Stderr, env.Signals = stderr, signals
	if code := Run(t.Context(), env); code != 130 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if !strings.HasSuffix(stderr.String(), "mrbench: interrupted\n") {
		t.Errorf("stderr: %s", stderr)
	}
	if !strings.Contains(out.String(), "best: batch ") {
		t.Errorf("finished points are not printed:\n%s", out.String())
	}
	saved, err := os.ReadFile(filepath.Join(s.dir, "s.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(saved)), "\n")
	if n := strings.Count(string(saved), `"type":"sweep_sample"`); n < 8 || len(lines) != n+2 || !strings.Contains(lines[n+1], `"exit_code":130`) {
		t.Errorf("%d lines, %d samples, the last is %s", len(lines), n, lines[len(lines)-1])
	}
	if _, out, _ := s.run("clean", "--dry-run"); !strings.Contains(out, "nothing of mrbench's is left") {
		t.Errorf("left behind: %s", out)
	}
}
