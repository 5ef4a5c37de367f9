package pipeline

import (
	"testing"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/store"
)

// benchDocs is the size of the benchmarks' collection: keys repeat about ten times.
const benchDocs = 1_000_000

func benchDB(b *testing.B) *store.DB {
	b.Helper()
	db := openDB(b)
	docs := make([]bsonx.Doc, 0, 10000)
	x := uint64(1)
	for i := range benchDocs {
		x = x*6364136223846793005 + 1442695040888963407
		id := [12]byte{0: byte(i >> 24), 1: byte(i >> 16), 2: byte(i >> 8), 3: byte(i)}
		docs = append(docs, makeDoc("_id", bsonx.ObjectID(id), "dim0", bsonx.Int32(int32(x>>33%(benchDocs/10)))).Doc())
		if len(docs) == cap(docs) {
			insert(b, db, testNS, docs...)
			docs = docs[:0]
		}
	}
	index(b, db, testNS, `{"key": {"dim0": 1}, "name": "dim0_1"}`)
	return db
}

func BenchmarkGroup(b *testing.B) {
	db := benchDB(b)
	for _, c := range []struct {
		name, stages string
		parallel     int
		docs         int
	}{
		{"table", `[{"$group": {"_id": "$dim0", "value": {"$sum": 1}}}]`, 1, benchDocs / 10},
		{"table-2", `[{"$group": {"_id": "$dim0", "value": {"$sum": 1}}}]`, 2, benchDocs / 10},
		{"table-sum", `[{"$group": {"_id": "$dim0", "value": {"$sum": "$dim0"}}}]`, 1, benchDocs / 10},
		{"covered", `[{"$sort": {"dim0": 1}}, {"$group": {"_id": "$dim0", "value": {"$sum": 1}}}]`, 1, benchDocs / 10},
		{"covered-2", `[{"$sort": {"dim0": 1}}, {"$group": {"_id": "$dim0", "value": {"$sum": 1}}}]`, 2, benchDocs / 10},
		{"covered-docs", `[{"$sort": {"dim0": 1}}, {"$group": {"_id": "$dim0", "value": {"$max": "$dim0"}}}]`, 1, benchDocs / 10},
		{"distinct", `[{"$sort": {"dim0": 1}}, {"$group": {"_id": "$dim0"}}]`, 1, benchDocs / 10},
		{"count", `[{"$match": {"dim0": {"$gte": 0}}}, {"$count": "n"}]`, 1, 1},
	} {
		b.Run(c.name, func(b *testing.B) {
			o := options(db)
			o.Parallel = c.parallel
			p, err := Parse(array(b, c.stages), o)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				snap := db.Snapshot()
				src, err := p.Run(ctx, snap)
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				for {
					docs, err := src.Next(ctx)
					if err != nil {
						b.Fatal(err)
					}
					if len(docs) == 0 {
						break
					}
					n += len(docs)
				}
				_ = src.Close()
				snap.Close()
				if n < c.docs*9/10 {
					b.Fatalf("%d documents", n)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchDocs, "ns/doc")
		})
	}
}

// BenchmarkMerge: $merge into a collection that is not there, beside the insert of the same documents.
func BenchmarkMerge(b *testing.B) {
	const n = 100_000
	db := openDB(b)
	var docs []bsonx.Doc
	for i := range n {
		docs = append(docs, makeDoc("_id", bsonx.Int32(int32(i)), "value", bsonx.Int32(int32(i%7))).Doc())
	}
	insert(b, db, testNS, docs...)
	to := store.NS{DB: "d", Coll: "to"}
	for _, c := range []struct {
		name string
		run  func() error
	}{
		{"merge", func() error {
			_, err := runAll(array(b, `[{"$merge": "to"}]`), options(db))
			return err
		}},
		{"out", func() error {
			_, err := runAll(array(b, `[{"$out": "to"}]`), options(db))
			return err
		}},
		{"insert", func() error {
			for i := 0; i < n; i += 8192 {
				if _, _, err := db.InsertMany(ctx, to, docs[i:min(i+8192, n)], false, store.WriteOptions{Create: true}); err != nil {
					return err
				}
			}
			return nil
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = db.Drop(ctx, to)
				if err := c.run(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/doc")
		})
	}
}
