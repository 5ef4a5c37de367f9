package seed_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/internal/embedded"
	"mrbench/seed"
)

// engine is a client of an engine in memory.
func engine(t testing.TB) *mongo.Client {
	t.Helper()
	e, err := embedded.Open(embedded.Config{Dir: "data", FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	c, err := mongo.Connect(context.Background(), options.Client().ApplyURI("mongodb://embedded/?directConnection=true").SetDialer(e))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Disconnect(context.Background())
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// Every combination of settings loads the same documents, and the index has them all.
func TestEngineLoads(t *testing.T) {
	db := engine(t).Database("test")
	const docs = 3000
	for i, c := range []seed.Config{
		{},
		{Writers: 1, Ordered: true},
		{WriteConcern: "0"},
		{WriteConcern: "j", Batch: 100},
		{WriteConcern: "majority"},
		{Index: seed.IndexBefore},
		{Index: seed.IndexAfter, Writers: 3, Batch: 7},
		{Batch: 1_000_000},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			c.Collection, c.Generator, c.Documents = db.Collection(fmt.Sprint("c", i)), seed.Uniques(9, "dim0", docs, 0), docs
			if c.Index != "" {
				c.IndexKeys = bson.D{{Key: "dim0", Value: 1}}
			}
			r, err := seed.Run(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if r.Documents != docs || r.Counted != docs || r.Bytes != docs*32 {
				t.Errorf("%+v", r)
			}
			cur, err := c.Collection.Find(t.Context(), bson.D{}, options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}))
			if err != nil {
				t.Fatal(err)
			}
			n := int64(0)
			for ; cur.Next(t.Context()); n++ {
				if want := bson.Raw(c.Generator.Append(nil, n)); string(cur.Current) != string(want) {
					t.Fatalf("document %d is %s, want %s", n, cur.Current, want)
				}
			}
			if n != docs || cur.Err() != nil {
				t.Errorf("%d documents, %v", n, cur.Err())
			}
			if c.Index == "" {
				return
			}
			n, err = c.Collection.CountDocuments(t.Context(), bson.D{{Key: "dim0", Value: bson.D{{Key: "$gte", Value: 0}}}}, options.Count().SetHint("dim0_1"))
			if err != nil || n != docs {
				t.Errorf("the index has %d documents, %v", n, err)
			}
		})
	}
}

// BenchmarkSend compares ways to send a batch of 1,000 documents: the prebuilt
// command that seed sends, and the driver's own insert. The reported time is for one document,
// the engine's part included.
func BenchmarkSend(b *testing.B) {
	coll := engine(b).Database("bench").Collection("prebuilt")
	b.Run("prebuilt", func(b *testing.B) {
		_, err := seed.Run(context.Background(), seed.Config{
			Collection: coll, Generator: seed.Uniques(1, "dim0", int64(b.N), 0), Documents: int64(b.N), Writers: 1, Drop: true,
		})
		if err != nil {
			b.Fatal(err)
		}
	})
	b.Run("InsertMany", func(b *testing.B) {
		c := coll.Database().Collection("many")
		if err := c.Drop(context.Background()); err != nil {
			b.Fatal(err)
		}
		g := seed.Uniques(1, "dim0", int64(b.N), 0)
		var docs []any
		for i := range int64(b.N) {
			docs = append(docs, bson.Raw(g.Append(nil, i)))
			if len(docs) == 1000 || i == int64(b.N)-1 {
				if _, err := c.InsertMany(context.Background(), docs); err != nil {
					b.Fatal(err)
				}
				docs = docs[:0]
			}
		}
	})
}
