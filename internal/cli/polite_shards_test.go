package cli

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/bench"
	"mrbench/internal/mimic"
	"mrbench/internal/mongofake"
)

// loads has a shard be busy for the first looks of a governor, and the other quiet.
func loads(m *mimic.Server, busy string, l mimic.Load, looks int32) {
	of := "serverStatus"
	if l.Lag > 0 {
		of = "replSetGetStatus"
	}
	for _, name := range []string{"s1", "s2"} {
		var seen atomic.Int32
		m.Shard(name).SetLoad(func(c mongofake.Command) mimic.Load {
			if c.Name == of {
				seen.Add(1)
			}
			if name != busy || seen.Load() > looks {
				return mimic.Load{}
			}
			return l
		})
	}
}

// onlyAsked fails when a shard was sent anything but what a governor reads by, or a connection is left.
func onlyAsked(t *testing.T, m *mimic.Server) {
	t.Helper()
	for _, name := range []string{"s1", "s2"} {
		x := m.Shard(name)
		for _, c := range x.Commands() {
			if !slices.Contains([]string{"isMaster", "serverStatus", "replSetGetStatus", "replSetGetConfig"}, c.Name) || c.DB != "admin" {
				t.Errorf("shard %s was sent %s in %s", name, c.Name, c.DB)
			}
		}
		for end := time.Now().Add(10 * time.Second); x.Connections() > 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Errorf("%d connections to %s are left", x.Connections(), name)
				break
			}
		}
	}
}

// Ranges on a loaded shard wait until it is quiet, those on the other don't; a row of no ranges waits for both.
func TestRunWaitsForALoadedShard(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, version, shard string
		load                 mimic.Load
		limit, why           string
	}{
		{"queue, 4.0", "4.0.3", "s2", mimic.Load{Queue: 12}, "queue=8", "queue 12 above 8"},
		{"lag, 3.6", "3.6.23", "s2", mimic.Load{Lag: 30 * time.Second}, "lag=15s", "replication lag 30s (db2:27017) above 15s"},
		{"tickets, 8.0", "8.0.4", "s2", mimic.Load{Taken: 120}, "tickets=16", "free write tickets 8 below 16"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := mimic.Start(t, mimic.Config{Version: c.version, Topology: mimic.Mongos})
			uniques(t, m, 200)
			shardUniques(t, m)
			loads(m, c.shard, c.load, 1)
			s := newSession(t)
			run := func(row, save string) (agg bench.Row, stderr string) {
				code, stdout, stderr := s.run("run", "--rows", row, "--threads", "4", "--ranges", "4", "--max-load", c.limit, "--uri", m.URI(), "--sample-every", "0", "--save", save)
				all, err := bench.Load(s.dir + "/" + save)
				if code != 0 || err != nil || len(all) != 1 {
					t.Fatalf("exit code %d, %v: %s%s", code, err, stdout, stderr)
				}
				return all[0].Rows[0], stderr
			}
			row, stderr := run("agg-ranges", "ranges.ndjson")
			on := map[string]int{}
			for _, p := range row.Parts {
				if on[p.Shard]++; (p.Start > 0.5) != (p.Shard == c.shard) {
					t.Errorf("a range on %s began after %v s", p.Shard, p.Start)
				}
			}
			full := "shard " + c.shard + ": " + c.why
			if len(on) != 2 || row.PausedRuns != 1 || !slices.Equal(row.PausedFor, []string{full}) {
				t.Errorf("parts on %v; %+v", on, row)
			}
			for _, say := range []string{
				"limits: " + c.limit, "asked for their load by connections of their own: shards s1, s2",
				"ranges on shard " + c.shard + " held back: " + c.why, "ranges on shard " + c.shard + " no longer held back, after ",
			} {
				if !strings.Contains(stderr, say) {
					t.Errorf("no %q in %s", say, stderr)
				}
			}
			if strings.Contains(stderr, "not watched") {
				t.Errorf("all is watched: %s", stderr)
			}
			loads(m, c.shard, c.load, 1)
			if row, stderr = run("agg", "whole.ndjson"); row.PausedRuns != 1 || !strings.Contains(stderr, "\nheld back: "+full) {
				t.Errorf("%+v %s", row, stderr)
			}
			for _, cmd := range m.Commands() {
				if strings.Contains(cmd.Body.String(), "waitingForLock") {
					t.Error("the router was asked for queues that the shards told themselves")
				}
			}
			onlyAsked(t, m)
		})
	}
}

