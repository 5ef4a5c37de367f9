package cluster_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/internal/cluster"
	"mrbench/internal/mimic"
)

func dim(n int) bson.D { return bson.D{{Key: "dim0", Value: n}} }

func points(n ...int) (list []bson.D) {
	for _, i := range n {
		list = append(list, dim(i))
	}
	return list
}

// empty starts a mongos with the empty collection shop.u.
func empty(t *testing.T, c mimic.Config) (*mimic.Server, *mongo.Client) {
	t.Helper()
	c.Topology = mimic.Mongos
	s := mimic.Start(t, c)
	client := s.Client(t)
	if err := client.Database("shop").CreateCollection(t.Context(), "u"); err != nil {
		t.Fatal(err)
	}
	return s, client
}

// layout is the shard of each chunk, with the chunk's lower bound.
func layout(c *cluster.Collection) string {
	var parts []string
	for _, x := range c.Chunks {
		var d bson.D
		if bson.Unmarshal(x.Min, &d) == nil {
			if _, least := d[0].Value.(primitive.MinKey); least {
				parts = append(parts, x.Shard)
			} else {
				parts = append(parts, fmt.Sprintf("%v %s", d[0].Value, x.Shard))
			}
		}
	}
	return strings.Join(parts, ", ")
}

func TestAsk(t *testing.T) {
	t.Parallel()
	if c, err := cluster.Ask(t.Context(), mimic.Start(t, mimic.Config{Topology: mimic.ReplicaSet}).Client(t)); c != nil || err != nil {
		t.Errorf("a replica set: %+v, %v", c, err)
	}
	for _, c := range []struct {
		mode  string
		moves bool
		text  string
	}{{"", false, "off"}, {"full", true, "on"}, {"autoSplitOnly", false, "splits chunks and moves none"}} {
		s, client := empty(t, mimic.Config{Balancer: c.mode})
		got, err := cluster.Ask(t.Context(), client)
		if err != nil || !slices.Equal(got.Names(), []string{"s1", "s2"}) || got.Balancer.Moves() != c.moves || got.Balancer.String() != c.text || len(got.Migrations) != 0 {
			t.Errorf("%q: %+v, %v", c.mode, got, err)
		}
		// The commands refused, the same is read from the database config.
		s.Inject(mimic.Fault{Command: "listShards", Code: 13})
		s.Inject(mimic.Fault{Command: "balancerStatus", Code: 13})
		again, err := cluster.Ask(t.Context(), client)
		if err != nil || !slices.Equal(again.Names(), got.Names()) || again.Balancer.Mode != got.Balancer.Mode {
			t.Errorf("%q, commands refused: %+v, %v", c.mode, again, err)
		}
	}
}

// A user without any right on the cluster learns nothing of it, and that is no error.
func TestAskWithoutRights(t *testing.T) {
	t.Parallel()
	s := mimic.Start(t, mimic.Config{Topology: mimic.Mongos, Auth: true})
	s.User(t, "ann", "read@shop")
	for _, command := range []string{"listShards", "balancerStatus"} {
		s.Inject(mimic.Fault{Command: command, Code: 13, Times: 10})
	}
	client, err := mongo.Connect(t.Context(), options.Client().ApplyURI(s.URIOf("ann", "secret")))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Disconnect(t.Context())
	c, err := cluster.Ask(t.Context(), client)
	if err != nil || c == nil || len(c.Shards) != 0 || c.Balancer.Known || c.Balancer.String() != "not known" {
		t.Errorf("%+v, %v", c, err)
	}
	if x, err := cluster.Of(t.Context(), client, "shop.u"); x != nil || !cluster.Refused(err) {
		t.Errorf("%+v, %v", x, err)
	}
}

