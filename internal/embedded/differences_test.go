package embedded

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// TestDifferencesAreNumbered: docs/differences.md and the tests of this file name the same numbers.
func TestDifferencesAreNumbered(t *testing.T) {
	doc, err := os.ReadFile("../../docs/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	tests, err := os.ReadFile("differences_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range regexp.MustCompile(`(?m)^(\d+)\. `).FindAllStringSubmatch(string(doc), -1) {
		if m[1] != fmt.Sprint(i+1) {
			t.Errorf("entry %d has the number %s", i+1, m[1])
		}
		if name := fmt.Sprintf("func TestDifference%02d(", i+1); !strings.Contains(string(tests), name) {
			t.Errorf("no %s", name)
		}
	}
	in, shown := strings.Count(string(doc), "\n"), regexp.MustCompile(`func TestDifference\d\d\(`).FindAll(tests, -1)
	if n := len(regexp.MustCompile(`(?m)^\d+\. `).FindAll(doc, -1)); in == 0 || n != len(shown) {
		t.Errorf("%d entries and %d tests", n, len(shown))
	}
}

// differing is a database of an engine of its own.
func differing(t *testing.T) (*mongo.Client, *mongo.Database) {
	t.Helper()
	client := connect(t, openEngine(t))
	return client, client.Database("d")
}

func TestDifference01(t *testing.T) {
	_, db := differing(t)
	ctx := context.Background()
	for _, id := range []int{3, 1, 2} {
		if _, err := db.Collection("c").InsertOne(ctx, bson.D{{Key: "_id", Value: id}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, opts := range []*options.FindOptions{options.Find(), options.Find().SetSort(bson.D{{Key: "$natural", Value: 1}})} {
		cur, err := db.Collection("c").Find(ctx, bson.D{}, opts)
		if err != nil {
			t.Fatal(err)
		}
		var docs []struct {
			ID int `bson:"_id"`
		}
		if err := cur.All(ctx, &docs); err != nil || len(docs) != 3 || docs[0].ID != 1 || docs[1].ID != 2 || docs[2].ID != 3 {
			t.Errorf("%v, %v", docs, err)
		}
	}
}

func TestDifference02(t *testing.T) {
	client, db := differing(t)
	insertNumbers(t, db.Collection("c"), 10)
	r := run(t, db, bson.D{
		{Key: "mapReduce", Value: "c"},
		{Key: "map", Value: "function () { emit(this._id % 2, 1); }"},
		{Key: "reduce", Value: "function (k, v) { return Array.sum(v); }"},
		{Key: "out", Value: bson.D{{Key: "inline", Value: 1}}},
		{Key: "verbose", Value: true},
	})
	for _, field := range []string{"counts", "timeMillis", "timing"} {
		if _, err := r.LookupErr(field); err != nil {
			t.Errorf("no %s in %v", field, r)
		}
	}
	for _, cmd := range []string{"hello", "buildInfo", "serverStatus"} {
		if v, _ := run(t, client.Database("admin"), bson.D{{Key: cmd, Value: 1}}).Lookup("mrbench").StringValueOK(); v != "test" {
			t.Errorf("%s.mrbench is %q", cmd, v)
		}
	}
}

func TestDifference03(t *testing.T) {
	_, db := differing(t)
	_, err := db.Collection("c").InsertOne(context.Background(), bson.D{{Key: "$a", Value: 1}})
	if codeOf(err) != 2 {
		t.Error(err)
	}
	if _, err := db.Collection("c").InsertOne(context.Background(), bson.D{{Key: "_id", Value: 1}}); err != nil {
		t.Fatal(err)
	}
	set := bson.D{{Key: "$set", Value: bson.D{{Key: "a", Value: bson.D{{Key: "$b", Value: 1}}}}}}
	if _, err := db.Collection("c").UpdateByID(context.Background(), 1, set); codeOf(err) != 52 {
		t.Error(err)
	}
}

func TestDifference04(t *testing.T) {
	_, db := differing(t)
	fr := bson.E{Key: "collation", Value: bson.D{{Key: "locale", Value: "fr"}}}
	for _, cmd := range []bson.D{
		{{Key: "find", Value: "c"}, fr},
		{{Key: "count", Value: "c"}, fr},
		{{Key: "distinct", Value: "c"}, {Key: "key", Value: "a"}, fr},
		{{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: bson.A{}}, {Key: "cursor", Value: bson.D{}}, fr},
		{{Key: "create", Value: "c"}, fr},
		{{Key: "createIndexes", Value: "c"}, {Key: "indexes", Value: bson.A{bson.D{{Key: "key", Value: bson.D{{Key: "a", Value: 1}}}, {Key: "name", Value: "a"}, fr}}}},
	} {
		fails(t, db, 2, cmd)
	}
}

func TestDifference05(t *testing.T) {
	_, db := differing(t)
	for name, v := range map[string]any{
		"capped": true, "timeseries": bson.D{{Key: "timeField", Value: "t"}}, "clusteredIndex": bson.D{{Key: "unique", Value: true}},
		"validator": bson.D{{Key: "a", Value: 1}}, "expireAfterSeconds": 5,
	} {
		fails(t, db, 72, bson.D{{Key: "create", Value: "c"}, {Key: name, Value: v}})
	}
	fails(t, db, 2, bson.D{{Key: "find", Value: "c"}, {Key: "tailable", Value: true}})
	// Views are there.
	insertNumbers(t, db.Collection("c"), 10)
	run(t, db, bson.D{{Key: "create", Value: "v"}, {Key: "viewOn", Value: "c"}, {Key: "pipeline", Value: bson.A{bson.D{{Key: "$match", Value: bson.D{{Key: "_id", Value: bson.D{{Key: "$lt", Value: 4}}}}}}}}})
	run(t, db, bson.D{{Key: "create", Value: "w"}, {Key: "viewOn", Value: "v"}, {Key: "pipeline", Value: bson.A{bson.D{{Key: "$addFields", Value: bson.D{{Key: "x", Value: "$_id"}}}}}}})
	if n := run(t, db, bson.D{{Key: "count", Value: "w"}, {Key: "query", Value: bson.D{{Key: "x", Value: bson.D{{Key: "$gte", Value: 1}}}}}}).Lookup("n").Int32(); n != 3 {
		t.Errorf("%d documents in a view of a view", n)
	}
	if _, n := firstBatch(run(t, db, bson.D{{Key: "find", Value: "w"}, {Key: "sort", Value: bson.D{{Key: "x", Value: -1}}}, {Key: "limit", Value: 2}}), "firstBatch"); n != 2 {
		t.Errorf("%d documents found", n)
	}
	fails(t, db, 166, bson.D{{Key: "insert", Value: "w"}, {Key: "documents", Value: bson.A{bson.D{}}}})
	fails(t, db, 166, bson.D{{Key: "listIndexes", Value: "v"}})
	fails(t, db, 5, bson.D{{Key: "create", Value: "x"}, {Key: "viewOn", Value: "x"}, {Key: "pipeline", Value: bson.A{}}})
}

func TestDifference06(t *testing.T) {
	_, db := differing(t)
	for _, spec := range []bson.D{
		{{Key: "key", Value: bson.D{{Key: "a", Value: "text"}}}, {Key: "name", Value: "x"}},
		{{Key: "key", Value: bson.D{{Key: "a", Value: "hashed"}}}, {Key: "name", Value: "x"}},
		{{Key: "key", Value: bson.D{{Key: "a", Value: "2dsphere"}}}, {Key: "name", Value: "x"}},
		{{Key: "key", Value: bson.D{{Key: "$**", Value: 1}}}, {Key: "name", Value: "x"}},
		{{Key: "key", Value: bson.D{{Key: "a", Value: 1}}}, {Key: "name", Value: "x"}, {Key: "expireAfterSeconds", Value: 5}},
		{{Key: "key", Value: bson.D{{Key: "a", Value: 1}}}, {Key: "name", Value: "x"}, {Key: "hidden", Value: true}},
	} {
		fails(t, db, 67, bson.D{{Key: "createIndexes", Value: "c"}, {Key: "indexes", Value: bson.A{spec}}})
	}
	insertNumbers(t, db.Collection("c"), 1)
	for _, filter := range []bson.D{
		{{Key: "$text", Value: bson.D{{Key: "$search", Value: "a"}}}},
		{{Key: "a", Value: bson.D{{Key: "$near", Value: bson.A{1, 2}}}}},
		{{Key: "a", Value: bson.D{{Key: "$geoWithin", Value: bson.D{{Key: "$box", Value: bson.A{bson.A{0, 0}, bson.A{1, 1}}}}}}}},
	} {
		if _, err := db.RunCommand(context.Background(), bson.D{{Key: "find", Value: "c"}, {Key: "filter", Value: filter}}).Raw(); codeOf(err) <= 0 {
			t.Errorf("%v: %v", filter, err)
		}
	}
}

func TestDifference07(t *testing.T) {
	client, db := differing(t)
	fails(t, db, 20, bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: bson.A{bson.D{}}}, {Key: "txnNumber", Value: int64(1)}, {Key: "autocommit", Value: false}})
	write := bson.D{
		{Key: "update", Value: "c"},
		{Key: "txnNumber", Value: int64(1)},
		{Key: "updates", Value: bson.A{bson.D{{Key: "q", Value: bson.D{{Key: "_id", Value: 1}}}, {Key: "u", Value: bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}}, {Key: "upsert", Value: true}}}},
	}
	session, err := client.StartSession()
	if err != nil {
		t.Fatal(err)
	}
	defer session.EndSession(context.Background())
	ctx := mongo.NewSessionContext(context.Background(), session)
	for range 3 {
		if err := db.RunCommand(ctx, write).Err(); err != nil {
			t.Fatal(err)
		}
	}
	var doc bson.D
	if err := db.Collection("c").FindOne(ctx, bson.D{}).Decode(&doc); err != nil || fmt.Sprint(doc) != "[{_id 1} {n 1}]" {
		t.Errorf("one write sent three times: %v, %v", doc, err)
	}
	fails(t, client.Database("admin"), 20, bson.D{{Key: "commitTransaction", Value: 1}})
	// A client that asks for retryable writes, as all do by default, is served.
	if _, err := connect(t, openEngine(t), options.Client().SetRetryWrites(true)).Database("d").Collection("c").InsertOne(context.Background(), bson.D{}); err != nil {
		t.Error(err)
	}
}

func TestDifference08(t *testing.T) {
	_, db := differing(t)
	ctx := context.Background()
	insertNumbers(t, db.Collection("c"), 500)
	cur, err := db.Collection("c").Find(ctx, bson.D{}, options.Find().SetBatchSize(10))
	if err != nil {
		t.Fatal(err)
	}
	insertNumbers(t, db.Collection("other"), 1)
	if _, err := db.Collection("c").InsertOne(ctx, bson.D{{Key: "_id", Value: 9999}}); err != nil {
		t.Fatal(err)
	}
	n := 0
	for cur.Next(ctx) {
		n++
	}
	if n != 500 {
		t.Errorf("%d documents", n)
	}
}

func TestDifference09(t *testing.T) {
	_, db := differing(t)
	insertNumbers(t, db.Collection("c"), 1)
	cur := run(t, db, bson.D{{Key: "listIndexes", Value: "c"}}).Lookup("cursor").Document()
	if ns := cur.Lookup("ns").StringValue(); ns != "d.c" {
		t.Errorf("cursor of %q", ns)
	}
	if _, err := cur.LookupErr("firstBatch", "0", "ns"); err == nil {
		t.Errorf("an index with ns: %v", cur)
	}
}

func TestDifference10(t *testing.T) {
	_, db := differing(t)
	ctx := context.Background()
	numbers := make(bson.A, 120)
	for i := range numbers {
		numbers[i] = i
	}
	if _, err := db.Collection("c").InsertOne(ctx, bson.D{{Key: "n", Value: numbers}, {Key: "s", Value: strings.Repeat("x", 1<<20)}}); err != nil {
		t.Fatal(err)
	}
	sort := func(extra ...bson.E) bson.D { // of 120 documents of 1 MiB
		return append(bson.D{{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: bson.A{
			bson.D{{Key: "$unwind", Value: "$n"}}, bson.D{{Key: "$sort", Value: bson.D{{Key: "n", Value: -1}}}}, bson.D{{Key: "$skip", Value: 118}},
		}}, {Key: "cursor", Value: bson.D{}}}, extra...)
	}
	run(t, db, sort())
	if _, err := db.RunCommand(ctx, sort(bson.E{Key: "allowDiskUse", Value: false})).Raw(); codeOf(err) <= 0 {
		t.Errorf("a sort of 120 MiB without the disk: %v", err)
	}
}

func TestDifference11(t *testing.T) {
	_, db := differing(t)
	for _, cmd := range []bson.D{
		{{Key: "find", Value: "c"}, {Key: "nope", Value: 1}},
		{{Key: "count", Value: "c"}, {Key: "nope", Value: 1}},
		{{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: bson.A{}}, {Key: "cursor", Value: bson.D{}}, {Key: "nope", Value: 1}},
		{{Key: "drop", Value: "c"}, {Key: "nope", Value: 1}},
	} {
		fails(t, db, 40415, cmd)
	}
}

func TestDifference12(t *testing.T) {
	_, db := differing(t)
	ctx := context.Background()
	if _, err := db.Collection("c").Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{Key: "s", Value: 1}}}); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("long ", 10_000)
	if _, err := db.Collection("c").InsertOne(ctx, bson.D{{Key: "s", Value: long}}); err != nil {
		t.Fatal(err)
	}
	if n, err := db.Collection("c").CountDocuments(ctx, bson.D{{Key: "s", Value: long}}); n != 1 || err != nil {
		t.Errorf("%d found, %v", n, err)
	}
}

