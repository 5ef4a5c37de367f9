package store

import (
	"encoding/binary"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"mrbench/internal/embedded/mongoerr"
)

// maxBatch is the most that one write may change, in bytes of its log record.
const maxBatch = 1 << 30

// apply makes a batch visible and queues it for the log; acknowledge waits for the log.
// The caller holds the lock of what the batch changes.
func (db *DB) apply(b *pebble.Batch) error {
	if err := db.waitForRoom(); err != nil {
		return err
	}
	return db.applyNow(b)
}

// applyNow is apply by one who has waited for room.
func (db *DB) applyNow(b *pebble.Batch) (err error) {
	if b.Len() > maxBatch {
		return mongoerr.New(mongoerr.ExceededMemoryLimit, "one write changes %d MiB, the most is %d MiB: split it up", b.Len()>>20, maxBatch>>20)
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("storage: %v", r)
			db.health.fail(err)
		}
	}()
	return db.p.ApplyNoSyncWait(b, pebble.Sync)
}

// acknowledge waits until an applied batch has been handed to the operating system, with sync until it is on
// stable storage. An error means that the write may or may not survive.
func (db *DB) acknowledge(b *pebble.Batch, sync bool) error {
	if err := b.SyncWait(); err != nil {
		db.health.fail(err)
		return wrapIO(err)
	}
	if err := db.health.err(); err != nil && !db.fs.allWritten() {
		return err
	}
	if sync {
		if err := db.fs.syncLogs(); err != nil {
			return wrapIO(err)
		}
	}
	return nil
}

// publish applies a batch together with a new catalog version made by change from the present one.
// The caller holds ddl and the locks of the collections concerned, and acknowledges afterwards.
func (db *DB) publish(b *pebble.Batch, change func(*catalog) *catalog) error {
	_ = b.Set(metaKey("next"), binary.AppendUvarint(nil, db.nextID), nil)
	next := change(db.cat.Load())
	if err := db.waitForRoom(); err != nil {
		return err
	}
	db.snapMu.Lock()
	defer db.snapMu.Unlock()
	if err := db.applyNow(b); err != nil {
		return err
	}
	db.cat.Store(next)
	return nil
}
