package store

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// dataFS stands between pebble and the file system for three reasons.
//
// The log: pebble hands its log to the operating system only when a sync is
// asked for, and pays an fsync for each. Here every commit asks for a sync, which
// writes the log, and the fsync itself is left to syncLogs: every 100 ms, or at once
// for those who want it. So a killed process loses nothing that was acknowledged.
//
// Faults: a failed write to the log or the manifest would end the process or
// wedge pebble's locks. A log keeps in memory what it could not write and writes it when
// there is space again (health refuses new writes meanwhile, and the write
// that failed is reported as failed); a manifest waits.
//
// Flushes and compactions that fail are tried again by pebble at once and
// forever; creating their files is slowed down while the disk is bad.
type dataFS struct {
	vfs.FS
	health  *health
	running atomic.Bool // false while opening and closing: errors go to pebble as they are
	dir     string
	waiting atomic.Int64 // patient files that can't be written at present
	syncMu  sync.Mutex   // one round of fsyncs at a time; those who wait share the next round
	mark    vfs.File     // syncedFile, guarded by syncMu; nil: not open yet

	mu   sync.Mutex
	logs []*logFile // not yet closed or not yet wholly written, oldest first
}

func (fs *dataFS) Unwrap() vfs.FS { return fs.FS }

func isLog(name string) bool { return strings.HasSuffix(name, ".log") }

// patient files are those whose failure pebble takes as the end.
func isPatient(base string) bool {
	return strings.HasPrefix(base, "MANIFEST-") || strings.HasPrefix(base, "marker.")
}

func (fs *dataFS) Create(name string, cat vfs.DiskWriteCategory) (vfs.File, error) {
	base := fs.PathBase(name)
	switch {
	case isLog(base):
		return fs.addLog(name, func() (vfs.File, error) { return fs.FS.Create(name, cat) })
	case isPatient(base):
		var f vfs.File
		err := fs.patiently("create "+base, func() (err error) {
			f, err = fs.FS.Create(name, cat)
			return err
		})
		if err != nil {
			return nil, err
		}
		return &patientFile{File: f, fs: fs, name: base}, nil
	}
	if fs.running.Load() && fs.health.bad.Load() {
		time.Sleep(200 * time.Millisecond)
	}
	f, err := fs.FS.Create(name, cat)
	if err != nil {
		fs.noteIfRunning("create "+base, err)
		return nil, err
	}
	return &notingFile{File: f, fs: fs, name: base}, nil
}

func (fs *dataFS) ReuseForWrite(oldname, newname string, cat vfs.DiskWriteCategory) (vfs.File, error) {
	if isLog(newname) {
		return fs.addLog(newname, func() (vfs.File, error) {
			f, err := fs.FS.ReuseForWrite(oldname, newname, cat)
			if err != nil { // the old file may be gone already by an earlier attempt
				return fs.FS.Create(newname, cat)
			}
			return f, nil
		})
	}
	return fs.FS.ReuseForWrite(oldname, newname, cat)
}

func (fs *dataFS) OpenDir(name string) (vfs.File, error) {
	f, err := fs.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &patientFile{File: f, fs: fs, name: "directory"}, nil
}

// Remove forgets what could not be written of a log that is not needed any more.
func (fs *dataFS) Remove(name string) error {
	if isLog(name) {
		fs.syncMu.Lock()
		defer fs.syncMu.Unlock()
		fs.mu.Lock()
		i := slices.IndexFunc(fs.logs, func(f *logFile) bool { return f.name == name })
		if i >= 0 && fs.logs[i].closed {
			if fs.logs[i].file != nil {
				fs.logs[i].file.Close()
			}
			fs.logs = slices.Delete(fs.logs, i, i+1)
		}
		fs.mu.Unlock()
	}
	return fs.FS.Remove(name)
}

func (fs *dataFS) noteIfRunning(what string, err error) {
	if fs.running.Load() {
		fs.health.note(what, err)
	}
}

// patiently repeats fn until it works or the database closes.
func (fs *dataFS) patiently(what string, fn func() error) error {
	for first := true; ; first = false {
		err := fn()
		if err == nil || !fs.running.Load() {
			return err
		}
		if first {
			fs.waiting.Add(1)
			defer fs.waiting.Add(-1)
		}
		fs.health.note(what, err)
		time.Sleep(50 * time.Millisecond)
	}
}

// patientFile is the manifest, a marker or a directory.
type patientFile struct {
	vfs.File
	fs   *dataFS
	name string
}

func (f *patientFile) Write(p []byte) (int, error) {
	done := 0
	err := f.fs.patiently("write "+f.name, func() error {
		n, err := f.File.Write(p[done:])
		done += max(n, 0)
		return err
	})
	return done, err
}

func (f *patientFile) Sync() error {
	return f.fs.patiently("sync "+f.name, f.File.Sync)
}

func (f *patientFile) SyncData() error {
	return f.fs.patiently("sync "+f.name, f.File.SyncData)
}

// notingFile is a table being written: errors go to pebble, health knows of them.
type notingFile struct {
	vfs.File
	fs   *dataFS
	name string
}

func (f *notingFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	if err != nil {
		f.fs.noteIfRunning("write "+f.name, err)
	}
	return n, err
}

func (f *notingFile) Sync() error {
	err := f.File.Sync()
	if err != nil {
		f.fs.noteIfRunning("sync "+f.name, err)
	}
	return err
}

// logFile is a write-ahead log. All fields are guarded by fs.mu, but for file's Sync.
type logFile struct {
	vfs.File // answers what is not overridden; may be nil until create worked
	fs       *dataFS
	name     string
	create   func() (vfs.File, error)
	file     vfs.File
	pending  []byte // could not be written so far
	size     int64  // bytes written
	dirty    bool   // written since the last sync
	closed   bool
}

