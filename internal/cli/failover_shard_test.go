package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/internal/cluster"
	"mrbench/internal/mimic"
	"mrbench/internal/mongofake"
)

// seedsShards is a load of a collection that is sharded first, on a cluster where others have a collection too.
func seedsShards(t *testing.T, c mimic.Config) (*mimic.Server, *session, []string) {
	t.Helper()
	c.Topology = mimic.Mongos
	m := mimic.Start(t, c)
	if _, err := m.Inside().Database("test").Collection("theirs").InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}}); err != nil {
		t.Fatal(err)
	}
	return m, newSession(t), []string{
		"seed", "--uri", m.URI(), "--ns", "test.x", "--docs", "1000", "--keys", "100", "--batch", "100", "--writers", "2", "--shard-key", "dim0", "--presplit", "4", "-o", "json",
	}
}

// wellSharded wants the collection to be whole, evenly laid out, known to clean, and that of others as it was.
func wellSharded(t *testing.T, m *mimic.Server, s *session) {
	t.Helper()
	coll, documents := shares(t, m.Client(t), "test.x")
	even(t, coll)
	if len(coll.Chunks) != 4 || documents["s1"]+documents["s2"] != 1000 {
		t.Errorf("%d chunks, %v", len(coll.Chunks), documents)
	}
	left := func(want ...string) {
		t.Helper()
		if got := collections(t, m, "test"); !slices.Equal(got, want) {
			t.Errorf("in test: %v, not %v", got, want)
		}
		if n, err := m.Inside().Database("test").Collection("theirs").CountDocuments(t.Context(), bson.D{}); n != 1 || err != nil {
			t.Errorf("theirs has %d documents, %v", n, err)
		}
	}
	left("theirs", "x")
	if code, _, stderr := s.run("clean", "--data", "--uri", m.URI()); code != 0 {
		t.Error(stderr)
	}
	left("theirs")
}

// A fail-over of the config servers or of a shard, at any command of sharding and loading, whether the command was done or not, costs time only.
func TestFailoverWhileSharding(t *testing.T) {
	t.Parallel()
	type at struct {
		command string
		nth     int
	}
	for _, at := range []at{{"enableSharding", 1}, {"shardCollection", 1}, {"split", 1}, {"moveChunk", 1}, {"insert", 3}} {
		for name, f := range map[string]mimic.Fault{
			"10107": {Code: mimic.NotPrimary}, "189": {Code: 189, After: true}, "91": {Code: 91}, "cut off": {HangUp: true}, "cut off after the work": {HangUp: true, After: true},
		} {
			if at.command == "enableSharding" && name != "10107" { // it is sent as the others are
				continue
			}
			t.Run(fmt.Sprint(at.command, " ", name), func(t *testing.T) {
				t.Parallel()
				m, s, load := seedsShards(t, mimic.Config{})
				f.Command, f.Nth = at.command, at.nth
				m.Inject(f)
				code, stdout, stderr := s.run(load...)
				var r seedResult
				if code != exitOK || json.Unmarshal([]byte(stdout), &r) != nil || r.Documents != 1000 || r.Counted != 1000 || r.Sharding == nil || r.Sharding.Chunks != 4 {
					t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
				}
				wellSharded(t, m, s)
			})
		}
	}
}

