package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"mrbench/internal/bench"
	"mrbench/internal/mimic"
	"mrbench/internal/mongofake"
)

// busyFirst is a load that the first look of a governor meets, and no later one.
func busyFirst(l mimic.Load, of string) func(mongofake.Command) mimic.Load {
	looks := 0
	return func(c mongofake.Command) mimic.Load {
		if c.Name != of || of == "serverStatus" && c.Body.Lookup("locks").Type == 0 {
			return mimic.Load{Delay: l.Delay}
		}
		if looks++; looks > 1 {
			return mimic.Load{Lag: l.Delay, Delay: l.Delay}
		}
		return l
	}
}

// A row waits while the server is busy, its times are marked, and the others are not.
func TestRunWaitsForABusyServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		config mimic.Config
		load   mimic.Load
		of     string
		why    string
	}{
		{"queue, 3.6", mimic.Config{Version: "3.6.23"}, mimic.Load{Queue: 35}, "serverStatus", "queue 35 above 20"},
		{"dirty cache", mimic.Config{}, mimic.Load{Dirty: 0.18}, "serverStatus", "dirty cache 18% above 15%"},
		{"full cache, 5.0", mimic.Config{Version: "5.0.3"}, mimic.Load{Used: 0.97}, "serverStatus", "cache in use 97% above 95%"},
		{"tickets, 4.0", mimic.Config{}, mimic.Load{Taken: 120}, "serverStatus", "free write tickets 8 of 128 below 10%"},
		{"tickets, 8.0", mimic.Config{Version: "8.0.4"}, mimic.Load{Taken: 120}, "serverStatus", "free write tickets 8 of 128 below 10%"},
		{"lag", mimic.Config{Topology: mimic.ReplicaSet}, mimic.Load{Lag: 30 * time.Second}, "replSetGetStatus", "replication lag 30s (db2:27017) above 15s"},
		{"lag of a member that is meant to be late", mimic.Config{Version: "6.0.3", Topology: mimic.ReplicaSet}, mimic.Load{Lag: 80 * time.Second, Delay: time.Minute}, "replSetGetStatus", "replication lag 20s (db2:27017) above 15s"},
		{"queue of a shard", mimic.Config{Topology: mimic.Mongos}, mimic.Load{Queue: 35}, "aggregate", "shard s1: queue 35 above 20"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := mimic.Start(t, c.config)
			uniques(t, m, 200)
			m.SetLoad(busyFirst(c.load, c.of))
			s := newSession(t)
			code, stdout, stderr := s.run("run", "--rows", "agg,agg-ranges", "--threads", "2", "--ranges", "2", "--shuffle-seed", "off", "--max-load", "default,threads=1",
				"--uri", m.URI(), "--sample-every", "0", "--save", "r.ndjson")
			if code != 0 {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			all, err := bench.Load(s.dir + "/r.ndjson")
			if err != nil {
				t.Fatal(err)
			}
			agg, ranges := all[0].Rows[0], all[0].Rows[1]
			if agg.PausedRuns != 1 || agg.PausedSeconds <= 0 || agg.PausedSeconds > agg.Seconds.Median || !slices.Equal(agg.PausedFor, []string{c.why}) {
				t.Errorf("%+v", agg)
			}
			if ranges.PausedRuns != 0 || ranges.PausedFor != nil || ranges.Threads != 1 || ranges.Ranges != 2 {
				t.Errorf("%+v", ranges)
			}
			if text := strings.Join(strings.Fields(stdout), " "); !strings.Contains(text, "agg was paused for ") || !strings.Contains(text, c.why+": not to be compared") {
				t.Errorf("not said under the table: %s", stdout)
			}
			if !strings.Contains(stdout, " paused ") { // a column
				t.Errorf("no column: %s", stdout)
			}
			// A range's own time holds no pause, and the CSV says how long they were.
			if code, csv, stderr := s.run("report", "r.ndjson", "-o", "csv"); code != 0 || !strings.HasSuffix(strings.Split(csv, "\n")[1], fmt.Sprintf(",%.6f,1", agg.PausedSeconds)) || !strings.HasSuffix(strings.Split(csv, "\n")[2], ",0.000000,0") {
				t.Errorf("%s%s", csv, stderr)
			}
			for _, say := range []string{"1 thread instead of 2", "held back: " + c.why, "no longer held back, after"} {
				if !strings.Contains(stderr, say) {
					t.Errorf("no %q in %s", say, stderr)
				}
			}
			copied, err := os.ReadFile(s.dir + "/r.ndjson")
			if err == nil {
				err = os.WriteFile(s.dir+"/again.ndjson", copied, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, out, err := s.run("compare", "r.ndjson", "again.ndjson"); !strings.Contains(strings.Join(strings.Fields(out), " "), "times of agg hold pauses for the sake of others") {
				t.Errorf("compare does not warn: %s%s", out, err)
			}
		})
	}
}

// A server that stays busy fails the row that waits for it.
func TestMaxPause(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	set := mimic.Start(t, mimic.Config{})
	uniques(t, set, 200)
	set.SetLoad(func(mongofake.Command) mimic.Load { return mimic.Load{Queue: 7} })
	code, stdout, stderr := s.run("run", "--rows", "mr", "--nice", "--max-pause", "10ms", "--uri", set.URI(), "--sample-every", "0")
	if code != exitFailed || !strings.Contains(stderr, "the server was too busy for") || !strings.Contains(stderr, "queue 7 above 5") {
		t.Errorf("exit code %d: %s %s", code, stdout, stderr)
	}
	if slices.ContainsFunc(set.Commands(), isMapReduce) {
		t.Error("a command was sent in spite of it")
	}
}

// A load of documents waits between batches; its inserts are tagged where a server takes that.
func TestSeedWaitsForABusyServer(t *testing.T) {
	t.Parallel()
	for version, tagged := range map[string]bool{"4.0.3": false, "4.4.29": true} {
		m := mimic.Start(t, mimic.Config{Version: version})
		m.SetLoad(busyFirst(mimic.Load{Queue: 50}, "serverStatus"))
		s := newSession(t)
		code, stdout, stderr := s.run("seed", "--docs", "100", "--batch", "50", "--writers", "4", "--max-load", "queue=20,threads=1", "--uri", m.URI())
		if code != 0 || !strings.Contains(stderr, "1 writer instead of 4") || !strings.Contains(stdout, "held back for") || !strings.Contains(stdout, "queue 50 above 20") {
			t.Errorf("%s: exit code %d: %s %s", version, code, stdout, stderr)
		}
		for _, c := range m.Commands() {
			if tag, ok := c.Body.Lookup("comment").StringValueOK(); c.Name == "insert" && c.DB == "test" && (ok != tagged || tagged && !strings.HasPrefix(tag, "mrbench seed ")) {
				t.Errorf("%s: comment %q", version, tag)
			}
		}
	}
	s := newSession(t)
	if code, _, stderr := s.run("seed", "--emit", "x.ndjson", "--nice"); code != exitUsage || !strings.Contains(stderr, "--nice is for a load into a collection") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestMaxLoadFlag(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	if code, _, stderr := s.run("run", "--max-load", "lag=5"); code != exitUsage || !strings.Contains(stderr, "lag=5: it is a time such as 10s") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	for typed, want := range map[string]string{"": "default\nlag=\nqueue=", "lag=1s,": "lag=1s,queue=\nlag=1s,cache-dirty="} {
		if code, out, _ := s.run("__complete", "run", "--max-load", typed); code != 0 || !strings.HasPrefix(out, want) {
			t.Errorf("%q: %s", typed, out)
		}
	}
	m := mimic.Start(t, mimic.Config{Topology: mimic.ReplicaSet})
	uniques(t, m, 200)
	code, out, stderr := s.run("run", "--rows", "agg-ranges", "--dry-run", "--nice", "--uri", m.URI())
	for _, say := range []string{"// a rest of 500ms before each range", "for the limits lag=12s,queue=5,", "/* reads  */ db.getSiblingDB(\"admin\").runCommand({serverStatus: 1, repl: 0", "replSetGetStatus: 1"} {
		if code != 0 || !strings.Contains(out, say) {
			t.Errorf("no %q in %s%s", say, out, stderr)
		}
	}
	code, out, stderr = s.run("tune", "--dry-run", "--nice", "--max-threads", "4", "--uri", m.URI())
	for _, say := range []string{"// tune runs ", "// mr-ranges (2 threads, ", "/* WRITES */ db.getSiblingDB(\"test\").runCommand({mapReduce: ", "// agg, one of 1 combination", "replSetGetStatus: 1"} {
		if code != 0 || !strings.Contains(out, say) {
			t.Errorf("no %q in %s%s", say, out, stderr)
		}
	}
	if slices.ContainsFunc(m.Commands(), isMapReduce) {
		t.Error("a dry run writes")
	}
	code, out, stderr = s.run("seed", "--docs", "10", "--dry-run", "--max-load", "queue=5", "--ns", "test.more", "--uri", m.URI())
	if code != 0 || !strings.Contains(out, "// before a batch is sent, once a second at most, for the limits queue=5:") {
		t.Errorf("%s%s", out, stderr)
	}
}
