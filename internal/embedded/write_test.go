package embedded

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
	"go.mongodb.org/mongo-driver/mongo/writeconcern"
)

// TestUnacknowledged: w:0 is not answered, and what was sent is there after the next acknowledged command of the connection.
func TestUnacknowledged(t *testing.T) {
	e := openEngine(t)
	client := connect(t, e, options.Client().SetMaxPoolSize(1))
	quiet := client.Database("d").Collection("c", options.Collection().SetWriteConcern(writeconcern.Unacknowledged()))
	for i := range 50 {
		if _, err := quiet.InsertOne(context.Background(), bson.D{{Key: "_id", Value: i}}); !errors.Is(err, mongo.ErrUnacknowledgedWrite) && err != nil {
			t.Fatal(err)
		}
	}
	if _, err := quiet.InsertOne(context.Background(), bson.D{{Key: "_id", Value: 7}}); !errors.Is(err, mongo.ErrUnacknowledgedWrite) && err != nil {
		t.Fatalf("a duplicate sent with w:0 was answered: %v", err)
	}
	n, err := client.Database("d").Collection("c").CountDocuments(context.Background(), bson.D{})
	if n != 50 || err != nil {
		t.Fatalf("%d documents, %v", n, err)
	}
}

func TestWriteLimits(t *testing.T) {
	db := connect(t, openEngine(t)).Database("d")
	ctx := context.Background()
	big := func(n int) bson.D { // a document of exactly n bytes
		const frame = 4 + 1 + 4 + 4 + 1 + 2 + 4 + 1 + 1 // length, _id: int32, s: string, ends
		return bson.D{{Key: "_id", Value: int32(n)}, {Key: "s", Value: strings.Repeat("x", n-frame)}}
	}
	for _, n := range []int{16777216 - 1, 16777216} {
		raw, _ := bson.Marshal(big(n))
		if len(raw) != n {
			t.Fatalf("the test's document has %d bytes, not %d", len(raw), n)
		}
		if _, err := db.Collection("c").InsertOne(ctx, big(n)); err != nil {
			t.Errorf("a document of %d bytes: %v", n, err)
		}
		var back bson.Raw
		if err := db.Collection("c").FindOne(ctx, bson.D{{Key: "_id", Value: n}}).Decode(&back); err != nil || len(back) != n {
			t.Errorf("a document of %d bytes came back with %d: %v", n, len(back), err)
		}
	}
	_, err := db.RunCommand(ctx, bson.D{{Key: "update", Value: "c"}, {Key: "updates", Value: bson.A{
		bson.D{{Key: "q", Value: bson.D{{Key: "_id", Value: 16777216}}}, {Key: "u", Value: bson.D{{Key: "$set", Value: bson.D{{Key: "more", Value: 1}}}}}},
	}}}).Raw()
	if codeOf(err) != 17419 {
		t.Errorf("an update beyond 16 MiB: %v", err)
	}
	many := make(bson.A, 100_001)
	for i := range many {
		many[i] = bson.D{}
	}
	fails(t, db, 16, bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: many}})
	run(t, db, bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: many[:100_000]}})
}

// TestInsertErrors: every statement's fault is reported at its own index, whichever part found it.
func TestInsertErrors(t *testing.T) {
	db := connect(t, openEngine(t)).Database("d")
	docs := bson.A{
		bson.D{{Key: "_id", Value: 1}},
		bson.D{{Key: "$bad", Value: 1}},
		bson.D{{Key: "_id", Value: 1}},
		bson.D{{Key: "_id", Value: 2}},
		bson.D{{Key: "_id", Value: bson.A{}}},
		bson.D{{Key: "_id", Value: 2}},
		bson.D{{Key: "x", Value: 1}, {Key: "_id", Value: 3}},
	}
	for _, c := range []struct {
		ordered bool
		n       int32
		errs    [][2]int32 // index, code
	}{
		{false, 3, [][2]int32{{1, 2}, {2, 11000}, {4, 2}, {5, 11000}}},
		{true, 1, [][2]int32{{1, 2}}},
	} {
		if err := db.Collection("c").Drop(context.Background()); err != nil {
			t.Fatal(err)
		}
		cmd := bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: docs}, {Key: "ordered", Value: c.ordered}}
		raw, _ := bson.Marshal(cmd)
		r := reply(context.Background(), db, raw)
		if got := r.Lookup("n").Int32(); got != c.n {
			t.Errorf("ordered %v: n %d, want %d", c.ordered, got, c.n)
		}
		vals, _ := r.Lookup("writeErrors").Array().Values()
		var got [][2]int32
		for _, v := range vals {
			got = append(got, [2]int32{v.Document().Lookup("index").Int32(), v.Document().Lookup("code").Int32()})
		}
		if len(got) != len(c.errs) {
			t.Fatalf("ordered %v: errors %v, want %v", c.ordered, got, c.errs)
		}
		for i := range got {
			if got[i] != c.errs[i] {
				t.Errorf("ordered %v: errors %v, want %v", c.ordered, got, c.errs)
			}
		}
	}
}

