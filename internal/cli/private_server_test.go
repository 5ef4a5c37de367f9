package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mrbench/internal/bench"
	"mrbench/internal/throwaway/fakemongod"
)

func TestMain(m *testing.M) {
	fakemongod.Main()
	os.Exit(m.Run())
}

// nothingLeft checks that no throw-away server of a session is recorded any more.
func (s *session) nothingLeft() {
	s.t.Helper()
	left, err := filepath.Glob(filepath.Join(s.dir, ".local", "share", "mrbench", "throwaway", "*.ndjson"))
	if err != nil || len(left) > 0 {
		s.t.Errorf("left: %v %v", left, err)
	}
}

// run fills a server of its own, measures it and removes it.
func TestRunOnAPrivateServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ topology, shown string }{
		{"standalone", "standalone"}, {"replset", "replica set rs0"}, {"sharded:2", "sharded"},
	} {
		t.Run(c.topology, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			mongod := fakemongod.Install(t, t.TempDir(), "4.0.3")
			args := []string{"--mongod", mongod, "--topology", c.topology}
			code, stdout, stderr := s.run(append(args, "run", "--docs", "500", "--rows", "mr,agg", "--runs", "1", "--warmup", "0", "--sample-every", "0", "-o", "json")...)
			var r bench.Result
			if err := json.Unmarshal([]byte(stdout), &r); code != 0 || err != nil {
				t.Fatalf("exit code %d, %v: %s", code, err, stderr)
			}
			if r.Server.Kind != "mongodb" || r.Server.Version != "4.0.3" || r.Server.Topology != c.shown || !r.Server.Throwaway {
				t.Errorf("server %+v", r.Server)
			}
			if r.Rows[1].Answer == nil || r.Dataset.Documents != 500 {
				t.Errorf("%+v", r)
			}
			for _, want := range []string{"starting mongod 4.0.3 (", "test.uniques does not exist: seeding 500 documents"} {
				if !strings.Contains(stderr, want) {
					t.Errorf("no %q in %s", want, stderr)
				}
			}
			s.nothingLeft()
			if c.topology != "standalone" {
				return
			}
			if code, stdout, stderr := s.run(append(args, "doctor")...); code != 0 || !strings.HasPrefix(stdout, "MongoDB 4.0.3, standalone, throw-away") {
				t.Errorf("doctor: %d %s %s", code, stdout, stderr)
			}
			code, _, stderr = s.run(append(args, "split")...)
			if code != exitFailed || !strings.Contains(stderr, "does not exist on a server that was just started") {
				t.Errorf("split: %d %s", code, stderr)
			}
			code, _, stderr = s.run(append(args, "seed", "--docs", "100")...)
			if code != 0 || !strings.Contains(stderr, "the documents are removed with the server") {
				t.Errorf("seed: %d %s", code, stderr)
			}
			s.nothingLeft()
		})
	}
}

// A server that dies ends the run, which says so and leaves nothing; one that can't be started is not reachable.
func TestPrivateServerDies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fail string
		code int
		want []string
	}{
		{fakemongod.DieLater, exitFailed, []string{"the server of --mongod died: mongod ended, exit code 14; its log ends: ", "told to die"}},
		{fakemongod.Exit, exitUnreachable, []string{"--mongod: mongod ended, exit code 1; its log ends: ", "told to fail"}},
		{fakemongod.Library, exitUsage, []string{"--mongod: ", "libcrypto"}},
	} {
		s := newSession(t)
		code, _, stderr := s.run("run", "--docs", "500", "--rows", "mr", "--runs", "2", "--mongod", fakemongod.Install(t, t.TempDir(), "4.0.3", c.fail))
		if code != c.code {
			t.Errorf("%s: exit code %d: %s", c.fail, code, stderr)
		}
		for _, want := range c.want {
			if !strings.Contains(stderr, want) {
				t.Errorf("%s: no %q in %s", c.fail, want, stderr)
			}
		}
		s.nothingLeft()
	}
}

// Flags that contradict each other, and commands that need no server.
func TestPrivateServerFlags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "--mongod", "m", "--uri", "mongodb://h"}, "use one of them"},
		{[]string{"run", "--topology", "replset"}, "--topology replset: it is what --mongod starts"},
		{[]string{"run", "--mongod", "m", "--topology", "sharded:9"}, "up to 8 shards"},
		{[]string{"run", "--mongod", ""}, "--mongod needs the path"},
		{[]string{"run", "--mongod", "m"}, "no such file or directory"},
		{[]string{"clean", "--mongod", "m"}, "is removed with it"},
		{[]string{"serve", "--mongod", "m"}, "serve is for the embedded engine"},
		{[]string{"report", "--mongod", "m", "latest"}, "asks no server"},
	} {
		s := newSession(t)
		s.env["MRBENCH_URI"] = "mongodb://127.0.0.1:1/" // gives way to --mongod
		if code, _, stderr := s.run(c.args...); code != exitUsage || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: %d %s", c.args, code, stderr)
		}
	}
}
