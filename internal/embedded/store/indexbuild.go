package store

import (
	"bytes"
	"context"

	"github.com/cockroachdb/pebble/v2"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/spill"
)

// buildMemory is what sorting the entries of one index may take, in bytes.
const buildMemory = 128 << 20

// CreateIndex builds an index by scanning, sorting and ingesting tables, then publishes it; the collection is
// created when missing. existed: an equal index was there. Codes for conflicts are MongoDB's: 85 other
// options, 86 other key, 67 a key that can't be indexed, 11000 a duplicate in a unique index.
// Writers of the collection wait for the build, readers don't.
func (db *DB) CreateIndex(ctx context.Context, ns NS, spec bsonx.Doc) (existed bool, err error) {
	done, err := db.enterWrite()
	if err != nil {
		return false, err
	}
	defer done()
	ix, err := db.parseIndex(ns, spec)
	if err != nil {
		return false, err
	}
	c, err := db.lockCollection(ctx, ns, true)
	if err != nil {
		return false, err
	}
	b := db.p.NewBatch()
	defer func() { _ = b.Close() }()
	existed, err = func() (bool, error) {
		defer c.state.lock.release()
		if existed, err := conflict(c, ix); existed || err != nil {
			return existed, err
		}
		ids, err := db.reserve(ctx, 1)
		if err != nil {
			return false, err
		}
		ix.setID(ids[0])
		n, mask, err := db.buildIndex(ctx, c, ix)
		if err != nil {
			db.discard(ids)
			return false, err
		}
		count := c.state.count.clone()
		*count.index(ix.id) = n
		next := c.with(append(append([]*Index(nil), c.Indexes...), ix.withMultikey(mask)))
		_ = b.Delete(pendingKey(ix.id), nil)
		if err := db.publishCollection(ctx, b, next, count); err != nil {
			db.discard(ids)
			return false, err
		}
		return false, nil
	}()
	if err != nil || existed {
		return existed, err
	}
	return false, db.acknowledge(b, false)
}

// buildIndex writes the entries of all of c's documents under ix's id, which is reserved. The
// collection's lock is held.
func (db *DB) buildIndex(ctx context.Context, c *Collection, ix *Index) (n indexCounter, mask uint64, err error) {
	o := db.SpillOptions(buildMemory)
	o.Parallel = true
	sorter := spill.NewSorter(o)
	defer func() {
		if err2 := sorter.Close(); err == nil {
			err = err2
		}
	}()
	if mask, err = db.collectEntries(ctx, c, ix, sorter); err != nil {
		return n, 0, wrapIO(err)
	}
	n, err = db.writeEntries(ctx, c, ix, sorter)
	return n, mask, wrapIO(err)
}

// collectEntries scans the documents and adds their entries to the sorter.
func (db *DB) collectEntries(ctx context.Context, c *Collection, ix *Index, sorter *spill.Sorter) (mask uint64, err error) {
	it, err := db.p.NewIter(&pebble.IterOptions{LowerBound: c.prefix, UpperBound: c.end})
	if err != nil {
		return 0, err
	}
	defer func() {
		if err2 := it.Close(); err == nil {
			err = err2
		}
	}()
	g := newKeyGen(ix)
	var key, value, idBits []byte
	i := 0
	for ok := it.First(); ok; ok = it.Next() {
		if i++; i%1024 == 0 && ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		doc, err := it.ValueAndErr()
		if err != nil {
			return 0, err
		}
		if err := g.make(doc); err != nil {
			return 0, err
		}
		mask |= g.mask
		idKey := it.Key()[len(c.prefix):]
		idBits = bsonx.TrimTypeBits(bsonx.AppendTypeBits(idBits[:0], idOf(doc)))
		for k := range g.keys {
			key = append(append(key[:0], ix.prefix...), g.key(k)...)
			if ix.Unique {
				value = appendUniqueValue(value[:0], g.bits(k), idBits, idKey)
			} else {
				key = append(key, idKey...)
				value = appendEntryValue(value[:0], g.bits(k), idBits)
			}
			if err := sorter.Add(key, value); err != nil {
				return 0, err
			}
		}
	}
	return mask, it.Error()
}

// writeEntries writes the sorted entries to tables and ingests them.
func (db *DB) writeEntries(ctx context.Context, c *Collection, ix *Index, sorter *spill.Sorter) (n indexCounter, err error) {
	n.id = ix.id
	it, err := sorter.Sort()
	if err != nil {
		return n, err
	}
	t := &tableWriter{db: db}
	defer t.abort()
	var last []byte
	for it.Next() {
		if n.entries%4096 == 0 && ctx.Err() != nil {
			return n, context.Cause(ctx)
		}
		if ix.Unique {
			if n.entries > 0 && bytes.Equal(last, it.Key()) {
				bits, _, _, err := splitUniqueValue(it.Value())
				if err != nil {
					return n, err
				}
				return n, dupKeyOf(c.NS, ix, it.Key()[len(ix.prefix):], bits)
			}
			last = append(last[:0], it.Key()...)
		}
		if err := t.set(it.Key(), it.Value()); err != nil {
			return n, err
		}
		n.entries++
		n.bytes += int64(len(it.Key()) + len(it.Value()))
	}
	if err := it.Err(); err != nil {
		return n, err
	}
	return n, t.ingest(ctx)
}
