package store

import (
	"bytes"
	"fmt"

	"mrbench/internal/embedded/bsonx"
)

// EntryIter hands out the entries of an index. Slices are valid until the next Next.
type EntryIter struct {
	sc                       scan
	c                        *Collection
	ix                       *Index
	seekTo                   []byte // pending seek, a full key
	seekOn                   bool
	n                        int // length of the fields' encodings; -1: not yet looked for
	parsed                   bool
	fieldBits, idBits, idKey []byte
}

// Entries scans an index in key order, entries of equal keys in _id order. Bounds are over the concatenated
// encodings of the fields; a bound may be a prefix (Lo = encoding of a, Hi = successor of that).
// The index on _id works too: its entries are the documents.
func (s *Snap) Entries(c *Collection, ix *Index, bounds []Bound, reverse bool) *EntryIter {
	prefix, end := ix.prefix, ix.end
	if ix.IsID() {
		prefix, end = c.prefix, c.end
	}
	return &EntryIter{sc: s.newScan(prefix, end, bounds, reverse), c: c, ix: ix}
}

// Next goes to the next entry; false at the end or on an error.
func (it *EntryIter) Next() bool {
	it.n, it.parsed = -1, false
	if it.seekOn {
		it.seekOn = false
		return it.sc.seek(it.seekTo)
	}
	return it.sc.step()
}

// fieldsLen finds where the fields end and the _id begins.
func (it *EntryIter) fieldsLen() int {
	if it.n >= 0 {
		return it.n
	}
	k := it.sc.key()
	it.n = len(k)
	if it.ix.Unique || it.ix.IsID() {
		return it.n
	}
	n := 0
	for _, f := range it.ix.Fields {
		w, err := bsonx.SkipKey(k[n:], f.Desc)
		if err != nil {
			it.sc.err = err
			return it.n
		}
		n += w
	}
	it.n = n
	return n
}

func (it *EntryIter) parse() {
	if it.parsed {
		return
	}
	it.parsed = true
	v := it.sc.value()
	it.fieldBits, it.idBits, it.idKey = nil, nil, nil
	var err error
	switch {
	case it.ix.IsID():
		if len(v) > 0 {
			it.fieldBits = bsonx.TrimTypeBits(bsonx.AppendTypeBits(nil, idOf(v)))
			it.idBits = it.fieldBits
		}
	case it.ix.Unique:
		it.fieldBits, it.idBits, it.idKey, err = splitUniqueValue(v)
	default:
		it.fieldBits, it.idBits, err = splitEntryValue(v)
	}
	if err != nil && it.sc.err == nil {
		it.sc.err = err
	}
}

// Key is the concatenated encodings of the fields, without the _id.
func (it *EntryIter) Key() []byte { return it.sc.key()[:it.fieldsLen()] }

// FullKey is Key, with the encoded _id behind it unless the index is unique: for who decodes field by field and need not know
// where they end.
func (it *EntryIter) FullKey() []byte { return it.sc.key() }

// IDKey is the encoded _id of the entry's document.
func (it *EntryIter) IDKey() []byte {
	switch {
	case it.ix.IsID():
		return it.sc.key()
	case it.ix.Unique:
		it.parse()
		return it.idKey
	}
	return it.sc.key()[it.fieldsLen():]
}

// TypeBits are those of all fields of Key, for bsonx.DecodeKey.
func (it *EntryIter) TypeBits() []byte {
	it.parse()
	return it.fieldBits
}

// IDTypeBits are those of IDKey, so that a covered read can give back the _id as it was.
func (it *EntryIter) IDTypeBits() []byte {
	it.parse()
	return it.idBits
}

// SeekGE makes the next Next give the first entry whose key is >= key; in reverse the first whose
// key is <= key or starts with key. It never moves backwards.
func (it *EntryIter) SeekGE(key []byte) {
	if it.sc.reverse {
		it.seekFull(func(dst []byte) []byte {
			return appendSuccessor(dst, append(append([]byte(nil), it.sc.prefix...), key...))
		})
		return
	}
	it.seekFull(func(dst []byte) []byte { return append(append(dst, it.sc.prefix...), key...) })
}

// SkipPast makes the next Next give the first entry, in scan direction, that does not start with key.
func (it *EntryIter) SkipPast(key []byte) {
	if it.sc.reverse {
		it.seekFull(func(dst []byte) []byte { return append(append(dst, it.sc.prefix...), key...) })
		return
	}
	it.seekFull(func(dst []byte) []byte {
		dst = append(append(dst, it.sc.prefix...), key...)
		for i := len(dst) - 1; i >= 0; i-- {
			if dst[i] != 0xff {
				dst[i]++
				return dst[:i+1]
			}
		}
		return dst
	})
}

func (it *EntryIter) seekFull(full func(dst []byte) []byte) {
	it.seekTo = full(it.seekTo[:0])
	it.seekOn = true
	if !it.sc.on {
		return // in the first bound, or the scan has ended
	}
	// Not backwards: stepping is enough when the key is not ahead of where the scan stands.
	c := bytes.Compare(it.seekTo, it.sc.it.Key())
	if !it.sc.reverse && c <= 0 || it.sc.reverse && c > 0 {
		it.seekOn = false
	}
}

// Err is what ended the scan early; a wrong byte on disk is an error here.
func (it *EntryIter) Err() error {
	if it.sc.err != nil {
		return fmt.Errorf("reading index %s of %s: %w", it.ix.Name, it.c.NS, it.sc.err)
	}
	return nil
}

// Close ends the scan.
func (it *EntryIter) Close() error { return it.sc.close() }
