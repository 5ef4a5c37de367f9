package query

import (
	"context"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/store"
)

var benchDoc = bson.D{
	{Key: "_id", Value: int32(7)},
	{Key: "dim0", Value: int32(4711)},
	{Key: "s", Value: "some text"},
	{Key: "n", Value: bson.D{{Key: "x", Value: 1.5}}},
	{Key: "tags", Value: bson.A{"a", "b", "c"}},
}

func BenchmarkMatch(b *testing.B) {
	d := marshal(b, benchDoc)
	for _, f := range []string{
		`{"dim0": {"$gte": 1000, "$lt": 5000}}`,
		`{"dim0": 4711}`,
		`{"dim0": {"$in": [1, 2, 3, 4711]}}`,
		`{"n.x": {"$gt": 1}}`,
		`{"tags": "c"}`,
		`{"$or": [{"dim0": {"$lt": 5}}, {"dim0": {"$type": ["string", "object", "int"]}}, {"dim0": null}]}`,
		`{"$expr": {"$and": [{"$gte": ["$dim0", {"$literal": 5}]}, {"$lt": ["$dim0", {"$literal": 5000}]}]}}`,
		`{"s": {"$regex": "^some"}}`,
	} {
		b.Run(f, func(b *testing.B) {
			f := filter(b, doc(b, f))
			if ok, err := f.Match(d); !ok || err != nil {
				b.Fatal(ok, err)
			}
			b.ReportAllocs()
			for b.Loop() {
				_, _ = f.Match(d)
			}
		})
	}
}

func benchCollection(b *testing.B, n int) *store.DB {
	b.Helper()
	db := openDB(b)
	docs := make([]bsonx.Doc, 0, 1000)
	for i := range n {
		docs = append(docs, marshal(b, bson.D{{Key: "_id", Value: int32(i)}, {Key: "dim0", Value: int32(i * 7919 % (n / 10))}}))
		if len(docs) == cap(docs) {
			insert(b, db, testNS, docs...)
			docs = docs[:0]
		}
	}
	insert(b, db, testNS, docs...)
	index(b, db, testNS, `{"key": {"dim0": 1}, "name": "dim0_1"}`)
	return db
}

// BenchmarkScan shows the cost of one document (ns/doc) in the ways to read a collection.
func BenchmarkScan(b *testing.B) {
	const n = 1_000_000
	db := benchCollection(b, n)
	snap := db.Snapshot()
	defer func() { _ = snap.Close() }()
	c := snap.Collection(testNS)
	f := filter(b, doc(b, fmt.Sprintf(`{"dim0": {"$gte": 0, "$lt": %d}}`, n)))
	sorted, err := ParseSort(doc(b, `{"dim0": 1}`))
	if err != nil {
		b.Fatal(err)
	}
	for _, bc := range []struct {
		name string
		r    Request
	}{
		{"collection", Request{}},
		{"collection-filter", Request{Filter: f, Hint: val(b, `{"$natural": 1}`)}},
		{"covered", Request{Filter: f, Needs: []string{"dim0"}}},
		{"covered-count", Request{Filter: f, Needs: []string{}}},
		{"fetch-in-index-order", Request{Sort: sorted}},
	} {
		b.Run(bc.name, func(b *testing.B) {
			p, err := MakePlan(snap, c, bc.r)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				src, err := p.Open(snap)
				if err != nil {
					b.Fatal(err)
				}
				got := 0
				for {
					docs, err := src.Next(context.Background())
					if err != nil {
						b.Fatal(err)
					}
					if len(docs) == 0 {
						break
					}
					got += len(docs)
				}
				if err := src.Close(); err != nil || got != n {
					b.Fatal(got, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/doc")
		})
	}
}
