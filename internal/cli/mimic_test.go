package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/bench"
	"mrbench/internal/mimic"
	"mrbench/internal/mongofake"
)

// uniques fills test.uniques with n documents of 20 keys, past the mimic.
func uniques(t *testing.T, m *mimic.Server, n int) {
	t.Helper()
	c := m.Inside().Database("test").Collection("uniques")
	var docs []any
	for i := range n {
		docs = append(docs, bson.D{{Key: "_id", Value: i}, {Key: "dim0", Value: i % 20}})
	}
	if _, err := c.InsertMany(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	if err := c.Database().RunCommand(t.Context(), bson.D{{Key: "createIndexes", Value: "uniques"}, {Key: "indexes", Value: bson.A{
		bson.D{{Key: "key", Value: bson.D{{Key: "dim0", Value: 1}}}, {Key: "name", Value: "dim0_1"}},
	}}}).Err(); err != nil {
		t.Fatal(err)
	}
}

// ladderOn runs all rows and returns the result.
func ladderOn(t *testing.T, uri string, more ...string) (r bench.Result, code int, stderr string) {
	t.Helper()
	s := newSession(t)
	args := append([]string{"run", "--ladder", "--threads", "2", "--ranges", "3", "--uri", uri, "--sample-every", "0", "-o", "json"}, more...)
	code, stdout, stderr := s.run(args...)
	if code == exitOK || code == exitPartial {
		if err := json.Unmarshal([]byte(stdout), &r); err != nil {
			t.Fatalf("%v\n%s\n%s", err, stdout, stderr)
		}
	}
	// What a run leaves behind is for nobody.
	if _, out, _ := s.run("clean", "--dry-run", "--uri", uri); !strings.Contains(out, "nothing of mrbench's is left") {
		t.Errorf("left behind: %s", out)
	}
	return r, code, stderr
}

func rowsWith(r bench.Result, is func(bench.Row) bool) (ids []string) {
	for _, row := range r.Rows {
		if is(row) {
			ids = append(ids, row.ID)
		}
	}
	return ids
}

// run says before it starts which rows have no effect on the server, and marks them.
func TestRunSaysWhatHasNoEffect(t *testing.T) {
	t.Parallel()
	pipelines := []string{"mr-sort", "mr-ranges-dbs", "mr-ranges-dbs-js"}
	all := []string{"mr", "mr-sort", "mr-ranges", "mr-ranges-dbs", "mr-ranges-dbs-js"}
	for _, c := range []struct {
		name    string
		config  mimic.Config
		sharded bool
		none    []string
		skipped []string
		said    string
	}{
		{"3.6", mimic.Config{Version: "3.6.23"}, false, []string{"mr-ranges-dbs"}, nil, "mr-ranges-dbs: separate output databases have no effect here: this storage locks documents"},
		{"4.0 mongos", mimic.Config{Version: "4.0.3", Topology: mimic.Mongos}, true, []string{"mr-ranges-dbs", "mr-ranges-dbs-js"}, nil, "mr-ranges-dbs-js: no effect here: a mongos before 4.4 refuses the field"},
		{"4.0 mongos, not sharded", mimic.Config{Version: "4.0.3", Topology: mimic.Mongos}, false, []string{"mr-ranges-dbs", "mr-ranges-dbs-js"}, nil, "mr-ranges-dbs-js: no effect here: a mongos before 4.4 refuses the field"},
		{"4.4", mimic.Config{Version: "4.4.29"}, false, pipelines, nil, "mr-sort: no effect here: since 4.4 mapReduce runs as a pipeline"},
		{"5.0 set", mimic.Config{Version: "5.0.3", Topology: mimic.ReplicaSet}, false, pipelines, nil, "mr-ranges-dbs-js: no effect here: since 4.4 mapReduce runs as a pipeline"},
		{"8.0 mongos", mimic.Config{Version: "8.0.4", Topology: mimic.Mongos}, true, pipelines, nil, "mr-sort: no effect here: since 4.4"},
		{"no scripting", mimic.Config{Version: "4.2.24", NoScripting: true}, false, nil, all, "rows of mapReduce are skipped: this server can't run mapReduce: this server was built without JavaScript"},
		{"no splitVector", mimic.Config{Version: "4.2.24", SplitVector: 59}, false, []string{"mr-ranges-dbs"}, nil, "mr-ranges-dbs: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := mimic.Start(t, c.config)
			uniques(t, m, 500)
			if c.sharded {
				shardUniques(t, m)
			}
			r, code, stderr := ladderOn(t, m.URI())
			if code != 0 {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			before, _, _ := strings.Cut(stderr, "proof: ")
			if !strings.Contains(before, c.said) {
				t.Errorf("not said before the run: %s", before)
			}
			if got := rowsWith(r, func(r bench.Row) bool { return r.NoEffect != nil }); !slices.Equal(got, c.none) {
				t.Errorf("no effect: %v, not %v", got, c.none)
			}
			if got := rowsWith(r, func(r bench.Row) bool { return r.Skipped != "" }); !slices.Equal(got, c.skipped) {
				t.Errorf("skipped: %v, not %v", got, c.skipped)
			}
			for _, row := range r.Rows {
				if row.Skipped == "" && (row.Answer == nil || row.Answer.Keys != 20) {
					t.Errorf("%s: answer %+v, error %q", row.ID, row.Answer, row.Error)
				}
				if row.NoEffect != nil && !strings.HasSuffix(effect(row), ": none") {
					t.Errorf("%s: effect %q", row.ID, effect(row))
				}
			}
			if len(c.skipped) > 0 && slices.ContainsFunc(m.Commands(), isMapReduce) {
				t.Error("mapReduce was sent though the server can't run it")
			}
		})
	}
}

// shardUniques shards test.uniques over both shards.
func shardUniques(t *testing.T, m *mimic.Server) {
	t.Helper()
	key := func(n int) bson.D { return bson.D{{Key: "dim0", Value: n}} }
	admin := m.Client(t).Database("admin")
	for _, cmd := range []bson.D{
		{{Key: "enableSharding", Value: "test"}},
		{{Key: "shardCollection", Value: "test.uniques"}, {Key: "key", Value: key(1)}},
		{{Key: "split", Value: "test.uniques"}, {Key: "middle", Value: key(6)}},
		{{Key: "split", Value: "test.uniques"}, {Key: "middle", Value: key(14)}},
		{{Key: "moveChunk", Value: "test.uniques"}, {Key: "find", Value: key(15)}, {Key: "to", Value: "s2"}},
	} {
		if err := admin.RunCommand(t.Context(), cmd).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func isMapReduce(c mongofake.Command) bool { return c.Name == "mapReduce" }