func TestDifference13(t *testing.T) {
	_, db := differing(t)
	insertNumbers(t, db.Collection("c"), 10, bson.E{Key: "a", Value: 1}, bson.E{Key: "b", Value: 1})
	for _, key := range []string{"a", "b"} {
		if _, err := db.Collection("c").Indexes().CreateOne(context.Background(), mongo.IndexModel{Keys: bson.D{{Key: key, Value: 1}}}); err != nil {
			t.Fatal(err)
		}
	}
	r := run(t, db, bson.D{{Key: "explain", Value: bson.D{{Key: "find", Value: "c"}, {Key: "filter", Value: bson.D{{Key: "a", Value: 1}, {Key: "b", Value: 1}}}}}})
	if vals, _ := r.Lookup("queryPlanner", "rejectedPlans").Array().Values(); len(vals) != 0 {
		t.Errorf("rejected plans: %v", vals)
	}
	if n := r.Lookup("executionStats", "totalDocsExamined").AsInt64(); n != 10 {
		t.Errorf("totalDocsExamined %d", n)
	}
}

func TestDifference14(t *testing.T) {
	client, db := differing(t)
	admin := client.Database("admin")
	fails(t, admin, 115, bson.D{{Key: "setParameter", Value: 1}, {Key: "logLevel", Value: 2}})
	fails(t, admin, 115, bson.D{{Key: "fsync", Value: 1}, {Key: "lock", Value: true}})
	fails(t, db, 115, bson.D{{Key: "profile", Value: 2}})
	run(t, admin, bson.D{{Key: "fsync", Value: 1}})
	if vals, _ := run(t, admin, bson.D{{Key: "getLog", Value: "global"}}).Lookup("log").Array().Values(); len(vals) != 0 {
		t.Errorf("log lines: %v", vals)
	}
}

