package query

import (
	"encoding/binary"
	"math"

	"mrbench/internal/embedded/bsonx"
)

type existsLeaf struct{}

func (existsLeaf) clone() leaf                         { return existsLeaf{} }
func (existsLeaf) test(v bsonx.Value, _ *matcher) bool { return !v.IsMissing() }

// typeLeaf is $type with the set of types it accepts.
type typeLeaf struct{ types []bsonx.Type }

func (l *typeLeaf) clone() leaf { return l }

func (l *typeLeaf) test(v bsonx.Value, _ *matcher) bool {
	for _, t := range l.types {
		if t == v.Type && !v.IsMissing() {
			return true
		}
	}
	return false
}

func (l *typeLeaf) has(types ...bsonx.Type) bool {
	for _, t := range types {
		if !l.test(bsonx.Value{Type: t}, nil) {
			return false
		}
	}
	return true
}

type sizeLeaf int64

func (l sizeLeaf) clone() leaf { return l }

func (l sizeLeaf) test(v bsonx.Value, _ *matcher) bool {
	return v.Type == typeArray && int64(v.Doc().Len()) == int64(l)
}

// modLeaf is $mod; numbers are truncated first.
type modLeaf struct{ div, rem int64 }

func (l modLeaf) clone() leaf { return l }

func (l modLeaf) test(v bsonx.Value, _ *matcher) bool {
	if !v.IsNumber() {
		return false
	}
	if f, _ := v.AsFloat(); math.IsNaN(f) || math.IsInf(f, 0) {
		return false
	}
	n, ok := v.TruncInt64()
	if l.div == -1 { // the smallest int64 has no counterpart
		return ok && l.rem == 0
	}
	return ok && n%l.div == l.rem
}

type bitsOp uint8

const (
	bitsAllSet bitsOp = iota
	bitsAllClear
	bitsAnySet
	bitsAnyClear
)

// bitsLeaf tests bit positions of whole numbers (64 bits, the sign goes on for ever) and of binary data.
type bitsLeaf struct {
	op   bitsOp
	bits []uint32
}

func (l *bitsLeaf) clone() leaf { return l }

func (l *bitsLeaf) test(v bsonx.Value, _ *matcher) bool {
	var buf [8]byte
	data, sign := buf[:], false
	switch {
	case v.Type == typeBinary:
		_, data = v.Binary()
	case v.IsNumber():
		n, ok := v.AsInt64()
		if !ok {
			return false
		}
		binary.LittleEndian.PutUint64(buf[:], uint64(n))
		sign = n < 0
	default:
		return false
	}
	for _, b := range l.bits {
		set := sign
		if int(b/8) < len(data) {
			set = data[b/8]>>(b%8)&1 == 1
		}
		switch {
		case l.op == bitsAllSet && !set, l.op == bitsAllClear && set:
			return false
		case l.op == bitsAnySet && set, l.op == bitsAnyClear && !set:
			return true
		}
	}
	return l.op == bitsAllSet || l.op == bitsAllClear
}

// elemObject is $elemMatch with a filter: some element that is a document or an array matches it.
type elemObject struct{ filter node }

func (l *elemObject) clone() leaf { return &elemObject{l.filter.clone()} }

func (l *elemObject) test(v bsonx.Value, m *matcher) bool {
	if v.Type != typeArray {
		return false
	}
	k := 0
	it := v.Elems()
	for ; it.Next(); k++ {
		e := it.Value()
		if (e.Type == typeObject || e.Type == typeArray) && l.filter.match(e.Doc(), m) {
			m.pos = k
			return true
		}
	}
	return false
}

// elemValue is $elemMatch with operators: some element satisfies them all by itself.
type elemValue struct{ tests []leaf }

func (l *elemValue) clone() leaf {
	c := &elemValue{make([]leaf, len(l.tests))}
	for i, t := range l.tests {
		c.tests[i] = t.clone()
	}
	return c
}

func (l *elemValue) test(v bsonx.Value, m *matcher) bool {
	if v.Type != typeArray {
		return false
	}
	k := 0
	it := v.Elems()
	for ; it.Next(); k++ {
		if testAll(l.tests, it.Value(), m) {
			m.pos = k
			return true
		}
	}
	return false
}

func testAll(tests []leaf, v bsonx.Value, m *matcher) bool {
	for _, t := range tests {
		if !t.test(v, m) {
			return false
		}
	}
	return true
}

// notLeaf and allLeaf negate and join tests of one value, inside $elemMatch and $pull.
type notLeaf struct{ leaf leaf }

func (l notLeaf) clone() leaf                         { return notLeaf{l.leaf.clone()} }
func (l notLeaf) test(v bsonx.Value, m *matcher) bool { return !l.leaf.test(v, m) }

type allLeaf struct{ tests []leaf }

func (l *allLeaf) clone() leaf {
	c := &allLeaf{make([]leaf, len(l.tests))}
	for i, t := range l.tests {
		c.tests[i] = t.clone()
	}
	return c
}

func (l *allLeaf) test(v bsonx.Value, m *matcher) bool { return testAll(l.tests, v, m) }
