package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/internal/bench"
	"mrbench/internal/mimic"
	"mrbench/internal/mongofake"
	"mrbench/splitter"
)

// intoServers are the versions and topologies that a result is kept on.
var intoServers = []struct {
	config  mimic.Config
	sharded bool
}{
	{mimic.Config{Version: "3.6.23"}, false},
	{mimic.Config{Version: "4.0.3"}, false},
	{mimic.Config{Version: "4.2.24"}, false},
	{mimic.Config{Version: "4.4.29"}, false},
	{mimic.Config{Version: "6.0.5"}, false},
	{mimic.Config{Version: "4.0.3", Topology: mimic.Mongos}, true},
	{mimic.Config{Version: "4.4.29", Topology: mimic.Mongos}, true},
	{mimic.Config{Version: "6.0.5", Topology: mimic.Mongos}, true},
}

// holes adds documents whose key is null or missing.
func holes(t *testing.T, c *mongo.Collection) {
	t.Helper()
	if _, err := c.InsertMany(t.Context(), []any{bson.D{{Key: "_id", Value: 1000001}}, bson.D{{Key: "_id", Value: 1000002}, {Key: "dim0", Value: nil}}, bson.D{{Key: "_id", Value: 1000003}}}); err != nil {
		t.Fatal(err)
	}
}