func TestDifference15(t *testing.T) {
	client, db := differing(t)
	insertNumbers(t, db.Collection("c"), 10)
	status := run(t, client.Database("admin"), bson.D{{Key: "serverStatus", Value: 1}})
	if name := status.Lookup("storageEngine", "name").StringValue(); name != "pebble" {
		t.Errorf("storage engine %q", name)
	}
	if n := status.Lookup("opcounters", "insert").AsInt64(); n != 10 {
		t.Errorf("opcounters.insert %d after ten documents", n)
	}
	if mb := status.Lookup("mem", "resident").Int32(); mb <= 0 {
		t.Errorf("mem.resident %d", mb)
	}
	stats := run(t, db, bson.D{{Key: "collStats", Value: "c"}})
	if _, err := stats.LookupErr("wiredTiger"); err == nil || stats.Lookup("count").AsInt64() != 10 || stats.Lookup("size").AsInt64() != 140 {
		t.Errorf("collStats: %v", stats)
	}
	sum := run(t, db, bson.D{{Key: "dbStats", Value: 1}})
	if sum.Lookup("objects").AsInt64() != 10 || sum.Lookup("dataSize").Double() != 140 {
		t.Errorf("dbStats: %v", sum)
	}
}

func TestDifference16(t *testing.T) {
	_, db := differing(t)
	for _, name := range []string{"showRecordId", "returnKey"} {
		fails(t, db, 115, bson.D{{Key: "find", Value: "c"}, {Key: name, Value: true}})
	}
}