// What shards refuse is named once, with what would help; what they do tell counts. The password is nowhere.
func TestShardsThatRefuse(t *testing.T) {
	t.Parallel()
	const lost = "queue, cache-dirty, cache-used, tickets, connections"
	for _, c := range []struct {
		name       string
		shardUsers bool
		role       string
		says, not  []string
	}{
		{"they do not know the user", false, "clusterMonitor@admin", []string{
			"not watched: shards s1, s2: " + lost + ", and lag of single members: the login is refused there", "the role clusterMonitor, would help",
		}, []string{"serverStatus is refused"}},
		{"they know the user, who may not ask", true, "read@test", []string{
			"not watched: shards s1, s2: " + lost + ": serverStatus is refused (", "; the role clusterMonitor on the shard would help",
			"not watched: the router: queue: $currentOp is refused", "not watched: the router: connections: serverStatus is refused",
		}, []string{"login", "execute command"}},
		{"they know the user", true, "clusterMonitor@admin", nil, []string{"not watched: shard"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := mimic.Start(t, mimic.Config{Auth: true, ShardUsers: c.shardUsers, Topology: mimic.Mongos})
			uniques(t, m, 200)
			m.User(t, "app", "read@test", c.role)
			for _, name := range []string{"s1", "s2"} {
				m.Shard(name).SetLoad(func(mongofake.Command) mimic.Load { return mimic.Load{} })
			}
			code, stdout, stderr := newSession(t).run("run", "--rows", "agg", "--max-load", "default", "--uri", m.URIOf("app", "secret"), "--sample-every", "0", "-v")
			if code != 0 || strings.Contains(stdout+stderr, "secret") {
				t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
			}
			for _, say := range c.says {
				if strings.Count(stderr, say) != 1 {
					t.Errorf("not once %q in %s", say, stderr)
				}
			}
			for _, never := range c.not {
				if strings.Contains(stderr, never) {
					t.Errorf("%q in %s", never, stderr)
				}
			}
			onlyAsked(t, m)
		})
	}
}

// A shard that can't be reached is named, and what the router tells of it counts.
func TestShardThatIsDown(t *testing.T) {
	t.Parallel()
	m := mimic.Start(t, mimic.Config{Topology: mimic.Mongos})
	uniques(t, m, 200)
	loads(m, "", mimic.Load{}, 0)
	looks := 0
	m.SetLoad(func(mongofake.Command) mimic.Load {
		if looks++; looks > 1 {
			return mimic.Load{}
		}
		return mimic.Load{Queue: 35} // of s1
	})
	m.Shard("s1").Down()
	code, stdout, stderr := newSession(t).run("run", "--rows", "agg", "--max-load", "default", "--uri", m.URI()+"?serverSelectionTimeoutMS=300", "--sample-every", "0")
	for _, say := range []string{
		"asked for their load by connections of their own: shard s2",
		"not watched: shard s1 (s1/127.0.0.1:", "): it can't be asked from this machine (connection refused): only what the router tells of it counts",
		"held back: shard s1: queue 35 above 20", "no longer held back",
	} {
		if code != 0 || !strings.Contains(stderr, say) {
			t.Errorf("exit code %d, no %q in %s%s", code, say, stdout, stderr)
		}
	}
	onlyAsked(t, m)
}

