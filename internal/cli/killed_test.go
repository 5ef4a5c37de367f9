package cli

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/internal/bench"
	"mrbench/internal/mimic"
)

// killWhenSeen is an administrator who stops the first operation of the app, or in the database, whose command is of the name.
func killWhenSeen(ctx context.Context, admin *mongo.Database, app, db, command string) error {
	for ctx.Err() == nil {
		raw, err := admin.RunCommand(ctx, bson.D{{Key: "currentOp", Value: 1}, {Key: "active", Value: true}}).Raw()
		if err != nil {
			return err
		}
		list, _ := raw.Lookup("inprog").Array().Values()
		for _, v := range list {
			if op := v.Document(); isOperation(op, app, db, command) {
				return admin.RunCommand(ctx, bson.D{{Key: "killOp", Value: 1}, {Key: "op", Value: op.Lookup("opid")}}).Err()
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	return ctx.Err()
}

// isOperation knows an operation by its app, which a router may not tell its shards, or by its namespace, and its command, which currentOp makes a text of
// when it has more than 1,000 bytes, as with what a router adds. Routers since 4.4 send their shards a pipeline instead of a mapReduce.
func isOperation(op bson.Raw, app, db, command string) bool {
	name, _ := op.Lookup("appName").StringValueOK()
	ns, _ := op.Lookup("ns").StringValueOK()
	if !strings.HasPrefix(name, app) && !strings.HasPrefix(ns, db+".") {
		return false
	}
	text, _ := op.Lookup("command", "$truncated").StringValueOK()
	return op.Lookup("command", command).Type != 0 || strings.HasPrefix(text, "{ "+command+": ") || command == "mapReduce" && strings.Contains(op.String(), "$_internalJsEmit")
}

func TestIsOperation(t *testing.T) {
	t.Parallel()
	for op, want := range map[string]bool{
		`{"appName": "mrbench run 1", "ns": "d.c", "command": {"mapReduce": "c"}}`:                                                      true,
		`{"appName": "mrbench run 1", "ns": "d.c", "command": {"$truncated": "{ mapReduce: \"c\", map: function"}}`:                     true,
		`{"ns": "d.c", "opid": "s1:5", "command": {"mapReduce": "c", "shardedFirstPass": true}}`:                                        true,
		`{"appName": "mrbench run 1", "ns": "admin.$cmd.aggregate", "command": {"$truncated": "{ aggregate: 1"}}`:                       false,
		`{"ns": "d.c", "opid": "s1:5", "command": {"aggregate": "c", "pipeline": [{"$project": {"emits": {"$_internalJsEmit": {}}}}]}}`: true,
		`{"appName": "other", "ns": "e.c", "command": {"mapReduce": "c"}}`:                                                              false,
	} {
		var d bson.Raw
		if err := bson.UnmarshalExtJSON([]byte(op), false, &d); err != nil {
			t.Fatal(err)
		}
		if isOperation(d, "mrbench run", "d", "mapReduce") != want {
			t.Error(op)
		}
	}
}

// endlessJob is a job whose map never ends for one document.
func endlessJob(t *testing.T, s *session, ns string) string {
	t.Helper()
	text := `namespace: ` + ns + `
map: |
  function () { while (this.dim0 === 0) {} emit(this.dim0, 1); }
reduce: |
  function (k, v) { return Array.sum(v); }
pipeline: [ { $group: { _id: "$dim0", value: { $sum: 1 } } } ]
`
	if err := os.WriteFile(s.dir+"/job.yaml", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return "job.yaml"
}

// What an administrator kills is a failed row that is not run again; the others go on.
func TestKilledByAnAdministrator(t *testing.T) {
	t.Parallel()
	m := mimic.Start(t, mimic.Config{})
	uniques(t, m, 200)
	s := newSession(t)
	job := endlessJob(t, s, "test.uniques")
	killed := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() { killed <- killWhenSeen(ctx, m.Inside().Database("admin"), "mrbench run", "test", "mapReduce") }()
	code, stdout, stderr := s.run("run", "--job", job, "--rows", "mr,agg", "--runs", "3", "--shuffle-seed", "off", "--uri", m.URI(), "--sample-every", "0", "--save", "r.ndjson", "-v")
	cancel()
	if err := <-killed; err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	all, err := bench.Load(s.dir + "/r.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	mr, agg := all[0].Rows[0], all[0].Rows[1]
	if code != exitPartial || !strings.Contains(mr.Error, "was stopped on the server by someone (killOp") || agg.Seconds == nil || len(agg.Seconds.All) != 3 {
		t.Errorf("exit code %d, %q, %+v: %s", code, mr.Error, agg, stdout)
	}
	if !strings.Contains(stderr, "the row is failed and not run again, the others go on") || !strings.Contains(stderr, `db.currentOp({appName: "mrbench run `) {
		t.Error(stderr)
	}
	sent := 0
	for _, c := range m.Commands() {
		if isMapReduce(c) {
			sent++
		}
	}
	if sent != 1 {
		t.Errorf("the job was sent %d times", sent)
	}
}

// The shapes of such an answer, in ranges and through routers; a server that steps down is something else.
func TestKilledShapes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		config mimic.Config
		rows   string
		fault  mimic.Fault
		said   string
	}{
		{"a range of a mapReduce", mimic.Config{}, "mr-ranges,agg", mimic.Fault{Command: "mapReduce", Nth: 2, Code: 11601}, "of mapReduce on test.uniques was stopped on the server by someone"},
		{"a range of a pipeline", mimic.Config{Version: "6.0.3", Topology: mimic.ReplicaSet}, "agg-ranges,mr", mimic.Fault{Command: "aggregate", Match: groups, Nth: 1, Code: 11601}, "of aggregate on test.uniques was stopped"},
		{"a cursor", mimic.Config{}, "agg,mr", mimic.Fault{Command: "aggregate", Match: groups, Code: 237}, "aggregate on test.uniques was stopped on the server by someone"},
		{"on a router", mimic.Config{Topology: mimic.Mongos}, "mr,agg", mimic.Fault{Command: "mapReduce", Code: 11601}, "mapReduce on test.uniques was stopped on the server by someone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := mimic.Start(t, c.config)
			uniques(t, m, 200)
			m.Inject(c.fault)
			code, stdout, stderr := newSession(t).run("run", "--rows", c.rows, "--threads", "1", "--ranges", "3", "--runs", "2", "--uri", m.URI(), "--sample-every", "0")
			if code != exitPartial || !strings.Contains(strings.Join(strings.Fields(stdout), " "), c.said) || strings.Contains(stderr, "trying once more") {
				t.Errorf("exit code %d, no %q in %s\n%s", code, c.said, stdout, stderr)
			}
		})
	}
}
