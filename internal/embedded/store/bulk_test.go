package store

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

const testBulk = 2 << 10

// bulkDocs are documents of about 40 bytes.
func bulkDocs(t fataler, from, n int) []bsonx.Doc {
	docs := make([]bsonx.Doc, n)
	for i := range docs {
		docs[i] = jdoc(t, `{"_id":%d,"pad":"0123456789"}`, from+i)
	}
	return docs
}

func openBulk(t testing.TB, fs vfs.FS) *DB {
	t.Helper()
	db, err := Open(Options{Dir: "data", FS: fs, Log: t.Logf, bulkBytes: testBulk})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// ingests is how many times tables were taken in.
func ingests(db *DB) uint64 { return db.p.Metrics().Ingest.Count }

// Many documents become tables when they ascend into a gap, and the result is the same when not.
func TestInsertTables(t *testing.T) {
	many := testBulk / 30
	for _, tc := range []struct {
		name   string
		before []int // _ids
		docs   func(t *testing.T) []bsonx.Doc
		index  bool
		tables int
		failed int
	}{
		{"into nothing", nil, func(t *testing.T) []bsonx.Doc { return bulkDocs(t, 0, many) }, false, 1, 0},
		{"few", nil, func(t *testing.T) []bsonx.Doc { return bulkDocs(t, 0, many/4) }, false, 0, 0},
		{"behind", []int{-1}, func(t *testing.T) []bsonx.Doc { return bulkDocs(t, 0, many) }, false, 1, 0},
		{"before", []int{many}, func(t *testing.T) []bsonx.Doc { return bulkDocs(t, 0, many) }, false, 1, 0},
		{"between", []int{-1, many}, func(t *testing.T) []bsonx.Doc { return bulkDocs(t, 0, many) }, false, 1, 0},
		{"the first is there", []int{0}, func(t *testing.T) []bsonx.Doc { return bulkDocs(t, 0, many) }, false, 0, 1},
		{"the last is there", []int{many - 1}, func(t *testing.T) []bsonx.Doc { return bulkDocs(t, 0, many) }, false, 1, 1},
		{"one in the middle", []int{many}, func(t *testing.T) []bsonx.Doc { return bulkDocs(t, 0, 2*many) }, false, 1, 1},
		{"one twice", nil, func(t *testing.T) []bsonx.Doc { return append(bulkDocs(t, 0, many), bulkDocs(t, many-1, 1)...) }, false, 1, 1},
		{"two runs", nil, func(t *testing.T) []bsonx.Doc { return append(bulkDocs(t, 1000, many), bulkDocs(t, 0, many)...) }, false, 2, 0},
		{"descending", nil, func(t *testing.T) []bsonx.Doc {
			docs := bulkDocs(t, 0, many)
			for i := range len(docs) / 2 {
				docs[i], docs[len(docs)-1-i] = docs[len(docs)-1-i], docs[i]
			}
			return docs
		}, false, 0, 0},
		{"with an index", nil, func(t *testing.T) []bsonx.Doc { return bulkDocs(t, 0, many) }, true, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			fs := vfs.NewMem()
			db := openBulk(t, fs)
			if tc.index {
				mustIndex(t, db, testNS, `{"key":{"pad":1},"name":"pad"}`)
			}
			for _, id := range tc.before {
				mustInsert(t, db, testNS, bulkDocs(t, id, 1)...)
			}
			was := ingests(db)
			docs := tc.docs(t)
			n, errs, err := db.InsertMany(ctx, testNS, docs, false, WriteOptions{Create: true})
			if err != nil || len(errs) != tc.failed || n != len(docs)-tc.failed {
				t.Errorf("%d of %d inserted, errors %v, %v", n, len(docs), errs, err)
			}
			for _, err := range errs {
				if mongoerr.CodeOf(err) != mongoerr.DuplicateKey {
					t.Error(err)
				}
			}
			if got := int(ingests(db) - was); got != tc.tables {
				t.Errorf("tables taken in %d times, want %d", got, tc.tables)
			}
			want := int64(len(tc.before) + len(docs) - tc.failed)
			for range 2 {
				if got := mustValidate(t, db, testNS).Documents; got != want {
					t.Errorf("%d documents, want %d", got, want)
				}
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				db = openBulk(t, fs)
			}
			checkNoStrays(t, db)
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// After a power cut the counters still agree: those that came with tables count what was in the log before them, too.
func TestInsertTablesThenPowerCut(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		fs := vfs.NewCrashableMem()
		db := openBulk(t, fs)
		synced := 0
		for n := range 6 {
			docs := bulkDocs(t, n*1000, 1+rng.IntN(150)) // either way
			sync := rng.IntN(3) == 0
			if _, errs, err := db.InsertMany(ctx, testNS, docs, true, WriteOptions{Create: true, Sync: sync}); errs != nil || err != nil {
				t.Fatal(errs, err)
			}
			if sync {
				synced = n + 1
			}
		}
		clone := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(2) * 50, RNG: rng})
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		db = openBulk(t, clone)
		if c := db.cat.Load().lookup(testNS); c != nil {
			mustValidate(t, db, testNS)
		}
		there := map[int]bool{}
		for _, d := range allDocs(t, db, testNS) {
			there[int(d.Get("_id").Int32())/1000] = true
		}
		for n := range synced {
			if !there[n] {
				t.Errorf("seed %d: synced documents %d are lost", seed, n)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Writers who insert the same documents in runs of any size: each goes in once, the others hear of it.
func TestInsertTablesTogether(t *testing.T) {
	db := openBulk(t, vfs.NewMem())
	const total = 3000
	docs := bulkDocs(t, 0, total)
	var wg sync.WaitGroup
	var mu sync.Mutex
	inserted, refused := 0, 0
	for w := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rng := rand.New(rand.NewPCG(uint64(w), 2))
			for at := 0; at < total; {
				end := min(total, at+1+rng.IntN(300))
				n, errs, err := db.InsertMany(ctx, testNS, docs[at:end], false, WriteOptions{Create: true})
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				inserted += n
				refused += len(errs)
				mu.Unlock()
				at = end
			}
		}()
	}
	wg.Wait()
	if inserted != total || refused != 3*total {
		t.Errorf("%d inserted, %d refused", inserted, refused)
	}
	if n := mustValidate(t, db, testNS).Documents; n != total {
		t.Errorf("%d documents", n)
	}
	if ingests(db) == 0 {
		t.Error("no tables")
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// Tables that can't be written are an error and leave nothing.
func TestInsertTablesOnFullDisk(t *testing.T) {
	for _, part := range []string{"table-", ".log"} {
		t.Run(part, func(t *testing.T) {
			mem := vfs.NewMem()
			f := &faults{part: part, percent: 100, err: syscall.ENOSPC}
			db := openBulk(t, errorfs.Wrap(mem, f))
			mustInsert(t, db, testNS, bulkDocs(t, -1, 1)...)
			f.on.Store(true)
			n, errs, err := db.InsertMany(ctx, testNS, bulkDocs(t, 0, 500), true, WriteOptions{Sync: true})
			if n != 0 || errs != nil || mongoerr.CodeOf(err) != mongoerr.OutOfDiskSpace {
				t.Errorf("%d inserted, %v, %v", n, errs, err)
			}
			f.on.Store(false)
			await(t, "recovery", func() bool { return db.health.err() == nil })
			there := int(mustValidate(t, db, testNS).Documents) - 1
			if part == "table-" && there != 0 {
				t.Errorf("%d documents are there", there)
			}
			checkNoStrays(t, db)
			mustInsert(t, db, testNS, bulkDocs(t, 1000, 500)...)
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			db = openBulk(t, mem)
			if n := mustValidate(t, db, testNS).Documents; n != int64(501+there) {
				t.Errorf("%d documents after reopening", n)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// BenchmarkInsertTables compares tables with the log, for documents in order.
func BenchmarkInsertTables(b *testing.B) {
	docs := make([]bsonx.Doc, 250_000)
	for i := range docs {
		docs[i] = jdoc(b, `{"_id":%d,"value":1.0}`, i)
	}
	for _, bulk := range []int{0, 1 << 30} {
		name := "tables"
		if bulk > 0 {
			name = "log"
		}
		b.Run(name, func(b *testing.B) {
			db, err := Open(Options{Dir: b.TempDir(), bulkBytes: bulk})
			if err != nil {
				b.Fatal(err)
			}
			for i := range b.N {
				if _, _, err := db.InsertMany(ctx, NS{"d", fmt.Sprint("c", i)}, docs, true, WriteOptions{Create: true}); err != nil {
					b.Fatal(err)
				}
			}
			if err := db.Close(); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(docs)), "ns/doc")
		})
	}
}