// Running migrations are seen wherever a version notes them.
func TestMigrations(t *testing.T) {
	t.Parallel()
	s, client := empty(t, mimic.Config{})
	config := s.Inside().Database("config")
	for coll, docs := range map[string][]any{
		"migrations": {bson.D{{Key: "_id", Value: "shop.u-dim0_1"}, {Key: "ns", Value: "shop.u"}, {Key: "fromShard", Value: "s1"}, {Key: "toShard", Value: "s2"}}},
		"locks": {
			bson.D{{Key: "_id", Value: "shop.u"}, {Key: "state", Value: 2}, {Key: "why", Value: "Migrating chunk(s) in collection shop.u"}},
			bson.D{{Key: "_id", Value: "shop.v"}, {Key: "state", Value: 2}, {Key: "why", Value: "migrating chunk [{ a: 1 }, { a: 2 }) in shop.v"}},
			bson.D{{Key: "_id", Value: "shop.w"}, {Key: "state", Value: 0}, {Key: "why", Value: "Migrating chunk(s) in collection shop.w"}},
			bson.D{{Key: "_id", Value: "balancer"}, {Key: "state", Value: 2}, {Key: "why", Value: "CSRS Balancer"}},
		},
	} {
		if _, err := config.Collection(coll).InsertMany(t.Context(), docs); err != nil {
			t.Fatal(err)
		}
	}
	c, err := cluster.Ask(t.Context(), client)
	if err != nil || fmt.Sprint(c.Migrations) != "[shop.u from s1 to s2 shop.v]" {
		t.Errorf("%v, %v", c.Migrations, err)
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	key := bson.D{{Key: "dim0", Value: 1}}
	for _, c := range []struct {
		name, version string
		plan          cluster.Plan
		fault         mimic.Fault
		want          string
		moves         int
	}{
		{"4.0", "4.0.3", cluster.Plan{Key: key, Points: points(10, 20, 30)}, mimic.Fault{}, "s1, 10 s1, 20 s2, 30 s2", 1},
		{"5.0", "5.0.3", cluster.Plan{Key: key, Points: points(10, 20, 30)}, mimic.Fault{}, "s1, 10 s1, 20 s2, 30 s2", 1},
		{"odd", "4.0.3", cluster.Plan{Key: key, Points: points(10, 20)}, mimic.Fault{}, "s1, 10 s1, 20 s2", 1},
		{"one chunk", "4.0.3", cluster.Plan{Key: key}, mimic.Fault{}, "s1", 0},
		{"compound", "4.0.3", cluster.Plan{Key: append(key, bson.E{Key: "_id", Value: 1}), Points: []bson.D{{{Key: "dim0", Value: 5}, {Key: "_id", Value: primitive.MinKey{}}}}}, mimic.Fault{}, "s1, 5 s2", 1},
		{"hashed", "4.0.3", cluster.Plan{Key: bson.D{{Key: "dim0", Value: "hashed"}}, Chunks: 4}, mimic.Fault{}, "s1, -4611686018427387904 s1, 0 s2, 4611686018427387904 s2", 0},
		{"another migration", "4.0.3", cluster.Plan{Key: key, Points: points(10)}, mimic.Fault{Command: "moveChunk", Code: 117, Times: 2}, "s1, 10 s2", 3},
		{"lock", "4.0.3", cluster.Plan{Key: key, Points: points(10)}, mimic.Fault{Command: "moveChunk", Code: 46}, "s1, 10 s2", 2},
		{"reply lost", "4.0.3", cluster.Plan{Key: key, Points: points(10)}, mimic.Fault{Command: "moveChunk", HangUp: true, After: true}, "s1, 10 s2", 1},
		{"election while splitting", "4.0.3", cluster.Plan{Key: key, Points: points(10)}, mimic.Fault{Command: "split", Code: mimic.NotPrimary, After: true}, "s1, 10 s2", 1},
		{"reply of shardCollection lost", "4.0.3", cluster.Plan{Key: key, Points: points(10)}, mimic.Fault{Command: "shardCollection", HangUp: true, After: true}, "s1, 10 s2", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, client := empty(t, mimic.Config{Version: c.version, Balancer: "full"})
			if c.fault.Command != "" {
				s.Inject(c.fault)
			}
			c.plan.NS, c.plan.Shards = "shop.u", []string{"s1", "s2"}
			steps := 0
			c.plan.Progress = func(done, of int) {
				if done > of {
					t.Errorf("step %d of %d", done, of)
				}
				steps = done
			}
			if err := cluster.Create(t.Context(), client, c.plan); err != nil {
				t.Fatal(err)
			}
			got, err := cluster.Of(t.Context(), client, "shop.u")
			if err != nil || layout(got) != c.want || !cluster.SameKey(got.Key, c.plan.Key) {
				t.Errorf("%s, %v, not %s", layout(got), err, c.want)
			}
			moves := 0
			for _, cmd := range s.Commands() {
				if cmd.Name == "moveChunk" {
					moves++
				}
			}
			if moves != c.moves || steps == 0 {
				t.Errorf("%d moves, %d steps told", moves, steps)
			}
			// Sharded as wanted already, nothing has to be done again.
			before := len(s.Commands())
			if err := cluster.Create(t.Context(), client, c.plan); err != nil {
				t.Error(err)
			}
			for _, cmd := range s.Commands()[before:] {
				if cmd.Name == "moveChunk" || cmd.Name == "split" || cmd.Name == "shardCollection" {
					t.Errorf("again: %s", cmd.Name)
				}
			}
		})
	}
}

