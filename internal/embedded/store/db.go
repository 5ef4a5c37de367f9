package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/spill"
)

const (
	syncEvery         = 100 * time.Millisecond
	defaultFlushDelay = 10 * time.Second // before a dropped range is reclaimed
	closeWait         = 10 * time.Second // for open snapshots
	flushOnClose      = 4 << 20          // bytes of log
	formatVersion     = 1
)

// DB is an open data directory. Safe for concurrent use.
//
// Locks are taken in this order: collections' state.lock by ascending id, ddl, snapMu.
type DB struct {
	o      Options
	fs     *dataFS
	p      *pebble.DB
	po     *pebble.Options
	health *health
	room   *room
	tmp    string
	info   *lockInfo // nil when there is no lock file

	ddl    semaphore               // held while a new catalog version is made
	cat    atomic.Pointer[catalog] // changed with ddl and snapMu held
	snapMu sync.RWMutex            // catalog and pebble change together
	nextID uint64                  // guarded by ddl
	seq    atomic.Uint64           // numbers temporary files

	mu     sync.Mutex
	closed bool
	ops    sync.WaitGroup // running writes and catalog changes
	snaps  sync.WaitGroup // open snapshots

	stop    chan struct{}
	stopped chan struct{} // syncLoop has ended
	watched chan struct{} // room.watch has ended
}

// semaphore is a mutex that can be waited for with a context.
type semaphore chan struct{}

func newSemaphore() semaphore { return make(semaphore, 1) }

func (s semaphore) acquire(ctx context.Context) error {
	select {
	case s <- struct{}{}:
		return nil
	default:
	}
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s semaphore) release() { <-s }

var errClosed = mongoerr.New(mongoerr.InterruptedAtShutdown, "the database is closed")

// Open opens or creates the data directory, removes what was never published and
// starts the background sync. *LockedError when another process holds it.
func Open(o Options) (*DB, error) {
	logf := o.Log
	if logf == nil {
		logf = func(string, ...any) {}
	}
	base := o.FS
	if base == nil {
		base = vfs.Default
	}
	h := &health{log: logf, dir: o.Dir}
	db := &DB{
		o: o, health: h, fs: &dataFS{FS: base, health: h, dir: o.Dir}, tmp: base.PathJoin(o.Dir, "tmp"),
		room: newRoom(), ddl: newSemaphore(), stop: make(chan struct{}), stopped: make(chan struct{}), watched: make(chan struct{}),
	}
	if err := base.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("data directory %s: %w", o.Dir, wrapIO(err))
	}
	if o.FS == nil {
		if err := os.Chmod(o.Dir, 0o700); err != nil {
			return nil, fmt.Errorf("data directory %s: %w", o.Dir, err)
		}
		info, err := lockDir(o.Dir, o.Address)
		if err != nil {
			return nil, err
		}
		db.info = info
	}
	if err := db.open(); err != nil {
		db.unlock()
		return nil, fmt.Errorf("open data directory %s: %w", o.Dir, wrapIO(err))
	}
	return db, nil
}

func (db *DB) open() (err error) {
	if err := checkLog(db.fs, db.o.Dir); err != nil {
		return err
	}
	db.po = pebbleOptions(db.o, db.fs, db.health, db.room)
	if db.p, err = openPebble(db.o.Dir, db.po, db.health); err != nil {
		return blameLog(db.fs, db.o.Dir, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.p.Close())
		}
	}()
	if err = db.readMeta(); err != nil {
		return err
	}
	if err = db.dropPending(); err != nil {
		return err
	}
	if err = db.fs.RemoveAll(db.tmp); err != nil {
		return err
	}
	if err = db.fs.MkdirAll(db.tmp, 0o700); err != nil {
		return err
	}
	cat, err := db.loadCatalog()
	if err != nil {
		return err
	}
	db.cat.Store(cat)
	db.fs.running.Store(true)
	go db.syncLoop()
	go func() {
		defer close(db.watched)
		db.room.watch(db.p, db.stop)
	}()
	return nil
}

// readMeta checks the format and finds the next free id.
func (db *DB) readMeta() error {
	v, err := db.get(metaKey("format"))
	if err != nil {
		return err
	}
	if v == nil {
		db.nextID = 1
		b := db.p.NewBatch()
		defer b.Close()
		_ = b.Set(metaKey("format"), binary.AppendUvarint(nil, formatVersion), nil)
		return db.p.Apply(b, pebble.Sync)
	}
	if n, _ := binary.Uvarint(v); n != formatVersion {
		return fmt.Errorf("the data has format %d, this program reads %d", n, formatVersion)
	}
	if v, err = db.get(metaKey("next")); err != nil {
		return err
	}
	db.nextID = 1
	if v != nil {
		db.nextID, _ = binary.Uvarint(v)
	}
	return nil
}

// get reads a key of the latest state; nil if there is none.
func (db *DB) get(key []byte) ([]byte, error) {
	v, closer, err := db.p.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v = append([]byte{}, v...)
	return v, closer.Close()
}

