package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/internal/cluster"
	"mrbench/internal/mimic"
	"mrbench/seed"
)

// shares are the documents of each shard of a sharded collection.
func shares(t *testing.T, c *mongo.Client, ns string) (coll *cluster.Collection, documents map[string]int64) {
	t.Helper()
	coll, err := cluster.Of(t.Context(), c, ns)
	if err != nil || coll == nil {
		t.Fatalf("%s is not sharded: %v", ns, err)
	}
	db, name, _ := strings.Cut(ns, ".")
	if documents, err = cluster.Documents(t.Context(), c.Database(db).Collection(name)); err != nil {
		t.Fatal(err)
	}
	return coll, documents
}

// even fails the test unless each shard has as many chunks as the others, one after another, or one more.
func even(t *testing.T, coll *cluster.Collection) {
	t.Helper()
	var order []string
	for _, x := range coll.Chunks {
		if len(order) == 0 || order[len(order)-1] != x.Shard {
			order = append(order, x.Shard)
		}
	}
	least, most := len(coll.Chunks), 0
	for _, n := range coll.PerShard() {
		least, most = min(least, n), max(most, n)
	}
	if len(order) != len(coll.PerShard()) || most-least > 1 {
		t.Errorf("chunks lie on %v", order)
	}
}

func TestSeedSharded(t *testing.T) {
	t.Parallel()
	const template = `{"country": {"$gen": "choice", "values": ["at", "de"]}, "n": {"$gen": "index"}, "a": {"b": {"$gen": "double"}}}`
	for _, c := range []struct {
		name, version string
		args          []string
		chunks        int
		key           string
		said          string
	}{
		{"4.0", "4.0.3", []string{"--shard-key", "dim0", "--presplit", "6"}, 6, "{dim0: 1}", "sharding test.x by {dim0: 1}: 6 chunks on 2 shards"},
		{"default", "5.0.3", []string{"--shard-key", "dim0"}, 4, "{dim0: 1}", "4 chunks on 2 shards"},
		{"8.0", "8.0.4", []string{"--shard-key", "dim0,_id"}, 4, "{dim0: 1, _id: 1}", "by {dim0: 1, _id: 1}: 4 chunks"},
		{"hashed", "4.0.3", []string{"--shard-key", "dim0:hashed", "--presplit", "8"}, 8, `{dim0: "hashed"}`, "8 chunks on 2 shards"},
		{"index", "4.0.3", []string{"--shard-key", "dim0", "--index", "none"}, 4, "{dim0: 1}", "--index none: the index {dim0: 1} is the shard key's, so it is there from the start"},
		{"few values", "4.0.3", []string{"--shard-key", "dim0", "--keys", "3", "--presplit", "8"}, 3, "{dim0: 1}", "3 chunks, not 8: there are no more values of dim0"},
		{"_id", "4.0.3", []string{"--shard-key", "_id"}, 4, "{_id: 1}", "split points are from 2,000 generated documents"},
		{"guid", "4.0.3", []string{"--generator", "guid", "--shard-key", "Guid"}, 4, "{Guid: 1}", "split points are from 2,000 generated documents"},
		{"nested", "4.0.3", []string{"--template", "t.json", "--shard-key", "a.b"}, 4, "{a.b: 1}", "split points are from"},
		{"heavy values", "4.0.3", []string{"--template", "t.json", "--shard-key", "country,n"}, 4, "{country: 1, n: 1}", "4 chunks on 2 shards"},
		{"two values", "4.0.3", []string{"--template", "t.json", "--shard-key", "country"}, 2, "{country: 1}", "2 chunks, not 4: 2,000 generated documents have too few values of the shard key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := mimic.Start(t, mimic.Config{Version: c.version, Topology: mimic.Mongos, Balancer: "full"})
			s := newSession(t)
			if err := os.WriteFile(filepath.Join(s.dir, "t.json"), []byte(template), 0o600); err != nil {
				t.Fatal(err)
			}
			code, stdout, stderr := s.run(append([]string{"seed", "--uri", m.URI(), "--ns", "test.x", "--docs", "2000"}, c.args...)...)
			if code != 0 {
				t.Fatal(stderr)
			}
			coll, documents := shares(t, m.Client(t), "test.x")
			if got := cluster.KeyText(coll.Key); got != c.key || len(coll.Chunks) != c.chunks {
				t.Errorf("%d chunks by %s", len(coll.Chunks), got)
			}
			even(t, coll)
			if n := documents["s1"]; !coll.Hashed && c.chunks%2 == 0 && (n < 900 || n > 1100) {
				t.Errorf("documents are spread unevenly: %v", documents)
			}
			for _, want := range []string{c.said, balancerIsOn} {
				if !strings.Contains(stderr, want) {
					t.Errorf("not said: %s\n%s", want, stderr)
				}
			}
			if want := "sharded by " + c.key; !strings.Contains(stdout, want) || !strings.Contains(stdout, "balancer: on") {
				t.Errorf("no %q in\n%s", want, stdout)
			}
		})
	}
}

