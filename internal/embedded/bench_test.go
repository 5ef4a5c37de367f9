package embedded

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// BenchmarkInsert sends batches of 1,000 small documents through the driver and the in-memory connection.
func BenchmarkInsert(b *testing.B) {
	for _, indexed := range []bool{false, true} {
		name := "plain"
		if indexed {
			name = "indexed"
		}
		b.Run(name, func(b *testing.B) {
			coll := connect(b, openEngine(b)).Database("bench").Collection("c")
			if indexed {
				if _, err := coll.Indexes().CreateOne(context.Background(), mongo.IndexModel{Keys: bson.D{{Key: "dim0", Value: 1}}}); err != nil {
					b.Fatal(err)
				}
			}
			insertBatches(b, coll)
		})
	}
}

func insertBatches(b *testing.B, coll *mongo.Collection) {
	ctx := context.Background()
	next := int64(0)
	docs := make([]any, 1000)
	b.ReportAllocs()
	for b.Loop() {
		for i := range docs {
			docs[i] = bson.D{{Key: "_id", Value: next}, {Key: "dim0", Value: int32(next * 7919 % 1_000_003)}}
			next++
		}
		if _, err := coll.InsertMany(ctx, docs); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(next)/b.Elapsed().Seconds(), "docs/s")
}

// BenchmarkFind reads 100,000 documents through a cursor as raw BSON.
func BenchmarkFind(b *testing.B) {
	const total = 100_000
	ctx := context.Background()
	coll := connect(b, openEngine(b)).Database("bench").Collection("c")
	docs := make([]any, 1000)
	for from := 0; from < total; from += len(docs) {
		for i := range docs {
			docs[i] = bson.D{{Key: "_id", Value: int64(from + i)}, {Key: "dim0", Value: int32(i)}, {Key: "s", Value: "some text of a document"}}
		}
		if _, err := coll.InsertMany(ctx, docs); err != nil {
			b.Fatal(err)
		}
	}
	for _, bench := range []struct {
		name string
		opts *options.FindOptions
	}{
		{"all", options.Find()},
		{"batches of 1000", options.Find().SetBatchSize(1000)},
		{"projected", options.Find().SetProjection(bson.D{{Key: "dim0", Value: 1}, {Key: "_id", Value: 0}})},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				cur, err := coll.Find(ctx, bson.D{}, bench.opts)
				if err != nil {
					b.Fatal(err)
				}
				for n = 0; cur.Next(ctx); n++ {
				}
				if err := cur.Err(); err != nil || n != total {
					b.Fatalf("%d documents: %v", n, err)
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "docs/s")
		})
	}
}

// BenchmarkPing is the cost of a command that does nothing: driver, connection, dispatch.
func BenchmarkPing(b *testing.B) {
	db := connect(b, openEngine(b)).Database("admin")
	b.ReportAllocs()
	for b.Loop() {
		run(b, db, bson.D{{Key: "ping", Value: 1}})
	}
}

// BenchmarkSplitVector cuts 200,000 entries of an index; per entry it must not allocate.
func BenchmarkSplitVector(b *testing.B) {
	const total = 200_000
	coll := connect(b, openEngine(b)).Database("bench").Collection("c")
	docs := make([]any, 1000)
	for from := 0; from < total; from += len(docs) {
		for i := range docs {
			n := from + i
			docs[i] = bson.D{{Key: "_id", Value: int64(n)}, {Key: "dim0", Value: int32(n * 7919 % 20_011)}}
		}
		if _, err := coll.InsertMany(context.Background(), docs); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := coll.Indexes().CreateOne(context.Background(), mongo.IndexModel{Keys: bson.D{{Key: "dim0", Value: 1}}}); err != nil {
		b.Fatal(err)
	}
	cmd := bson.D{{Key: "splitVector", Value: "bench.c"}, {Key: "keyPattern", Value: bson.D{{Key: "dim0", Value: 1}}}, {Key: "maxChunkSizeBytes", Value: 1 << 20}}
	b.ReportAllocs()
	for b.Loop() {
		run(b, coll.Database(), cmd)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/total, "ns/entry")
}
