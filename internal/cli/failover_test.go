package cli

import (
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/bench"
	"mrbench/internal/mimic"
	"mrbench/internal/mongofake"
)

func groups(c mongofake.Command) bool { return strings.Contains(c.Body.String(), "$group") }

func merges(c mongofake.Command) bool { return strings.Contains(c.Body.String(), "$merge") }

// A server that goes away in the middle of a row costs a second try of that row, or the row, and never the others.
func TestFailOver(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		config  mimic.Config
		rows    string
		faults  []mimic.Fault
		retried []string
		failed  []string
		said    string
		code    int
		more    []string
	}{
		{
			"not primary",
			mimic.Config{Topology: mimic.ReplicaSet},
			"mr-ranges,agg",
			[]mimic.Fault{{Command: "mapReduce", Nth: 2, Code: mimic.NotPrimary}},
			[]string{"mr-ranges"},
			nil, "mr-ranges was run a second time", 0, nil,
		},
		{
			"not primary, 5.0",
			mimic.Config{Version: "5.0.3", Topology: mimic.ReplicaSet},
			"mr,agg",
			[]mimic.Fault{{Command: "mapReduce", Code: mimic.NotPrimary, After: true}},
			[]string{"mr"},
			nil, "mr was run a second time", 0, nil,
		},
		{
			"cut off after the work",
			mimic.Config{},
			"mr,mr-ranges,agg",
			[]mimic.Fault{{Command: "mapReduce", HangUp: true, After: true}},
			[]string{"mr"},
			nil, "mr was run a second time", 0,
			[]string{"--shuffle-seed", "off"},
		},
		{
			"cut off, in one database",
			mimic.Config{},
			"mr-ranges,agg",
			[]mimic.Fault{{Command: "mapReduce", Nth: 3, HangUp: true, After: true}},
			[]string{"mr-ranges"},
			nil, "mr-ranges was run a second time", 0,
			[]string{"--out-db", "reports"},
		},
		{
			"in a pipeline",
			mimic.Config{Topology: mimic.ReplicaSet},
			"mr,agg",
			// The driver itself tries a read twice.
			[]mimic.Fault{{Command: "aggregate", Match: groups, Times: 2, Code: mimic.NotPrimary}},
			[]string{"agg"},
			nil, "agg was run a second time", 0, nil,
		},
		{
			"a member steps down for a while",
			mimic.Config{Topology: mimic.ReplicaSet},
			"mr-ranges,agg",
			[]mimic.Fault{{Command: "mapReduce", Nth: 2, Code: 11602, StepDown: 300 * time.Millisecond}},
			[]string{"mr-ranges"},
			nil, "mr-ranges was run a second time", 0, nil,
		},
		{
			"while merging",
			mimic.Config{Version: "4.2.24", Topology: mimic.ReplicaSet},
			"mr-ranges,agg",
			[]mimic.Fault{{Command: "aggregate", Match: merges, Code: 189}},
			[]string{"mr-ranges"},
			nil, "mr-ranges was run a second time", 0, nil,
		},
		{
			"a cursor is lost",
			mimic.Config{Topology: mimic.ReplicaSet, BatchSize: 5},
			"agg,mr",
			[]mimic.Fault{{Command: "getMore", Code: 43}},
			[]string{"agg"},
			nil, "agg was run a second time", 0, []string{"--shuffle-seed", "off"},
		},
		{
			"a cursor is cut off",
			mimic.Config{BatchSize: 5},
			"agg,mr",
			[]mimic.Fault{{Command: "getMore", HangUp: true}},
			[]string{"agg"},
			nil, "agg was run a second time", 0, []string{"--shuffle-seed", "off"},
		},
		{
			"a shard, by a router of 4.0",
			mimic.Config{Topology: mimic.Mongos},
			"mr,agg",
			[]mimic.Fault{{Command: "mapReduce", Reply: bson.D{{Key: "ok", Value: 0.0}, {Key: "errmsg", Value: `MR parallel processing failed: { ok: 0.0, errmsg: "interrupted", code: 11602, codeName: "InterruptedDueToReplStateChange" }`}}}},
			[]string{"mr"},
			nil, "mr was run a second time", 0, nil,
		},
		{
			"a shard has no primary",
			mimic.Config{Version: "5.0.3", Topology: mimic.Mongos},
			"mr,agg",
			[]mimic.Fault{{Command: "mapReduce", Code: 133}},
			[]string{"mr"},
			nil, "mr was run a second time", 0, nil,
		},
		{
			"while splitting",
			mimic.Config{Topology: mimic.ReplicaSet},
			"mr-ranges,agg",
			[]mimic.Fault{{Command: "count", Match: func(c mongofake.Command) bool { return c.Body.Lookup("hint").Type != 0 }, Nth: 2, Code: 11602}},
			nil, nil, "", 0, nil,
		},
		{
			"twice",
			mimic.Config{Topology: mimic.ReplicaSet},
			"mr,agg",
			[]mimic.Fault{{Command: "mapReduce", Times: 2, Code: mimic.NotPrimary}},
			nil,
			[]string{"mr"},
			"this was the second try", 3, nil,
		},
		{
			"no clean slate",
			mimic.Config{Topology: mimic.ReplicaSet},
			"mr,agg",
			[]mimic.Fault{{Command: "mapReduce", Code: mimic.NotPrimary}, {Command: "dropDatabase", Code: 13}},
			nil,
			[]string{"mr"},
			"the partial output could not be dropped", 3, nil,
		},
		{
			"a refusal",
			mimic.Config{Topology: mimic.ReplicaSet},
			"mr,agg",
			[]mimic.Fault{{Command: "mapReduce", Code: 16}},
			nil,
			[]string{"mr"},
			"mr failed: ", 3, nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := mimic.Start(t, c.config)
			uniques(t, m, 500)
			for _, f := range c.faults {
				m.Inject(f)
			}
			s := newSession(t)
			args := append([]string{"run", "--rows", c.rows, "--threads", "2", "--ranges", "3", "--uri", m.URI(), "--sample-every", "0", "--save", "r.ndjson"}, c.more...)
			code, stdout, stderr := s.run(args...)
			if code != c.code || !strings.Contains(strings.Join(strings.Fields(stdout), " "), c.said) {
				t.Errorf("exit code %d, no %q in %s\n%s", code, c.said, stdout, stderr)
			}
			rs, err := bench.Load(s.dir + "/r.ndjson")
			if err != nil {
				t.Fatal(err)
			}
			r := rs[0]
			var retried []string
			for _, x := range r.Samples {
				if x.Retried != "" {
					retried = append(retried, x.Row)
				}
			}
			if !slices.Equal(retried, c.retried) {
				t.Errorf("retried %v, not %v", retried, c.retried)
			}
			if got := rowsWith(*r, func(r bench.Row) bool { return r.Error != "" }); !slices.Equal(got, c.failed) {
				t.Errorf("failed %v, not %v", got, c.failed)
			}
			for _, row := range r.Rows {
				if row.Error == "" && (row.Answer == nil || row.Answer.Keys != 20 || row.Agrees != nil && !*row.Agrees) {
					t.Errorf("%s: %+v", row.ID, row)
				}
			}
			if _, out, _ := s.run("clean", "--dry-run", "--uri", m.URI(), "--out-db", "reports"); !strings.Contains(out, "nothing of mrbench's is left") {
				t.Errorf("left behind: %s", out)
			}
		})
	}
}
