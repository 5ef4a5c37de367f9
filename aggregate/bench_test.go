package aggregate_test

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/aggregate"
	"mrbench/internal/mongofake"
)

// BenchmarkStream reports the client's cost of a result: from the socket to Sink.
func BenchmarkStream(b *testing.B) {
	const results = 50_000
	docs := make(bson.A, results)
	for i := range docs {
		d, err := bson.Marshal(bson.D{{Key: "_id", Value: int32(i)}, {Key: "value", Value: int32(10)}})
		if err != nil {
			b.Fatal(err)
		}
		docs[i] = bson.Raw(d)
	}
	cursor, err := bson.Marshal(bson.D{{Key: "firstBatch", Value: docs}, {Key: "id", Value: int64(0)}, {Key: "ns", Value: "test.c"}})
	if err != nil {
		b.Fatal(err)
	}
	s := &mongofake.Server{Handle: func(_ context.Context, c mongofake.Command) bson.D {
		if _, explain := c.Body.Lookup("explain").BooleanOK(); explain || c.Name == "explain" {
			return mongofake.Error(59, "no such command")
		}
		return bson.D{{Key: "cursor", Value: bson.Raw(cursor)}, {Key: "ok", Value: 1.0}}
	}}
	c := aggregate.Config{
		Collection: s.Client(b).Database("test").Collection("c"), Pipeline: aggregate.UniqueCount("f"),
		Sink: func(int, []bson.Raw) error { return nil },
	}
	var seconds, n float64
	b.ReportAllocs()
	for b.Loop() {
		rep, err := aggregate.Run(context.Background(), c)
		if err != nil || rep.Output != results {
			b.Fatal(rep, err)
		}
		seconds += rep.Seconds
		n += results
	}
	b.ReportMetric(seconds*1e9/n, "ns/result")
}
