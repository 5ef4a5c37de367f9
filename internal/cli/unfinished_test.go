package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mrbench/internal/bench"
)

// A run that was interrupted before any row finished is not one of the last two results.
func TestCompareLeavesOutUnfinished(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.env["MRBENCH_DATA_DIR"] = "data"
	if code, _, stderr := s.run("seed", "--docs", "2000"); code != 0 {
		t.Fatal(stderr)
	}
	for range 2 {
		if code, _, stderr := s.run("run", "--rows", "agg"); code != 0 {
			t.Fatal(stderr)
		}
	}
	saved, err := filepath.Glob(filepath.Join(s.dir, "data", "results", "*.ndjson"))
	if err != nil || len(saved) != 2 {
		t.Fatalf("saved: %v %v", saved, err)
	}
	slices.Sort(saved)
	b, err := os.ReadFile(saved[1])
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := bytes.Cut(b, []byte("\n"))
	unfinished := filepath.Join(filepath.Dir(saved[1]), "99991231t000000000aaaa.ndjson")
	if err := os.WriteFile(unfinished, append(head, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := s.run("compare")
	if code != 0 || !strings.Contains(out, filepath.Base(saved[0])) || !strings.Contains(out, filepath.Base(saved[1])) {
		t.Errorf("compare: %d\n%s%s", code, out, stderr)
	}
}

// Rows that the end of a run came before are one remark, not a failure each.
func TestRowsNotRun(t *testing.T) {
	t.Parallel()
	r := &bench.Result{Rows: []bench.Row{
		{ID: "mr", Seconds: &bench.Seconds{Median: 1, Min: 1, Max: 1, All: []float64{1}}},
		{ID: "mr-sort", Error: notRunPrefix + "interrupted"},
		{ID: "agg", Error: notRunPrefix + "interrupted"},
		{ID: "agg-ranges", Error: "no such thing"},
	}}
	table := timesTable(r)
	notes := strings.Join(table.Notes, "\n")
	if !strings.Contains(notes, "interrupted: 2 of 4 rows were not run") || strings.Contains(notes, "mr-sort") ||
		!strings.Contains(notes, "agg-ranges failed: no such thing") {
		t.Errorf("notes:\n%s", notes)
	}
}