func TestCreateFails(t *testing.T) {
	t.Parallel()
	key := bson.D{{Key: "dim0", Value: 1}}
	plan := func(p cluster.Plan) cluster.Plan {
		p.NS, p.Shards, p.Patience = "shop.u", []string{"s1", "s2"}, 300*time.Millisecond
		return p
	}
	for _, c := range []struct {
		name  string
		plan  cluster.Plan
		setup func(*mimic.Server, *mongo.Client)
		code  int32
		text  string
	}{
		{"the migration of others does not end", cluster.Plan{Key: key, Points: points(10)}, func(s *mimic.Server, _ *mongo.Client) {
			s.Inject(mimic.Fault{Command: "moveChunk", Code: 117, Times: 1000})
		}, 117, "moveChunk shop.u"},
		{"no rights", cluster.Plan{Key: key, Points: points(10)}, func(s *mimic.Server, _ *mongo.Client) {
			s.Inject(mimic.Fault{Command: "enableSharding", Code: 13})
		}, 13, "enableSharding shop"},
		{"a unique index without the key", cluster.Plan{Key: key, Points: points(10)}, func(_ *mimic.Server, c *mongo.Client) {
			_, err := c.Database("shop").Collection("u").Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: "b", Value: 1}}, Options: options.Index().SetUnique(true)})
			if err != nil {
				t.Error(err)
			}
		}, 72, "Uniqueness can't be maintained"},
		{"sharded by another key", cluster.Plan{Key: bson.D{{Key: "x", Value: 1}}}, func(_ *mimic.Server, c *mongo.Client) {
			if err := cluster.Create(t.Context(), c, plan(cluster.Plan{Key: key})); err != nil {
				t.Error(err)
			}
		}, 0, "config says that it is sharded by {dim0: 1}, not sharded by {x: 1}"},
		{"split at other points", cluster.Plan{Key: key, Points: points(10)}, func(_ *mimic.Server, c *mongo.Client) {
			if err := cluster.Create(t.Context(), c, plan(cluster.Plan{Key: key, Points: points(7)})); err != nil {
				t.Error(err)
			}
		}, 0, "it was split before at other points"},
		{"points out of order", cluster.Plan{Key: key, Points: points(10, 5)}, nil, 0, "not in ascending order"},
		{"no such shard", cluster.Plan{Key: key, Points: points(10), Shards: []string{"s1", "s7"}}, nil, 70, "does not exist"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, client := empty(t, mimic.Config{})
			if c.setup != nil {
				c.setup(s, client)
			}
			p := plan(c.plan)
			if c.plan.Shards != nil {
				p.Shards = c.plan.Shards
			}
			err := cluster.Create(t.Context(), client, p)
			ce, _ := errors.AsType[mongo.CommandError](err)
			if err == nil || ce.Code != c.code || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%v, code %d", err, ce.Code)
			}
		})
	}
}

