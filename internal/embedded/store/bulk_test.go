package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// bulkDocs are documents of about 40 bytes.
func bulkDocs(t fataler, from, n int) []bsonx.Doc {
	docs := make([]bsonx.Doc, n)
	for i := range docs {
		docs[i] = jdoc(t, `{"_id":%d,"pad":"0123456789"}`, from+i)
	}
	return docs
}

// insertBulk inserts documents by a Bulk as far as it takes them, and the others by InsertMany; tables is how many went into tables.
func insertBulk(db *DB, ns NS, docs []bsonx.Doc) (n, tables int, errs map[int]error, err error) {
	b, err := db.NewBulk(ctx, ns)
	if err != nil {
		return 0, 0, nil, err
	}
	rest := docs
	if b != nil {
		defer b.Close()
		for len(rest) > 0 {
			ok, err := b.Add(rest[0])
			if err != nil {
				return 0, 0, nil, err
			}
			if !ok {
				break
			}
			rest = rest[1:]
		}
		tables = len(docs) - len(rest)
		ok, err := b.Publish(ctx)
		if err != nil {
			return 0, 0, nil, err
		}
		if !ok {
			tables, rest = 0, slices.Clone(rest)
			var again []bsonx.Doc
			if err := b.Each(func(d bsonx.Doc) error { again = append(again, bytes.Clone(d)); return nil }); err != nil {
				return 0, 0, nil, err
			}
			rest = append(again, rest...)
		}
	}
	n, errs, err = db.InsertMany(ctx, ns, rest, false, WriteOptions{Create: true})
	return n + tables, tables, errs, err
}

// ingests is how many times tables were taken in.
func ingests(db *DB) int { return int(db.p.Metrics().Ingest.Count) } //nolint:gosec // a small number

