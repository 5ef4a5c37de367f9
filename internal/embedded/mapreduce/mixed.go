package mapreduce

import (
	"encoding/binary"

	"github.com/dop251/goja"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/script"
	"mrbench/internal/embedded/spill"
)

const (
	maxInMemory  = 500 * 1024 // bytes of emits, as counted by table, beyond which a reduce is tried
	triggerRatio = 10         // duplicates per key beyond which a reduce is tried
	// A 4.0 server looks at sizes between input documents only. Here what one document emits is bounded too:
	// beyond memory.emits it is written out unreduced, beyond hardInline an inline job fails.
	hardInline = 1 << 30
)

// mixed collects emits outside of JavaScript.
type mixed struct {
	f      *functions
	fold   fold
	now    *table
	spare  *table // the other half of a swap
	onDisk bool   // the output is a collection: emits may be written out
	runs   *spill.Sorter
	limit  int // memory.emits

	enc, kbuf, vbuf, rec []byte
}

func newMixed(f *functions, onDisk bool, runs *spill.Sorter, limit int) *mixed {
	return &mixed{f: f, fold: fold{f: f}, now: &table{}, spare: &table{}, onDisk: onDisk, runs: runs, limit: limit}
}

// emit is the script's emit(key, value).
func (m *mixed) emit(args []script.Value) error {
	if len(args) != 2 {
		return mongoerr.New(10077, "fast_emit takes 2 args")
	}
	// Converting may run a getter, and that may emit: it must not find these buffers.
	var key, v bsonx.Value
	kbuf, vbuf := m.kbuf, m.vbuf
	m.kbuf, m.vbuf = nil, nil
	key.Type, key.Data = m.f.rt.ThrowValue(kbuf[:0], args[0])
	v.Type, v.Data = m.f.rt.ThrowValue(vbuf[:0], args[1])
	m.kbuf, m.vbuf = key.Data[:0], v.Data[:0]
	return m.add(key, v)
}

func (m *mixed) add(key, v bsonx.Value) error {
	if pairSize(len(key.Data), len(v.Data), false) >= maxHalf {
		return mongoerr.New(13069, "an emit can't be more than half max bson size")
	}
	undefined := key.Type == bsonx.TypeUndefined
	if undefined {
		key = bsonx.Null()
	}
	m.enc = bsonx.AppendKey(m.enc[:0], key, false)
	m.now.add(m.enc, key, undefined, v)
	if used := len(m.now.arena) + 32*len(m.now.nodes); used > m.limit {
		if m.onDisk {
			return m.dump()
		}
		if used > hardInline {
			return tooMuchInline()
		}
	}
	return nil
}

func tooMuchInline() error {
	return mongoerr.New(13604, "too much data for in memory map/reduce")
}

// check reduces and writes out if the emits have grown; it is called between documents.
func (m *mixed) check() error {
	t := m.now
	if t.size <= maxInMemory && t.dups <= int64(len(t.entries))*triggerRatio {
		return nil
	}
	was := t.size
	if err := m.reduceAll(); err != nil {
		return err
	}
	if m.onDisk && (m.now.size > maxInMemory || m.now.size > was/2) {
		return m.dump()
	}
	return nil
}

// reduceAll reduces every key that has several values, in key order. When writing out is
// possible, keys with a single value are: they are not likely to come back soon.
func (m *mixed) reduceAll() error {
	t := m.now
	t.dups = 0
	several := t.sorted(t.several)
	if !m.onDisk {
		for _, e := range several {
			v, err := m.reduceEntry(t, e)
			if err != nil {
				return err
			}
			t.replace(e, v)
		}
		t.several = t.several[:0]
		if t.compact(m.spare) {
			m.now, m.spare = m.spare, m.now
		}
		return nil
	}
	for i := range t.entries {
		if e := &t.entries[i]; e.n == 1 {
			if err := m.writeEntry(t, e); err != nil {
				return err
			}
		}
	}
	next := m.spare
	next.reset()
	for _, i := range several {
		v, err := m.reduceEntry(t, i)
		if err != nil {
			return err
		}
		e := &t.entries[i]
		next.add(t.enc(e), t.key(e), e.undefined, v)
	}
	m.now, m.spare = next, t
	return nil
}

func (m *mixed) reduceEntry(t *table, i int32) (bsonx.Value, error) {
	e := t.entries[i]
	m.fold.begin(t.key(&e))
	var scratch [8]byte
	for at := e.first; at != 0; {
		n := t.nodes[at-1]
		if err := m.fold.add(t.value(&n, &scratch)); err != nil {
			return bsonx.Value{}, err
		}
		at = n.next
	}
	return m.fold.end()
}

// dump writes everything out.
func (m *mixed) dump() error {
	for i := range m.now.entries {
		if err := m.writeEntry(m.now, &m.now.entries[i]); err != nil {
			return err
		}
	}
	m.now.reset()
	return nil
}

func (m *mixed) writeEntry(t *table, e *entry) error {
	var scratch [8]byte
	key := t.key(e)
	for at := e.first; at != 0; at = t.nodes[at-1].next {
		m.rec = appendRecord(m.rec[:0], key, t.value(&t.nodes[at-1], &scratch))
		if err := m.runs.Add(t.enc(e), m.rec); err != nil {
			return err
		}
	}
	return nil
}

// appendRecord packs a key's BSON and a value: the type and length of the key, its data, the type of the value, its data.
func appendRecord(dst []byte, key, v bsonx.Value) []byte {
	dst = append(dst, byte(key.Type))
	dst = binary.AppendUvarint(dst, uint64(len(key.Data)))
	dst = append(dst, key.Data...)
	dst = append(dst, byte(v.Type))
	return append(dst, v.Data...)
}

func readRecord(b []byte) (key, v bsonx.Value) {
	n, w := binary.Uvarint(b[1:])
	b, kt := b[1+w:], bsonx.Type(b[0])
	key = bsonx.Value{Type: kt, Data: b[:n:n]}
	b = b[n:]
	return key, bsonx.Value{Type: bsonx.Type(b[0]), Data: b[1:]}
}

// typeofObject is typeof key === "object".
func typeofObject(v script.Value) bool {
	if obj, ok := v.(*goja.Object); ok {
		return obj.ClassName() != "Function"
	}
	return goja.IsNull(v)
}
