package store

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"

	"mrbench/internal/embedded/bsonx"
)

// benchDoc is {_id: ObjectId(n), dim0: random int32}, about 35 bytes.
func benchDoc(n uint64, rng *rand.Rand) bsonx.Doc {
	var oid [12]byte
	binary.BigEndian.PutUint64(oid[4:], n)
	i, d := bsoncore.AppendDocumentStart(make([]byte, 0, 40))
	d = bsoncore.AppendObjectIDElement(d, "_id", oid)
	d = bsoncore.AppendInt32Element(d, "dim0", rng.Int32N(100_000))
	d, _ = bsoncore.AppendDocumentEnd(d, i)
	return d
}

func openDir(b *testing.B) *DB {
	b.Helper()
	db, err := Open(Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	})
	return db
}

// load inserts n documents with several writers, each taking the next 1,000.
func load(b *testing.B, db *DB, n, writers int) {
	b.Helper()
	const batch = 1000
	var next sync.Mutex
	at := 0
	var wg sync.WaitGroup
	for w := range writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rng := rand.New(rand.NewPCG(uint64(w), 1))
			for {
				next.Lock()
				from := at
				at += batch
				next.Unlock()
				if from >= n {
					return
				}
				docs := make([]bsonx.Doc, batch)
				for i := range docs {
					docs[i] = benchDoc(uint64(from+i), rng)
				}
				if _, errs, err := db.InsertMany(ctx, testNS, docs, false, WriteOptions{Create: true}); err != nil || errs != nil {
					b.Error(err, errs)
					return
				}
			}
		}()
	}
	wg.Wait()
}

func perOp(b *testing.B, n int, unit string) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/"+unit)
}

func BenchmarkInsertMany4Writers(b *testing.B) {
	const n = 2_000_000
	for range b.N {
		db := openDir(b)
		if _, err := db.CreateIndex(ctx, testNS, jdoc(b, `{"key":{"dim0":1},"name":"dim0_1"}`)); err != nil {
			b.Fatal(err)
		}
		load(b, db, n, 4)
	}
	perOp(b, n, "doc")
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys>>20), "MiB-sys")
}

// loaded is a database of n documents with an index on dim0.
func loaded(b *testing.B, n int) *DB {
	b.Helper()
	db := openDir(b)
	load(b, db, n, 2)
	if _, err := db.CreateIndex(ctx, testNS, jdoc(b, `{"key":{"dim0":1},"name":"dim0_1"}`)); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	return db
}

func BenchmarkScanRecords(b *testing.B) {
	const n = 500_000
	db := loaded(b, n)
	s := db.Snapshot()
	defer s.Close()
	for range b.N {
		it := s.Records(s.Collection(testNS), nil, false)
		got, size := 0, 0
		for it.Next() {
			got++
			size += len(it.Doc())
		}
		if got != n || it.Err() != nil {
			b.Fatal(got, size, it.Err())
		}
		it.Close()
	}
	perOp(b, n, "doc")
}

func BenchmarkScanEntries(b *testing.B) {
	const n = 500_000
	db := loaded(b, n)
	s := db.Snapshot()
	defer s.Close()
	c := s.Collection(testNS)
	for range b.N {
		it := s.Entries(c, c.Indexes[1], nil, false)
		got, size := 0, 0
		for it.Next() {
			got++
			size += len(it.Key()) + len(it.TypeBits())
		}
		if got != n || it.Err() != nil {
			b.Fatal(got, size, it.Err())
		}
		it.Close()
	}
	perOp(b, n, "entry")
}

// BenchmarkFetch reads blocks of 10,000 documents in the order of a random field.
func BenchmarkFetch(b *testing.B) {
	const n = 500_000
	db := loaded(b, n)
	s := db.Snapshot()
	defer s.Close()
	c := s.Collection(testNS)
	it := s.Entries(c, c.Indexes[1], nil, false)
	defer it.Close()
	var keys [][]byte
	for len(keys) < 10_000 && it.Next() {
		keys = append(keys, append([]byte(nil), it.IDKey()...))
	}
	b.ResetTimer()
	for range b.N {
		got := 0
		if err := s.Fetch(c, keys, func(int, bsonx.Doc) error { got++; return nil }); err != nil || got != len(keys) {
			b.Fatal(got, err)
		}
	}
	perOp(b, len(keys), "doc")
}

func BenchmarkCreateIndex(b *testing.B) {
	const n = 500_000
	db := loaded(b, n)
	for range b.N {
		if err := db.DropIndex(ctx, testNS, "dim0_1"); err != nil {
			b.Fatal(err)
		}
		if _, err := db.CreateIndex(ctx, testNS, jdoc(b, `{"key":{"dim0":1},"name":"dim0_1"}`)); err != nil {
			b.Fatal(err)
		}
	}
	perOp(b, n, "doc")
}

func BenchmarkBuilder(b *testing.B) {
	const n = 500_000
	db := openDir(b)
	rng := rand.New(rand.NewPCG(1, 1))
	docs := make([]bsonx.Doc, n)
	for i := range docs {
		docs[i] = benchDoc(uint64(i), rng)
	}
	for _, name := range []string{"ascending", "shuffled"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				bl, err := db.NewBuilder(ctx, testNS, false)
				if err != nil {
					b.Fatal(err)
				}
				for _, d := range docs {
					if err := bl.Add(d); err != nil {
						b.Fatal(err)
					}
				}
				if err := bl.Publish(ctx); err != nil {
					b.Fatal(err)
				}
			}
			perOp(b, n, "doc")
		})
		rng.Shuffle(n, func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	}
}

// BenchmarkOpen opens a directory after a clean end and after a crash with a full log.
func BenchmarkOpen(b *testing.B) {
	const n = 500_000
	for _, clean := range []bool{true, false} {
		b.Run(fmt.Sprint("clean ", clean), func(b *testing.B) {
			dir := b.TempDir()
			db, err := Open(Options{Dir: dir})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := db.CreateIndex(ctx, testNS, jdoc(b, `{"key":{"dim0":1},"name":"dim0_1"}`)); err != nil {
				b.Fatal(err)
			}
			load(b, db, n, 2)
			from := dir
			if !clean {
				if err := db.Sync(ctx); err != nil {
					b.Fatal(err)
				}
				from = b.TempDir()
				if err := os.CopyFS(from, os.DirFS(dir)); err != nil {
					b.Fatal(err)
				}
			}
			if err := db.Close(); err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			for range b.N {
				b.StopTimer()
				copied := filepath.Join(b.TempDir(), "data")
				if err := os.CopyFS(copied, os.DirFS(from)); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				db, err := Open(Options{Dir: copied})
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				s := db.Snapshot()
				if got := s.Stats(s.Collection(testNS)).Documents; got != n {
					b.Fatal(got)
				}
				s.Close()
				if err := db.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}
