package driverv2

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

func TestCRUD(t *testing.T) {
	db, _ := connect(t)
	ctx, c := t.Context(), db.Collection("c")
	one, err := c.InsertOne(ctx, d("_id", 1, "n", 1))
	must(t, err)
	many, err := c.InsertMany(ctx, []any{d("_id", 2, "n", 2), d("_id", 3, "n", 3)})
	must(t, err)
	same(t, "ids", bson.A{one.InsertedID, many.InsertedIDs}, bson.A{1, bson.A{2, 3}})
	u, err := c.UpdateOne(ctx, d("_id", 1), d("$inc", d("n", 10)))
	must(t, err)
	same(t, "update", bson.A{u.MatchedCount, u.ModifiedCount, u.UpsertedCount, u.UpsertedID}, bson.A{int64(1), int64(1), int64(0), nil})
	u, err = c.UpdateMany(ctx, d("n", d("$lt", 10)), d("$set", d("small", true)))
	must(t, err)
	same(t, "update of many", bson.A{u.MatchedCount, u.ModifiedCount}, bson.A{int64(2), int64(2)})
	u, err = c.UpdateOne(ctx, d("_id", "new"), d("$set", d("n", 0)), options.UpdateOne().SetUpsert(true))
	must(t, err)
	same(t, "upsert", bson.A{u.MatchedCount, u.ModifiedCount, u.UpsertedCount, u.UpsertedID}, bson.A{int64(0), int64(0), int64(1), "new"})
	u, err = c.ReplaceOne(ctx, d("_id", 3), d("z", 1))
	must(t, err)
	same(t, "replace", u.ModifiedCount, int64(1))
	var doc bson.D
	must(t, c.FindOneAndUpdate(ctx, d("_id", 2), d("$unset", d("small", "")), options.FindOneAndUpdate().SetReturnDocument(options.After)).Decode(&doc))
	same(t, "findOneAndUpdate", doc, d("_id", 2, "n", 2))
	must(t, c.FindOneAndReplace(ctx, d("_id", 2), d("r", 1)).Decode(&doc))
	same(t, "findOneAndReplace", doc, d("_id", 2, "n", 2))
	must(t, c.FindOneAndDelete(ctx, d("_id", 2)).Decode(&doc))
	same(t, "findOneAndDelete", doc, d("_id", 2, "r", 1))
	if err := c.FindOneAndDelete(ctx, d("_id", 2)).Err(); !errors.Is(err, mongo.ErrNoDocuments) {
		t.Errorf("findOneAndDelete of nothing: %v", err)
	}
	cur, err := c.Find(ctx, d(), options.Find().SetSort(d("_id", -1)).SetProjection(d("_id", 1)).SetSkip(1).SetLimit(5))
	same(t, "find", all(t, cur, err), bson.A{d("_id", 3), d("_id", 1)})
	n, err := c.CountDocuments(ctx, d("n", d("$gte", 0)))
	must(t, err)
	estimated, err := c.EstimatedDocumentCount(ctx)
	must(t, err)
	var values []any
	must(t, c.Distinct(ctx, "n", d()).Decode(&values))
	same(t, "counts and values", bson.A{n, estimated, values}, bson.A{int64(2), int64(3), bson.A{11, 0}})
	gone, err := c.DeleteMany(ctx, d("_id", d("$type", "number")))
	must(t, err)
	same(t, "delete", gone.DeletedCount, int64(2))
}

func TestBulkWrite(t *testing.T) {
	for _, ordered := range []bool{true, false} {
		t.Run(fmt.Sprint(ordered), func(t *testing.T) {
			db, _ := connect(t)
			ctx, c := t.Context(), db.Collection("c")
			res, err := c.BulkWrite(ctx, []mongo.WriteModel{
				mongo.NewInsertOneModel().SetDocument(d("_id", 1)),
				mongo.NewInsertOneModel().SetDocument(d("_id", 1)),
				mongo.NewUpdateOneModel().SetFilter(d("_id", 1)).SetUpdate(d("$set", d("a", 1))),
				mongo.NewReplaceOneModel().SetFilter(d("_id", 7)).SetReplacement(d("b", 1)).SetUpsert(true),
				mongo.NewUpdateOneModel().SetFilter(d("_id", 1)).SetUpdate(d("$inc", d("b", "x"))),
				mongo.NewDeleteManyModel().SetFilter(d("_id", d("$gt", 100))),
			}, options.BulkWrite().SetOrdered(ordered))
			var bulk mongo.BulkWriteException
			if !errors.As(err, &bulk) {
				t.Fatalf("got %v", err)
			}
			var faults bson.A
			for _, e := range bulk.WriteErrors {
				faults = append(faults, bson.A{e.Index, e.Code})
			}
			wantFaults, want := bson.A{bson.A{1, 11000}}, bson.A{int64(1), int64(0), int64(0), int64(0), 0}
			if !ordered {
				wantFaults, want = bson.A{bson.A{1, 11000}, bson.A{4, 14}}, bson.A{int64(1), int64(1), int64(1), int64(1), 1}
				slices.SortFunc(faults, func(a, b any) int { return a.(bson.A)[0].(int) - b.(bson.A)[0].(int) })
			}
			same(t, "faults", faults, wantFaults)
			same(t, "result", bson.A{res.InsertedCount, res.MatchedCount, res.ModifiedCount, res.UpsertedCount, len(res.UpsertedIDs)}, want)
		})
	}
}

