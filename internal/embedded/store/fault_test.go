package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// faults makes writes fail when on: those whose path contains part (all when empty), with a chance in percent.
type faults struct {
	on      atomic.Bool
	part    string
	percent int
	err     error
	delay   time.Duration // before it fails
	mu      sync.Mutex
	rng     *rand.Rand
}

func (f *faults) MaybeError(op errorfs.Op) error {
	if !f.on.Load() || op.Kind.ReadOrWrite() != errorfs.OpIsWrite || !strings.Contains(filepath.Base(op.Path), f.part) {
		return nil
	}
	switch op.Kind {
	case errorfs.OpRemove, errorfs.OpRemoveAll, errorfs.OpFileClose, errorfs.OpFilePreallocate:
		return nil
	}
	if f.percent < 100 {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.rng.IntN(100) >= f.percent {
			return nil
		}
	}
	time.Sleep(f.delay)
	if !f.on.Load() {
		return nil
	}
	return f.err
}

func (f *faults) String() string { return "faults" }

func openFaulty(t *testing.T, mem *vfs.MemFS, f *faults) *DB {
	t.Helper()
	db, err := Open(Options{Dir: "data", FS: errorfs.Wrap(mem, f), Log: t.Logf, memTableBytes: 256 << 10})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// await waits for something that a background routine brings about.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 1000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("waited in vain:", what)
}

// Whatever file can't be written, writers get an error that says so and none hangs, reading goes on, and when there is
// space again writing does too, without a restart; what was acknowledged is there in the end.
func TestFullDisk(t *testing.T) {
	for _, tc := range []struct {
		part    string
		percent int
		delay   time.Duration // gives writers the time to fill all memtables before they can know
	}{{"", 100, 0}, {".log", 100, 0}, {".sst", 100, 0}, {"MANIFEST", 100, 0}, {"", 30, 0}, {".log", 50, 0}, {".sst", 100, time.Second}, {"MANIFEST", 100, time.Second}} {
		t.Run(fmt.Sprintf("%s %d %s", tc.part, tc.percent, tc.delay), func(t *testing.T) {
			mem := vfs.NewMem()
			f := &faults{part: tc.part, percent: tc.percent, delay: tc.delay, err: syscall.ENOSPC, rng: rand.New(rand.NewPCG(1, 2))}
			db := openFaulty(t, mem, f)
			mustIndex(t, db, testNS, `{"key":{"a":1},"name":"a"}`)
			var mu sync.Mutex
			acked := 0
			write := func(n int) error {
				docs := make([]bsonx.Doc, 20)
				for i := range docs {
					docs[i] = jdoc(t, `{"_id":"%d-%d","a":%d,"pad":"%s"}`, n, i, i, strings.Repeat("x", 300))
				}
				_, errs, err := db.InsertMany(ctx, testNS, docs, true, WriteOptions{Sync: n%5 == 0})
				if errs != nil {
					t.Error(errs)
				}
				if err == nil {
					mu.Lock()
					acked++
					mu.Unlock()
				}
				return err
			}
			for n := range 20 {
				if err := write(n); err != nil {
					t.Fatal(err)
				}
			}
			f.on.Store(true)
			var wg sync.WaitGroup
			for w := range 3 {
				wg.Add(1)
				go func() {
					defer wg.Done()
					for i := range 3000 {
						if err := write(1000 + w*10000 + i); err != nil {
							if mongoerr.CodeOf(err) != mongoerr.OutOfDiskSpace {
								t.Errorf("code %d: %v", mongoerr.CodeOf(err), err)
							}
							return
						}
					}
					t.Error("no write failed")
				}()
			}
			wg.Wait()
			if tc.percent == 100 {
				await(t, "refusal", func() bool { return db.health.err() != nil })
				if err := db.Create(ctx, NS{"d", "more"}, nil); mongoerr.CodeOf(err) != mongoerr.OutOfDiskSpace {
					t.Errorf("create: %v", err)
				}
			}
			if n := len(allDocs(t, db, testNS)); n < acked*20 {
				t.Errorf("%d documents can be read, %d were acknowledged", n, acked*20)
			}
			f.on.Store(false)
			await(t, "recovery", func() bool { return db.health.err() == nil })
			for n := range 20 { // a write that failed late may still be heard of
				id := 100_000 + n*10_000
				await(t, "a write after recovery", func() bool { id++; return write(id) == nil })
			}
			mustValidate(t, db, testNS)
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			db = openFaulty(t, mem, f)
			if n := mustValidate(t, db, testNS).Documents; n < int64(acked*20) {
				t.Errorf("%d documents after reopening, %d were acknowledged", n, acked*20)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A process that ends while the disk is full comes back with all that was acknowledged.
func TestFullDiskThenCrash(t *testing.T) {
	for _, part := range []string{"", ".log", ".sst", "MANIFEST"} {
		t.Run(part, func(t *testing.T) {
			mem := vfs.NewCrashableMem()
			f := &faults{part: part, percent: 100, err: syscall.ENOSPC}
			db := openFaulty(t, mem, f)
			acked := 0
			for n := 0; n < 5000; n++ {
				f.on.Store(n > 10)
				_, _, err := db.InsertMany(ctx, testNS, []bsonx.Doc{jdoc(t, `{"_id":%d,"pad":"%s"}`, n, strings.Repeat("x", 500))}, true, WriteOptions{Create: true})
				if err != nil {
					break
				}
				acked++
			}
			clone := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 2))})
			closed := make(chan struct{})
			db.health.recovered()                               // as the disk may have looked a moment ago
			go func() { defer close(closed); _ = db.Close() }() // says what is wrong, and ends
			select {
			case <-closed:
			case <-time.After(20 * time.Second):
				t.Fatal("close hangs")
			}
			db = openOn(t, clone)
			if n := mustValidate(t, db, testNS).Documents; n < int64(acked) {
				t.Errorf("%d documents, %d were acknowledged", n, acked)
			}
		})
	}
}

// A data directory whose log can't be moved into tables, because the disk is full, is refused instead of tried
// without end; with room again all that was acknowledged is there.
func TestOpenOnFullDisk(t *testing.T) {
	for _, part := range []string{".sst", "MANIFEST", ""} {
		t.Run(part, func(t *testing.T) {
			mem := vfs.NewCrashableMem()
			db := openFaulty(t, mem, &faults{})
			for n := range 200 {
				mustInsert(t, db, testNS, jdoc(t, `{"_id":%d,"pad":"%s"}`, n, strings.Repeat("x", 500)))
			}
			full := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 2))})
			room := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 2))})
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			f := &faults{part: part, percent: 100, err: syscall.ENOSPC}
			f.on.Store(true)
			opened := make(chan error, 1)
			go func() {
				_, err := Open(Options{Dir: "data", FS: errorfs.Wrap(full, f), Log: t.Logf, memTableBytes: 256 << 10})
				opened <- err
			}()
			select {
			case err := <-opened:
				if mongoerr.CodeOf(err) != mongoerr.OutOfDiskSpace {
					t.Errorf("open: %v", err)
				}
			case <-time.After(20 * time.Second):
				t.Fatal("open hangs")
			}
			again := openOn(t, room)
			if n := mustValidate(t, again, testNS).Documents; n != 200 {
				t.Errorf("%d documents, 200 were acknowledged", n)
			}
		})
	}
}

