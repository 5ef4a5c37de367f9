package cli

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/internal/bench"
	"mrbench/internal/cluster"
	"mrbench/internal/mimic"
	"mrbench/internal/target"
	"mrbench/splitter"
)

// shardsOfRows are the shards' shares of each row in ranges, without times.
func shardsOfRows(r bench.Result) map[string][]bench.ShardLoad {
	all := map[string][]bench.ShardLoad{}
	for _, row := range r.Rows {
		for _, s := range row.Shards {
			s.Seconds = 0
			all[row.ID] = append(all[row.ID], s)
		}
	}
	return all
}

// On a mongos of every version each range lies on one shard, threads are shared, answers that were merged across shards agree, and what
// each shard did is known. jsMode is not tried where it is refused.
func TestRunOverShards(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"3.6.23", "4.0.3", "4.2.24", "4.4.29", "5.0.3", "6.0.13", "7.0.5", "8.0.4"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			m := mimic.Start(t, mimic.Config{Version: version, Topology: mimic.Mongos})
			uniques(t, m, 500)
			shardUniques(t, m)
			r, code, stderr := ladderOn(t, m.URI(), "--ranges", "4", "--threads", "4")
			if code != 0 {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			if !slices.Equal(r.Server.Shards, []string{"s1", "s2"}) || r.Server.Balancer == "" || r.Split.Strategy != splitter.Chunks {
				t.Errorf("%+v, %s", r.Server, r.Split.Strategy)
			}
			want := []bench.ShardLoad{{Shard: "s1", Ranges: 3, Documents: 350, Keys: 14}, {Shard: "s2", Ranges: 1, Documents: 150, Keys: 6}}
			if shards := shardsOf(r.Split); !slices.Equal(shards, []string{"s1", "s1", "s1", "s2"}) {
				t.Errorf("pieces on %v", shards)
			}
			loads, old := shardsOfRows(r), version < "4.4"
			for _, row := range r.Rows {
				if row.Skipped != "" || row.Answer == nil || row.Answer.Keys != 20 || row.Agrees != nil && !*row.Agrees {
					t.Errorf("%s: %+v, skipped %q, error %q", row.ID, row.Answer, row.Skipped, row.Error)
				}
				if row.Ranges == 1 {
					continue
				}
				if row.PerShard != 2 {
					t.Errorf("%s: %d commands for each shard", row.ID, row.PerShard)
				}
				want := slices.Clone(want)
				if !old && strings.HasPrefix(row.ID, "mr") { // there are no counts
					want[0].Keys, want[1].Keys = 0, 0
				}
				if d := cmp.Diff(want, loads[row.ID]); d != "" {
					t.Errorf("%s: %s", row.ID, d)
				}
			}
			for _, w := range r.Warnings {
				if strings.Contains(w, "other shards") {
					t.Errorf("warning: %s", w)
				}
			}
			for _, c := range m.Commands() {
				if isMapReduce(c) && old && c.Body.Lookup("jsMode").Type != 0 {
					t.Fatal("jsMode was sent to a mongos that refuses it")
				}
			}
			if js := r.Rows[slices.IndexFunc(r.Rows, func(r bench.Row) bool { return r.ID == "mr-ranges-dbs-js" })]; js.Mode != "ignored" || js.NoEffect == nil {
				t.Errorf("jsMode: %q, %+v", js.Mode, js.NoEffect)
			}
		})
	}
}

func shardsOf(s *bench.Split) (names []string) {
	for _, p := range s.Pieces {
		names = append(names, p.Shard)
	}
	return names
}