func TestWriteConcernAndArguments(t *testing.T) {
	db := connect(t, openEngine(t)).Database("d")
	doc := func() bson.A { return bson.A{bson.D{}} }
	ins := func(extra ...bson.E) bson.D {
		return append(bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: doc()}}, extra...)
	}
	wc := func(d bson.D) bson.E { return bson.E{Key: "writeConcern", Value: d} }
	for _, c := range []struct {
		code int32
		cmd  bson.D
	}{
		{0, ins(wc(bson.D{{Key: "w", Value: 1}, {Key: "j", Value: true}}))},
		{0, ins(wc(bson.D{{Key: "w", Value: "majority"}, {Key: "wtimeout", Value: 5}}))},
		{2, ins(wc(bson.D{{Key: "w", Value: 2}}))},
		{9, ins(wc(bson.D{{Key: "w", Value: -1}}))},
		{9, ins(wc(bson.D{{Key: "j", Value: true}, {Key: "fsync", Value: true}}))},
		{79, ins(wc(bson.D{{Key: "w", Value: "dc1"}}))},
		{14, ins(bson.E{Key: "writeConcern", Value: 1})},
		{40415, ins(bson.E{Key: "nope", Value: 1})},
		{0, ins(bson.E{Key: "comment", Value: "hi"}, bson.E{Key: "maxTimeMS", Value: 10_000})},
		{2, ins(bson.E{Key: "maxTimeMS", Value: -1})},
		{2, ins(bson.E{Key: "maxTimeMS", Value: "1"})},
		{0, ins(bson.E{Key: "txnNumber", Value: int64(1)})},
		{14, ins(bson.E{Key: "txnNumber", Value: int32(1)})},
		{20, ins(bson.E{Key: "txnNumber", Value: int64(2)}, bson.E{Key: "startTransaction", Value: true}, bson.E{Key: "autocommit", Value: false})},
		{123, bson.D{{Key: "find", Value: "c"}, {Key: "readConcern", Value: bson.D{{Key: "level", Value: "snapshot"}}}}},
		{0, bson.D{{Key: "find", Value: "c"}, {Key: "readConcern", Value: bson.D{{Key: "level", Value: "majority"}}}}},
		{2, bson.D{{Key: "find", Value: "c"}, {Key: "collation", Value: bson.D{{Key: "locale", Value: "fr"}}}}},
		{0, bson.D{{Key: "find", Value: "c"}, {Key: "collation", Value: bson.D{{Key: "locale", Value: "simple"}}}}},
		{322, bson.D{{Key: "find", Value: "c"}, {Key: "apiVersion", Value: "2"}}},
		{2, bson.D{{Key: "find", Value: "c"}, {Key: "tailable", Value: true}}},
		{9, bson.D{{Key: "find", Value: "c"}, {Key: "filter", Value: 1}}},
		{40414, bson.D{{Key: "delete", Value: "c"}, {Key: "deletes", Value: bson.A{bson.D{{Key: "q", Value: bson.D{}}}}}}},
		{9, bson.D{{Key: "delete", Value: "c"}, {Key: "deletes", Value: bson.A{bson.D{{Key: "q", Value: bson.D{}}, {Key: "limit", Value: 2}}}}}},
		{115, bson.D{{Key: "find", Value: "c"}, {Key: "showRecordId", Value: true}}},
	} {
		raw, _ := bson.Marshal(c.cmd)
		r := reply(context.Background(), db, raw)
		got, _ := r.Lookup("code").AsInt64OK()
		if vals, ok := r.Lookup("writeErrors").ArrayOK(); ok {
			got = vals.Index(0).Value().Document().Lookup("code").AsInt64()
		}
		if int32(got) != c.code {
			t.Errorf("%v: code %d, want %d: %v", c.cmd, got, c.code, r)
		}
	}
}