func TestDuplicateKey(t *testing.T) {
	db, _ := connect(t)
	ctx, c := t.Context(), db.Collection("c")
	_, err := c.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: d("a", 1, "b", -1), Options: options.Index().SetUnique(true)})
	must(t, err)
	_, err = c.InsertOne(ctx, d("_id", 1, "a", 1, "b", "x"))
	must(t, err)
	_, err = c.InsertOne(ctx, d("_id", 2, "a", int64(1), "b", "x"))
	if !mongo.IsDuplicateKeyError(err) {
		t.Fatal(err)
	}
	var w mongo.WriteException
	if !errors.As(err, &w) {
		t.Fatal(err)
	}
	raw := w.WriteErrors[0].Raw
	same(t, "keyPattern", raw.Lookup("keyPattern"), d("a", 1, "b", -1))
	same(t, "keyValue", raw.Lookup("keyValue"), d("a", int64(1), "b", "x"))
	if want := `E11000 duplicate key error collection: ` + db.Name() + `.c index: a_1_b_-1 dup key: { a: 1, b: "x" }`; w.WriteErrors[0].Message != want {
		t.Errorf("got %q, want %q", w.WriteErrors[0].Message, want)
	}
}

// TestWriteConcerns: unacknowledged writes arrive, journaled ones are acknowledged, impossible ones are refused.
func TestWriteConcerns(t *testing.T) {
	db, _ := connect(t)
	ctx := t.Context()
	with := func(w *writeconcern.WriteConcern) *mongo.Collection {
		return db.Collection("c", options.Collection().SetWriteConcern(w))
	}
	_, err := with(&writeconcern.WriteConcern{W: 1, Journal: new(true)}).InsertOne(ctx, d("_id", 1))
	must(t, err)
	_, err = with(writeconcern.Majority()).InsertOne(ctx, d("_id", 2))
	must(t, err)
	res, err := with(writeconcern.Unacknowledged()).InsertMany(ctx, []any{d("_id", 3), d("_id", 1), d("_id", 4)})
	must(t, err)
	same(t, "acknowledged", res.Acknowledged, false)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for { // there is nothing to wait on but the write itself
		n, err := db.Collection("c").CountDocuments(ctx, d("_id", 3))
		must(t, err)
		if n == 1 {
			break
		}
	}
	_, err = with(&writeconcern.WriteConcern{W: 2}).InsertOne(ctx, d("_id", 9))
	fails(t, 2, err)
}

// TestHundredThousand: the most that one command may write, and its documents read in batches.
func TestHundredThousand(t *testing.T) {
	db, log := connect(t)
	ctx, c := t.Context(), db.Collection("c")
	docs := make([]any, 100_000)
	for i := range docs {
		docs[i] = d("_id", i, "k", i%100)
	}
	_, err := c.InsertMany(ctx, docs)
	must(t, err)
	log.take()
	cur, err := c.Find(ctx, d(), options.Find().SetBatchSize(10_000))
	must(t, err)
	n := 0
	for cur.Next(ctx) {
		if id := cur.Current.Lookup("_id").Int32(); int(id) != n {
			t.Fatalf("document %d has _id %d", n, id)
		}
		n++
	}
	must(t, cur.Err())
	names, _ := log.take()
	if n != 100_000 || len(names) != 11 && len(names) != 10 {
		t.Errorf("%d documents by %v", n, names)
	}
	r, err := c.UpdateMany(ctx, d("k", d("$lt", 50)), d("$inc", d("k", 1000)))
	must(t, err)
	same(t, "modified", r.ModifiedCount, int64(50_000))
	err = db.RunCommand(ctx, d("insert", "c", "documents", slices.Repeat([]bson.D{{}}, 100_001))).Err()
	fails(t, 16, err)
}

// TestLargestDocument: 16 MiB go in and come back, one byte more does not go in.
func TestLargestDocument(t *testing.T) {
	db, _ := connect(t)
	ctx, c := t.Context(), db.Collection("c")
	sized := func(id int32, n int) bson.Raw {
		doc := d("_id", id, "s", "")
		b, err := bson.Marshal(doc)
		must(t, err)
		doc[1].Value = string(slices.Repeat([]byte{'x'}, n-len(b)))
		b, err = bson.Marshal(doc)
		must(t, err)
		return b
	}
	const limit = 16 << 20
	_, err := c.InsertOne(ctx, sized(1, limit))
	must(t, err)
	var back bson.Raw
	must(t, c.FindOne(ctx, d("_id", 1)).Decode(&back))
	if string(back) != string(sized(1, limit)) {
		t.Errorf("a document of %d bytes came back with %d", limit, len(back))
	}
	if _, err = c.InsertOne(ctx, sized(2, limit+1)); err == nil {
		t.Error("a document of one byte more is accepted")
	}
	fails(t, 10334, db.RunCommand(ctx, d("insert", "c", "documents", bson.A{sized(2, limit+1)})).Err())
	_, err = c.UpdateOne(ctx, d("_id", 1), d("$set", d("more", 1)))
	fails(t, 17419, err)
	_, err = c.InsertMany(ctx, []any{sized(3, limit), sized(4, limit), sized(5, limit), sized(6, limit)})
	must(t, err)
	n, err := c.CountDocuments(ctx, d())
	must(t, err)
	same(t, "count", n, int64(5))
}
