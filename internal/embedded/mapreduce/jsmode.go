package mapreduce

import (
	"slices"
	"strconv"

	"github.com/dop251/goja"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/script"
)

const (
	maxJSKeys = 500_000 // beyond which jsMode is left
	// maxLive is how many values are kept as JavaScript objects; further ones are
	// kept as BSON if that loses nothing, which takes a fraction of the memory.
	maxLive = 100_000
	slab    = 1 << 15 // nodes that are allocated at once
)

// jsMap is jsMode's collection of emits: what would be a JavaScript object of
// lists, with its property order, kept compactly.
type jsMap struct {
	f     *functions
	index map[string]int32
	keys  []jsKey
	slabs [][]jsNode
	free  int32 // first unused node + 1
	used  int32
	objs  []jsObject
	holes []int32 // unused places in objs
	live  int

	emits, dups int64
	buf         []byte
}

type jsKey struct {
	name        string
	first, last int32 // nodes + 1
	n           int32
}

// jsNode is one value: a number, or objs[obj-1].
type jsNode struct {
	num  float64
	next int32
	obj  int32
}

// jsObject is a value that is no number, alive or as BSON.
type jsObject struct {
	js  script.Value
	raw bsonx.Value
}

func newJSMap(f *functions) *jsMap {
	return &jsMap{f: f, index: map[string]int32{}}
}

// emit adds a value under the property name of key.
func (m *jsMap) emit(key, v script.Value) error {
	m.emits++
	i, ok := int32(0), false
	var name string
	if goja.IsNumber(key) {
		if n := key.ToInteger(); float64(n) == key.ToFloat() && n > -1<<53 && n < 1<<53 {
			m.buf = strconv.AppendInt(m.buf[:0], n, 10)
			if i, ok = m.index[string(m.buf)]; !ok {
				name = string(m.buf)
			}
		} else {
			name = key.String()
			i, ok = m.index[name]
		}
	} else {
		name = key.String()
		i, ok = m.index[name]
	}
	if ok {
		m.dups++
	} else {
		i = int32(len(m.keys))
		m.index[name] = i
		m.keys = append(m.keys, jsKey{name: name})
	}
	return m.push(&m.keys[i], v)
}

func (m *jsMap) node(at int32) *jsNode { return &m.slabs[(at-1)/slab][(at-1)%slab] }

// push appends v to the list of k.
func (m *jsMap) push(k *jsKey, v script.Value) error {
	at := m.free
	if at != 0 {
		m.free = m.node(at).next
	} else {
		if int(m.used) == len(m.slabs)*slab {
			m.slabs = append(m.slabs, make([]jsNode, slab))
		}
		m.used++
		at = m.used
	}
	n := m.node(at)
	*n = jsNode{}
	if goja.IsNumber(v) {
		n.num = v.ToFloat()
	} else {
		o, err := m.hold(v)
		if err != nil {
			return err
		}
		n.obj = o
	}
	if k.n == 0 {
		k.first = at
	} else {
		m.node(k.last).next = at
	}
	k.last = at
	k.n++
	return nil
}

// hold keeps a value that is no number.
func (m *jsMap) hold(v script.Value) (int32, error) {
	o := jsObject{js: v}
	if obj, ok := v.(*goja.Object); ok {
		m.live++
		if m.live > maxLive && obj.ClassName() != "Function" {
			t, b := m.f.rt.ThrowValue(nil, v)
			raw := bsonx.Value{Type: t, Data: b}
			if t == bsonx.TypeEmbeddedDocument && lossless(raw) {
				o = jsObject{raw: raw}
				m.live--
			}
		}
	}
	if n := len(m.holes); n > 0 {
		at := m.holes[n-1]
		m.holes = m.holes[:n-1]
		m.objs[at-1] = o
		return at, nil
	}
	m.objs = append(m.objs, o)
	return int32(len(m.objs)), nil
}