// Index builds and builders that meet a full disk fail with its code and leave nothing.
func TestFullDiskWhileBuilding(t *testing.T) {
	mem := vfs.NewMem()
	f := &faults{part: "table-", percent: 100, err: syscall.ENOSPC}
	db := openFaulty(t, mem, f)
	defer db.Close()
	mustInsert(t, db, testNS, jdoc(t, `{"_id":1,"a":1}`))
	f.on.Store(true)
	_, err := db.CreateIndex(ctx, testNS, jdoc(t, `{"key":{"a":1},"name":"a"}`))
	if mongoerr.CodeOf(err) != mongoerr.OutOfDiskSpace {
		t.Errorf("index: %v", err)
	}
	f.on.Store(false)
	await(t, "recovery", func() bool { return db.health.err() == nil })
	b, err := db.NewBuilder(ctx, testNS, true)
	if err != nil {
		t.Fatal(err)
	}
	f.on.Store(true)
	err = b.Add(jdoc(t, `{"_id":2}`))
	if err == nil {
		err = b.Publish(ctx)
	}
	if mongoerr.CodeOf(err) != mongoerr.OutOfDiskSpace {
		t.Errorf("builder: %v", err)
	}
	if err := b.Abort(); err != nil {
		t.Error(err)
	}
	f.on.Store(false)
	await(t, "recovery", func() bool { return db.health.err() == nil })
	mustIndex(t, db, testNS, `{"key":{"a":1},"name":"a"}`)
	if r := mustValidate(t, db, testNS); r.Documents != 1 || r.KeysPerIndex["a"] != 1 {
		t.Errorf("%+v", r)
	}
	if left, err := db.fs.List(db.tmp); err != nil || len(left) > 0 {
		t.Errorf("temporary files: %v %v", left, err)
	}
}

