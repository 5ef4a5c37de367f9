package store

import (
	"encoding/binary"
	"slices"
)

// counters are a collection's running totals; they are written with each batch
// that changes them, so they are exact after a crash and need no scan at Open.
type counters struct {
	docs, bytes int64
	indexes     []indexCounter // of indexes other than _id_
}

type indexCounter struct {
	id             uint64
	entries, bytes int64
}

func (c counters) clone() counters {
	c.indexes = slices.Clone(c.indexes)
	return c
}

func (c *counters) index(id uint64) *indexCounter {
	for i := range c.indexes {
		if c.indexes[i].id == id {
			return &c.indexes[i]
		}
	}
	c.indexes = append(c.indexes, indexCounter{id: id})
	return &c.indexes[len(c.indexes)-1]
}

func (c *counters) add(d counters) {
	c.docs += d.docs
	c.bytes += d.bytes
	for _, x := range d.indexes {
		ix := c.index(x.id)
		ix.entries += x.entries
		ix.bytes += x.bytes
	}
}

func (c *counters) drop(id uint64) {
	c.indexes = slices.DeleteFunc(c.indexes, func(x indexCounter) bool { return x.id == id })
}

func (c counters) encode(dst []byte) []byte {
	dst = binary.AppendVarint(dst, c.docs)
	dst = binary.AppendVarint(dst, c.bytes)
	for _, x := range c.indexes {
		dst = binary.AppendUvarint(dst, x.id)
		dst = binary.AppendVarint(dst, x.entries)
		dst = binary.AppendVarint(dst, x.bytes)
	}
	return dst
}

func decodeCounters(b []byte) (counters, error) {
	var c counters
	bad := false
	next := func() int64 {
		v, n := binary.Varint(b)
		if n <= 0 {
			bad, b = true, nil
			return 0
		}
		b = b[n:]
		return v
	}
	c.docs, c.bytes = next(), next()
	for len(b) > 0 && !bad {
		id, n := binary.Uvarint(b)
		if n <= 0 {
			return c, errCorrupt
		}
		b = b[n:]
		c.indexes = append(c.indexes, indexCounter{id: id, entries: next(), bytes: next()})
	}
	if bad {
		return c, errCorrupt
	}
	return c, nil
}
