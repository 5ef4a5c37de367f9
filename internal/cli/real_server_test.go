package cli

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/internal/mimic"
	"mrbench/internal/target"
	"mrbench/internal/throwaway"
)

// compatURI names the variable with the connection string of a real server for realServerTests.
const compatURI = "MRBENCH_COMPAT_URI"

// compatMongod names the variable with the mongod, or "auto", of which servers are started for realServerTests.
const compatMongod = "MRBENCH_COMPAT_MONGOD"

// realServerTests hold on every server: a real MongoDB of any version and topology, and the mimic. They work in databases
// of their own (ownDatabase), whose names no other has, and expect nothing of what else is on the server.
var realServerTests = []struct {
	name  string
	needs func(*target.Facts) string // why the test does not apply to the server, "" when it does; nil: to all
	run   func(t *testing.T, uri string)
}{
	{"the rows of the ladder agree", nil, realLadder},
	{"work is held back and limits that can not be watched are said", nil, realPolite},
	{"a mapReduce that someone kills is a failed row", scripts, realKill},
	{"pipelines read from secondaries", needsSet, realConcerns},
	{"ranges lie on shards", needsMongos, realShards},
	{"a sharded collection is spread evenly", needsMongos, realSharding},
	{"one result is filled by several machines", scripts, realInto},
}

func TestOnARealServer(t *testing.T) {
	t.Run("uri", func(t *testing.T) {
		uri := os.Getenv(compatURI)
		if uri == "" {
			t.Skip(compatURI + " is not set: no real server is asked")
		}
		onRealServer(t, uri)
	})
	for _, topology := range []string{"standalone", "replset", "sharded:2"} {
		t.Run("mongod "+topology, func(t *testing.T) {
			mongod := os.Getenv(compatMongod)
			if mongod == "" {
				t.Skip(compatMongod + " is not set: no mongod is started")
			}
			what, err := throwaway.ParseTopology(topology)
			if err != nil {
				t.Fatal(err)
			}
			s, err := throwaway.Start(t.Context(), throwaway.Config{
				Mongod: mongod, Topology: what, StateDir: t.TempDir(), Tell: t.Logf,
				Died: func(err *throwaway.DiedError) { t.Error(err) },
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := s.Stop(); err != nil {
					t.Error(err)
				}
			})
			onRealServer(t, s.URI)
		})
	}
	for _, c := range []struct {
		name     string
		topology mimic.Topology
	}{{"mimic standalone", mimic.Standalone}, {"mimic replica set", mimic.ReplicaSet}, {"mimic mongos", mimic.Mongos}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			onRealServer(t, mimic.Start(t, mimic.Config{Version: "4.0.3", Topology: c.topology}).URI())
		})
	}
}

// onRealServer runs the tests that apply to the server, one after the other.
func onRealServer(t *testing.T, uri string) {
	server, err := target.Open(t.Context(), target.Config{URI: uri, Version: "test", Timeout: target.DefaultTimeout})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	facts, err := server.Ask(t.Context(), target.Namespace{DB: "mrbench_compat", Coll: "none"})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range realServerTests {
		t.Run(test.name, func(t *testing.T) {
			if test.needs != nil {
				if why := test.needs(facts); why != "" {
					t.Skip(why)
				}
			}
			test.run(t, uri)
		})
	}
}

// ownDatabase is the name of a database that is not there yet; it is dropped when the test ends.
func ownDatabase(t *testing.T, uri string) string {
	t.Helper()
	name := "mrbench_compat_" + strings.ToLower(rand.Text()[:12])
	client := realClient(t, uri)
	t.Cleanup(func() {
		if err := client.Database(name).Drop(context.Background()); err != nil {
			t.Errorf("database %s is left: %v", name, err)
		}
	})
	return name
}

// realClient is a client of the server, until the test ends.
func realClient(t *testing.T, uri string) *mongo.Client {
	t.Helper()
	c, err := mongo.Connect(context.Background(), options.Client().ApplyURI(uri).SetServerSelectionTimeout(target.DefaultTimeout))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Disconnect(context.Background()) })
	return c
}

// The rows of a server agree, and those that it is known to ignore are marked.
func realLadder(t *testing.T, uri string) {
	db := ownDatabase(t, uri)
	ns := db + ".uniques"
	s := newSession(t)
	if code, _, stderr := s.run("seed", "--uri", uri, "--ns", ns, "--docs", "2000"); code != 0 {
		t.Fatal(stderr)
	}
	for _, more := range [][]string{nil, {"--out-db", db}, {"--out-db", ownDatabase(t, uri)}} {
		r, code, stderr := ladderOn(t, uri, append([]string{"--ns", ns, "--runs", "1", "--warmup", "0"}, more...)...)
		if code != 0 {
			t.Fatalf("%v: exit code %d: %s", more, code, stderr)
		}
		for _, row := range r.Rows {
			if row.Skipped == "" && row.Answer == nil {
				t.Errorf("%v, %s: %s", more, row.ID, row.Error)
			}
			if row.NoEffect != nil && !strings.Contains(stderr, row.ID+": ") {
				t.Errorf("%v, %s is marked, and nothing was said", more, row.ID)
			}
		}
	}
}
