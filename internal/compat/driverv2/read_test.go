package driverv2

import (
	"context"
	"math"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func fill(t *testing.T, c *mongo.Collection, n int) {
	t.Helper()
	docs := make([]any, n)
	for i := range docs {
		docs[i] = d("_id", i, "k", i%7, "s", "some text that makes it longer")
	}
	_, err := c.InsertMany(t.Context(), docs)
	must(t, err)
}

// TestCursors: batches, a cursor closed early, one that ended, and one that was killed.
func TestCursors(t *testing.T) {
	db, log := connect(t)
	ctx, c := t.Context(), db.Collection("c")
	fill(t, c, 1000)
	cur, err := c.Find(ctx, d(), options.Find().SetBatchSize(64).SetSort(d("_id", -1)))
	docs := all(t, cur, err)
	if len(docs) != 1000 || docs[999][0].Value != int32(0) {
		t.Errorf("%d documents", len(docs))
	}
	log.take()
	cur, err = c.Find(ctx, d(), options.Find().SetBatchSize(2))
	must(t, err)
	cur.Next(ctx)
	id := cur.ID()
	must(t, cur.Close(ctx))
	names, _ := log.take()
	same(t, "commands of a cursor closed early", names, bson.A{"find", "killCursors"})
	fails(t, 43, db.RunCommand(ctx, d("getMore", id, "collection", "c")).Err())
	if cur, err = c.Find(ctx, d(), options.Find().SetBatchSize(2)); err != nil {
		t.Fatal(err)
	}
	must(t, db.RunCommand(ctx, d("killCursors", "c", "cursors", bson.A{cur.ID()})).Err())
	for cur.Next(ctx) {
	}
	fails(t, 43, cur.Err())
	cur, err = c.Aggregate(ctx, bson.A{d("$group", d("_id", "$k", "n", d("$sum", 1))), d("$sort", d("_id", 1))}, options.Aggregate().SetBatchSize(2))
	if docs = all(t, cur, err); len(docs) != 7 {
		t.Errorf("%v", docs)
	}
	same(t, "first group", docs[0], d("_id", 0, "n", 143))
}

// TestTypes: every type comes back byte for byte, as a field and as _id.
func TestTypes(t *testing.T) {
	db, _ := connect(t)
	ctx, c := t.Context(), db.Collection("c")
	oid, err := bson.ObjectIDFromHex("0123456789abcdef01234567")
	must(t, err)
	dec := func(s string) bson.Decimal128 {
		v, err := bson.ParseDecimal128(s)
		must(t, err)
		return v
	}
	values := []any{
		1.5, 3.0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.SmallestNonzeroFloat64, "ä\x00€", "", d("b", 1, "a", bson.A{}), d(),
		bson.Binary{Subtype: 0, Data: []byte{1, 2}},
		bson.Binary{Subtype: 2, Data: []byte{1, 2}},
		bson.Binary{Subtype: 4, Data: make([]byte, 16)},
		bson.Binary{Subtype: 255, Data: []byte{}},
		bson.Undefined{},
		oid, true, false, bson.DateTime(-1), bson.DateTime(math.MaxInt64), bson.DateTime(math.MinInt64),
		bson.Null{},
		bson.Regex{Pattern: "a/b", Options: "im"},
		bson.DBPointer{DB: "a.b", Pointer: oid},
		bson.JavaScript("x"), bson.Symbol("s"),
		bson.CodeWithScope{Code: "y", Scope: d("z", 1)},
		int32(math.MinInt32), int64(math.MaxInt64), int64(1),
		bson.Timestamp{T: math.MaxUint32, I: 7},
		dec("1.10"), dec("-0"), dec("NaN"), dec("-Infinity"), dec("9.999999999999999999999999999999999E+6144"), dec("1E-6176"),
		bson.MinKey{},
		bson.MaxKey{},
		bson.A{1, bson.A{2, d()}},
		bson.A{},
	}
	for i, v := range values {
		in, err := bson.Marshal(d("_id", i, "v", v, "after", 1))
		must(t, err)
		_, err = c.InsertOne(ctx, in)
		must(t, err)
		var out bson.Raw
		must(t, c.FindOne(ctx, d("_id", i)).Decode(&out))
		if string(out) != string(in) {
			t.Errorf("%T came back as %s, was %s", v, out, bson.Raw(in))
		}
		switch v.(type) {
		case bson.A, bson.Regex, bson.Undefined:
			continue
		}
		ids := db.Collection("ids")
		must(t, ids.Drop(ctx))
		in, err = bson.Marshal(d("_id", v))
		must(t, err)
		must(t, db.RunCommand(ctx, d("insert", "ids", "documents", bson.A{bson.Raw(in)})).Err())
		must(t, ids.FindOne(ctx, d("_id", d("$eq", v))).Decode(&out))
		if string(out) != string(in) {
			t.Errorf("as _id, %T came back as %s, was %s", v, out, bson.Raw(in))
		}
	}
	_, err = c.InsertOne(ctx, d("_id", "dates", "when", time.Date(2024, 2, 29, 23, 59, 59, 999e6, time.UTC)))
	must(t, err)
	n, err := c.CountDocuments(ctx, d("when", d("$gte", time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC), "$lt", time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC))))
	must(t, err)
	same(t, "dates in a range", n, int64(1))
}

// TestMaxTime: the server stops a command whose time is over, and the driver one whose context has ended.
func TestMaxTime(t *testing.T) {
	db, _ := connect(t)
	c := db.Collection("c")
	fill(t, c, 10)
	forever := d("find", "c", "filter", d("$where", "function() { for (;;) { } }"))
	fails(t, 50, db.RunCommand(t.Context(), append(forever, bson.E{Key: "maxTimeMS", Value: 50})).Err())
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := db.RunCommand(ctx, forever).Err(); err == nil {
		t.Error("a loop without end came to one")
	}
	must(t, c.FindOne(t.Context(), d()).Err())
}

// TestPipelines: the stages that join, fan out and write.
func TestPipelines(t *testing.T) {
	db, _ := connect(t)
	ctx, c := t.Context(), db.Collection("left")
	_, err := c.InsertMany(ctx, []any{d("_id", 1, "r", "x"), d("_id", 2, "r", "y")})
	must(t, err)
	_, err = db.Collection("right").InsertOne(ctx, d("_id", "x", "v", 1))
	must(t, err)
	lookup := d("$lookup", d("from", "right", "localField", "r", "foreignField", "_id", "as", "m"))
	cur, err := c.Aggregate(ctx, bson.A{lookup, d("$facet", d("n", bson.A{d("$count", "n")}, "hit", bson.A{d("$match", d("m.v", 1))}))})
	same(t, "$lookup, $facet", all(t, cur, err), bson.A{d("n", bson.A{d("n", 2)}, "hit", bson.A{d("_id", 1, "r", "x", "m", bson.A{d("_id", "x", "v", 1)})})})
	cur, err = c.Aggregate(ctx, bson.A{d("$set", d("c", 1)), d("$out", "outed")})
	same(t, "$out", all(t, cur, err), bson.A{})
	cur, err = c.Aggregate(ctx, bson.A{d("$match", d("_id", 1)), d("$set", d("d", 2)), d("$merge", d("into", "outed"))})
	same(t, "$merge", all(t, cur, err), bson.A{})
	cur, err = db.Collection("outed").Find(ctx, d())
	same(t, "written", all(t, cur, err), bson.A{d("_id", 1, "r", "x", "c", 1, "d", 2), d("_id", 2, "r", "y", "c", 1)})
	_, err = c.Aggregate(ctx, bson.A{d("$nope", d())})
	fails(t, 40324, err)
}
