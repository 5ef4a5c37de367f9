package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"mrbench/internal/embedded/bsonx"
)

// prepared is a batch of documents with everything that can be made without
// the collection's lock: the pebble batch and the keys to check for uniqueness.
type prepared struct {
	c      *Collection
	docs   []bsonx.Doc
	gens   []*keyGen
	batch  *pebble.Batch
	arena  []byte
	ids    []span        // record keys; empty for a document that is left out
	sorted bool          // ids ascend strictly
	unique []uniqueKeys  // of unique indexes
	fail   map[int]error // documents that can't be inserted whatever is stored
	delta  counters
	masks  []uint64  // multikey fields by index
	ents   [][]entry // by index, until they are written to the batch
}

// entry is an index entry in arena, whose key has no index prefix yet.
type entry struct {
	head     uint64 // first bytes of the key, for sorting
	key, val span
}

// span is a part of arena.
type span struct{ from, to int }

type uniqueKeys struct {
	gen  int // in gens
	keys []uniqueKey
}

type uniqueKey struct {
	span
	doc int
}

func (p *prepared) at(s span) []byte { return p.arena[s.from:s.to] }

// prepare encodes the documents that skip does not name.
func (db *DB) prepare(c *Collection, docs []bsonx.Doc, gens []*keyGen, skip map[int]error) *prepared {
	p := &prepared{c: c, docs: docs, gens: gens, sorted: true, masks: make([]uint64, len(gens))}
	size := 0
	for _, d := range docs {
		size += len(d) + 32 + 48*len(gens)
	}
	p.batch = db.p.NewBatchWithSize(size)
	p.arena = make([]byte, 0, len(docs)*(24+40*len(gens)))
	p.ids = make([]span, len(docs))
	p.ents = make([][]entry, len(gens))
	for g, gen := range gens {
		p.delta.indexes = append(p.delta.indexes, indexCounter{id: gen.ix.id})
		p.ents[g] = make([]entry, 0, len(docs))
		if gen.ix.Unique {
			p.unique = append(p.unique, uniqueKeys{gen: g})
		}
	}
	var last span
	var idBits []byte
	for i, d := range docs {
		if skip[i] != nil {
			continue
		}
		if err := p.makeKeys(d); err != nil {
			if p.fail == nil {
				p.fail = map[int]error{}
			}
			p.fail[i] = err
			continue
		}
		id := idOf(d)
		from := len(p.arena)
		p.arena = append(p.arena, c.prefix...)
		p.arena = bsonx.AppendKey(p.arena, id, false)
		s := span{from, len(p.arena)}
		p.ids[i] = s
		if p.sorted && last.to > 0 && bytes.Compare(p.at(last), p.at(s)) >= 0 {
			p.sorted = false
		}
		last = s
		key := p.at(s)
		op := p.batch.SetDeferred(len(key), len(d))
		copy(op.Key, key)
		copy(op.Value, d)
		_ = op.Finish()
		p.delta.docs++
		p.delta.bytes += int64(len(d))
		idBits = bsonx.TrimTypeBits(bsonx.AppendTypeBits(idBits[:0], id))
		p.addEntries(i, s, idBits)
	}
	p.writeEntries()
	return p
}

func (p *prepared) makeKeys(d bsonx.Doc) error {
	for _, g := range p.gens {
		if err := g.make(d); err != nil {
			return err
		}
	}
	return nil
}

// addEntries takes over the entries that the generators hold.
func (p *prepared) addEntries(doc int, id span, idBits []byte) {
	id.from += len(p.c.prefix)
	u := 0
	for n, g := range p.gens {
		p.masks[n] |= g.mask
		var uk *uniqueKeys
		if g.ix.Unique {
			uk = &p.unique[u]
			u++
		}
		for k := range g.keys {
			key, bits := g.key(k), g.bits(k)
			e := entry{key: span{from: len(p.arena)}}
			p.arena = append(append(p.arena, g.ix.prefix...), key...)
			if uk == nil {
				p.arena = append(p.arena, p.at(id)...)
			} else {
				uk.keys = append(uk.keys, uniqueKey{span{e.key.from, len(p.arena)}, doc})
			}
			e.key.to = len(p.arena)
			if uk == nil {
				p.arena = appendEntryValue(p.arena, bits, idBits)
			} else {
				p.arena = appendUniqueValue(p.arena, bits, idBits, p.at(id))
			}
			e.val = span{e.key.to, len(p.arena)}
			e.head = head(p.at(e.key)[len(g.ix.prefix):])
			p.ents[n] = append(p.ents[n], e)
			p.delta.indexes[n].entries++
			p.delta.indexes[n].bytes += int64(e.val.to - e.key.from)
		}
	}
}