func TestSeedShardedFromFiles(t *testing.T) {
	t.Parallel()
	m := mimic.Start(t, mimic.Config{Topology: mimic.Mongos})
	s := newSession(t)
	var text strings.Builder
	for i := range 400 {
		fmt.Fprintf(&text, "{\"k\": %d}\n", i*7%400)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "x.ndjson"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	load := []string{"seed", "--uri", m.URI(), "--from", "x.ndjson"}
	code, stdout, stderr := s.run(append(load, "--ns", "test.x", "--shard-key", "k", "-o", "json")...)
	var r seedResult
	if code != 0 || json.Unmarshal([]byte(stdout), &r) != nil || r.Sharding == nil {
		t.Fatalf("%d %s %s", code, stdout, stderr)
	}
	if sh := r.Sharding.Shards; len(sh) != 2 || sh[0].Documents != 200 || sh[1].Documents != 200 || sh[0].Chunks != 2 {
		t.Errorf("%+v", r.Sharding)
	}
	if !strings.Contains(stderr, "split points are from 400 documents at the beginnings of the files") {
		t.Error(stderr)
	}
	for _, c := range []struct{ key, text string }{
		{"z", "--shard-key z: none of 400 documents at the beginnings of the files has the field"},
		{"_id", "use _id:hashed"},
	} {
		if code, _, stderr := s.run(append(load, "--ns", "test.y", "--shard-key", c.key)...); code != exitUsage || !strings.Contains(stderr, c.text) {
			t.Errorf("%s: %d %s", c.key, code, stderr)
		}
	}
	// What can be read once only is not looked at first.
	stdin := []string{"seed", "--uri", m.URI(), "--from", "-", "--format", "ndjson", "--ns", "test.z", "--shard-key", "k"}
	if code, _, stderr := s.run(append(stdin, "--presplit", "4")...); code != exitUsage || !strings.Contains(stderr, "--presplit: the documents can't be looked at before they are loaded") {
		t.Errorf("%d %s", code, stderr)
	}
	var out, errs bytes.Buffer
	env := s.environ(stdin, &out, &errs)
	env.Stdin = strings.NewReader(text.String())
	if code := Run(t.Context(), env); code != 0 || !strings.Contains(errs.String(), "one chunk: the documents can't be looked at") {
		t.Errorf("%d %s", code, &errs)
	}
}

func TestSeedShardedRefusals(t *testing.T) {
	t.Parallel()
	router := mimic.Start(t, mimic.Config{Topology: mimic.Mongos})
	set := mimic.Start(t, mimic.Config{Topology: mimic.ReplicaSet})
	inside := router.Inside().Database("test")
	if _, err := inside.Collection("full").InsertOne(t.Context(), bson.D{}); err != nil {
		t.Fatal(err)
	}
	if err := inside.CreateCollection(t.Context(), "theirs"); err != nil {
		t.Fatal(err)
	}
	s := newSession(t)
	if code, _, stderr := s.run("seed", "--uri", router.URI(), "--ns", "test.mine", "--docs", "10", "--shard-key", "dim0"); code != 0 {
		t.Fatal(stderr)
	}
	if _, err := inside.Collection("mine").DeleteMany(t.Context(), bson.D{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		uri  string
		args []string
		code int
		text string
	}{
		{"replica set", set.URI(), []string{"--shard-key", "dim0"}, exitUsage, "is no mongos, and only a sharded cluster has shards; give --uri of a mongos"},
		{"embedded", "", []string{"--shard-key", "dim0"}, exitUsage, "is no mongos"},
		{"no key", router.URI(), []string{"--presplit", "4"}, exitUsage, "--presplit cuts a collection that is sharded by --shard-key"},
		{"append", router.URI(), []string{"--shard-key", "dim0", "--append"}, exitUsage, "--append adds to one that is there"},
		{"emit", router.URI(), []string{"--shard-key", "dim0", "--emit", "ndjson"}, exitUsage, "--emit loads nothing"},
		{"sweep", router.URI(), []string{"--shard-key", "dim0", "--sweep", "batch=1,2"}, exitUsage, "shard-key"},
		{"two hashed", router.URI(), []string{"--shard-key", "a:hashed,b"}, exitUsage, "a hashed field stands alone"},
		{"unknown kind", router.URI(), []string{"--shard-key", "a:2d"}, exitUsage, "only :hashed can follow a field"},
		{"twice", router.URI(), []string{"--shard-key", "a,a"}, exitUsage, `"a" is listed twice`},
		{"balancer of a set", set.URI(), []string{"--stop-balancer"}, exitUsage, "is no mongos: only a sharded cluster has a balancer"},
		{"full", router.URI(), []string{"--ns", "test.full", "--shard-key", "dim0"}, exitFailed, "test.full already holds 1 documents"},
		{"of others", router.URI(), []string{"--ns", "test.theirs", "--shard-key", "dim0"}, exitFailed, "test.theirs exists and was not made by mrbench"},
		{"another key", router.URI(), []string{"--ns", "test.mine", "--shard-key", "x"}, exitFailed, "is sharded by {dim0: 1} already, and a shard key can't be changed; --drop replaces it"},
		{"no such field", router.URI(), []string{"--ns", "test.new", "--shard-key", "x"}, exitUsage, "none of 10 generated documents has the field"},
	} {
		before := len(router.Commands())
		args := append([]string{"seed", "--docs", "10"}, c.args...)
		if c.uri != "" {
			args = append(args, "--uri", c.uri)
		}
		if c.name == "another key" { // of which it would make documents
			args = append(args, "--key", "x")
		}
		if code, _, stderr := s.run(args...); code != c.code || !strings.Contains(stderr, c.text) {
			t.Errorf("%s: %d %s", c.name, code, stderr)
		}
		if sent := sentWrites(router, before); sent != nil {
			t.Errorf("%s: sent %v", c.name, sent)
		}
	}
	// The same key and the collection of an earlier seed that is empty: it is filled.
	if code, _, stderr := s.run("seed", "--uri", router.URI(), "--ns", "test.mine", "--docs", "10", "--shard-key", "dim0"); code != 0 {
		t.Error(stderr)
	}
	// --drop replaces it, by another key too.
	code, _, stderr := s.run("seed", "--uri", router.URI(), "--ns", "test.mine", "--docs", "100", "--shard-key", "dim0:hashed", "--drop")
	if coll, _ := shares(t, router.Client(t), "test.mine"); code != 0 || !coll.Hashed {
		t.Errorf("--drop: %d %s", code, stderr)
	}
}

// What stops sharding says what to do, and the same command goes on where it stopped.
func TestSeedShardingFails(t *testing.T) {
	t.Parallel()
	m := mimic.Start(t, mimic.Config{Topology: mimic.Mongos})
	s := newSession(t)
	m.Inject(mimic.Fault{Command: "moveChunk", Code: 13})
	load := []string{"seed", "--uri", m.URI(), "--ns", "test.x", "--docs", "1000", "--shard-key", "dim0"}
	code, _, stderr := s.run(load...)
	if code != exitFailed || !strings.Contains(stderr, "sharding needs enableSharding, splitChunk and moveChunk on test.x, which the role clusterManager has") {
		t.Errorf("%d %s", code, stderr)
	}
	m.Inject(mimic.Fault{Command: "moveChunk", Code: 117})
	if code, _, stderr := s.run(load...); code != 0 {
		t.Error(stderr)
	}
	coll, _ := shares(t, m.Client(t), "test.x")
	even(t, coll)
	if err := explainShardKey(&seed.DocumentError{NS: "test.x", Code: 61, Message: "document does not contain shard key"}); !strings.Contains(err.Error(), "before MongoDB 4.4 every document must have all fields of the shard key") {
		t.Errorf("%v", err)
	}
}

func TestDryRunOfShardedSeed(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"dim0", "dim0:hashed"} {
		m := mimic.Start(t, mimic.Config{Topology: mimic.Mongos, Balancer: "full"})
		s := newSession(t)
		load := []string{"seed", "--uri", m.URI(), "--ns", "shop.x", "--docs", "2500", "--shard-key", key, "--presplit", "6", "--stop-balancer"}
		code, planned, stderr := s.run(append(load, "--dry-run")...)
		if code != 0 || sentWrites(m, 0) != nil {
			t.Fatalf("%d %s, sent %v", code, stderr, sentWrites(m, 0))
		}
		if code, _, stderr := s.run(load...); code != 0 {
			t.Fatal(stderr)
		}
		if got, want := slices.Compact(plannedWrites(t, planned)), slices.Compact(sentWrites(m, 0)); !slices.Equal(got, want) {
			t.Errorf("announced %v\nsent %v", got, want)
		}
		// The balancer is stopped first and started last.
		var admin []string
		for _, c := range m.Commands() {
			if writes(c) {
				admin = append(admin, c.Name)
			}
		}
		if admin[0] != "balancerStop" || admin[len(admin)-1] != "balancerStart" {
			t.Errorf("%v", admin)
		}
	}
}

func balancerMode(t *testing.T, c *mongo.Client) string {
	t.Helper()
	x, err := cluster.Ask(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return x.Balancer.Mode
}

// The balancer is as it was before, whatever ends the command; and never touched when nobody asked for that.
func TestStopBalancer(t *testing.T) {
	t.Parallel()
	m := mimic.Start(t, mimic.Config{Topology: mimic.Mongos, Balancer: "full"})
	client := m.Client(t)
	s := newSession(t)
	touched := func() (names []string) {
		for _, c := range m.Commands() {
			if c.Name == "balancerStop" || c.Name == "balancerStart" {
				names = append(names, c.Name)
			}
		}
		return names
	}
	load := []string{"seed", "--uri", m.URI(), "--docs", "2000", "--drop", "--shard-key", "dim0"}
	if code, _, stderr := s.run(load...); code != 0 || touched() != nil {
		t.Fatalf("%d %s %v", code, stderr, touched())
	}
	stopping := append(load, "--stop-balancer")
	code, stdout, stderr := s.run(stopping...)
	if code != 0 || !strings.Contains(stderr, "balancer is stopped until this command ends") || !strings.Contains(stderr, "balancer is on again") || !strings.Contains(stdout, "balancer: off") {
		t.Errorf("%d %s %s", code, stdout, stderr)
	}
	if mode := balancerMode(t, client); mode != "full" || !slices.Equal(touched(), []string{"balancerStop", "balancerStart"}) {
		t.Errorf("%s, %v", mode, touched())
	}
	m.Inject(mimic.Fault{Command: "moveChunk", Code: 13})
	if code, _, stderr := s.run(stopping...); code != exitFailed || balancerMode(t, client) != "full" {
		t.Errorf("after an error: %s, %d %s", balancerMode(t, client), code, stderr)
	}
	if code, _, stderr := s.run(load...); code != 0 { // which goes on
		t.Fatal(stderr)
	}
	before := len(touched())
	code, stdout, _ = s.run("run", "--uri", m.URI(), "--rows", "agg", "--stop-balancer", "--dry-run")
	if first, last := strings.Index(stdout, "balancerStop"), strings.LastIndex(stdout, "balancerStart"); code != 0 || first < 0 || last < first || len(touched()) != before {
		t.Errorf("run --dry-run: %d %s", code, stdout)
	}
	m.Inject(mimic.Fault{Command: "balancerStop", Code: 262, Times: 1, After: true})
	if code, _, stderr := s.run("run", "--uri", m.URI(), "--rows", "agg", "--stop-balancer"); code != 0 || !strings.Contains(stderr, "sharded cluster of 2 shards, balancer off") {
		t.Errorf("run: %d %s", code, stderr)
	}
	if mode := balancerMode(t, client); mode != "full" {
		t.Errorf("after run: %s", mode)
	}
	if code, _, stderr := s.run("run", "--uri", m.URI(), "--rows", "agg"); code != 0 || !strings.Contains(stderr, "balancer on: chunks may move (--stop-balancer stops it meanwhile)") {
		t.Errorf("run: %d %s", code, stderr)
	}
	// One that is off stays off.
	if err := cluster.StopBalancer(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	before = len(touched())
	if code, _, stderr := s.run(stopping...); code != 0 || !strings.Contains(stderr, "balancer is off already") || len(touched()) != before {
		t.Errorf("off: %d %s %v", code, stderr, touched()[before:])
	}
}

func TestStopBalancerInterrupted(t *testing.T) {
	t.Parallel()
	m := mimic.Start(t, mimic.Config{Topology: mimic.Mongos, Balancer: "full"})
	s := newSession(t)
	signals := make(chan os.Signal, 1)
	stderr := &watcher{text: "sharding test.uniques", seen: func() { signals <- syscall.SIGINT }}
	m.Inject(mimic.Fault{Command: "moveChunk", Code: 117, Times: 1000}) // so that it does not end by itself
	var out bytes.Buffer
	env := s.environ([]string{"seed", "--uri", m.URI(), "--docs", "1000", "--shard-key", "dim0", "--stop-balancer"}, &out, nil)
	env.Stderr, env.Signals, env.ReleaseSignals = stderr, signals, func() {}
	if code := Run(t.Context(), env); code != exitInterrupted || balancerMode(t, m.Client(t)) != "full" {
		t.Errorf("%d, balancer %s: %s", code, balancerMode(t, m.Client(t)), stderr)
	}
}

// What could not be started again is started by clean.
func TestCleanStartsBalancer(t *testing.T) {
	t.Parallel()
	m := mimic.Start(t, mimic.Config{Topology: mimic.Mongos, Balancer: "full"})
	s := newSession(t)
	m.Inject(mimic.Fault{Command: "balancerStart", Code: 13})
	if code, _, stderr := s.run("seed", "--uri", m.URI(), "--docs", "100", "--stop-balancer"); code != 0 || !strings.Contains(stderr, "the balancer is still stopped") {
		t.Fatalf("%d %s", code, stderr)
	}
	client := m.Client(t)
	code, stdout, _ := s.run("clean", "--dry-run", "--uri", m.URI())
	if code != 0 || !strings.Contains(stdout, "would be started") || balancerMode(t, client) != "off" {
		t.Errorf("%d %s", code, stdout)
	}
	code, stdout, _ = s.run("clean", "--uri", m.URI())
	if code != 0 || !strings.Contains(stdout, "started") || balancerMode(t, client) != "full" {
		t.Errorf("%d %s", code, stdout)
	}
	if _, stdout, _ = s.run("clean", "--uri", m.URI()); !strings.Contains(stdout, "nothing of mrbench's is left") {
		t.Error(stdout)
	}
}

// doctor and split -v show shards, chunks, the balancer, migrations and orphans; run warns of migrations.
func TestClusterIsShown(t *testing.T) {
	t.Parallel()
	m := mimic.Start(t, mimic.Config{Topology: mimic.Mongos, Balancer: "full"})
	uniques(t, m, 500)
	s := newSession(t)
	show := func(what ...string) string {
		t.Helper()
		code, stdout, stderr := s.run(append(what, "--uri", m.URI())...)
		if code != 0 {
			t.Fatalf("%v: %s", what, stderr)
		}
		return stdout
	}
	if out := show("doctor"); !strings.Contains(out, "sharded cluster of 2 shards, balancer on") || !strings.Contains(out, "test.uniques is not sharded") {
		t.Error(out)
	}
	shardUniques(t, m)
	if out := show("split", "-v"); !strings.Contains(out, "no orphans") {
		t.Error(out)
	}
	m.Orphans("test.uniques", "s1", 12)
	if _, err := m.Inside().Database("config").Collection("migrations").InsertOne(t.Context(), bson.D{
		{Key: "_id", Value: "test.uniques-dim0_6"}, {Key: "ns", Value: "test.uniques"}, {Key: "fromShard", Value: "s1"}, {Key: "toShard", Value: "s2"},
	}); err != nil {
		t.Fatal(err)
	}
	for _, what := range [][]string{{"doctor"}, {"split", "-v"}} {
		out := show(what...)
		for _, want := range []string{
			"test.uniques is sharded by {dim0: 1} in 3 chunks", "a migration runs: test.uniques from s1 to s2",
			"about 12 orphans: a quick count has 512 documents, a full one 500; an estimate",
		} {
			if !strings.Contains(out, want) {
				t.Errorf("%v: no %q in\n%s", what, want, out)
			}
		}
	}
	code, stdout, stderr := s.run("run", "--rows", "agg", "--uri", m.URI())
	const warning = "a migration was under way when the run began: test.uniques from s1 to s2"
	if code != 0 || !strings.Contains(stderr, warning) || !strings.Contains(stdout, warning) {
		t.Errorf("%d %s %s", code, stdout, stderr)
	}
	var d diagnosis
	if err := json.Unmarshal([]byte(show("doctor", "-o", "json")), &d); err != nil || d.Cluster == nil || d.Cluster.Orphans == nil || *d.Cluster.Orphans != 12 || d.Cluster.PerShard[0].Chunks != 2 {
		t.Errorf("%+v, %v", d.Cluster, err)
	}
}

// realSharding shards and spreads a collection on a cluster of any number of shards, by each kind of key.
func realSharding(t *testing.T, uri string) {
	ns := ownDatabase(t, uri) + ".x"
	s, client := newSession(t), realClient(t, uri)
	before := balancerMode(t, client)
	for _, key := range []string{"dim0", "dim0,_id", "dim0:hashed"} {
		code, stdout, stderr := s.run("seed", "--uri", uri, "--ns", ns, "--docs", "20000", "--drop", "--shard-key", key, "--stop-balancer", "-o", "json")
		var r seedResult
		if code != 0 || json.Unmarshal([]byte(stdout), &r) != nil || r.Sharding == nil {
			t.Fatalf("%s: %d %s %s", key, code, stdout, stderr)
		}
		if mode := balancerMode(t, client); mode != before {
			t.Errorf("%s: the balancer is %s and was %s", key, mode, before)
		}
		coll, _ := shares(t, client, ns)
		even(t, coll)
		for _, sh := range r.Sharding.Shards {
			if want := int64(20000 / len(r.Sharding.Shards)); sh.Documents < want*8/10 || sh.Documents > want*12/10 {
				t.Errorf("%s: %s has %d documents of %d", key, sh.Name, sh.Documents, r.Documents)
			}
		}
		db, name, _ := strings.Cut(ns, ".")
		if n, err := client.Database(db).Collection(name).CountDocuments(t.Context(), bson.D{}); n != 20000 || err != nil {
			t.Errorf("%s: %d documents, %v", key, n, err)
		}
	}
	if _, stdout, stderr := s.run("doctor", "--uri", uri, "--ns", ns); !strings.Contains(stdout, ns+` is sharded by {dim0: "hashed"}`) {
		t.Errorf("doctor: %s %s", stdout, stderr)
	}
	// Another key needs --drop, and a unique index without the key is refused by the server.
	if code, _, stderr := s.run("seed", "--uri", uri, "--ns", ns, "--docs", "10", "--shard-key", "dim0"); code != exitFailed || !strings.Contains(stderr, "already holds") {
		t.Errorf("%d %s", code, stderr)
	}
	db, _, _ := strings.Cut(ns, ".")
	unique := mongo.IndexModel{Keys: bson.D{{Key: "b", Value: 1}}, Options: options.Index().SetUnique(true)}
	if err := client.Database(db).CreateCollection(t.Context(), "u"); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Database(db).Collection("u").Indexes().CreateOne(t.Context(), unique); err != nil {
		t.Fatal(err)
	}
	x, err := cluster.Ask(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	plan := cluster.Plan{NS: db + ".u", Key: bson.D{{Key: "dim0", Value: 1}}, Shards: x.Names()}
	if err := explainSharding(cluster.Create(t.Context(), client, plan), plan); err == nil || !strings.Contains(err.Error(), "a unique index has to begin with the shard key") {
		t.Errorf("a unique index: %v", err)
	}
}
