package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/mimic"
	"mrbench/internal/mongofake"
)

// stepped is a reply to an insert whose documents were each refused, as by a member that steps down, or by a router that lost its shard.
func stepped(n int, code int32) bson.D {
	failed := bson.A{}
	for i := range n {
		failed = append(failed, bson.D{{Key: "index", Value: i}, {Key: "code", Value: code}, {Key: "errmsg", Value: "Not primary while writing to test.x"}})
	}
	return bson.D{{Key: "n", Value: int32(0)}, {Key: "writeErrors", Value: failed}, {Key: "ok", Value: 1.0}}
}

// A fail-over during a load costs time. What was confirmed stays, and nothing is there twice.
func TestFailoverWhileSeeding(t *testing.T) {
	t.Parallel()
	const down = 300 * time.Millisecond
	for _, c := range []struct {
		name     string
		topology mimic.Topology
		fault    mimic.Fault
		more     []string
		retries  bool // batches were sent again
	}{
		{"before a batch", mimic.ReplicaSet, mimic.Fault{Command: "insert", Nth: 3, Code: mimic.NotPrimary, StepDown: down}, nil, true},
		{"the first batch", mimic.ReplicaSet, mimic.Fault{Command: "insert", Code: 11602, StepDown: down}, nil, true},
		{"a batch is there, and the answer is not", mimic.ReplicaSet, mimic.Fault{Command: "insert", Nth: 3, Code: 11602, After: true}, nil, true},
		{"the connection is cut", mimic.ReplicaSet, mimic.Fault{Command: "insert", Nth: 3, HangUp: true, After: true}, nil, true},
		{"several times", mimic.ReplicaSet, mimic.Fault{Command: "insert", Nth: 2, Times: 3, HangUp: true, After: true}, nil, true},
		{"in order", mimic.ReplicaSet, mimic.Fault{Command: "insert", Nth: 3, Code: 11602, After: true}, []string{"--ordered"}, true},
		{"of single documents", mimic.ReplicaSet, mimic.Fault{Command: "insert", Nth: 3, Reply: stepped(100, 189)}, nil, true},
		{"of a majority", mimic.ReplicaSet, mimic.Fault{Command: "insert", Nth: 3, Unconfirmed: 91}, []string{"--write-concern", "majority"}, true},
		{"of a shard", mimic.Mongos, mimic.Fault{Command: "insert", Nth: 3, Reply: stepped(100, 133)}, nil, true},
		{"of a shard that had it all", mimic.Mongos, mimic.Fault{Command: "insert", Nth: 3, Reply: stepped(100, 6), After: true}, nil, true},
		{"while the index is built", mimic.ReplicaSet, mimic.Fault{Command: "createIndexes", Code: 11602, StepDown: down}, nil, false},
		{"while the collection is made", mimic.ReplicaSet, mimic.Fault{Command: "create", Code: mimic.NotPrimary, StepDown: down}, nil, false},
		{"it is made, and the answer is lost", mimic.ReplicaSet, mimic.Fault{Command: "create", HangUp: true, After: true}, nil, false},
		{"while it is dropped", mimic.ReplicaSet, mimic.Fault{Command: "drop", HangUp: true, After: true}, []string{"--drop"}, false},
		{"while it is counted", mimic.ReplicaSet, mimic.Fault{Command: "count", Nth: 2, Code: 11602, StepDown: down}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := mimic.Start(t, mimic.Config{Topology: c.topology})
			if slices.Contains(c.more, "--drop") {
				uniques(t, m, 10)
			}
			m.Inject(c.fault)
			s := newSession(t)
			args := append([]string{"seed", "--uri", m.URI(), "--docs", "1000", "--keys", "20", "--batch", "100", "--writers", "2", "-o", "json"}, c.more...)
			code, stdout, stderr := s.run(args...)
			var r seedResult
			if code != exitOK || json.Unmarshal([]byte(stdout), &r) != nil {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			if r.Documents != 1000 || r.Counted != 1000 || r.Duplicates != 0 || !r.Complete || c.retries != (r.Retries > 0) {
				t.Errorf("%s", stdout)
			}
			sent := slices.DeleteFunc(m.Commands(), func(cmd mongofake.Command) bool { return cmd.Name != c.fault.Command })
			if len(sent) < max(c.fault.Nth, 1) {
				t.Errorf("no %s was sent: nothing failed", c.fault.Command)
			}
			coll := m.Inside().Database("test").Collection("uniques")
			if n, err := coll.CountDocuments(t.Context(), bson.D{}); err != nil || n != 1000 {
				t.Errorf("%d documents, %v", n, err)
			}
			if list, err := coll.Indexes().ListSpecifications(t.Context()); err != nil || len(list) != 2 {
				t.Errorf("%d indexes, %v", len(list), err)
			}
			// What seed made is known as such, whatever was in between.
			if _, out, _ := s.run("clean", "--data", "--dry-run", "--uri", m.URI()); !strings.Contains(out, "test.uniques") {
				t.Errorf("clean does not know it: %s", out)
			}
		})
	}
}

// A fail-over while a collection is cut costs a second try.
func TestFailoverWhileSplitting(t *testing.T) {
	t.Parallel()
	for strategy, command := range map[string]string{"splitVector": "splitVector", "bucketAuto": "aggregate", "sample": "aggregate", "walk": "find"} {
		for _, f := range []mimic.Fault{
			{Command: command, Code: 11602, StepDown: 300 * time.Millisecond}, {Command: command, Code: 13435}, {Command: command, HangUp: true},
		} {
			t.Run(fmt.Sprintf("%s %d", strategy, f.Code), func(t *testing.T) {
				t.Parallel()
				m := mimic.Start(t, mimic.Config{Topology: mimic.ReplicaSet})
				uniques(t, m, 500)
				m.Inject(f)
				code, stdout, stderr := newSession(t).run("split", "--uri", m.URI(), "--strategy", strategy, "--ranges", "4", "-v")
				if code != exitOK || !strings.Contains(stdout, "500") {
					t.Errorf("exit code %d: %s\n%s", code, stdout, stderr)
				}
			})
		}
	}
}