// head is up to eight bytes of a key as a number that compares like them.
func head(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.BigEndian.Uint64(b)
	}
	var v uint64
	for _, c := range b {
		v = v<<8 | uint64(c)
	}
	return v << (8 * (8 - len(b)))
}

// writeEntries adds the entries to the batch, those of an index together and in key order: pebble's memory table then
// finds the place of each near that of the one before.
func (p *prepared) writeEntries() {
	for _, ents := range p.ents {
		slices.SortFunc(ents, func(a, b entry) int {
			if a.head != b.head {
				return cmp.Compare(a.head, b.head)
			}
			return bytes.Compare(p.at(a.key), p.at(b.key))
		})
		for _, e := range ents {
			op := p.batch.SetDeferred(e.key.to-e.key.from, e.val.to-e.val.from)
			copy(op.Key, p.at(e.key))
			copy(op.Value, p.at(e.val))
			_ = op.Finish()
		}
	}
}

// setEntry writes the k-th entry that a generator holds and returns its size.
func setEntry(b *pebble.Batch, g *keyGen, k int, idKey, idBits []byte) int {
	key, bits := g.key(k), g.bits(k)
	if g.ix.Unique {
		v := appendUniqueValue(nil, bits, idBits, idKey)
		op := b.SetDeferred(len(g.ix.prefix)+len(key), len(v))
		copy(op.Key[copy(op.Key, g.ix.prefix):], key)
		copy(op.Value, v)
		_ = op.Finish()
		return len(op.Key) + len(v)
	}
	var v []byte
	if len(bits) > 0 || len(idBits) > 0 {
		v = appendEntryValue(nil, bits, idBits)
	}
	n := len(g.ix.prefix) + len(key) + len(idKey)
	op := b.SetDeferred(n, len(v))
	w := copy(op.Key, g.ix.prefix)
	w += copy(op.Key[w:], key)
	copy(op.Key[w:], idKey)
	copy(op.Value, v)
	_ = op.Finish()
	return n + len(v)
}

// collides reports whether any document can't be inserted as things are. The collection's lock is held.
func (p *prepared) collides(db *DB) (bool, error) {
	if len(p.fail) > 0 {
		return true, nil
	}
	if hit, err := p.idCollides(db); hit || err != nil {
		return hit, err
	}
	for _, u := range p.unique {
		keys := make([][]byte, len(u.keys))
		for i, k := range u.keys {
			keys[i] = p.at(k.span)
		}
		slices.SortFunc(keys, bytes.Compare)
		for i := 1; i < len(keys); i++ {
			if bytes.Equal(keys[i-1], keys[i]) {
				return true, nil
			}
		}
		hit := false
		err := db.walkPresent(keys, func(int) bool { hit = true; return false })
		if hit || err != nil {
			return hit, err
		}
	}
	return false, nil
}

func (p *prepared) idCollides(db *DB) (bool, error) {
	if len(p.docs) == 0 {
		return false, nil
	}
	keys := make([][]byte, len(p.ids))
	for i, s := range p.ids {
		keys[i] = p.at(s)
	}
	if !p.sorted {
		slices.SortFunc(keys, bytes.Compare)
		for i := 1; i < len(keys); i++ {
			if bytes.Equal(keys[i-1], keys[i]) {
				return true, nil
			}
		}
	}
	st := p.c.state
	if err := st.findTop(db, p.c); err != nil {
		return false, err
	}
	if bytes.Compare(keys[0][len(p.c.prefix):], st.top) > 0 {
		return false, nil
	}
	hit := false
	err := db.walkPresent(keys, func(int) bool { hit = true; return false })
	return hit, err
}

// walkPresent calls fn with the index of each of the sorted keys that is stored, until fn returns false.
// Between two stored keys it needs one seek however many keys lie there.
func (db *DB) walkPresent(keys [][]byte, fn func(i int) bool) (err error) {
	if len(keys) == 0 {
		return nil
	}
	it, err := db.p.NewIter(&pebble.IterOptions{
		LowerBound: keys[0],
		UpperBound: append(slices.Clone(keys[len(keys)-1]), 0),
	})
	if err != nil {
		return err
	}
	defer func() {
		if err2 := it.Close(); err == nil {
			err = err2
		}
	}()
	ok := it.First()
	for i := 0; ok && i < len(keys); {
		switch bytes.Compare(it.Key(), keys[i]) {
		case 0:
			if !fn(i) {
				return nil
			}
			i++
		case 1: // nothing stored between; the next candidate is at or past the stored key
			k := it.Key()
			i++
			if i < len(keys) && bytes.Compare(keys[i], k) < 0 {
				n, _ := slices.BinarySearchFunc(keys[i:], k, bytes.Compare)
				i += n
			}
		default:
			ok = it.SeekGE(keys[i])
		}
	}
	return it.Error()
}