// countsOf is what the plain aggregation says of the field; of results {_id, value} when results is set.
func countsOf(t *testing.T, c *mongo.Collection, results bool) map[string]float64 {
	t.Helper()
	stages := mongo.Pipeline{{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$dim0"}, {Key: "value", Value: bson.D{{Key: "$sum", Value: 1}}}}}}}
	if results {
		stages = mongo.Pipeline{}
	}
	cur, err := c.Aggregate(t.Context(), stages)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for cur.Next(t.Context()) {
		k := "null"
		if v := cur.Current.Lookup("_id"); v.Type != bson.TypeNull {
			k = fmt.Sprint(asFloat(v))
		}
		if _, twice := got[k]; twice {
			t.Errorf("key %s is there twice", k)
		}
		got[k] = asFloat(cur.Current.Lookup("value"))
	}
	return got
}

func asFloat(v bson.RawValue) float64 {
	if v.Type == bson.TypeDouble {
		return v.Double()
	}
	n, _ := v.AsInt64OK()
	return float64(n)
}

// takes runs parts of a plan as so many machines at the same time, and returns what each said.
func takes(t *testing.T, args []string, parts ...string) (results []bench.Result) {
	t.Helper()
	results = make([]bench.Result, len(parts))
	var work sync.WaitGroup
	for i, part := range parts {
		work.Go(func() {
			code, out, stderr := newSession(t).run(append([]string{"run", "--sample-every", "0", "-o", "json", "--take", part}, args...)...)
			if code != 0 {
				t.Errorf("--take %s: exit code %d: %s", part, code, stderr)
				return
			}
			if err := json.Unmarshal([]byte(out), &results[i]); err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
	return results
}

// Machines that put ranges into one result at the same time make what the plain aggregation gives, and nothing else is left in it.
func TestIntoFromSeveralMachines(t *testing.T) {
	t.Parallel()
	for _, c := range intoServers {
		t.Run(fmt.Sprintf("%s, topology %d", c.config.Version, c.config.Topology), func(t *testing.T) {
			t.Parallel()
			m := mimic.Start(t, c.config)
			uniques(t, m, 400)
			source := m.Inside().Database("test").Collection("uniques")
			holes(t, source)
			if c.sharded {
				shardUniques(t, m)
			}
			want := countsOf(t, source, false)
			s := newSession(t)
			plan := savePlan(t, s, m.URI())
			for i, more := range [][]string{nil, {"--rows", "agg-covered-ranges"}} {
				name := fmt.Sprint("r", i)
				args := append([]string{"--uri", m.URI(), "--plan", plan, "--into", "kept." + name}, more...)
				if c.sharded {
					args = append(args, "--into-sharded")
				}
				results := takes(t, args, "1:2", "3:4")
				kept := m.Inside().Database("kept").Collection(name)
				if got := countsOf(t, kept, true); !maps.Equal(got, want) {
					t.Errorf("%v: %v, not %v", more, got, want)
				}
				if !slices.ContainsFunc(results, func(r bench.Result) bool {
					return r.Into != nil && r.Into.Check != nil && r.Into.Check.Agrees && r.Into.Check.Keys == 21 && r.Into.Check.Sum == 403
				}) {
					t.Errorf("no check: %+v, %+v", results[0].Into, results[1].Into)
				}
				// All is in: nothing is computed again.
				before := len(m.Commands())
				r := runJSON(t, s, args...)
				if r.Into.In != 4 || len(r.Into.Computed) != 0 || !r.Into.Check.Agrees {
					t.Errorf("once more: %+v", r.Into)
				}
				for _, cmd := range m.Commands()[before:] {
					if isMapReduce(cmd) || cmd.Name == "aggregate" && strings.Contains(cmd.Body.String(), "$merge") {
						t.Errorf("computed once more: %s", cmd.Body)
					}
				}
				if n, err := m.Inside().Database("config").Collection("collections").CountDocuments(t.Context(), bson.D{{Key: "_id", Value: "kept." + name}}); err != nil || (n == 1) != c.sharded {
					t.Errorf("sharded: %d, %v", n, err)
				}
			}
			if got := collections(t, m, "kept"); !slices.Equal(got, []string{"r0", "r0.mrbench_parts", "r1", "r1.mrbench_parts"}) {
				t.Errorf("in kept: %v", got)
			}
		})
	}
}

// overlapping is a job whose keys come out of several ranges.
const overlapping = `db.uniques.mapReduce(
  function () { emit(this._id % 7, {n: 1}); },
  function (key, values) { var n = 0; values.forEach(function (v) { n += v.n; }); return {n: n}; },
  {out: "x", finalize: function (key, v) { return v.n * 10; }})`

// Parts with the same keys wait for each other and are reduced once; a machine that died is run again, and nothing counts twice.
func TestIntoReducesAndGoesOn(t *testing.T) {
	t.Parallel()
	for _, c := range intoServers {
		t.Run(fmt.Sprintf("%s, topology %d", c.config.Version, c.config.Topology), func(t *testing.T) {
			t.Parallel()
			m := mimic.Start(t, c.config)
			uniques(t, m, 400)
			if c.sharded {
				shardUniques(t, m)
			}
			s := newSession(t)
			plan := savePlan(t, s, m.URI())
			s.file("job.js", overlapping)
			args := []string{"run", "--uri", m.URI(), "--plan", plan, "--job", "job.js", "--rows", "mr-ranges", "--threads", "1", "--sample-every", "0", "--into", "kept.sevens"}
			if c.sharded {
				args = append(args, "--into-sharded")
			}
			// The third range's command fails, and later what puts the parts together.
			fails := func(match func(mongofake.Command) bool) mimic.Fault {
				return mimic.Fault{Command: "mapReduce", Code: 2, Match: match}
			}
			m.Inject(fails(func(c mongofake.Command) bool { return strings.Contains(c.Body.Lookup("out").String(), "_part_3") }))
			m.Inject(mimic.Fault{Command: "mapReduce", Code: 2, After: true, Match: func(c mongofake.Command) bool { return strings.HasSuffix(namespaceOf(c), "_all") }})
			for try, want := range []int{exitFailed, exitFailed, exitOK} {
				if code, _, stderr := s.run(args...); code != want {
					t.Fatalf("try %d: exit code %d: %s", try+1, code, stderr)
				}
			}
			got := countsOf(t, m.Inside().Database("kept").Collection("sevens"), true)
			for k := range 7 {
				if n := float64((400-k+6)/7) * 10; got[fmt.Sprint(k)] != n {
					t.Errorf("key %d: %v, not %v", k, got[fmt.Sprint(k)], n)
				}
			}
			if len(got) != 7 {
				t.Errorf("%v", got)
			}
			done := 0
			for _, c := range m.Commands() {
				if isMapReduce(c) && strings.Contains(c.Body.Lookup("out").String(), "_part_") {
					done++
				}
			}
			if done != 5 {
				t.Errorf("%d commands for 4 ranges of which one failed once", done)
			}
			if got := collections(t, m, "kept"); !slices.Equal(got, []string{"sevens", "sevens.mrbench_parts"}) {
				t.Errorf("in kept: %v", got)
			}
		})
	}
}

func namespaceOf(c mongofake.Command) string {
	name, _ := c.Body.Lookup(c.Name).StringValueOK()
	return c.DB + "." + name
}

// What a collection holds is kept and added to with --append only, once for each list of ranges.
func TestIntoAppend(t *testing.T) {
	t.Parallel()
	for _, c := range []mimic.Config{{Version: "4.0.3"}, {Version: "4.4.29"}, {Version: "4.0.3", Topology: mimic.Mongos}} {
		for _, row := range []string{"mr-ranges", "agg-ranges"} {
			t.Run(c.Version+" "+row, func(t *testing.T) {
				t.Parallel()
				m := mimic.Start(t, c)
				uniques(t, m, 400)
				holes(t, m.Inside().Database("test").Collection("uniques"))
				kept := m.Inside().Database("kept").Collection("r")
				if _, err := kept.InsertMany(t.Context(), []any{bson.D{{Key: "_id", Value: 3}, {Key: "value", Value: 1000}}, bson.D{{Key: "_id", Value: 99}, {Key: "value", Value: 5}}}); err != nil {
					t.Fatal(err)
				}
				s := newSession(t)
				plan := savePlan(t, s, m.URI())
				args := []string{"--uri", m.URI(), "--plan", plan, "--rows", row, "--into", "kept.r"}
				if code, _, stderr := s.run(append([]string{"run"}, args...)...); code != exitFailed || !strings.Contains(stderr, "kept.r holds documents") {
					t.Fatalf("exit code %d: %s", code, stderr)
				}
				for range 2 {
					if r := runJSON(t, s, append(args, "--append")...); r.Into.Mode != "reduce" || !r.Into.Check.Agrees || r.Into.Check.Sum != 1408 {
						t.Errorf("%+v, %+v", r.Into, r.Into.Check)
					}
				}
				got := countsOf(t, kept, true)
				if got["3"] != 1020 || got["99"] != 5 || got["4"] != 20 || got["null"] != 3 || len(got) != 22 {
					t.Errorf("%v", got)
				}
				// Another list adds once more.
				if code, _, stderr := s.run("split", "--uri", m.URI(), "--ranges", "2", "--save", "two.json"); code != 0 {
					t.Fatal(stderr)
				}
				args = []string{"--uri", m.URI(), "--plan", "two.json", "--rows", row, "--into", "kept.r"}
				if code, _, stderr := s.run(append([]string{"run"}, args...)...); code != exitFailed || !strings.Contains(stderr, "kept.r is complete") {
					t.Fatalf("exit code %d: %s", code, stderr)
				}
				if r := runJSON(t, s, append(args, "--append")...); !r.Into.Check.Agrees || r.Into.Check.Sum != 1811 {
					t.Errorf("%+v, %+v", r.Into, r.Into.Check)
				}
				if got := countsOf(t, kept, true); got["3"] != 1040 || got["99"] != 5 || got["4"] != 40 || len(got) != 22 {
					t.Errorf("%v", got)
				}
			})
		}
	}
}

// An interrupt keeps the ranges that are in, says how many these are, and the same command does the rest.
func TestIntoInterrupted(t *testing.T) {
	t.Parallel()
	m := mimic.Start(t, mimic.Config{})
	uniques(t, m, 400)
	s := newSession(t)
	args := []string{"run", "--uri", m.URI(), "--plan", savePlan(t, s, m.URI()), "--rows", "mr-ranges", "--threads", "1", "--sample-every", "0", "--into", "kept.r", "-o", "json"}
	signals := make(chan os.Signal, 1)
	m.Inject(mimic.Fault{Command: "mapReduce", Nth: 3, Delay: 300 * time.Millisecond})
	seen := 0
	m.Inject(mimic.Fault{Command: "mapReduce", Match: func(mongofake.Command) bool {
		if seen++; seen == 3 {
			signals <- syscall.SIGINT
		}
		return false
	}})
	var out, errs bytes.Buffer
	env := s.environ(args, &out, &errs)
	env.Signals = signals
	if code := Run(t.Context(), env); code != 130 {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	var r bench.Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if x := r.Into; x == nil || x.In != 2 || !slices.Equal(x.Computed, []int{1, 2}) || x.Check != nil {
		t.Errorf("after the interrupt: %+v", x)
	}
	if r := runJSON(t, s, args[1:]...); r.Into.In != 4 || !slices.Equal(r.Into.Computed, []int{3, 4}) || !r.Into.Check.Agrees {
		t.Errorf("after the second run: %+v", r.Into)
	}
}

// A result that somebody else writes to is noticed, another job is refused, and clean leaves the result alone.
func TestIntoIsWatchedOver(t *testing.T) {
	t.Parallel()
	m := mimic.Start(t, mimic.Config{})
	uniques(t, m, 400)
	s := newSession(t)
	plan := savePlan(t, s, m.URI())
	args := []string{"run", "--uri", m.URI(), "--plan", plan, "--sample-every", "0", "--into", "kept.r"}
	code, out, stderr := s.run(append(args, "--take", "1:2")...)
	if code != 0 || !strings.Contains(out, "into kept.r by merge: 2 of 4 ranges in; this run put in 1, 2") {
		t.Fatalf("exit code %d: %s%s", code, out, stderr)
	}
	if _, out, _ := s.run("clean", "--uri", m.URI()); !strings.Contains(out, "still to come") {
		t.Errorf("clean before the end: %s", out)
	}
	kept := m.Inside().Database("kept").Collection("r")
	if _, err := kept.InsertOne(t.Context(), bson.D{{Key: "_id", Value: "strange"}, {Key: "value", Value: 1}}); err != nil {
		t.Fatal(err)
	}
	if code, out, stderr = s.run(append(args, "--take", "3:4")...); code != exitDiffer || !strings.Contains(out, "THEY DIFFER") {
		t.Errorf("exit code %d: %s%s", code, out, stderr)
	}
	s.file("job.js", overlapping)
	if code, _, stderr := s.run(append(args, "--job", "job.js", "--rows", "mr-ranges")...); code != exitFailed || !strings.Contains(stderr, "result of another job") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if _, out, _ := s.run("clean", "--uri", m.URI()); !strings.Contains(out, "kept.r.mrbench_parts") {
		t.Errorf("clean: %s", out)
	}
	if got := collections(t, m, "kept"); !slices.Equal(got, []string{"r"}) {
		t.Errorf("in kept: %v", got)
	}
}

func TestIntoRefusals(t *testing.T) {
	t.Parallel()
	m := mimic.Start(t, mimic.Config{})
	uniques(t, m, 100)
	for _, c := range []struct{ args, want string }{
		{"--into kept.r --ladder", "keeps the result of one variant"},
		{"--into kept.r --rows mr-ranges,agg-ranges", "keeps the result of one variant"},
		{"--into kept.r --rows agg", "agg is not run in ranges"},
		{"--into kept.r --jsmode", "takes no jsMode"},
		{"--into kept.r --runs 3", "leave --runs out"},
		{"--into kept.r --out-db x", "leave --out-db out"},
		{"--into admin.r", "admin"},
		{"--into kept", "a namespace is"},
		{"--into test.uniques", "is the collection that is read"},
		{"--into kept." + strings.Repeat("x", 90), "use a shorter name"},
		{"--append", "name a collection"},
		{"--into kept.r --into-sharded", "--into-sharded is for a sharded cluster"},
	} {
		if code, _, stderr := newSession(t).run(append([]string{"run", "--uri", m.URI()}, strings.Fields(c.args)...)...); code == exitOK || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit code %d: %s", c.args, code, stderr)
		}
	}
}

// What --dry-run prints for a result that is not there yet names the commands, and sends none that writes.
func TestIntoDryRun(t *testing.T) {
	t.Parallel()
	m := mimic.Start(t, mimic.Config{Version: "4.0.3", Topology: mimic.Mongos})
	uniques(t, m, 200)
	shardUniques(t, m)
	before := len(m.Commands())
	code, out, stderr := newSession(t).run("run", "--uri", m.URI(), "--dry-run", "--ranges", "3", "--into", "kept.r", "--into-sharded")
	if code != 0 {
		t.Fatal(stderr)
	}
	for _, want := range []string{`{create: "r"}`, `shardCollection: "kept.r"`, `_put_1", db: "kept"}`, `insert: "r.mrbench_parts"`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
	if sent := sentWrites(m, before); len(sent) > 0 {
		t.Errorf("sent: %v", sent)
	}
}

// Two machines fill one result, sharded where there are shards, by mapReduce and by pipelines, and a third adds nothing.
func realInto(t *testing.T, uri string) {
	db := ownDatabase(t, uri)
	s := newSession(t)
	ns := db + ".uniques"
	for _, args := range [][]string{{"seed", "--docs", "5000"}, {"split", "--ranges", "4", "--save", "ranges.json"}} {
		if code, _, stderr := s.run(append(args, "--uri", uri, "--ns", ns)...); code != 0 {
			t.Fatal(stderr)
		}
	}
	plan := filepath.Join(s.dir, "ranges.json")
	f, err := os.Open(plan)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l, err := splitter.ReadList(f)
	if err != nil || len(l.Pieces) < 2 {
		t.Fatalf("%+v, %v", l, err)
	}
	client := realClient(t, uri)
	hello, err := client.Database("admin").RunCommand(t.Context(), bson.D{{Key: "isMaster", Value: 1}}).Raw()
	if err != nil {
		t.Fatal(err)
	}
	holes(t, client.Database(db).Collection("uniques"))
	if err := os.Remove(plan); err != nil { // cut anew, and a list that is there is not replaced
		t.Fatal(err)
	}
	if code, _, stderr := s.run("split", "--ranges", "4", "--save", "ranges.json", "--uri", uri, "--ns", ns); code != 0 {
		t.Fatal(stderr)
	}
	want := countsOf(t, client.Database(db).Collection("uniques"), false)
	for i, row := range []string{"mr-ranges", "agg-ranges"} {
		name := fmt.Sprint("kept", i)
		args := []string{"--uri", uri, "--plan", plan, "--rows", row, "--into", db + "." + name}
		if msg, _ := hello.Lookup("msg").StringValueOK(); msg == "isdbgrid" {
			args = append(args, "--into-sharded")
		}
		takes(t, args, "1:1", fmt.Sprintf("2:%d", len(l.Pieces)))
		if got := countsOf(t, client.Database(db).Collection(name), true); !maps.Equal(got, want) {
			t.Errorf("%s: %d keys, not %d, or other counts", row, len(got), len(want))
		}
		if r := runJSON(t, s, args...); len(r.Into.Computed) > 0 || r.Into.Check == nil || !r.Into.Check.Agrees {
			t.Errorf("%s: %+v", row, r.Into)
		}
	}
	s.file("job.js", overlapping)
	r := runJSON(t, s, "--uri", uri, "--plan", plan, "--job", "job.js", "--rows", "mr-ranges", "--into", db+".sevens")
	if r.Into.Mode != "reduce" || r.Into.Check == nil || !r.Into.Check.Agrees {
		t.Errorf("%+v", r.Into)
	}
}

func (s *session) file(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}