func TestDifference17(t *testing.T) {
	_, db := differing(t)
	fails(t, db, 334, bson.D{{Key: "saslStart", Value: 1}, {Key: "mechanism", Value: "MONGODB-X509"}, {Key: "payload", Value: []byte{}}})
	fails(t, db, 59, bson.D{{Key: "createRole", Value: "r"}, {Key: "roles", Value: bson.A{}}, {Key: "privileges", Value: bson.A{}}})
	user := bson.D{{Key: "createUser", Value: "u"}, {Key: "pwd", Value: "secret"}, {Key: "roles", Value: bson.A{"read"}}}
	fails(t, db, 115, append(user, bson.E{Key: "authenticationRestrictions", Value: bson.A{bson.D{}}}))
	run(t, db, user)
	r := run(t, db, bson.D{{Key: "rolesInfo", Value: 1}, {Key: "showBuiltinRoles", Value: true}})
	if vals, _ := r.Lookup("roles").Array().Values(); len(vals) != 5 {
		t.Errorf("roles: %v", r)
	}
}

// TestDifference18: of numbers so many that an estimate would miss, the very one.
func TestDifference18(t *testing.T) {
	_, db := differing(t)
	wide := bson.D{{Key: "$range", Value: bson.A{0, 50_000}}}
	p := func(name string, more ...bson.E) bson.D {
		return bson.D{{Key: name, Value: append(bson.D{{Key: "input", Value: bson.D{{Key: "$pow", Value: bson.A{"$n", 3}}}}, {Key: "method", Value: "approximate"}}, more...)}}
	}
	d := run(t, db, bson.D{{Key: "aggregate", Value: 1}, {Key: "cursor", Value: bson.D{}}, {Key: "pipeline", Value: bson.A{
		bson.D{{Key: "$documents", Value: bson.D{{Key: "$map", Value: bson.D{{Key: "input", Value: wide}, {Key: "in", Value: bson.D{{Key: "n", Value: "$$this"}}}}}}}},
		bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: nil}, {Key: "m", Value: p("$median")}, {Key: "p", Value: p("$percentile", bson.E{Key: "p", Value: bson.A{0.12346}})}}}},
	}}})
	group := d.Lookup("cursor", "firstBatch", "0")
	if m := group.Document().Lookup("m").Double(); m != 24_999.0*24_999*24_999 {
		t.Errorf("median %v", m)
	}
	if p := group.Document().Lookup("p", "0").Double(); p != 6_172.0*6_172*6_172 {
		t.Errorf("percentile %v", p)
	}
}