// Shards are asked with the TLS options of the connection string.
func TestShardsBehindTLS(t *testing.T) {
	t.Parallel()
	ours := newAuthority(t)
	m := mimic.Start(t, mimic.Config{Topology: mimic.Mongos})
	uniques(t, m, 200)
	loads(m, "s2", mimic.Load{Queue: 35}, 1)
	for _, name := range []string{"s1", "s2"} {
		host := behindTLS(t, ours.server(nil), m.Shard(name).URI())
		shards := m.Inside().Database("config").Collection("shards")
		if r, err := shards.UpdateByID(t.Context(), name, bson.D{{Key: "$set", Value: bson.D{{Key: "host", Value: host}}}}); err != nil || r.MatchedCount != 1 {
			t.Fatal(r, err)
		}
	}
	uri := "mongodb://" + behindTLS(t, ours.server(nil), m.URI()) + "/?tls=true&tlsCAFile=" + url.QueryEscape(ours.file) + "&tlsCertificateKeyFile=" + url.QueryEscape(ours.client("ann", ""))
	code, stdout, stderr := newSession(t).run("run", "--rows", "agg", "--max-load", "queue=20", "--uri", uri, "--timeout", "20s", "--sample-every", "0")
	if code != 0 || !strings.Contains(stderr, "held back: shard s2: queue 35 above 20") || strings.Contains(stderr, "not watched") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	onlyAsked(t, m)
}

// A dry run lists what shards would be asked as reading, and does not connect to them; shards=off leaves them alone.
func TestDryRunOfShards(t *testing.T) {
	t.Parallel()
	m := mimic.Start(t, mimic.Config{Topology: mimic.Mongos})
	uniques(t, m, 200)
	s := newSession(t)
	for _, args := range [][]string{
		{"run", "--rows", "agg-ranges"},
		{"tune", "--max-threads", "2"},
		{"seed", "--docs", "10", "--ns", "test.more"},
	} {
		args = append(args, "--dry-run", "--max-load", "default", "--uri", m.URI())
		code, out, stderr := s.run(args...)
		at := strings.Index(out, "// and as often to each shard, by a connection of its own")
		if code != 0 || at < 0 {
			t.Fatalf("%s: exit code %d: %s%s", args[0], code, out, stderr)
		}
		for _, say := range []string{"//   s1 at s1/127.0.0.1:", "//   s2 at s2/127.0.0.1:", `/* reads  */ db.getSiblingDB("admin").runCommand({serverStatus: 1, repl: 0`, `/* reads  */ db.getSiblingDB("admin").runCommand({replSetGetStatus: 1})`} {
			if !strings.Contains(out[at:], say) {
				t.Errorf("%s: no %q in %s", args[0], say, out[at:])
			}
		}
		if _, out, _ = s.run(append(args, "--max-load", "default,shards=off")...); strings.Contains(out, "s1/127.0.0.1:") || strings.Contains(out, "replSetGetStatus") {
			t.Errorf("%s: %s", args[0], out)
		}
	}
	for _, name := range []string{"s1", "s2"} {
		if n := len(m.Shard(name).Commands()); n > 0 {
			t.Errorf("%d commands came to %s", n, name)
		}
	}
}

// A load waits for the worst shard, and Ctrl-C while it is held back leaves no connection.
func TestSeedWaitsForALoadedShard(t *testing.T) {
	t.Parallel()
	m := mimic.Start(t, mimic.Config{Topology: mimic.Mongos})
	loads(m, "s2", mimic.Load{Dirty: 0.5}, 1)
	s := newSession(t)
	code, stdout, stderr := s.run("seed", "--docs", "100", "--max-load", "cache-dirty=15%", "--uri", m.URI())
	if code != 0 || !strings.Contains(stdout, "shard s2: dirty cache 50% above 15%") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	loads(m, "s1", mimic.Load{Dirty: 0.5}, 1000)
	signals := make(chan os.Signal, 1)
	errs := &watcher{text: "held back: shard s1", seen: func() { signals <- syscall.SIGINT }}
	var out bytes.Buffer
	env := s.environ([]string{"run", "--rows", "agg", "--max-load", "cache-dirty=15%", "--uri", m.URI()}, &out, nil)
	env.Stderr, env.Signals, env.ReleaseSignals = errs, signals, func() {}
	if code := Run(t.Context(), env); code != 130 {
		t.Errorf("exit code %d: %s%s", code, fmt.Sprint(errs), out.String())
	}
	onlyAsked(t, m)
}
