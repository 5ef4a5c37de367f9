package cli

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"mrbench/internal/bench"
	"mrbench/internal/target"
)

// realPolite runs with limits that a quiet server keeps.
func realPolite(t *testing.T, uri string) {
	ns := ownDatabase(t, uri) + ".uniques"
	s := newSession(t)
	if code, _, stderr := s.run("seed", "--uri", uri, "--ns", ns, "--docs", "2000", "--batch", "500", "--nice"); code != 0 {
		t.Fatal(stderr)
	}
	code, stdout, stderr := s.run("run", "--uri", uri, "--ns", ns, "--rows", "mr-ranges,agg-ranges", "--threads", "2", "--nice", "--max-load", "lag=1h,queue=1000,cache-used=100%,rest=10ms", "-v", "-o", "json")
	var r bench.Result
	if code != 0 || json.Unmarshal([]byte(stdout), &r) != nil {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, row := range r.Rows {
		if row.Threads != 1 || row.Ranges != 2 || row.Skipped == "" && (row.Answer == nil || len(row.PausedFor) != 1) {
			t.Errorf("%+v", row)
		}
	}
	if !strings.Contains(stderr, "limits: lag=1h0m0s,queue=1000,") || !strings.Contains(stderr, `db.currentOp({appName: "mrbench run `) {
		t.Error(stderr)
	}
	if asked := "asked for their load by connections of their own: shard"; strings.Contains(stderr, "sharded cluster of") && !strings.Contains(stderr, asked) && !strings.Contains(stderr, "not watched: shard") {
		t.Errorf("nothing is said of shards: %s", stderr)
	}
}

// realKill has a second client stop a mapReduce that would not end.
func realKill(t *testing.T, uri string) {
	db := ownDatabase(t, uri)
	ns := db + ".uniques"
	s := newSession(t)
	if code, _, stderr := s.run("seed", "--uri", uri, "--ns", ns, "--docs", "500", "--keys", "20"); code != 0 {
		t.Fatal(stderr)
	}
	job := endlessJob(t, s, ns)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	killed := make(chan error, 1)
	go func() {
		killed <- killWhenSeen(ctx, realClient(t, uri).Database("admin"), "mrbench run", db, "mapReduce")
	}()
	code, stdout, stderr := s.run("run", "--uri", uri, "--job", job, "--rows", "mr,agg", "--runs", "2", "--shuffle-seed", "off", "--sample-every", "0")
	cancel()
	if err := <-killed; err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	if code != exitPartial || !strings.Contains(strings.Join(strings.Fields(stdout), " "), "was stopped on the server by someone (killOp") {
		t.Errorf("exit code %d: %s\n%s", code, stdout, stderr)
	}
}

// scripts says why a server can't run an endless script.
func scripts(f *target.Facts) string {
	if f.Scripting != target.Yes {
		return "no JavaScript: " + f.ScriptingWhy
	}
	return ""
}