// The work of each shard is a table and a field of CSV, and --per-shard bounds it.
func TestRunPrintsShards(t *testing.T) {
	t.Parallel()
	m := mimic.Start(t, mimic.Config{Version: "4.0.3", Topology: mimic.Mongos})
	uniques(t, m, 500)
	shardUniques(t, m)
	s := newSession(t)
	args := []string{"run", "--rows", "mr-ranges,agg-ranges", "--threads", "4", "--per-shard", "1", "--uri", m.URI(), "--sample-every", "0"}
	code, stdout, stderr := s.run(args...)
	if code != 0 {
		t.Fatal(stderr)
	}
	for _, want := range []string{
		"what the ranges were for each of 2 shards, in each row's last run", "mr-ranges   s1          3        350", "            s2          1        150",
		"commands at a time on one shard: 1", "balancer: ",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
	for line := range strings.Lines(stdout) {
		if n := len([]rune(line)); n > 101 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	code, stdout, stderr = s.run(append(args, "-o", "csv")...)
	if code != 0 || !strings.Contains(stdout, "s1:3:350:14:") || !strings.Contains(stdout, "s2:1:150:6:") {
		t.Errorf("%s\n%s", stdout, stderr)
	}
	code, stdout, stderr = s.run("split", "--ranges", "4", "--uri", m.URI())
	if code != 0 || !strings.Contains(stdout, "shard") || !strings.Contains(stdout, "s2") {
		t.Errorf("%s\n%s", stdout, stderr)
	}
}

// A chunk that has moved since the ranges were made is noticed by the router's own numbers; so is a bound that can't be kept.
func TestRunNoticesMovedChunks(t *testing.T) {
	n := func(x int64) *int64 { return &x }
	m := &measurement{}
	m.result.Server.Shards = []string{"s1", "s2"}
	r := bench.Row{ID: "mr-ranges", Parts: []bench.Part{
		{Shard: "s1", Seconds: 1, Shards: []bench.PartShard{{Shard: "s1", Input: n(10), Output: n(1)}, {Shard: "s2", Input: n(0), Output: n(0)}}},
		{Shard: "s1", Seconds: 1, Shards: []bench.PartShard{{Shard: "s1", Input: n(0), Output: n(0)}, {Shard: "s2", Input: n(30), Output: n(3)}}},
	}}
	m.shardLoads(&r)
	if w := strings.Join(m.result.Warnings, ";"); !strings.Contains(w, "mr-ranges: 1 of 2 ranges went to other shards than their own too") {
		t.Errorf("warnings: %s", w)
	}
	if len(r.Shards) != 2 || r.Shards[0].Documents != 10 || r.Shards[1].Documents != 30 {
		t.Errorf("%+v", r.Shards)
	}
	server := mimic.Start(t, mimic.Config{})
	uniques(t, server, 500)
	code, stdout, stderr := newSession(t).run("run", "--rows", "agg-ranges", "--per-shard", "2", "--uri", server.URI(), "--sample-every", "0")
	if code != 0 || !strings.Contains(stdout, "--per-shard 2 was not used: it is not known which shard a range lies on") {
		t.Errorf("%d: %s\n%s", code, stdout, stderr)
	}
}

func needsMongos(f *target.Facts) string {
	if !f.Mongos {
		return "it is no mongos"
	}
	return ""
}

// stillBalancer keeps the cluster's balancer from moving chunks until the test ends.
func stillBalancer(t *testing.T, client *mongo.Client) {
	t.Helper()
	b, err := cluster.BalancerOf(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	if !b.Moves() {
		return
	}
	t.Cleanup(func() {
		if err := cluster.StartBalancer(context.Background(), client); err != nil {
			t.Errorf("the balancer is still stopped: %v", err)
		}
	})
	if err := cluster.StopBalancer(t.Context(), client); err != nil {
		t.Fatal(err)
	}
}

// Ranges of a collection over two shards lie on one each, the router's own numbers say so, and all answers agree.
func realShards(t *testing.T, uri string) {
	db, client := ownDatabase(t, uri), realClient(t, uri)
	var list struct {
		Shards []struct {
			ID string `bson:"_id"`
		}
	}
	admin := client.Database("admin")
	if err := admin.RunCommand(t.Context(), bson.D{{Key: "listShards", Value: 1}}).Decode(&list); err != nil {
		t.Fatal(err)
	}
	if len(list.Shards) < 2 {
		t.Skip("the cluster has one shard")
	}
	stillBalancer(t, client)
	ns, key := db+".uniques", func(n int) bson.D { return bson.D{{Key: "dim0", Value: n}} }
	for _, cmd := range []bson.D{
		{{Key: "enableSharding", Value: db}},
		{{Key: "shardCollection", Value: ns}, {Key: "key", Value: key(1)}},
		{{Key: "split", Value: ns}, {Key: "middle", Value: key(20)}},
		{{Key: "split", Value: ns}, {Key: "middle", Value: key(60)}},
		{{Key: "moveChunk", Value: ns}, {Key: "find", Value: key(1)}, {Key: "to", Value: list.Shards[1].ID}},
		{{Key: "moveChunk", Value: ns}, {Key: "find", Value: key(30)}, {Key: "to", Value: list.Shards[0].ID}},
		{{Key: "moveChunk", Value: ns}, {Key: "find", Value: key(90)}, {Key: "to", Value: list.Shards[0].ID}},
	} {
		if err := admin.RunCommand(t.Context(), cmd).Err(); err != nil {
			t.Fatalf("%v: %v", cmd, err)
		}
	}
	var docs []any
	for i := range 5000 {
		docs = append(docs, bson.D{{Key: "_id", Value: i}, {Key: "dim0", Value: i % 100}})
	}
	if _, err := client.Database(db).Collection("uniques").InsertMany(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	r, code, stderr := ladderOn(t, uri, "--ns", ns, "--ranges", "5", "--threads", "4")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if r.Split.Strategy != splitter.Chunks || slices.Contains(shardsOf(r.Split), "") {
		t.Errorf("%s: pieces on %v", r.Split.Strategy, shardsOf(r.Split))
	}
	for _, row := range r.Rows {
		if row.Skipped != "" || row.Agrees != nil && !*row.Agrees || row.Error != "" {
			t.Errorf("%s: skipped %q, error %q", row.ID, row.Skipped, row.Error)
		}
		if row.Ranges == 1 {
			continue
		}
		of := map[string]int64{}
		for _, s := range row.Shards {
			of[s.Shard] = s.Documents
		}
		if of[list.Shards[0].ID] != 4000 || of[list.Shards[1].ID] != 1000 || len(of) != 2 {
			t.Errorf("%s: documents by shard: %v", row.ID, of)
		}
	}
	for _, w := range r.Warnings {
		if strings.Contains(w, "other shards") {
			t.Errorf("warning: %s", w)
		}
	}
}
