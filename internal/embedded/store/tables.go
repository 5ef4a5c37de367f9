package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// tableBytes is where one table ends and the next begins, in bytes of keys and values.
const tableBytes = 64 << 20

// tableWriter writes ascending keys to tables in the temporary directory, which then become part of the database.
type tableWriter struct {
	db    *DB
	w     *sstable.Writer
	size  int
	paths []string
	last  []byte
}

var errNotAscending = errors.New("keys do not ascend")

// set adds a pair; its key must be greater than the last.
func (t *tableWriter) set(key, value []byte) error {
	if t.w != nil && bytes.Compare(key, t.last) <= 0 {
		return errNotAscending
	}
	if t.size > tableBytes {
		if err := t.finish(); err != nil {
			return err
		}
	}
	if t.w == nil {
		if err := t.begin(); err != nil {
			return err
		}
	}
	t.last = append(t.last[:0], key...)
	t.size += len(key) + len(value)
	return wrapIO(t.w.Set(key, value))
}

func (t *tableWriter) begin() error {
	fs := t.db.fs
	path := fs.PathJoin(t.db.tmp, fmt.Sprintf("table-%d.sst", t.db.seq.Add(1)))
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return wrapIO(err)
	}
	t.paths = append(t.paths, path)
	t.size = 0
	// Level 6 is where tables go that overlap nothing.
	t.w = sstable.NewWriter(objstorageprovider.NewFileWritable(f), t.db.po.MakeWriterOptions(6, t.db.p.TableFormat()))
	return nil
}

func (t *tableWriter) finish() error {
	if t.w == nil {
		return nil
	}
	err := t.w.Close()
	t.w = nil
	return wrapIO(err)
}

// ingest makes the tables part of the database. What they hold should be reserved or published.
func (t *tableWriter) ingest(ctx context.Context) (err error) {
	if err := t.finish(); err != nil {
		return err
	}
	if len(t.paths) == 0 {
		return nil
	}
	if err := t.db.health.err(); err != nil {
		return err
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("storage: %v", r)
			t.db.health.fail(err)
		}
	}()
	if err := t.db.p.Ingest(ctx, t.paths); err != nil {
		return wrapIO(fmt.Errorf("ingest tables: %w", err))
	}
	t.paths = nil
	return nil
}

// abort removes the tables that were not ingested.
func (t *tableWriter) abort() {
	if t.w != nil {
		_ = t.w.Close()
		t.w = nil
	}
	for _, p := range t.paths {
		_ = t.db.fs.Remove(p)
	}
	t.paths = nil
}