// A fsync that fails for another reason than space leaves nothing to rely on: read-only until the next start.
func TestFailedSync(t *testing.T) {
	mem := vfs.NewMem()
	boom := errors.New("input/output error")
	f := &faults{part: ".log", percent: 100, err: boom}
	inj := errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData {
			return f.MaybeError(op)
		}
		return nil
	})
	db, err := Open(Options{Dir: "data", FS: errorfs.Wrap(mem, inj), Log: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	mustInsert(t, db, testNS, jdoc(t, `{"_id":1}`))
	f.on.Store(true)
	_, _, err = db.InsertMany(ctx, testNS, []bsonx.Doc{jdoc(t, `{"_id":2}`)}, true, WriteOptions{Sync: true})
	if err == nil {
		t.Error("a write was acknowledged as synced")
	}
	f.on.Store(false)
	if _, _, err := db.InsertMany(ctx, testNS, []bsonx.Doc{jdoc(t, `{"_id":3}`)}, true, WriteOptions{}); err == nil || !strings.Contains(err.Error(), "restart") {
		t.Errorf("write after a failed sync: %v", err)
	}
	if got := ids(allDocs(t, db, testNS)); !strings.HasPrefix(got, "1") {
		t.Error("reading stopped:", got)
	}
	_ = db.Close()
	db = openOn(t, mem)
	mustInsert(t, db, testNS, jdoc(t, `{"_id":4}`))
	mustValidate(t, db, testNS)
}

// A wrong byte in a table is an error, or it is where it does not matter; never another answer, never a panic.
func TestWrongByte(t *testing.T) {
	mem := vfs.NewMem()
	db := openOn(t, mem)
	mustIndex(t, db, testNS, `{"key":{"a":1},"name":"a"}`)
	for n := range 20 {
		docs := make([]bsonx.Doc, 200)
		for i := range docs {
			docs[i] = jdoc(t, `{"_id":%d,"a":%d,"s":"%x"}`, n*200+i, i*37%100, rand.Uint64())
		}
		mustInsert(t, db, testNS, docs...)
	}
	if err := db.p.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := db.p.Compact(ctx, []byte{0}, []byte{0xff}, false); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprint(allDocs(t, db, testNS), entries(t, db, testNS, "a", nil, false))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := mem.List("data")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	noticed := 0
	for _, name := range names {
		if !strings.HasSuffix(name, ".sst") {
			continue
		}
		st, err := mem.Stat("data/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for range 6 { // each costs a second: pebble looks for the bit that flipped
			at := rng.Int64N(st.Size())
			if readDamaged(t, mem, name, at, want) {
				noticed++
			}
		}
	}
	if noticed == 0 {
		t.Error("no wrong byte was ever noticed")
	}
}

// readDamaged changes a byte of a table in a copy and reports whether reading failed; if not it must read want.
func readDamaged(t *testing.T, mem *vfs.MemFS, name string, at int64, want string) bool {
	t.Helper()
	fs := vfs.NewMem()
	if ok, err := vfs.Clone(mem, fs, "data", "data"); !ok || err != nil {
		t.Fatal(err)
	}
	data, err := fs.UnsafeGetFileDataBuffer("data/" + name)
	if err != nil {
		t.Fatal(err)
	}
	changed := append([]byte(nil), data...)
	changed[at] ^= 0x10
	w, err := fs.Create("data/"+name, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(changed); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := Open(Options{Dir: "data", FS: fs})
	if err != nil {
		return true
	}
	defer db.Close()
	s := db.Snapshot()
	defer s.Close()
	c := s.Collection(testNS)
	if c == nil {
		t.Errorf("byte %d of %s: the collection is gone", at, name)
		return false
	}
	var docs []bsonx.Doc
	it := s.Records(c, nil, false)
	defer it.Close()
	for it.Next() {
		docs = append(docs, append(bsonx.Doc(nil), it.Doc()...))
	}
	var keys []string
	en := s.Entries(c, c.Indexes[1], nil, false)
	defer en.Close()
	for en.Next() {
		keys = append(keys, entryText(t, c.Indexes[1], en))
	}
	if it.Err() != nil || en.Err() != nil {
		return true
	}
	if fmt.Sprint(docs, strings.Join(keys, " ")) != want {
		t.Errorf("byte %d of %s: a wrong answer without an error", at, name)
	}
	return false
}

func TestLockNamesTheHolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	db, err := Open(Options{Dir: dir, Address: "mongodb://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	check := func(addr string) {
		t.Helper()
		_, err := Open(Options{Dir: dir})
		var locked *LockedError
		if !errors.As(err, &locked) || locked.PID != syscall.Getpid() || locked.Address != addr || locked.Dir != dir {
			t.Errorf("%v", err)
		}
	}
	check("mongodb://127.0.0.1:1")
	if err := db.SetAddress("mongodb://127.0.0.1:27018"); err != nil {
		t.Fatal(err)
	}
	check("mongodb://127.0.0.1:27018")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = Open(Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	st, err := vfs.Default.Stat(dir)
	if err != nil || st.Mode().Perm() != 0o700 {
		t.Error(st.Mode(), err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