func (fs *dataFS) addLog(name string, create func() (vfs.File, error)) (vfs.File, error) {
	f := &logFile{fs: fs, name: name, create: create}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.logs = append(fs.logs, f)
	if err := f.drain(); err != nil && !fs.running.Load() {
		fs.logs = fs.logs[:len(fs.logs)-1]
		return nil, err
	}
	return f, nil
}

var errBehind = errors.New("an earlier log is not written yet")

// drain creates the file if need be and writes what is pending. A log is not begun before the one
// before it is whole, so what is on disk is always a beginning of what was written.
func (f *logFile) drain() error {
	if f.fs.logs[0] != f {
		if i := slices.Index(f.fs.logs, f); i > 0 && len(f.fs.logs[i-1].pending) > 0 {
			return errBehind
		}
	}
	if f.file == nil {
		file, err := f.create()
		if err != nil {
			return err
		}
		f.file = file
	}
	for len(f.pending) > 0 {
		n, err := f.file.Write(f.pending)
		f.pending = f.pending[max(n, 0):]
		f.size += int64(max(n, 0))
		f.dirty = true
		if err != nil {
			return err
		}
	}
	f.pending = nil
	return nil
}

// Write never fails while the database runs: what can't be written is kept.
func (f *logFile) Write(p []byte) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if len(f.pending) == 0 && f.file != nil {
		n, err := f.file.Write(p)
		f.dirty = true
		f.size += int64(max(n, 0))
		if err == nil {
			return n, nil
		}
		f.pending = append(f.pending, p[max(n, 0):]...)
		f.fs.health.note("write the log", err)
		return len(p), nil
	}
	f.pending = append(f.pending, p...)
	if err := f.drain(); err != nil {
		f.fs.health.note("write the log", err)
	}
	return len(p), nil
}

// Sync and SyncData are pebble's; the real thing is syncLogs.
func (f *logFile) Sync() error                { return nil }
func (f *logFile) SyncData() error            { return nil }
func (f *logFile) SyncTo(int64) (bool, error) { return false, nil }

func (f *logFile) Preallocate(offset, length int64) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.file == nil {
		return nil
	}
	return f.file.Preallocate(offset, length)
}

func (f *logFile) Fd() uintptr {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.file == nil {
		return vfs.InvalidFd
	}
	return f.file.Fd()
}

func (f *logFile) Stat() (vfs.FileInfo, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.file == nil {
		return nil, errBehind
	}
	return f.file.Stat()
}

// Close is called when pebble begins the next log; the log must then be on stable storage.
func (f *logFile) Close() error {
	f.fs.mu.Lock()
	f.closed = true
	f.fs.mu.Unlock()
	err := f.fs.syncLogs()
	if err != nil && f.fs.running.Load() {
		return nil // kept; health knows
	}
	return err
}

// syncLogs puts everything written so far on stable storage and finishes closed logs. Callers that come
// while a round runs wait for it and then share the next.
func (fs *dataFS) syncLogs() error {
	fs.syncMu.Lock()
	defer fs.syncMu.Unlock()
	fs.mu.Lock()
	logs := slices.Clone(fs.logs)
	fs.mu.Unlock()
	for _, f := range logs {
		if err := fs.syncLog(f); err != nil {
			return err
		}
	}
	return nil
}

func (fs *dataFS) syncLog(f *logFile) error {
	fs.mu.Lock()
	if slices.Index(fs.logs, f) < 0 {
		fs.mu.Unlock()
		return nil
	}
	err := f.drain()
	file, dirty, closed, size := f.file, f.dirty, f.closed, f.size
	if err == nil {
		f.dirty = false
	}
	fs.mu.Unlock()
	if err == nil && dirty {
		if err = file.SyncData(); err != nil {
			// After a failed fsync the kernel may have dropped the pages; nothing that was
			// acknowledged since the last good one can be promised any more.
			fs.mu.Lock()
			f.dirty = true
			fs.mu.Unlock()
			if fs.running.Load() && !isNoSpace(err) {
				fs.health.fail(err)
			}
		}
	}
	if err != nil {
		fs.noteIfRunning("sync the log", err)
		return err
	}
	if dirty {
		fs.markSynced(f.name, size)
	}
	if closed {
		fs.mu.Lock()
		if i := slices.Index(fs.logs, f); i >= 0 {
			fs.logs = slices.Delete(fs.logs, i, i+1)
		}
		fs.mu.Unlock()
		return file.Close()
	}
	return nil
}

// markSynced notes how much of the newest log is on stable storage. What can't be noted leaves an older note, which stays true.
func (fs *dataFS) markSynced(log string, n int64) {
	if fs.mark == nil {
		f, err := fs.FS.Create(fs.PathJoin(fs.dir, syncedFile), vfs.WriteCategoryUnspecified)
		if err != nil {
			return
		}
		fs.mark = f
	}
	_, _ = fs.mark.WriteAt(syncedMark(fs.PathBase(log), n), 0)
}

// closeMark is called when no log is written any more.
func (fs *dataFS) closeMark() {
	fs.syncMu.Lock()
	defer fs.syncMu.Unlock()
	if fs.mark != nil {
		_ = fs.mark.Close()
		fs.mark = nil
	}
}

// caughtUp reports whether nothing waits for the disk to take it.
func (fs *dataFS) caughtUp() bool { return fs.waiting.Load() == 0 && fs.allWritten() }

// allWritten reports whether no log holds anything back.
func (fs *dataFS) allWritten() bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, f := range fs.logs {
		if len(f.pending) > 0 || f.file == nil {
			return false
		}
	}
	return true
}
