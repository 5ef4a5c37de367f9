package bsonx

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// pairGen makes values of every type from a seed, much faster than rapid does, and values that are near others.
type pairGen struct{ *rand.Rand }

func (g pairGen) text() string {
	const letters = "\x00\x01\x02ab\xfe\xff"
	b := make([]byte, g.IntN(12))
	for i := range b {
		b[i] = letters[g.IntN(len(letters))]
	}
	return string(b)
}

// name is text without NUL, as field names and patterns are.
func (g pairGen) name() string { return strings.ReplaceAll(g.text(), "\x00", "c") }

func (g pairGen) number() Value {
	n := edges[g.IntN(len(edges))] + g.Int64N(5) - 2
	switch g.IntN(4) {
	case 0:
		n = g.Int64N(600) - 300
	case 1:
		n = int64(g.Uint64() >> g.IntN(64))
	}
	if g.IntN(2) == 0 {
		n = -n
	}
	switch g.IntN(8) {
	case 0, 1:
		return Int32(int32(n))
	case 2, 3:
		return Int64(n)
	case 4, 5:
		f := float64(n)
		switch g.IntN(8) {
		case 0:
			f /= 10
		case 1:
			f = math.Float64frombits(g.Uint64())
		case 2:
			f = math.Nextafter(f, math.Inf(1-2*g.IntN(2)))
		case 3:
			f = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0.1, 1 << 63, 1 << 64, math.MaxFloat64, math.SmallestNonzeroFloat64, 1e40}[g.IntN(10)]
		}
		return Double(f)
	}
	d := decimal{lo: magnitude(n), neg: n < 0}
	switch g.IntN(6) {
	case 0:
		return Decimal(g.Uint64(), g.Uint64()) // all bits, canonical or not
	case 1:
		d.kind = []decKind{decInf, decNaN}[g.IntN(2)]
	case 2:
		d.exp = g.IntN(60) - 30
	case 3:
		d.exp = []int{decMinExp, decMaxExp, -340, -324, -308, 290, 308}[g.IntN(7)]
	case 4:
		d.hi = g.Uint64N(maxCoeffHi)
	}
	return d.value()
}

func (g pairGen) doc(depth int) Doc {
	d := BeginDoc(nil)
	for range g.IntN(4) {
		d = AppendElem(d, g.name(), g.value(depth))
	}
	return EndDoc(d, 0)
}

const pairKinds = 21 // what value chooses from

func (g pairGen) value(depth int) Value {
	kinds := 17
	if depth > 0 {
		kinds = pairKinds
	}
	return g.kind(g.IntN(kinds+4), depth)
}

func (g pairGen) kind(k, depth int) Value {
	oid := func() (o [12]byte) {
		for i := range o {
			o[i] = []byte{0, 1, 255}[g.IntN(3)]
		}
		return o
	}
	switch k {
	case 0:
		return MinKey()
	case 1:
		return MaxKey()
	case 2:
		return Null()
	case 3:
		return Undefined()
	case 4:
		return String(g.text())
	case 5:
		return Symbol(g.text())
	case 6:
		return Binary([]byte{0, 2, 5, 128}[g.IntN(4)], []byte(g.text()))
	case 7:
		return ObjectID(oid())
	case 8:
		return Bool(g.IntN(2) == 0)
	case 9:
		return Date(g.number8())
	case 10:
		return Timestamp(uint32(g.number8()), uint32(g.number8()))
	case 11:
		return Regex(g.name(), []string{"", "i", "im"}[g.IntN(3)])
	case 12:
		return DBPointer(g.text(), oid())
	case 13:
		return JavaScript(g.text())
	case 14, 15, 16:
		return g.number()
	case 17:
		if depth > 0 {
			return CodeWithScope(g.text(), g.doc(depth-1))
		}
	case 18, 19:
		if depth > 0 {
			return DocValue(g.doc(depth - 1))
		}
	case 20:
		if depth > 0 {
			list := make([]Value, g.IntN(4))
			for i := range list {
				list[i] = g.value(depth - 1)
			}
			return Array(list...)
		}
	}
	return g.number()
}

// number8 is a whole number near an edge, or any.
func (g pairGen) number8() int64 {
	if g.IntN(3) == 0 {
		return int64(g.Uint64())
	}
	n := edges[g.IntN(len(edges))] + g.Int64N(3) - 1
	if g.IntN(2) == 0 {
		return -n
	}
	return n
}