// What the balancer moves while chunks are laid out is moved back; the plan's own commands are announced by Steps.
func TestSteps(t *testing.T) {
	t.Parallel()
	p := cluster.Plan{NS: "shop.u", Key: bson.D{{Key: "dim0", Value: 1}}, Points: points(10, 20, 30), Shards: []string{"s1", "s2"}}
	var names []string
	for _, s := range p.Steps() {
		names = append(names, s.Command[0].Key)
	}
	if want := []string{"enableSharding", "shardCollection", "split", "moveChunk", "moveChunk", "split", "split"}; !slices.Equal(names, want) {
		t.Errorf("%v", names)
	}
}

// An unsharded collection that 8.0 tracks, a dropped one of 4.0 and one that is not there are not sharded.
func TestNotSharded(t *testing.T) {
	t.Parallel()
	s, client := empty(t, mimic.Config{Version: "8.0.4"})
	for ns, more := range map[string]bson.E{"shop.u": {Key: "unsplittable", Value: true}, "shop.v": {Key: "dropped", Value: true}} {
		if _, err := s.Inside().Database("config").Collection("collections").InsertOne(t.Context(), bson.D{
			{Key: "_id", Value: ns}, {Key: "key", Value: bson.D{{Key: "_id", Value: 1}}}, {Key: "uuid", Value: primitive.Binary{Subtype: 4, Data: make([]byte, 16)}}, more,
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, ns := range []string{"shop.u", "shop.v", "shop.w"} {
		if c, err := cluster.Of(t.Context(), client, ns); c != nil || err != nil {
			t.Errorf("%s: %+v, %v", ns, c, err)
		}
	}
}

// Quick counts of shards have orphans in them, from either of the commands that know them.
func TestDocuments(t *testing.T) {
	t.Parallel()
	s, client := empty(t, mimic.Config{})
	if err := cluster.Create(t.Context(), client, cluster.Plan{NS: "shop.u", Key: bson.D{{Key: "dim0", Value: 1}}, Points: points(3), Shards: []string{"s1", "s2"}}); err != nil {
		t.Fatal(err)
	}
	coll := client.Database("shop").Collection("u")
	for n := range 10 {
		if _, err := coll.InsertOne(t.Context(), dim(n)); err != nil {
			t.Fatal(err)
		}
	}
	s.Orphans("shop.u", "s1", 2)
	if got, err := cluster.Documents(t.Context(), coll); err != nil || fmt.Sprint(got) != "map[s1:5 s2:7]" {
		t.Errorf("%v, %v", got, err)
	}
	if n, err := coll.EstimatedDocumentCount(t.Context()); n != 12 || err != nil {
		t.Errorf("estimated %d, %v", n, err)
	}
	if n, err := coll.CountDocuments(t.Context(), bson.D{}); n != 10 || err != nil {
		t.Errorf("counted %d, %v", n, err)
	}
}

func TestBalancer(t *testing.T) {
	t.Parallel()
	s, client := empty(t, mimic.Config{Balancer: "full"})
	mode := func() string {
		c, err := cluster.Ask(t.Context(), client)
		if err != nil {
			t.Fatal(err)
		}
		return c.Balancer.Mode
	}
	s.Inject(mimic.Fault{Command: "balancerStop", Code: mimic.NotPrimary})
	if err := cluster.StopBalancer(t.Context(), client); err != nil || mode() != cluster.ModeOff {
		t.Errorf("stopped: %s, %v", mode(), err)
	}
	if err := cluster.StartBalancer(t.Context(), client); err != nil || mode() != cluster.ModeFull {
		t.Errorf("started: %s, %v", mode(), err)
	}
}