// dropPending removes the data of what was never published.
func (db *DB) dropPending() error {
	b := db.p.NewBatch()
	defer b.Close()
	n := 0
	err := db.eachKey([]byte{spacePending}, func(k, v []byte) error {
		id, w := readID(k[1:])
		if w == 0 {
			return fmt.Errorf("pending key %x: %w", k, errCorrupt)
		}
		n++
		deleteID(b, id)
		db.nextID = max(db.nextID, id+1)
		return nil
	})
	if err != nil || n == 0 {
		return err
	}
	db.health.log("removed %d unfinished indexes or collections", n)
	return db.p.Apply(b, pebble.Sync)
}

// deleteID removes all keys that belong to an id, whatever it is of.
func deleteID(b *pebble.Batch, id uint64) {
	p := recordPrefix(id)
	_ = b.DeleteRange(p, successor(p), nil)
	p = entryPrefix(id)
	_ = b.DeleteRange(p, successor(p), nil)
	p = counterKey(id)
	_ = b.DeleteRange(p, successor(p), nil)
	_ = b.Delete(pendingKey(id), nil)
}

// syncLoop puts the log on stable storage, and while the disk is bad looks whether it has recovered.
func (db *DB) syncLoop() {
	defer close(db.stopped)
	t := time.NewTicker(syncEvery)
	defer t.Stop()
	for {
		select {
		case <-db.stop:
			return
		case <-t.C:
		}
		if err := db.fs.syncLogs(); err == nil && db.health.bad.Load() && db.fs.caughtUp() && db.probe() {
			db.health.recovered()
		}
	}
}

// probe writes a file of a megabyte.
func (db *DB) probe() bool {
	name := db.fs.PathJoin(db.tmp, "probe")
	f, err := db.fs.FS.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return false
	}
	_, err = f.Write(make([]byte, 1<<20))
	err = errors.Join(err, f.Sync(), f.Close(), db.fs.FS.Remove(name))
	return err == nil
}

// enter begins a write; it fails when the database is closed. done ends it.
func (db *DB) enter() (done func(), err error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return nil, errClosed
	}
	db.ops.Add(1)
	return db.ops.Done, nil
}

// enterWrite is enter, refused also while the disk takes no writes.
func (db *DB) enterWrite() (done func(), err error) {
	if err := db.health.err(); err != nil {
		return nil, err
	}
	return db.enter()
}

// Close waits for running writes, and a while for open snapshots, which the caller
// should have closed, and puts everything on stable storage. Idempotent.
func (db *DB) Close() error {
	db.mu.Lock()
	if db.closed {
		db.mu.Unlock()
		return nil
	}
	db.closed = true
	db.mu.Unlock()
	db.ops.Wait()
	waited := make(chan struct{})
	go func() { db.snaps.Wait(); close(waited) }()
	select {
	case <-waited:
	case <-time.After(closeWait):
	}
	close(db.stop)
	<-db.stopped
	err := db.fs.syncLogs()
	asked := db.flush()
	db.fs.running.Store(false)
	<-asked // what kept them from an answer now fails
	<-db.watched
	err = errors.Join(err, closePebble(db.p))
	err = errors.Join(err, db.fs.syncLogs())
	db.fs.closeMark()
	db.unlock()
	return err
}

// flush moves a long log into tables, so that the next Open has little to replay, unless the disk takes no writes. asked is closed when
// pebble has heard of it, which may have to wait for the disk.
func (db *DB) flush() (asked chan struct{}) {
	asked, flushed, left := make(chan struct{}), make(chan struct{}), make(chan struct{})
	defer close(left)
	go func() {
		var done <-chan struct{}
		if db.p.Metrics().WAL.Size > flushOnClose {
			done, _ = db.p.AsyncFlush() // what can't be moved stays in the log
		}
		close(asked)
		if done != nil {
			select {
			case <-done:
			case <-left:
			}
		}
		close(flushed)
	}()
	t := time.NewTicker(10 * time.Millisecond)
	defer t.Stop()
	for !db.health.bad.Load() {
		select {
		case <-flushed:
			return asked
		case <-t.C:
		}
	}
	return asked
}

func closePebble(p *pebble.DB) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("storage: %v", r)
		}
	}()
	return p.Close()
}

func (db *DB) unlock() {
	if db.info != nil {
		db.info.release()
	}
}

// SetAddress rewrites the lock file's address.
func (db *DB) SetAddress(addr string) error {
	if db.info == nil {
		return nil
	}
	return db.info.write(addr)
}

// Sync puts everything acknowledged so far on stable storage.
func (db *DB) Sync(ctx context.Context) error {
	done, err := db.enterWrite()
	if err != nil {
		return err
	}
	defer done()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := db.fs.syncLogs(); err != nil {
		return wrapIO(err)
	}
	return db.health.err()
}

// SpillOptions are for a sorter that uses this database's temporary directory, which Open empties.
func (db *DB) SpillOptions(memoryLimit int64) spill.Options {
	return spill.Options{FS: db.fs.FS, Dir: db.tmp, MemoryLimit: memoryLimit}
}

// DiskUsage is the size of the data directory's files, in bytes.
func (db *DB) DiskUsage() int64 {
	done, err := db.enter()
	if err != nil {
		return 0
	}
	defer done()
	return int64(db.p.Metrics().DiskSpaceUsage())
}
