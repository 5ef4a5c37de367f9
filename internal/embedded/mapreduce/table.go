package mapreduce

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"github.com/zeebo/xxh3"

	"mrbench/internal/embedded/bsonx"
)

// table keeps emits by key: the in-memory state of mixed mode. Keys and values
// lie in one arena; numbers lie in the nodes themselves.
type table struct {
	slots   []int32 // entry index + 1 by hash; length is a power of two
	entries []entry
	nodes   []node
	arena   []byte
	dups    int64   // values beyond the first of their key
	size    int64   // as a 4.0 server counts: BSON size of each {0: key, 1: value}, and 16
	several []int32 // entries that have more than one value
	dead    int     // bytes and nodes that no entry refers to any more
}

// entry is one key. Its encoding and then its BSON data stand in the arena.
type entry struct {
	hash        uint32
	off         uint32
	encLen      uint32
	rawLen      uint32
	typ         bsonx.Type
	undefined   bool // emitted as undefined: a key of its own until it is written out as null
	first, last int32
	n           int32
}

// node is one value; next is its successor's index + 1.
type node struct {
	num  float64 // of a Double
	off  uint32
	len  uint32
	next int32
	typ  bsonx.Type
}

const pairOverhead = 16 // per emit, as a 4.0 server counts

// pairSize is the BSON size of {0: key, 1: value}.
func pairSize(keyLen, valueLen int, undefined bool) int64 {
	n := 5 + 3 + keyLen + 3 + valueLen
	if undefined {
		n-- // its name is empty there
	}
	return int64(n)
}

func (t *table) reset() {
	clear(t.slots)
	t.entries, t.nodes, t.arena, t.several = t.entries[:0], t.nodes[:0], t.arena[:0], t.several[:0]
	t.dups, t.size, t.dead = 0, 0, 0
}

// add appends one value to a key. enc is the key's encoding.
func (t *table) add(enc []byte, key bsonx.Value, undefined bool, v bsonx.Value) {
	e := t.lookup(enc, key, undefined)
	t.append(e, v)
	ent := &t.entries[e]
	if ent.n > 1 {
		t.dups++
		if ent.n == 2 {
			t.several = append(t.several, e)
		}
	}
	t.size += pairSize(len(key.Data), len(v.Data), undefined) + pairOverhead
}

// append links a new node to entry e.
func (t *table) append(e int32, v bsonx.Value) {
	n := node{typ: v.Type, len: uint32(len(v.Data))}
	if v.Type == bsonx.TypeDouble {
		n.num = math.Float64frombits(binary.LittleEndian.Uint64(v.Data))
	} else {
		n.off = uint32(len(t.arena))
		t.arena = append(t.arena, v.Data...)
	}
	t.nodes = append(t.nodes, n)
	at := int32(len(t.nodes))
	ent := &t.entries[e]
	if ent.n == 0 {
		ent.first = at
	} else {
		t.nodes[ent.last-1].next = at
	}
	ent.last = at
	ent.n++
}

func (t *table) lookup(enc []byte, key bsonx.Value, undefined bool) int32 {
	if len(t.entries) >= len(t.slots)*3/4 {
		t.grow()
	}
	h := uint32(xxh3.Hash(enc))
	if undefined {
		h++
	}
	mask := uint32(len(t.slots) - 1)
	i := h & mask
	for ; t.slots[i] != 0; i = (i + 1) & mask {
		e := &t.entries[t.slots[i]-1]
		if e.hash == h && e.undefined == undefined && bytes.Equal(t.enc(e), enc) {
			return t.slots[i] - 1
		}
	}
	off := len(t.arena)
	t.arena = append(append(t.arena, enc...), key.Data...)
	t.entries = append(t.entries, entry{
		hash: h, off: uint32(off), encLen: uint32(len(enc)), rawLen: uint32(len(key.Data)), typ: key.Type, undefined: undefined,
	})
	t.slots[i] = int32(len(t.entries))
	return int32(len(t.entries) - 1)
}

func (t *table) grow() {
	t.slots = make([]int32, max(1<<10, 2*len(t.slots)))
	mask := uint32(len(t.slots) - 1)
	for n := range t.entries {
		i := t.entries[n].hash & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = int32(n + 1)
	}
}

func (t *table) enc(e *entry) []byte { return t.arena[e.off : e.off+e.encLen] }

func (t *table) key(e *entry) bsonx.Value {
	at := e.off + e.encLen
	return bsonx.Value{Type: e.typ, Data: t.arena[at : at+e.rawLen : at+e.rawLen]}
}

// value of a node; scratch holds the bytes of a number.
func (t *table) value(n *node, scratch *[8]byte) bsonx.Value {
	if n.typ == bsonx.TypeDouble {
		binary.LittleEndian.PutUint64(scratch[:], math.Float64bits(n.num))
		return bsonx.Value{Type: n.typ, Data: scratch[:]}
	}
	return bsonx.Value{Type: n.typ, Data: t.arena[n.off : n.off+n.len : n.off+n.len]}
}

// sorted gives the entries' indexes in key order; undefined comes before null.
func (t *table) sorted(list []int32) []int32 {
	slices.SortFunc(list, func(a, b int32) int {
		x, y := &t.entries[a], &t.entries[b]
		if c := bytes.Compare(t.enc(x), t.enc(y)); c != 0 {
			return c
		}
		switch {
		case x.undefined == y.undefined:
			return 0
		case x.undefined:
			return -1
		}
		return 1
	})
	return list
}

// all lists every entry.
func (t *table) all() []int32 {
	list := make([]int32, len(t.entries))
	for i := range list {
		list[i] = int32(i)
	}
	return list
}

// replace puts one value in the place of all values of entry e.
func (t *table) replace(e int32, v bsonx.Value) {
	ent := &t.entries[e]
	for at := ent.first; at != 0; at = t.nodes[at-1].next {
		n := &t.nodes[at-1]
		t.size -= pairSize(int(ent.rawLen), int(n.len), ent.undefined) + pairOverhead
		t.dead += int(n.len) + 32
	}
	ent.n, ent.first, ent.last = 0, 0, 0
	t.append(e, v)
	t.size += pairSize(int(ent.rawLen), len(v.Data), ent.undefined) + pairOverhead
}

// compact copies what is alive into into, which becomes the table's content, when too much is dead.
func (t *table) compact(into *table) bool {
	if t.dead < 1<<20 || t.dead < len(t.arena)+32*len(t.nodes)-t.dead {
		return false
	}
	into.reset()
	var scratch [8]byte
	for i := range t.entries {
		e := &t.entries[i]
		for at := e.first; at != 0; at = t.nodes[at-1].next {
			into.add(t.enc(e), t.key(e), e.undefined, t.value(&t.nodes[at-1], &scratch))
		}
	}
	return true
}
