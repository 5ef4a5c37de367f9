package mapreduce

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/store"
)

// uniques fills test.u with n documents {_id, dim0: random in [0, keys)} and indexes dim0.
func uniques(t testing.TB, db *store.DB, n, keys int) store.NS {
	t.Helper()
	ns := store.NS{DB: "test", Coll: "u"}
	rnd := rand.New(rand.NewPCG(1, 2))
	docs := make([]bsonx.Doc, 0, 1000)
	for i := range n {
		docs = append(docs, bsonx.Doc(bsoncore.NewDocumentBuilder().AppendInt32("_id", int32(i)).AppendInt32("dim0", rnd.Int32N(int32(keys))).Build()))
		if len(docs) == cap(docs) || i == n-1 {
			insert(t, db, ns, docs)
			docs = docs[:0]
		}
	}
	if _, err := db.CreateIndex(t.Context(), ns, doc(t, bson.D{{Key: "v", Value: int32(2)}, {Key: "key", Value: bson.D{{Key: "dim0", Value: int32(1)}}}, {Key: "name", Value: "dim0_1"}})); err != nil {
		t.Fatal(err)
	}
	return ns
}

func benchSize() int {
	if n, err := strconv.Atoi(os.Getenv("MAPREDUCE_BENCH_DOCS")); err == nil {
		return n
	}
	return 200_000
}

// BenchmarkJob is one whole job of 200,000 documents and 20,000 keys per operation.
func BenchmarkJob(b *testing.B) {
	db := openDB(b)
	n := benchSize()
	uniques(b, db, n, n/10)
	for _, c := range []struct {
		name string
		opt  bson.D
	}{
		{"unsorted", nil},
		{"sorted", bson.D{{Key: "sort", Value: bson.D{{Key: "dim0", Value: int32(1)}}}}},
		{"sorted-js", bson.D{{Key: "sort", Value: bson.D{{Key: "dim0", Value: int32(1)}}}, {Key: "jsMode", Value: true}}},
		{"unsorted-js", bson.D{{Key: "jsMode", Value: true}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			var reduces int64
			for b.Loop() {
				reply, err := runJob(b, db, append(bson.D{
					{Key: "mapReduce", Value: "u"},
					{Key: "map", Value: code(mapDim0)},
					{Key: "reduce", Value: code(reduceSum)},
					{Key: "out", Value: "out"},
				}, c.opt...))
				if err != nil {
					b.Fatal(err)
				}
				_, _, reduces, _ = counts(b, reply)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/doc")
			b.ReportMetric(float64(reduces), "reduces")
		})
	}
}
