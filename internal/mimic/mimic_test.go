package mimic

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/internal/mongofake"
)

func code(err error) int32 {
	var ce mongo.CommandError
	if errors.As(err, &ce) {
		return ce.Code
	}
	return 0
}

func uniques(db *mongo.Database, t *testing.T, more ...bson.E) (bson.Raw, error) {
	t.Helper()
	cmd := bson.D{
		{Key: "mapReduce", Value: "u"},
		{Key: "map", Value: "function () { emit(this.k, 1); }"},
		{Key: "reduce", Value: "function (k, v) { return Array.sum(v); }"},
		{Key: "out", Value: bson.D{{Key: "replace", Value: "o"}}},
	}
	return db.RunCommand(t.Context(), append(cmd, more...)).Raw()
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for _, v := range []struct {
		version        string
		wire           int32
		counts, merges bool
		hello          bool
	}{
		{"3.6.23", 6, true, false, false},
		{"4.0.3", 7, true, false, false},
		{"4.2.24", 8, true, true, false},
		{"4.4.29", 9, false, true, true},
		{"5.0.3", 13, false, true, true},
		{"8.0.4", 25, false, true, true},
	} {
		t.Run(v.version, func(t *testing.T) {
			t.Parallel()
			db := Start(t, Config{Version: v.version}).Client(t).Database("d")
			var build struct {
				Version string
				Mrbench string
			}
			if err := db.RunCommand(t.Context(), bson.D{{Key: "buildInfo", Value: 1}}).Decode(&build); err != nil || build.Version != v.version || build.Mrbench != "" {
				t.Errorf("buildInfo %+v, %v", build, err)
			}
			is, err := db.RunCommand(t.Context(), bson.D{{Key: "isMaster", Value: 1}}).Raw()
			if err != nil || is.Lookup("maxWireVersion").AsInt64() != int64(v.wire) {
				t.Errorf("isMaster %v, %v", is, err)
			}
			if err := db.RunCommand(t.Context(), bson.D{{Key: "hello", Value: 1}}).Err(); (err == nil) != v.hello {
				t.Errorf("hello: %v", err)
			}
			if _, err := db.Collection("u").InsertOne(t.Context(), bson.D{{Key: "k", Value: 1}}); err != nil {
				t.Fatal(err)
			}
			r, err := uniques(db, t, bson.E{Key: "jsMode", Value: true}, bson.E{Key: "verbose", Value: true})
			if err != nil {
				t.Fatal(err)
			}
			_, has := r.Lookup("counts").DocumentOK()
			if _, mode := r.Lookup("timing", "mode").StringValueOK(); has != v.counts || mode != v.counts {
				t.Errorf("reply %v", r)
			}
			_, err = db.Collection("u").Aggregate(t.Context(), mongo.Pipeline{{{Key: "$merge", Value: "x"}}})
			if (err == nil) != v.merges {
				t.Errorf("$merge: %v", err)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, want := range []int32{13, 20, 59} {
		db := Start(t, Config{SplitVector: want}).Client(t).Database("d")
		if err := db.RunCommand(t.Context(), bson.D{{Key: "splitVector", Value: "d.c"}}).Err(); code(err) != want {
			t.Errorf("splitVector: %v, not %d", err, want)
		}
	}
	for version, want := range map[string]int32{"4.0.3": 16149, "5.0.3": 31264} {
		db := Start(t, Config{Version: version, NoScripting: true}).Client(t).Database("d")
		if _, err := uniques(db, t); code(err) != want {
			t.Errorf("%s: mapReduce without scripting: %v, not %d", version, err, want)
		}
	}
	db := Start(t, Config{Version: "4.4.29", Topology: Mongos}).Client(t).Database("d")
	if _, err := db.Collection("u").InsertOne(t.Context(), bson.D{{Key: "k", Value: 1}}); err != nil {
		t.Fatal(err)
	}
	out := bson.E{Key: "out", Value: bson.D{{Key: "replace", Value: "o"}, {Key: "db", Value: "none"}}}
	if err := db.RunCommand(t.Context(), bson.D{
		{Key: "mapReduce", Value: "u"}, {Key: "map", Value: "function () {}"}, {Key: "reduce", Value: "function () {}"}, out,
	}).Err(); code(err) != 26 {
		t.Errorf("output database that is not there: %v", err)
	}
}

// From 5.0 on chunks are found by uuid, before by name.
func TestChunksByUUID(t *testing.T) {
	t.Parallel()
	for version, byUUID := range map[string]bool{"4.4.29": false, "5.0.3": true} {
		c := Start(t, Config{Version: version, Topology: Mongos}).Client(t)
		if err := c.Database("admin").RunCommand(t.Context(), bson.D{{Key: "enableSharding", Value: "d"}}).Err(); err != nil {
			t.Fatal(err)
		}
		err := c.Database("admin").RunCommand(t.Context(), bson.D{{Key: "shardCollection", Value: "d.c"}, {Key: "key", Value: bson.D{{Key: "k", Value: 1}}}}).Err()
		if err != nil {
			t.Fatal(err)
		}
		x, err := c.Database("config").Collection("chunks").FindOne(t.Context(), bson.D{}).Raw()
		if err != nil {
			t.Fatal(err)
		}
		if (x.Lookup("uuid").Type != 0) != byUUID || (x.Lookup("ns").Type != 0) == byUUID {
			t.Errorf("%s: %v", version, x)
		}
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	s := Start(t, Config{Topology: ReplicaSet})
	db := s.Client(t).Database("d")
	ping := func() error { return db.RunCommand(t.Context(), bson.D{{Key: "ping", Value: 1}}).Err() }
	s.Inject(Fault{Command: "ping", Nth: 2, Code: NotPrimary})
	if a, b, c := ping(), ping(), ping(); a != nil || code(b) != NotPrimary || c != nil {
		t.Errorf("%v, %v, %v", a, b, c)
	}
	s.Inject(Fault{Command: "create", HangUp: true, After: true, Match: func(c mongofake.Command) bool { return c.DB == "d" }})
	if err := db.CreateCollection(t.Context(), "made"); !mongo.IsNetworkError(err) {
		t.Errorf("create: %v", err)
	}
	if names, err := s.Inside().Database("d").ListCollectionNames(t.Context(), bson.D{}); err != nil || len(names) != 1 {
		t.Errorf("%v, %v: the work is done before the connection is closed", names, err)
	}
}

func TestLogins(t *testing.T) {
	t.Parallel()
	s := Start(t, Config{Auth: true})
	s.User(t, "ann", "read@shop")
	c, err := mongo.Connect(t.Context(), options.Client().ApplyURI(s.URIOf("ann", "secret")))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Disconnect(t.Context())
	if err := c.Database("shop").Collection("x").FindOne(t.Context(), bson.D{}).Err(); !errors.Is(err, mongo.ErrNoDocuments) {
		t.Errorf("read: %v", err)
	}
	if _, err := c.Database("shop").Collection("x").InsertOne(t.Context(), bson.D{}); code(err) != 13 && err == nil {
		t.Errorf("write: %v", err)
	}
}

// A router's reply counts for each shard, by the chunks that lie there, and in wide numbers.
func TestRouterCounts(t *testing.T) {
	t.Parallel()
	c := Start(t, Config{Topology: Mongos}).Client(t)
	admin := func(cmd bson.D) {
		t.Helper()
		if err := c.Database("admin").RunCommand(t.Context(), cmd).Err(); err != nil {
			t.Fatal(err)
		}
	}
	k := func(n int) bson.D { return bson.D{{Key: "k", Value: n}} }
	admin(bson.D{{Key: "enableSharding", Value: "d"}})
	admin(bson.D{{Key: "shardCollection", Value: "d.u"}, {Key: "key", Value: k(1)}})
	admin(bson.D{{Key: "split", Value: "d.u"}, {Key: "middle", Value: k(3)}})
	admin(bson.D{{Key: "moveChunk", Value: "d.u"}, {Key: "find", Value: k(7)}, {Key: "to", Value: "s2"}})
	for n := range 10 {
		if _, err := c.Database("d").Collection("u").InsertOne(t.Context(), k(n)); err != nil {
			t.Fatal(err)
		}
	}
	r, err := uniques(c.Database("d"), t)
	if err != nil {
		t.Fatal(err)
	}
	list, err := r.Lookup("shardCounts").Document().Elements()
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %v", r, err)
	}
	for i, want := range []int32{3, 7} {
		if got := list[i].Value().Document().Lookup("input").Int32(); got != want {
			t.Errorf("%s read %d documents, not %d", list[i].Key(), got, want)
		}
	}
	if n, ok := r.Lookup("counts", "input").Int64OK(); !ok || n != 10 {
		t.Errorf("counts %v", r.Lookup("counts"))
	}
	post, err := r.Lookup("postProcessCounts").Document().Elements()
	if err != nil || len(post) != 1 || post[0].Value().Document().Lookup("output").Int64() != 10 {
		t.Errorf("postProcessCounts %v", r.Lookup("postProcessCounts"))
	}
}
