package pipeline

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/zeebo/xxh3"

	"mrbench/internal/embedded/bsonx"
)

// groupTable numbers distinct values in the order of their first appearance. Numbers equal by
// value are one, whatever their types; the first one's type is kept. Whole numbers have a table of
// their own, with the number in the slot, so that a lookup costs one cache miss.
type groupTable struct {
	// By group number: a BSON type for a whole number of that type, whose value refs holds,
	// or inArena, where refs is an offset.
	kinds []uint8
	refs  []uint64
	arena []byte // [type][uvarint key length][uvarint data length][key][data]

	ints     []intSlot
	intShift uint
	nInts    int

	keys     []keySlot
	nKeys    int
	scratch  []byte
	fromInts []byte
}

type intSlot struct {
	n  int64
	id uint32 // group number + 1; 0: free
}

type keySlot struct {
	hash uint32
	id   uint32
}

const inArena = 0

const firstSlots = 64

func (t *groupTable) len() int { return len(t.kinds) }

// bytes is the memory held.
func (t *groupTable) bytes() int64 {
	return int64(cap(t.kinds)) + 8*int64(cap(t.refs)) + int64(cap(t.arena)) + 16*int64(cap(t.ints)) + 8*int64(cap(t.keys))
}

func (t *groupTable) reset() { *t = groupTable{scratch: t.scratch} }

// find gives the number of v's group, a new one if needed.
func (t *groupTable) find(v bsonx.Value) uint32 {
	switch v.Type {
	case tInt32:
		return t.findInt(int64(v.Int32()), v)
	case tInt64:
		return t.findInt(v.Int64(), v)
	case tDouble:
		if f := v.Double(); f == math.Trunc(f) && f >= -0x1p63 && f < 0x1p63 {
			return t.findInt(int64(f), v)
		}
	case tDecimal:
		if n, ok := v.AsInt64(); ok {
			return t.findInt(n, v)
		}
	case tMissing:
		v = null
	}
	return t.findKey(v)
}

func intHash(n int64, shift uint) uint64 {
	h := uint64(n)
	h ^= h >> 32
	return h * 0x9E3779B97F4A7C15 >> shift
}

func (t *groupTable) findInt(n int64, v bsonx.Value) uint32 {
	if 4*t.nInts >= 3*len(t.ints) {
		t.growInts()
	}
	mask := uint64(len(t.ints) - 1)
	for i := intHash(n, t.intShift); ; i = (i + 1) & mask {
		s := &t.ints[i]
		if s.id == 0 {
			s.n, s.id = n, uint32(len(t.kinds))+1
			t.nInts++
			t.addInt(n, v)
			return s.id - 1
		}
		if s.n == n {
			return s.id - 1
		}
	}
}

func (t *groupTable) addInt(n int64, v bsonx.Value) {
	if v.Type == tDecimal || v.Type == tDouble && n == 0 && v.Double() == 0 && math.Signbit(v.Double()) {
		t.addArena(v, nil)
		return
	}
	t.kinds = append(t.kinds, uint8(v.Type))
	t.refs = append(t.refs, uint64(n))
}

func (t *groupTable) growInts() {
	old := t.ints
	n := max(firstSlots, 2*len(old))
	t.ints = make([]intSlot, n)
	t.intShift = 64
	for s := n; s > 1; s >>= 1 {
		t.intShift--
	}
	mask := uint64(n - 1)
	for _, s := range old {
		if s.id == 0 {
			continue
		}
		i := intHash(s.n, t.intShift)
		for t.ints[i].id != 0 {
			i = (i + 1) & mask
		}
		t.ints[i] = s
	}
}

func (t *groupTable) addArena(v bsonx.Value, key []byte) {
	t.kinds = append(t.kinds, inArena)
	t.refs = append(t.refs, uint64(len(t.arena)))
	t.arena = append(t.arena, byte(v.Type))
	t.arena = binary.AppendUvarint(t.arena, uint64(len(key)))
	t.arena = binary.AppendUvarint(t.arena, uint64(len(v.Data)))
	t.arena = append(append(t.arena, key...), v.Data...)
}

// stored reads an arena record.
func (t *groupTable) stored(ref uint64) (v bsonx.Value, key []byte) {
	b := t.arena[ref:]
	typ := bsonx.Type(b[0])
	k, n := binary.Uvarint(b[1:])
	b = b[1+n:]
	l, n := binary.Uvarint(b)
	b = b[n:]
	return bsonx.Value{Type: typ, Data: b[k : k+l]}, b[:k]
}

func (t *groupTable) findKey(v bsonx.Value) uint32 {
	t.scratch = bsonx.AppendKey(t.scratch[:0], v, false)
	return t.findRaw(t.scratch, v)
}

func (t *groupTable) growKeys() {
	old := t.keys
	t.keys = make([]keySlot, max(firstSlots, 2*len(old)))
	mask := uint64(len(t.keys) - 1)
	for _, s := range old {
		if s.id == 0 {
			continue
		}
		_, key := t.stored(t.refs[s.id-1])
		i := xxh3.Hash(key) & mask
		for t.keys[i].id != 0 {
			i = (i + 1) & mask
		}
		t.keys[i] = s
	}
}

// replace lets v, which equals group g's value, stand for it.
func (t *groupTable) replace(g uint32, v bsonx.Value) {
	var key []byte
	if t.kinds[g] == inArena {
		_, key = t.stored(t.refs[g])
	}
	kinds, refs := t.kinds, t.refs
	t.kinds, t.refs = t.kinds[:g], t.refs[:g]
	if n, ok := v.AsInt64(); ok && v.IsNumber() {
		t.addInt(n, v)
	} else {
		t.addArena(orNull(v), key)
	}
	t.kinds, t.refs = kinds, refs
}

// value is the first value of group g; it is valid until the next call.
func (t *groupTable) value(g uint32) bsonx.Value {
	n := t.refs[g]
	b := t.fromInts[:0]
	switch typ := bsonx.Type(t.kinds[g]); typ {
	case inArena:
		v, _ := t.stored(n)
		return v
	case tInt32:
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	case tDouble:
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(int64(n))))
	default:
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	t.fromInts = b
	return bsonx.Value{Type: bsonx.Type(t.kinds[g]), Data: b}
}

// findRaw numbers a key; v is what to remember of a new one.
func (t *groupTable) findRaw(key []byte, v bsonx.Value) uint32 {
	if 4*t.nKeys >= 3*len(t.keys) {
		t.growKeys()
	}
	h := xxh3.Hash(key)
	mask := uint64(len(t.keys) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		s := &t.keys[i]
		if s.id == 0 {
			s.hash, s.id = uint32(h>>32), uint32(len(t.kinds))+1
			t.nKeys++
			t.addArena(v, key)
			return s.id - 1
		}
		if s.hash == uint32(h>>32) {
			if _, k := t.stored(t.refs[s.id-1]); bytes.Equal(k, key) {
				return s.id - 1
			}
		}
	}
}
