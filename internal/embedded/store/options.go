package store

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"mrbench/internal/embedded/bsonx"
)

// Options of Open. Zero values: default cache, the operating system's files.
type Options struct {
	Dir        string
	FS         vfs.FS // nil: the operating system's. vfs.NewMem() for an in-memory engine.
	CacheBytes int64  // of the block cache; 0: 256 MiB
	// Address is what this process serves on, written beside its process id into the lock file ("" when it doesn't).
	Address string
	// CompileFilter turns an index's partialFilterExpression into a predicate. nil: partial indexes are refused.
	CompileFilter func(bsonx.Doc) (func(bsonx.Doc) bool, error)
	// Log gets one line for each noteworthy event (recovery, leftover removed, background error). May be nil.
	Log func(format string, args ...any)

	memTableBytes int // 0: 16 MiB; tests make it small
}

// LockedError says that another process holds the data directory.
type LockedError struct {
	Dir     string
	PID     int    // 0 if unknown
	Address string // where it serves, if it does
}

func (e *LockedError) Error() string {
	who := "another process"
	if e.PID != 0 {
		who = fmt.Sprintf("process %d", e.PID)
	}
	if e.Address != "" {
		return fmt.Sprintf("data directory %s is in use by %s, which serves it on %s: connect there or stop it", e.Dir, who, e.Address)
	}
	return fmt.Sprintf("data directory %s is in use by %s: stop it or use another directory", e.Dir, who)
}

const (
	defaultCache = 256 << 20
	// Each key goes through a skip list, whose steps are cache misses when it is large: with 64 MiB that was the greater part of a load.
	defaultMemTable = 16 << 20
)

// pebbleOptions are those of one data directory.
//
// The format is the newest without sync offsets in the log: those promise that
// what is before them is on stable storage, which a log that is synced every 100 ms can't
// promise, and after a power cut they would make a lost tail look like corruption.
func pebbleOptions(o Options, fs vfs.FS, h *health, r *room) *pebble.Options {
	mem := defaultMemTable
	if o.memTableBytes > 0 {
		mem = o.memTableBytes
	}
	r.memTable = int64(mem)
	po := &pebble.Options{
		FS:                          fs,
		FormatMajorVersion:          pebble.FormatColumnarBlocks,
		CacheSize:                   o.CacheBytes,
		MemTableSize:                uint64(mem),
		MemTableStopWritesThreshold: neverStop,
		L0CompactionThreshold:       8,
		L0CompactionFileThreshold:   2000,
		L0StopWritesThreshold:       neverStop,
		LBaseMaxBytes:               512 << 20,
		MaxOpenFiles:                1000,
		BytesPerSync:                1 << 20,
		CompactionConcurrencyRange:  func() (int, int) { return 1, 2 },
		FlushDelayDeleteRange:       defaultFlushDelay,
		Logger:                      pebbleLogger{h},
		EventListener:               listener(h, r),
	}
	if po.CacheSize <= 0 {
		po.CacheSize = defaultCache
	}
	// Compactions on behalf of readers would be asked for while an iterator closes, which must not wait.
	po.Experimental.ReadSamplingMultiplier = -1
	po.Experimental.SpanPolicyFunc = splitSpaces
	po.Levels[0] = pebble.LevelOptions{
		BlockSize:      32 << 10,
		IndexBlockSize: 256 << 10,
		FilterPolicy:   newRecordFilter(),
	}
	po.Levels[len(po.Levels)-1].FilterPolicy = pebble.NoFilterPolicy // pebble asks none there
	po.TargetFileSizes[0] = 8 << 20
	po.EnsureDefaults()
	return po
}

// splitSpaces ends a table where records begin and where index entries begin. Records often come in the order of their keys, and
// then move down the levels as they are, but not in one table with entries, which do not.
func splitSpaces(key []byte) (pebble.SpanPolicy, []byte, error) {
	for _, first := range []byte{spaceRecord, spaceEntry} {
		if len(key) == 0 || key[0] < first {
			return pebble.SpanPolicy{}, []byte{first}, nil
		}
	}
	return pebble.SpanPolicy{}, nil, nil
}

// pebbleLogger keeps quiet but for what ends writing. Fatalf must not end the
// process: the caller of pebble sees health's error, and reading goes on.
type pebbleLogger struct{ h *health }

func (pebbleLogger) Infof(string, ...any) {}

func (l pebbleLogger) Errorf(format string, args ...any) { l.h.log("storage: "+format, args...) }

func (l pebbleLogger) Fatalf(format string, args ...any) {
	err := fmt.Errorf("storage: "+format, args...)
	l.h.fail(err)
	l.h.opening.Load().failed(err)
}

func listener(h *health, r *room) *pebble.EventListener {
	l := &pebble.EventListener{
		BackgroundError: func(err error) {
			// A damaged table is the matter of those who read it; what can't be written concerns all who write.
			if pebble.IsCorruptionError(err) || errors.Is(err, pebble.ErrCancelledCompaction) {
				h.warn("compaction", err)
				return
			}
			h.note("flush or compaction", err)
			h.opening.Load().failed(err)
		},
		DataCorruption: func(i pebble.DataCorruptionInfo) {
			h.warn("corrupt data in "+i.Path, i.Details)
		},
		DiskSlow: func(pebble.DiskSlowInfo) {},
	}
	r.listen(l)
	return l
}