// near is a value that has much in common with v: the first fields or elements of a container, the bytes of a text.
func (g pairGen) near(v Value, depth int) Value {
	switch v.Type {
	case TypeEmbeddedDocument, TypeArray:
		d := BeginDoc(nil)
		it := v.Elems()
		for it.Next() {
			switch g.IntN(8) {
			case 0:
				continue
			case 1:
				d = AppendElem(d, string(it.Name()), g.near(it.Value(), depth-1))
			default:
				d = AppendElem(d, string(it.Name()), it.Value())
			}
		}
		if g.IntN(4) == 0 {
			d = AppendElem(d, g.name(), g.value(max(depth-1, 0)))
		}
		return Value{Type: v.Type, Data: EndDoc(d, 0)}
	case TypeString:
		return String(v.Str() + []string{"", "\x00", "a", "\xff"}[g.IntN(4)])
	case TypeInt32, TypeInt64, TypeDouble, TypeDecimal128:
		if n, ok := v.AsInt64(); ok && n > math.MinInt64 && n < math.MaxInt64 { // the same number, or its neighbour, of another type
			n += int64(g.IntN(3)) - 1
			switch g.IntN(3) {
			case 0:
				return Int64(n)
			case 1:
				return Double(float64(n))
			}
			return decimal{lo: magnitude(n), neg: n < 0}.value()
		}
	}
	return v
}

// TestMillionPairs: the keys of a million random pairs order as the values do, in both directions, and no key is the beginning of
// another. Numbers are also compared by exact fractions, which share nothing with the keys.
func TestMillionPairs(t *testing.T) {
	pairs := 1_000_000
	if testing.Short() {
		pairs = 100_000
	}
	g := pairGen{rand.New(rand.NewPCG(2024, 4))}
	var met [256][256]bool
	var ka, kb, da, db []byte
	equal, exact := 0, 0
	for i := range pairs {
		a := g.value(2)
		b := g.value(2)
		if i%3 == 0 {
			b = g.near(a, 2)
		}
		met[a.Type][b.Type] = true
		ka, kb = AppendKey(ka[:0], a, false), AppendKey(kb[:0], b, false)
		want := sign(Compare(a, b))
		if got := bytes.Compare(ka, kb); got != want {
			t.Fatalf("pair %d: keys of %v and %v order %d, values %d\n%x\n%x", i, a, b, got, want, ka, kb)
		}
		if Compare(b, a) != -Compare(a, b) {
			t.Fatalf("pair %d: Compare(%v, %v) is not antisymmetric", i, a, b)
		}
		if len(ka) != len(kb) && (bytes.HasPrefix(ka, kb) || bytes.HasPrefix(kb, ka)) {
			t.Fatalf("pair %d: a key is a prefix of the other: %v %x, %v %x", i, a, ka, b, kb)
		}
		da, db = AppendKey(da[:0], a, true), AppendKey(db[:0], b, true)
		if got := bytes.Compare(da, db); got != -want {
			t.Fatalf("pair %d: descending keys of %v and %v order %d, values %d", i, a, b, got, want)
		}
		if want == 0 {
			equal++
		}
		if a.IsNumber() && b.IsNumber() && exact < pairs/20 {
			exact++
			if got := ratCompare(a, b); got != want {
				t.Fatalf("pair %d: Compare(%v, %v) = %d, exact values say %d", i, a, b, want, got)
			}
		}
	}
	if equal < pairs/50 || exact < pairs/50 {
		t.Errorf("%d of %d pairs are equal, %d of numbers: the generator tries too little", equal, pairs, exact)
	}
	types := []Type{
		TypeMinKey, TypeMaxKey, TypeNull, TypeUndefined, TypeString, TypeSymbol, TypeBinary, TypeObjectID, TypeBoolean, TypeDateTime, TypeTimestamp,
		TypeRegex, TypeDBPointer, TypeJavaScript, TypeCodeWithScope, TypeInt32, TypeInt64, TypeDouble, TypeDecimal128, TypeEmbeddedDocument, TypeArray,
	}
	for _, a := range types {
		for _, b := range types {
			if !met[a][b] {
				t.Errorf("no pair of %s and %s", TypeName(a), TypeName(b))
			}
		}
	}
	t.Logf("%d pairs, %d equal, %d compared as fractions", pairs, equal, exact)
}
