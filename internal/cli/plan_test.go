package cli

import (
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/bench"
	"mrbench/internal/mimic"
)

// savePlan cuts test.uniques into four ranges and returns the file.
func savePlan(t *testing.T, s *session, uri string) string {
	t.Helper()
	if code, _, stderr := s.run("split", "--uri", uri, "--ranges", "4", "--save", "ranges.json"); code != 0 || !strings.Contains(stderr, "saved as ") {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	return filepath.Join(s.dir, "ranges.json")
}

func runJSON(t *testing.T, s *session, args ...string) (r bench.Result) {
	t.Helper()
	code, out, stderr := s.run(append([]string{"run", "--sample-every", "0", "-o", "json"}, args...)...)
	if code != 0 {
		t.Fatalf("%v: exit code %d: %s", args, code, stderr)
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func addSum(t *testing.T, to *big.Rat, text string) {
	t.Helper()
	x, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("sum %q", text)
	}
	to.Add(to, x)
}

// Two machines that share the ranges of a list compute together what one computes alone.
func TestPlanSharedOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		config  mimic.Config
		sharded bool
	}{
		{mimic.Config{Version: "3.6.23"}, false},
		{mimic.Config{Version: "4.0.3", Topology: mimic.Mongos}, true},
		{mimic.Config{Version: "6.0.5", Topology: mimic.Mongos}, true},
	} {
		t.Run(c.config.Version, func(t *testing.T) {
			t.Parallel()
			m := mimic.Start(t, c.config)
			uniques(t, m, 500)
			if c.sharded {
				shardUniques(t, m)
			}
			s := newSession(t)
			plan := savePlan(t, s, m.URI())
			whole := runJSON(t, s, "--uri", m.URI(), "--plan", plan)
			if n := whole.Split.Plan.Ranges; whole.Split.Plan.Partial() || n < 3 || len(whole.Split.Pieces) != n {
				t.Fatalf("%+v", whole.Split)
			}
			for _, rows := range [][]string{nil, {"--rows", "agg-covered-ranges,mr-ranges"}} {
				keys, documents, sum := int64(0), int64(0), new(big.Rat)
				for _, take := range []string{"1:2", "3:" + string(rune('0'+whole.Split.Plan.Ranges))} {
					r := runJSON(t, newSession(t), append([]string{"--uri", m.URI(), "--plan", plan, "--take", take}, rows...)...)
					for _, row := range r.Rows {
						if row.Answer == nil || *row.Answer != *r.Rows[0].Answer {
							t.Errorf("%s: %s: %+v, not %+v", take, row.ID, row.Answer, r.Rows[0].Answer)
						}
					}
					keys, documents = keys+r.Rows[0].Answer.Keys, documents+r.Dataset.Documents
					addSum(t, sum, r.Rows[0].Answer.Sum)
				}
				if keys != 20 || documents != 500 || sum.RatString() != "500" {
					t.Errorf("%d keys, %d documents, sum %s", keys, documents, sum.RatString())
				}
			}
		})
	}
}

// A range that changes after the list was made is counted anew, and said.
func TestPlanOfAChangedCollection(t *testing.T) {
	t.Parallel()
	m := mimic.Start(t, mimic.Config{})
	uniques(t, m, 500)
	s := newSession(t)
	plan := savePlan(t, s, m.URI())
	if _, err := m.Inside().Database("test").Collection("uniques").InsertOne(t.Context(), bson.D{{Key: "dim0", Value: 0}}); err != nil {
		t.Fatal(err)
	}
	r := runJSON(t, s, "--uri", m.URI(), "--plan", plan)
	if r.Dataset.Documents != 501 || !strings.Contains(strings.Join(r.Warnings, "\n"), "hold 501 documents now and held 500 when the list was made") {
		t.Errorf("%d documents, %v", r.Dataset.Documents, r.Warnings)
	}
}

func TestPlanRefusals(t *testing.T) {
	t.Parallel()
	m := mimic.Start(t, mimic.Config{})
	uniques(t, m, 500)
	s := newSession(t)
	savePlan(t, s, m.URI())
	good, err := os.ReadFile(filepath.Join(s.dir, "ranges.json"))
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(string) string{
		"gap.json": func(x string) string {
			return strings.Replace(x, `{"from":{"$numberInt":"5"}`, `{"from":{"$numberInt":"6"}`, 1)
		},
		"bounds.json": func(x string) string { return strings.Replace(x, `"$numberInt":"5"`, `"$numberInt":"five"`, 1) },
		"admin.json":  func(x string) string { return strings.Replace(x, "test.uniques", "admin.uniques", 1) },
	} {
		text := change(string(good))
		if text == string(good) {
			t.Fatalf("%s is the same: %s", name, good)
		}
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "--plan", "none.json"}, "--plan: open"},
		{[]string{"run", "--plan", "gap.json"}, "there is a gap between them"},
		{[]string{"run", "--plan", "bounds.json"}, "bound that is no Extended JSON value"},
		{[]string{"run", "--plan", "admin.json"}, "admin"},
		{[]string{"run", "--plan", "ranges.json", "--ns", "test.other"}, "holds ranges of test.uniques, and the run is on test.other"},
		{[]string{"run", "--plan", "ranges.json", "--key", "other"}, "holds ranges of the key dim0, and the run is by other"},
		{[]string{"run", "--plan", "ranges.json", "--take", "3:5"}, "ranges.json holds 4 ranges"},
		{[]string{"run", "--plan", "ranges.json", "--take", "0:2"}, "counted from 1"},
		{[]string{"run", "--plan", "ranges.json", "--take", "3:2"}, "counted from 1"},
		{[]string{"run", "--take", "1:2"}, "name it with --plan"},
		{[]string{"run", "--plan", "ranges.json", "--take", "1:2", "--ladder"}, "mr, mr-sort, agg, agg-covered would read the whole collection"},
		{[]string{"run", "--plan", "ranges.json", "--rows", "mr,agg"}, "none of the rows is run in ranges"},
		{[]string{"run", "--plan", "ranges.json", "--ranges", "3"}, "leave --ranges out"},
		{[]string{"split", "--save", "x.json", "--then", "other"}, "--save keeps ranges for run --plan"},
		{[]string{"split", "--save", "no/such/folder/x.json"}, "--save"},
	} {
		if code, _, stderr := s.run(append(c.args, "--uri", m.URI())...); code != exitUsage || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit code %d: %s", c.args, code, stderr)
		}
	}
}

// A list that is there is left alone, and a file that can't be written is known before a server is asked.
func TestSplitSaveRefuses(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	dead := "mongodb://127.0.0.1:1/"
	there := filepath.Join(s.dir, "there.json")
	if err := os.WriteFile(there, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"there.json":        "there.json: the file is there already",
		"nowhere/a.json":    "nowhere: no such file or directory",
		"there.json/a.json": "not a directory|is no directory",
	} {
		code, _, stderr := s.run("split", "--uri", dead, "--save", path)
		if code != exitUsage || !regexp.MustCompile(want).MatchString(stderr) {
			t.Errorf("%s: exit code %d: %s", path, code, stderr)
		}
	}
	if got := read(t, there); got != "mine" {
		t.Errorf("the file now holds %q", got)
	}
}