// What config and the shards say is read again too: the driver itself reads twice.
func TestFailoverOfConfigServers(t *testing.T) {
	t.Parallel()
	for _, nth := range []int{1, 3, 6, 9} {
		t.Run(fmt.Sprint(nth), func(t *testing.T) {
			t.Parallel()
			m, s, load := seedsShards(t, mimic.Config{})
			m.Inject(mimic.Fault{Command: "find", Nth: nth, Times: 2, Code: 91})
			if code, _, stderr := s.run(load...); code != exitOK {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			wellSharded(t, m, s)
		})
	}
}

// What can't be tried again says what there is by then, and the command that it prints goes on from there.
func TestHalfSharded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault mimic.Fault
		there string
	}{
		{mimic.Fault{Command: "enableSharding", Code: 13}, "test.x is there, not sharded, with nothing loaded\nmrbench clean --data drops it; this goes on with it:"},
		{mimic.Fault{Command: "shardCollection", Code: 96}, "test.x is there, not sharded, with nothing loaded\n"},
		{mimic.Fault{Command: "split", Code: 96}, "test.x is there, sharded by {dim0: 1} in 1 of 4 chunks, with nothing loaded\n"},
		{mimic.Fault{Command: "moveChunk", Code: 96}, "test.x is there, sharded by {dim0: 1} in 2 of 4 chunks, with nothing loaded\n"},
		{mimic.Fault{Command: "split", Nth: 3, Code: 96, After: true}, ""}, // it is done
		{mimic.Fault{Command: "insert", Code: 96, Times: 100}, "no document in test.x was confirmed: load again with --drop, or mrbench clean --data drops it"},
	} {
		t.Run(fmt.Sprint(c.fault.Command, c.fault.Nth), func(t *testing.T) {
			t.Parallel()
			m, s, load := seedsShards(t, mimic.Config{})
			var recovered atomic.Bool
			c.fault.Match = func(mongofake.Command) bool { return !recovered.Load() }
			m.Inject(c.fault)
			code, _, stderr := s.run(load...)
			if c.there == "" {
				if code != exitOK {
					t.Fatalf("exit code %d: %s", code, stderr)
				}
				wellSharded(t, m, s)
				return
			}
			if code != exitFailed || !strings.Contains(stderr, c.there) {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			again := append(load, "--drop")
			if _, command, ok := strings.Cut(stderr, "this goes on with it:\n  mrbench "); ok {
				command, _, _ = strings.Cut(command, "\n")
				again = strings.Fields(command)
			} else if c.fault.Command != "insert" {
				t.Fatalf("no command: %s", stderr)
			}
			recovered.Store(true)
			if code, _, stderr := s.run(again...); code != exitOK {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			wellSharded(t, m, s)
		})
	}
}

// What stops sharding for good says why, and whether the same command can go on.
func TestExplainSharding(t *testing.T) {
	t.Parallel()
	plan := cluster.Plan{NS: "test.x"}
	left := mongo.CommandError{Code: 99, Message: "A previous attempt to shard collection test.x failed after writing some initial chunks to config.chunks."}
	for _, c := range []struct {
		err  error
		text string
		on   bool
	}{
		{mongo.CommandError{Code: 72, Message: "can't shard collection 'test.x' with unique index on { b: 1 }"}, "a unique index has to begin with the shard key", false},
		{mongo.CommandError{Code: 117, Message: "busy"}, "another migration or lock was in the way", true},
		{mongo.CommandError{Code: 13, Message: "not authorized"}, "which the role clusterManager has", true},
		{mongo.CommandError{Code: 10107, Message: "not master"}, "wait until the config servers and all shards have a primary", true},
		{mongo.CommandError{Message: "connection reset", Labels: []string{"NetworkError"}}, "wait until the config servers and all shards have a primary", true},
		{left, `--drop does not take these chunks away: use another name, or have someone who may write to config delete them, db.getSiblingDB("config").chunks.deleteMany({ns: "test.x"})`, false},
		{&cluster.LayoutError{NS: "test.x", Problem: "it was split before at other points"}, "--drop begins anew", false},
		{&cluster.LayoutError{NS: "test.x", Problem: "one is on s1: did the balancer move it?"}, "--stop-balancer keeps it from that", false},
	} {
		err := explainSharding(fmt.Errorf("split test.x: %w", c.err), plan)
		if !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), c.err.Error()) || goesOn(err) != c.on || errors.Unwrap(err) == nil {
			t.Errorf("%v, goes on: %v", err, goesOn(err))
		}
	}
}