// lossless says that a value built by a script is the same after it was BSON: no NumberInt, no functions.
func lossless(v bsonx.Value) bool {
	it := v.Elems()
	for it.Next() {
		switch e := it.Value(); e.Type {
		case bsonx.TypeDouble, bsonx.TypeString, bsonx.TypeBoolean, bsonx.TypeNull, bsonx.TypeUndefined, bsonx.TypeDateTime,
			bsonx.TypeObjectID, bsonx.TypeInt64, bsonx.TypeDecimal128:
		case bsonx.TypeEmbeddedDocument, bsonx.TypeArray:
			if !lossless(e) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// value of a node as a JavaScript value.
func (m *jsMap) value(n *jsNode) script.Value {
	if n.obj == 0 {
		return m.f.rt.Number(n.num)
	}
	o := &m.objs[n.obj-1]
	if o.js != nil {
		return o.js
	}
	return m.f.rt.ToJS(o.raw)
}

// drop forgets the list of k.
func (m *jsMap) drop(k *jsKey) {
	for at := k.first; at != 0; {
		n := m.node(at)
		next := n.next
		if n.obj != 0 {
			if _, ok := m.objs[n.obj-1].js.(*goja.Object); ok {
				m.live--
			}
			m.objs[n.obj-1] = jsObject{}
			m.holes = append(m.holes, n.obj)
		}
		n.next, m.free = m.free, at
		at = next
	}
	k.first, k.last, k.n = 0, 0, 0
}

// order lists the keys as a JavaScript object enumerates its properties:
// array indexes ascending, then the others as they came.
func (m *jsMap) order() []int32 {
	type indexed struct {
		n uint64
		i int32
	}
	var nums []indexed
	rest := make([]int32, 0, len(m.keys))
	for i := range m.keys {
		name := m.keys[i].name
		if n, err := strconv.ParseUint(name, 10, 32); err == nil && n < 1<<32-1 && (name[0] != '0' || name == "0") && name[0] != '+' {
			nums = append(nums, indexed{n, int32(i)})
		} else {
			rest = append(rest, int32(i))
		}
	}
	slices.SortFunc(nums, func(a, b indexed) int {
		if a.n < b.n {
			return -1
		}
		return 1
	})
	out := make([]int32, 0, len(m.keys))
	for _, x := range nums {
		out = append(out, x.i)
	}
	return append(out, rest...)
}

// reduce calls reduce for the list of k.
func (m *jsMap) reduce(k *jsKey) (script.Value, error) {
	vs := m.f.values
	vs.Reset()
	for at := k.first; at != 0; {
		n := m.node(at)
		switch {
		case n.obj == 0:
			vs.AddNumber(n.num)
		case m.objs[n.obj-1].js != nil:
			vs.AddJS(m.objs[n.obj-1].js)
		default:
			vs.AddRaw(m.objs[n.obj-1].raw)
		}
		at = n.next
	}
	return m.f.callReduce(m.f.rt.String(k.name))
}

// one is the only value of k, reduced if there are several.
func (m *jsMap) one(k *jsKey) (script.Value, error) {
	if k.n == 1 {
		return m.value(m.node(k.first)), nil
	}
	return m.reduce(k)
}

// check reduces when there are many duplicates. full says that there are too many keys.
func (m *jsMap) check() (full bool, err error) {
	switch {
	case len(m.keys) > maxJSKeys:
		return true, nil
	case m.dups <= int64(len(m.keys))*triggerRatio:
		return false, nil
	}
	for _, i := range m.order() {
		k := &m.keys[i]
		if k.n == 1 {
			continue
		}
		v, err := m.reduce(k)
		if err != nil {
			return false, err
		}
		m.drop(k)
		if err := m.push(k, v); err != nil {
			return false, err
		}
	}
	m.dups = 0
	return false, nil
}

// leave reduces every key and emits it into the mixed mode's table, as a string.
func (m *jsMap) leave(to *mixed) error {
	for _, i := range m.order() {
		k := &m.keys[i]
		v, err := m.one(k)
		if err != nil {
			return err
		}
		if err := to.emit([]script.Value{m.f.rt.String(k.name), v}); err != nil {
			return err
		}
		m.drop(k)
	}
	*m = jsMap{f: m.f, emits: m.emits}
	return nil
}

// finish reduces and finalizes every key and hands out the results in the property order. Inline, a key
// with a single value keeps its list unless there is a finalize, as in a 4.0 server.
func (m *jsMap) finish(inline bool, each func(key string, v script.Value) error) error {
	for _, i := range m.order() {
		k := &m.keys[i]
		var v script.Value
		var err error
		if inline && k.n == 1 && m.f.finalize == nil {
			v = m.f.rt.Array(m.value(m.node(k.first)))
		} else {
			if v, err = m.one(k); err != nil {
				return err
			}
			if v, err = m.f.callFinalize(m.f.rt.String(k.name), v); err != nil {
				return err
			}
		}
		m.drop(k)
		if err := each(k.name, v); err != nil {
			return err
		}
	}
	return nil
}
