package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/mimic"
	"mrbench/mr"
)

// tune tries what a server can do, and says of the rest why not.
func TestTuneOnServers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		config  mimic.Config
		sharded bool
		tried   string
		reasons string // one of them
	}{
		{"3.6", mimic.Config{Version: "3.6.23"}, false, "agg agg-ranges mr mr-js mr-ranges mr-ranges-js mr-sort mr-sort-js", "separate databases: this storage"},
		{"4.0 mongos", mimic.Config{Version: "4.0.3", Topology: mimic.Mongos}, true, "agg agg-ranges mr mr-ranges mr-sort", "jsMode: a mongos before 4.4"},
		{"8.0", mimic.Config{Version: "8.0.4"}, false, "agg agg-ranges mr mr-ranges", "sort: since 4.4 mapReduce runs as a pipeline"},
		{"no scripting", mimic.Config{Version: "4.2.24", NoScripting: true}, false, "agg agg-ranges", "this server was built without JavaScript"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := mimic.Start(t, c.config)
			uniques(t, m, 500)
			if c.sharded {
				shardUniques(t, m)
			}
			s := newSession(t)
			code, stdout, stderr := s.run("tune", "--uri", m.URI(), "--max-threads", "2", "--budget", "3s", "-o", "json",
				"--rows", "mr,mr-sort,mr-js,mr-sort-js,mr-ranges,mr-ranges-js,mr-ranges-dbs,agg,agg-ranges")
			if code != 0 {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			var r tuneResult
			if err := json.Unmarshal([]byte(stdout), &r); err != nil {
				t.Fatal(err)
			}
			tried := map[string]bool{}
			for _, x := range r.Candidates {
				tried[x.Row] = true
				if x.Error != "" || strings.HasPrefix(x.Out, "skipped") {
					t.Errorf("%s: %s%s", x.Row, x.Error, x.Out)
				}
			}
			want := map[string]bool{}
			for row := range strings.FieldsSeq(c.tried) {
				want[row] = true
			}
			if d := cmp.Diff(want, tried); d != "" {
				t.Error(d)
			}
			if text, _ := json.Marshal(r.Skipped); !strings.Contains(string(text), c.reasons) {
				t.Errorf("%s has no %q", text, c.reasons)
			}
			if r.Agrees == nil || !*r.Agrees || r.Best == nil {
				t.Errorf("agrees %v, best %v", r.Agrees, r.Best)
			}
			if _, out, _ := s.run("clean", "--dry-run", "--uri", m.URI()); !strings.Contains(out, "nothing of mrbench's is left") {
				t.Errorf("left behind: %s", out)
			}
		})
	}
}

// A part of a job without ranges is its first documents, after its own query; the job itself stays as it is.
func TestPartsOfJobs(t *testing.T) {
	t.Parallel()
	match := bson.D{{Key: "$match", Value: bson.D{{Key: "status", Value: "done"}}}}
	group := bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$k"}}}}
	first := bson.D{{Key: "k", Value: bson.D{{Key: "$lt", Value: 5}}}}
	query := bson.D{{Key: "status", Value: "done"}}
	job := &runJob{mr: mr.Job{Query: query, Limit: 50}, pipeline: []bson.D{match, group}}
	same := func(what string, got, want any) {
		t.Helper()
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
	l := job.limited(20)
	same("limit", l.mr.Limit, int64(20))
	same("limited pipeline", l.pipeline, []bson.D{match, {{Key: "$limit", Value: int64(20)}}, group})
	same("own limit", job.limited(90).mr.Limit, int64(50))
	w := job.within(first)
	same("query", w.mr.Query, bson.D{{Key: "$and", Value: bson.A{query, first}}})
	same("pipeline within", w.pipeline, []bson.D{{{Key: "$match", Value: first}}, match, group})
	same("no query", (&runJob{}).within(first).mr.Query, first)
	if w := (&runJob{}).within(first); w.pipeline != nil {
		t.Errorf("a pipeline out of nothing: %v", w.pipeline)
	}
	if l := (&runJob{}).limited(3); l.pipeline != nil {
		t.Errorf("a pipeline out of nothing: %v", l.pipeline)
	}
	same("everything", job.within(bson.D{}).pipeline, job.pipeline)
	same("the job", fmt.Sprint(job.mr, job.pipeline), fmt.Sprint(mr.Job{Query: query, Limit: 50}, []bson.D{match, group}))
}