// Documents become tables as far as they ascend into a gap, and the collection is the same as without.
func TestBulk(t *testing.T) {
	const many = 50
	ascending := func(t *testing.T) []bsonx.Doc { return bulkDocs(t, 0, many) }
	for _, tc := range []struct {
		name   string
		before []int // _ids
		docs   func(t *testing.T) []bsonx.Doc
		index  bool
		tables int // documents
		failed int
	}{
		{"into nothing", nil, ascending, false, many, 0},
		{"behind", []int{-1}, ascending, false, many, 0},
		{"before", []int{many}, ascending, false, many, 0},
		{"between", []int{-1, many}, ascending, false, many, 0},
		{"the first is there", []int{0}, ascending, false, 0, 1},
		{"the last is there", []int{many - 1}, ascending, false, many - 1, 1},
		{"one in the middle", []int{many / 2}, ascending, false, many / 2, 1},
		{"one twice", nil, func(t *testing.T) []bsonx.Doc { return append(bulkDocs(t, 0, many), bulkDocs(t, many-1, 1)...) }, false, many, 1},
		{"two runs", nil, func(t *testing.T) []bsonx.Doc { return append(bulkDocs(t, 1000, many), bulkDocs(t, 0, 2)...) }, false, many, 0},
		{"with an index", nil, ascending, true, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			fs := vfs.NewMem()
			db, err := Open(Options{Dir: "data", FS: fs})
			if err != nil {
				t.Fatal(err)
			}
			if tc.index {
				mustIndex(t, db, testNS, `{"key":{"pad":1},"name":"pad"}`)
			}
			for _, id := range tc.before {
				mustInsert(t, db, testNS, bulkDocs(t, id, 1)...)
			}
			docs := tc.docs(t)
			n, tables, errs, err := insertBulk(db, testNS, docs)
			if err != nil || len(errs) != tc.failed || n != len(docs)-tc.failed || tables != tc.tables {
				t.Errorf("%d of %d inserted, %d in tables, errors %v, %v", n, len(docs), tables, errs, err)
			}
			for _, err := range errs {
				if mongoerr.CodeOf(err) != mongoerr.DuplicateKey {
					t.Error(err)
				}
			}
			if got := ingests(db) > 0; got != (tc.tables > 0) {
				t.Errorf("tables taken in: %v", got)
			}
			want := int64(len(tc.before) + len(docs) - tc.failed)
			for range 2 {
				if got := mustValidate(t, db, testNS).Documents; got != want {
					t.Errorf("%d documents, want %d", got, want)
				}
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				if db, err = Open(Options{Dir: "data", FS: fs}); err != nil {
					t.Fatal(err)
				}
			}
			mustInsert(t, db, testNS, bulkDocs(t, 5000, 1)...)
			if got := mustValidate(t, db, testNS).Documents; got != want+1 {
				t.Errorf("%d documents, want %d", got, want+1)
			}
			if _, err := db.Drop(ctx, testNS); err != nil {
				t.Error(err)
			}
			checkNoStrays(t, db)
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// What others do between Add and Publish is seen, and then nothing is published.
func TestBulkLosesToOthers(t *testing.T) {
	for name, meanwhile := range map[string]func(t *testing.T, db *DB) error{
		"a document among them": func(t *testing.T, db *DB) error {
			_, _, err := db.InsertMany(ctx, testNS, bulkDocs(t, 20, 1), true, WriteOptions{})
			return err
		},
		"an index": func(t *testing.T, db *DB) error {
			mustIndex(t, db, testNS, `{"key":{"pad":1},"name":"pad"}`)
			return nil
		},
		"a drop":   func(t *testing.T, db *DB) error { _, err := db.Drop(ctx, testNS); return err },
		"a rename": func(t *testing.T, db *DB) error { return db.Rename(ctx, testNS, NS{"d", "other"}, false) },
		"a new one": func(t *testing.T, db *DB) error {
			if _, err := db.Drop(ctx, testNS); err != nil {
				return err
			}
			return db.Create(ctx, testNS, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := openMem(t)
			docs := bulkDocs(t, 0, 50)
			b, err := db.NewBulk(ctx, testNS)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			for _, d := range docs {
				if ok, err := b.Add(d); !ok || err != nil {
					t.Fatal(ok, err)
				}
			}
			if err := meanwhile(t, db); err != nil {
				t.Fatal(err)
			}
			if ok, err := b.Publish(ctx); ok || err != nil {
				t.Errorf("published: %v, %v", ok, err)
			}
			i := 0
			if err := b.Each(func(d bsonx.Doc) error {
				if !bytes.Equal(d, docs[i]) {
					t.Errorf("document %d: %v", i, d)
				}
				i++
				return nil
			}); err != nil || i != len(docs) {
				t.Errorf("%d documents, %v", i, err)
			}
			for _, c := range db.cat.Load().dbs["d"] {
				mustValidate(t, db, c.NS)
			}
			b.Close()
			checkNoStrays(t, db)
		})
	}
}

// A collection that gets tables often has few parts of counters.
func TestBulkFoldsCounters(t *testing.T) {
	fs := vfs.NewMem()
	for round := range 2 {
		db, err := Open(Options{Dir: "data", FS: fs})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 2 * mostParts {
			if _, tables, _, err := insertBulk(db, testNS, bulkDocs(t, (round*2*mostParts+i)*10, 3)); err != nil || tables != 3 {
				t.Fatal(tables, err)
			}
			if i%50 == 0 {
				mustInsert(t, db, testNS, bulkDocs(t, (round*2*mostParts+i)*10+5, 1)...)
			}
		}
		n := 0
		if err := db.eachKey([]byte{spaceCounter}, func(k, v []byte) error { n++; return nil }); err != nil || n > mostParts+1 {
			t.Errorf("%d counters, %v", n, err)
		}
		if got, want := mustValidate(t, db, testNS).Documents, int64((round+1)*(2*mostParts*3+3)); got != want {
			t.Errorf("%d documents, want %d", got, want)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// After a power cut tables belong to a collection that is there, and the counters agree.
func TestBulkThenPowerCut(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		fs := vfs.NewCrashableMem()
		open := func() *DB {
			db, err := Open(Options{Dir: "data", FS: fs})
			if err != nil {
				t.Fatal(err)
			}
			return db
		}
		db := open()
		there := map[int]bool{}
		for n := range 6 {
			docs := bulkDocs(t, n*1000, 1+rng.IntN(150))
			if rng.IntN(2) == 0 {
				mustInsert(t, db, testNS, docs...)
			} else if _, tables, _, err := insertBulk(db, testNS, docs); tables != len(docs) || err != nil {
				t.Fatal(tables, err)
			} else {
				there[n] = true
			}
		}
		clone := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(2) * 50, RNG: rng})
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		fs = clone
		db = open()
		if c := db.cat.Load().lookup(testNS); c != nil {
			mustValidate(t, db, testNS)
		}
		checkNoStrays(t, db)
		for _, d := range allDocs(t, db, testNS) {
			delete(there, int(d.Get("_id").Int32())/1000)
		}
		if len(there) > 0 {
			t.Errorf("seed %d: tables are lost: %v", seed, there)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Writers who insert the same documents in runs of any size: each goes in once, the others hear of it.
func TestBulkTogether(t *testing.T) {
	db := openMem(t)
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
				n, _, errs, err := insertBulk(db, testNS, docs[at:end])
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
}

// Tables that can't be written are an error and leave nothing.
func TestBulkOnFullDisk(t *testing.T) {
	for _, part := range []string{"table-", ".log"} {
		t.Run(part, func(t *testing.T) {
			mem := vfs.NewMem()
			f := &faults{part: part, percent: 100, err: syscall.ENOSPC}
			db := openFaulty(t, mem, f)
			mustInsert(t, db, testNS, bulkDocs(t, -1, 1)...)
			f.on.Store(true)
			if part == ".log" { // which must have something to write
				_, _, _ = db.InsertMany(ctx, testNS, bulkDocs(t, 5000, 1), true, WriteOptions{})
			}
			_, tables, _, err := insertBulk(db, testNS, bulkDocs(t, 0, 500))
			if tables != 0 || mongoerr.CodeOf(err) != mongoerr.OutOfDiskSpace {
				t.Errorf("%d documents in tables, %v", tables, err)
			}
			f.on.Store(false)
			await(t, "recovery", func() bool { return db.health.err() == nil })
			for _, d := range allDocs(t, db, testNS) {
				if id := d.Get("_id").Int32(); id >= 0 && id < 5000 {
					t.Fatalf("document %d is there", id)
				}
			}
			checkNoStrays(t, db)
			if _, tables, _, err := insertBulk(db, testNS, bulkDocs(t, 0, 500)); tables != 500 || err != nil {
				t.Errorf("%d documents in tables, %v", tables, err)
			}
			n := mustValidate(t, db, testNS).Documents
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			db = openFaulty(t, mem, f)
			if again := mustValidate(t, db, testNS).Documents; again != n {
				t.Errorf("%d documents after reopening, there were %d", again, n)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Tables that are in, though the log can't say so because the disk is full, are not confirmed; but they are there, and their _ids are taken.
func TestBulkUnconfirmed(t *testing.T) {
	mem := vfs.NewMem()
	f := &faults{part: ".log", percent: 100, err: syscall.ENOSPC}
	inj := errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpLink {
			f.on.Store(true) // the tables are complete; what the log has to say of them comes next
		}
		return f.MaybeError(op)
	})
	db, err := Open(Options{Dir: "data", FS: errorfs.Wrap(mem, inj), Log: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	mustInsert(t, db, testNS, bulkDocs(t, -1, 2)...)
	if err := db.Write(ctx, testNS, WriteOptions{}, func(tx *Tx) error { return tx.Delete(bulkDocs(t, 0, 1)[0]) }); err != nil {
		t.Fatal(err) // memory has something in the range of the tables
	}
	_, tables, _, err := insertBulk(db, testNS, bulkDocs(t, 0, 50))
	if tables != 0 || mongoerr.CodeOf(err) != mongoerr.OutOfDiskSpace {
		t.Errorf("%d documents in tables, %v", tables, err)
	}
	f.on.Store(false)
	f.part = "nothing" // links go on
	await(t, "recovery", func() bool { return db.health.err() == nil })
	n, errs, err := db.InsertMany(ctx, testNS, bulkDocs(t, 10, 5), false, WriteOptions{})
	if n != 0 || len(errs) != 5 || err != nil {
		t.Errorf("%d of 5 documents that are there were inserted, %v, %v", n, errs, err)
	}
	if n := mustValidate(t, db, testNS).Documents; n != 51 {
		t.Errorf("%d documents", n)
	}
}

// BenchmarkBulk compares tables with the log, for documents in order.
func BenchmarkBulk(b *testing.B) {
	docs := make([]bsonx.Doc, 250_000)
	for i := range docs {
		docs[i] = jdoc(b, `{"_id":%d,"value":1.0}`, i)
	}
	for name, insert := range map[string]func(*DB, NS) error{
		"tables": func(db *DB, ns NS) error { _, _, _, err := insertBulk(db, ns, docs); return err },
		"log": func(db *DB, ns NS) error {
			_, _, err := db.InsertMany(ctx, ns, docs, true, WriteOptions{Create: true})
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			db, err := Open(Options{Dir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			for i := range b.N {
				if err := insert(db, NS{"d", fmt.Sprint("c", i)}); err != nil {
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
