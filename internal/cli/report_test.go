package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mrbench/internal/bench"
)

// smallResult is a saved result; its page's golden file lies beside it.
func smallResult(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../report/page/testdata/small.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// The text formats of a saved result, byte for byte.
func TestReportGolden(t *testing.T) {
	for _, format := range []string{formatTable, formatMarkdown, formatCSV} {
		s := newSession(t)
		code, out, errs := s.run("report", smallResult(t), "-o", format)
		if code != 0 || errs != "" {
			t.Fatalf("%s: exit code %d: %s", format, code, errs)
		}
		golden(t, "report/small."+map[string]string{formatTable: "txt", formatMarkdown: "md", formatCSV: "csv"}[format], out)
	}
}

// JSON of a file is the file's content.
func TestReportAsJSON(t *testing.T) {
	s := newSession(t)
	code, out, errs := s.run("report", smallResult(t), "-o", "json")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	var got *bench.Result
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	want, err := bench.Load(smallResult(t))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want[0], got); d != "" {
		t.Errorf("-file +report:\n%s", d)
	}
}

func TestReproduce(t *testing.T) {
	a := &app{env: Env{Home: "/home/x"}, v: newViper()}
	for _, c := range []struct {
		options map[string]any
		want    string
	}{
		{nil, ""},
		{map[string]any{"threads": "4"}, "mrbench run"},
		{map[string]any{"threads": "8", "ladder": "true", "ns": "shop.orders", "unknown": "1", "save": "x", "output": "json", "sort": "false"}, "mrbench run --ladder --sort=false --threads 8 --ns shop.orders"},
		{map[string]any{"uri": "mongodb://u:***@h/?a=b&c=d", "rows": "mr,agg"}, "mrbench run --rows mr,agg --uri 'mongodb://u:***@h/?a=b&c=d'"},
		{map[string]any{"key": "it's; rm -rf $HOME"}, `mrbench run --key 'it'\''s; rm -rf $HOME'`},
	} {
		if got := a.reproduce(&bench.Result{Context: bench.Context{Options: c.options}}); got != c.want {
			t.Errorf("%v: %s, want %s", c.options, got, c.want)
		}
	}
}

func TestSeedCommandIsReproduced(t *testing.T) {
	a := &app{env: Env{Home: "/home/x"}, v: newViper()}
	r := &bench.Result{
		Dataset: bench.Dataset{NS: "a.b", Key: "k", Spec: &bench.DataSpec{Generator: "uniques", Seed: 7, Documents: 1000, Keys: 5}},
		Context: bench.Context{Options: map[string]any{"uri": "mongodb://h", "ns": "a.b", "key": "k"}},
	}
	want := "mrbench seed --docs 1000 --seed 7 --keys 5 --uri mongodb://h --ns a.b --key k\nmrbench run --key k --ns a.b --uri mongodb://h"
	if got := a.reproduce(r); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	r.Dataset.Spec.Digest = "files"
	if got := a.reproduce(r); strings.Contains(got, "seed") {
		t.Errorf("documents of files are made by %s", got)
	}
}

// What a run saves makes the command that made it.
func TestCommandOfARunIsReproduced(t *testing.T) {
	s := newSession(t)
	args := []string{"run", "--docs", "2000", "--rows", "agg,agg-ranges", "--runs", "2", "--shuffle-seed", "7", "--threads", "2", "--save", "r.ndjson"}
	if code, _, errs := s.run(args...); code != 0 {
		t.Fatal(errs)
	}
	if code, _, errs := s.run("report", "r.ndjson", "--out", "r.html"); code != 0 {
		t.Fatal(errs)
	}
	page, err := os.ReadFile(filepath.Join(s.dir, "r.html"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "mrbench run --docs 2000 --rows agg,agg-ranges --runs 2 --shuffle-seed 7 --threads 2</code>"; !strings.Contains(string(page), want) {
		i := strings.Index(string(page), "<code>")
		t.Errorf("no %s, but %.200s", want, string(page)[max(0, i):])
	}
}
