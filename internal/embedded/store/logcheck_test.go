package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"mrbench/internal/embedded/bsonx"
)

// logged fills a database and leaves it as a kill does, with its log synced up to a point; it gives the log's name and that point.
func logged(t *testing.T) (mem *vfs.MemFS, name string, synced int64) {
	t.Helper()
	mem = vfs.NewMem()
	db, err := Open(Options{Dir: "data", FS: mem})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 30 {
		// Records of all sizes: many in a block, and some over several.
		docs := []bsonx.Doc{jdoc(t, `{"_id":%d,"s":"%s"}`, n, strings.Repeat("x", n*n*22))}
		if _, errs, err := db.InsertMany(ctx, testNS, docs, true, WriteOptions{Create: true, Sync: n < 25}); err != nil || len(errs) > 0 {
			t.Fatal(errs, err)
		}
		if n == 24 {
			name, synced = readSyncedMark(mem, "data")
		}
	}
	left := vfs.NewMem()
	if ok, err := vfs.Clone(mem, left, "data", "data"); !ok || err != nil {
		t.Fatal(err)
	}
	// The background sync may have noted more meanwhile; the test knows of this much.
	f, err := left.Create("data/"+syncedFile, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(syncedMark(name, synced)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	return left, name, synced
}

// changed is a copy of the data with a log made of other bytes.
func changed(t *testing.T, mem *vfs.MemFS, name string, change func(log []byte) []byte) *vfs.MemFS {
	t.Helper()
	fs := vfs.NewMem()
	if ok, err := vfs.Clone(mem, fs, "data", "data"); !ok || err != nil {
		t.Fatal(err)
	}
	log, err := readAll(fs, "data/"+name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := fs.Create("data/"+name, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(change(log)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return fs
}

// TestDamagedLog: a wrong byte before the point up to which the log was synced is an error that names the file and the way out; behind that
// point it is an unfinished end.
func TestDamagedLog(t *testing.T) {
	mem, name, synced := logged(t)
	if synced < 2*logBlock+1000 {
		t.Fatalf("%d bytes of %q are synced, too few to test with", synced, name)
	}
	open := func(fs vfs.FS) (n int, err error) {
		db, err := Open(Options{Dir: "data", FS: fs})
		if err != nil {
			return 0, err
		}
		defer db.Close()
		return len(allDocs(t, db, testNS)), nil
	}
	if n, err := open(changed(t, mem, name, func(log []byte) []byte { return log })); err != nil || n != 30 {
		t.Fatalf("an unchanged log: %d documents, %v", n, err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 40 {
		at := rng.Int64N(synced)
		if i == 0 {
			at = 0
		}
		fs := changed(t, mem, name, func(log []byte) []byte {
			log[at] ^= 0x10
			return log
		})
		_, err := open(fs)
		var damaged *damagedLogError
		if !errors.As(err, &damaged) {
			// What is left of a block behind its last chunk belongs to nothing.
			if n, err := open(fs); n == 30 && err == nil {
				continue
			}
			t.Fatalf("byte %d of %d: %v", at, synced, err)
		}
		if damaged.at > at || damaged.at < at-logBlock || !strings.Contains(err.Error(), "data/"+name) || !strings.Contains(err.Error(), syncedFile) {
			t.Errorf("byte %d: %v", at, err)
		}
		if err := fs.Remove("data/" + syncedFile); err != nil {
			t.Fatal(err)
		}
		if n, err := open(fs); err != nil || n >= 30 {
			t.Errorf("byte %d, without the mark: %d documents, %v", at, n, err)
		}
	}
	for _, c := range []struct {
		what   string
		change func(log []byte) []byte
		fails  bool
	}{
		{"cut before the point", func(log []byte) []byte { return log[:synced-1] }, true},
		{"cut at the point", func(log []byte) []byte { return log[:synced] }, false},
		{"zeros from the point on", func(log []byte) []byte { clear(log[synced:]); return log }, false},
		{"noise from the point on", func(log []byte) []byte {
			for i := range log[synced:] {
				log[synced+int64(i)] = byte(rng.Uint32())
			}
			return log
		}, false},
		{"zeros in the middle", func(log []byte) []byte { clear(log[logBlock : 2*logBlock]); return log }, true},
	} {
		if n, err := open(changed(t, mem, name, c.change)); (err != nil) != c.fails || !c.fails && n < 25 {
			t.Errorf("%s: %d documents, %v", c.what, n, err)
		}
	}
}

// TestSyncedMark: only a whole mark counts.
func TestSyncedMark(t *testing.T) {
	mem := vfs.NewMem()
	for _, c := range []struct {
		content string
		want    string
	}{
		{string(syncedMark("000012.log", 77)), "000012.log 77"},
		{string(syncedMark("000012.log", 77))[:40], " 0"},
		{strings.Replace(string(syncedMark("000012.log", 77)), "77", "78", 1), " 0"},
		{"", " 0"},
	} {
		f, err := mem.Create(syncedFile, vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(c.content)); err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
		name, n := readSyncedMark(mem, "")
		if got := fmt.Sprint(name, " ", n); got != c.want {
			t.Errorf("%q: %q, want %q", c.content, got, c.want)
		}
	}
}

// TestDamagedOldLog: a wrong byte in a log that others follow is an error that names it.
func TestDamagedOldLog(t *testing.T) {
	mem := vfs.NewMem()
	db, err := Open(Options{Dir: "data", FS: mem})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, _, _ = db.InsertMany(ctx, testNS, []bsonx.Doc{jdoc(t, `{"_id":0,"s":"%s"}`, strings.Repeat("x", 200_000))}, true, WriteOptions{Create: true, Sync: true})
	name, _ := readSyncedMark(mem, "data")
	copied := vfs.NewMem()
	for i := 1; ; i++ { // until there is a log beside the first that was not flushed yet
		mustInsert(t, db, testNS, jdoc(t, `{"_id":%d,"s":"%s"}`, i, strings.Repeat("y", 200_000)))
		if ok, err := vfs.Clone(mem, copied, "data", "data"); !ok || err != nil {
			t.Fatal(err)
		}
		names, _ := copied.List("data")
		if logs := slices.DeleteFunc(names, func(n string) bool { return !isLog(n) }); slices.Contains(logs, name) && len(logs) > 1 {
			break
		}
		if i == 200 {
			t.Skip("logs were flushed as soon as they were full")
		}
		if ok := slices.Contains(names, name); !ok {
			name, _ = readSyncedMark(mem, "data")
		}
		copied = vfs.NewMem()
	}
	fs := changed(t, copied, name, func(log []byte) []byte {
		log[1000] ^= 0x10
		return log
	})
	if err := fs.Remove("data/" + syncedFile); err != nil {
		t.Fatal(err)
	}
	if _, err = Open(Options{Dir: "data", FS: fs}); err == nil || !strings.Contains(err.Error(), "the log data/"+name+" is damaged at byte") {
		t.Errorf("got %v", err)
	}
}