// TestMultiUpdateAndDelete cover more documents than one transaction takes.
func TestMultiUpdateAndDelete(t *testing.T) {
	coll := connect(t, openEngine(t)).Database("d").Collection("c")
	ctx := context.Background()
	docs := make([]any, 5000)
	for i := range docs {
		docs[i] = bson.D{{Key: "_id", Value: i}, {Key: "k", Value: i % 3}}
	}
	if _, err := coll.InsertMany(ctx, docs); err != nil {
		t.Fatal(err)
	}
	if _, err := coll.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{Key: "k", Value: 1}}}); err != nil {
		t.Fatal(err)
	}
	// The update moves documents forward in the very index that finds them: each must still be changed once.
	res, err := coll.UpdateMany(ctx, bson.D{{Key: "k", Value: bson.D{{Key: "$gte", Value: 1}}}}, bson.D{{Key: "$inc", Value: bson.D{{Key: "k", Value: 1}}}})
	if err != nil || res.MatchedCount != 3333 || res.ModifiedCount != 3333 {
		t.Fatalf("%+v, %v", res, err)
	}
	for k, want := range map[int]int64{0: 1667, 1: 0, 2: 1667, 3: 1666} {
		if n, err := coll.CountDocuments(ctx, bson.D{{Key: "k", Value: k}}); n != want || err != nil {
			t.Errorf("k %d: %d documents, want %d (%v)", k, n, want, err)
		}
	}
	del, err := coll.DeleteMany(ctx, bson.D{{Key: "k", Value: bson.D{{Key: "$ne", Value: 0}}}})
	if err != nil || del.DeletedCount != 3333 {
		t.Fatalf("%+v, %v", del, err)
	}
	r := run(t, coll.Database(), bson.D{{Key: "validate", Value: "c"}, {Key: "full", Value: true}})
	if !r.Lookup("valid").Boolean() {
		t.Fatalf("after the changes: %v", r)
	}
}

func TestUpsertAndPipelineUpdate(t *testing.T) {
	coll := connect(t, openEngine(t)).Database("d").Collection("c")
	ctx := context.Background()
	up := options.Update().SetUpsert(true)
	res, err := coll.UpdateOne(ctx, bson.D{{Key: "a", Value: 1}}, bson.D{{Key: "$set", Value: bson.D{{Key: "b", Value: 2}}}, {Key: "$setOnInsert", Value: bson.D{{Key: "c", Value: 3}}}}, up)
	if err != nil || res.UpsertedCount != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	var d bson.D
	if err := coll.FindOne(ctx, bson.D{{Key: "_id", Value: res.UpsertedID}}).Decode(&d); err != nil || len(d) != 4 || d[0].Key != "_id" {
		t.Fatalf("%v, %v", d, err)
	}
	if _, err := coll.UpdateMany(ctx, bson.D{}, mongo.Pipeline{{{Key: "$set", Value: bson.D{{Key: "sum", Value: bson.D{{Key: "$add", Value: bson.A{"$a", "$b"}}}}}}}}); err != nil {
		t.Fatal(err)
	}
	if err := coll.FindOne(ctx, bson.D{{Key: "sum", Value: 3}}).Decode(&d); err != nil {
		t.Fatalf("after a pipeline update: %v", err)
	}
	_, err = coll.UpdateMany(ctx, bson.D{}, mongo.Pipeline{{{Key: "$match", Value: bson.D{}}}})
	if codeOf(err) != 72 {
		t.Errorf("$match in an update: %v", err)
	}
}
