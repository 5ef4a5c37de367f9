package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// Writers with interleaved and overlapping _ids, updates, index builds, replacements and readers at once: no _id goes in
// twice, each view is consistent in itself, and the collection is sound in the end.
func TestConcurrent(t *testing.T) {
	db, err := Open(Options{Dir: "data", FS: vfs.NewMem(), memTableBytes: 512 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	mustIndex(t, db, testNS, `{"key":{"a":1},"name":"a"}`)
	const writers, rounds, batch = 4, 40, 25
	var inserted atomic.Int64
	var next atomic.Int64
	var wg, readers sync.WaitGroup
	done := make(chan struct{})
	for w := range writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rng := rand.New(rand.NewPCG(uint64(w), 9))
			for r := range rounds {
				from := int(next.Add(batch)) - batch
				if r%5 == 4 {
					from -= batch / 2 // half of it is there or being inserted by another
				}
				docs := make([]bsonx.Doc, batch)
				for i := range docs {
					docs[i] = jdoc(t, `{"_id":%d,"a":%d}`, from+i, rng.IntN(50))
				}
				n, errs, err := db.InsertMany(ctx, testNS, docs, false, WriteOptions{})
				if err != nil || n+len(errs) != batch {
					t.Errorf("n=%d errs=%d %v", n, len(errs), err)
				}
				inserted.Add(int64(n))
			}
		}()
	}
	wg.Add(1)
	go func() { // updates make a multikey
		defer wg.Done()
		rng := rand.New(rand.NewPCG(7, 9))
		for range rounds * 2 {
			err := db.Write(ctx, testNS, WriteOptions{}, func(tx *Tx) error {
				id := rng.IntN(int(next.Load()) + 1)
				old, err := tx.Get(bsonx.AppendKey(nil, bsonx.Int32(int32(id)), false))
				if err != nil || old == nil {
					return err
				}
				return tx.Replace(old, jdoc(t, `{"_id":%d,"a":[%d,%d]}`, id, rng.IntN(50), rng.IntN(50)))
			})
			if err != nil {
				t.Error(err)
			}
		}
	}()
	wg.Add(1)
	go func() {
		defer wg.Done()
		for range 5 {
			if _, err := db.CreateIndex(ctx, testNS, jdoc(t, `{"key":{"a":-1,"_id":1},"name":"b"}`)); err != nil {
				t.Error(err)
			}
			if err := db.DropIndex(ctx, testNS, "b"); err != nil {
				t.Error(err)
			}
			other := NS{"e", "out"}
			b, err := db.NewBuilder(ctx, other, true)
			if err != nil {
				t.Error(err)
				return
			}
			for i := range 100 {
				if err := b.Add(jdoc(t, `{"_id":%d}`, i)); err != nil {
					t.Error(err)
				}
			}
			if err := b.Publish(ctx); err != nil {
				t.Error(err)
			}
			if err := db.Rename(ctx, other, NS{"f", "out"}, true); err != nil {
				t.Error(err)
			}
			if err := db.DropDatabase(ctx, "f"); err != nil {
				t.Error(err)
			}
		}
	}()
	for range 2 {
		readers.Add(1)
		go func() {
			defer readers.Done()
			for {
				select {
				case <-done:
					return
				default:
				}
				if err := checkView(db); err != nil {
					t.Error(err)
					return
				}
			}
		}()
	}
	wg.Wait()
	close(done)
	readers.Wait()
	r := mustValidate(t, db, testNS)
	if r.Documents != inserted.Load() {
		t.Errorf("%d documents, %d were inserted", r.Documents, inserted.Load())
	}
	checkNoStrays(t, db)
}

// checkView compares the documents, the counters and the entries of one view.
func checkView(db *DB) error {
	s := db.Snapshot()
	defer s.Close()
	c := s.Collection(testNS)
	docs, keys := int64(0), 0
	it := s.Records(c, nil, false)
	defer it.Close()
	for it.Next() {
		docs++
	}
	st := s.Stats(c)
	for _, ix := range c.Indexes {
		en := s.Entries(c, ix, nil, false)
		n := int64(0)
		for en.Next() {
			n++
		}
		err := en.Err()
		en.Close()
		if err != nil {
			return err
		}
		if n != st.Entries[ix.Name] || n < docs || n > docs && !ix.IsMultikey() {
			return fmt.Errorf("index %s (multikey %v) has %d entries, counter %d, documents %d", ix.Name, ix.IsMultikey(), n, st.Entries[ix.Name], docs)
		}
		keys++
	}
	if docs != st.Documents || it.Err() != nil {
		return fmt.Errorf("%d documents, counter %d, %w", docs, st.Documents, it.Err())
	}
	return nil
}

// A caller that gives up does not wait for another's lock.
func TestContextEndsTheWait(t *testing.T) {
	db := openMem(t)
	mustInsert(t, db, testNS, jdoc(t, `{"_id":1}`))
	err := db.Write(ctx, testNS, WriteOptions{}, func(*Tx) error {
		gone, cancel := context.WithCancel(ctx)
		cancel()
		if _, _, err := db.InsertMany(gone, testNS, []bsonx.Doc{jdoc(t, `{"_id":2}`)}, true, WriteOptions{}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if _, err := db.Drop(gone, testNS); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestClosed(t *testing.T) {
	db := openMem(t)
	mustInsert(t, db, testNS, jdoc(t, `{"_id":1}`))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Create(ctx, NS{"d", "x"}, nil); mongoerr.CodeOf(err) != mongoerr.InterruptedAtShutdown {
		t.Error(err)
	}
	s := db.Snapshot()
	defer s.Close()
	if s.Collection(testNS) != nil || len(s.Databases()) > 0 {
		t.Error("a view of a closed database shows something")
	}
	if _, err := db.Validate(ctx, testNS); err == nil {
		t.Error("validated a closed database")
	}
}
