package bsonx

import (
	"math"

	"pgregory.net/rapid"
)

// genValue draws values of all types, the numbers often close to each other.
func genValue(depth int) *rapid.Generator[Value] {
	return rapid.Custom(func(t *rapid.T) Value {
		kinds := 17
		if depth > 0 {
			kinds = 21
		}
		switch rapid.IntRange(0, kinds).Draw(t, "kind") {
		case 0:
			return MinKey()
		case 1:
			return Undefined()
		case 2:
			return Null()
		case 3, 4, 5, 6:
			return genNumber().Draw(t, "number")
		case 7:
			return String(genText().Draw(t, "s"))
		case 8:
			return Symbol(genText().Draw(t, "s"))
		case 9:
			return Binary(rapid.SampledFrom([]byte{0, 2, 5, 128}).Draw(t, "sub"), rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "bin"))
		case 10:
			return ObjectID(genOID(t))
		case 11:
			return Bool(rapid.Bool().Draw(t, "b"))
		case 12:
			return Date(rapid.Int64().Draw(t, "ms"))
		case 13:
			return Timestamp(rapid.Uint32().Draw(t, "t"), rapid.Uint32().Draw(t, "i"))
		case 14:
			return Regex(genName().Draw(t, "p"), rapid.SampledFrom([]string{"", "i", "im"}).Draw(t, "o"))
		case 15:
			return DBPointer(genText().Draw(t, "ns"), genOID(t))
		case 16:
			return JavaScript(genText().Draw(t, "js"))
		case 17:
			return MaxKey()
		case 18:
			return CodeWithScope(genText().Draw(t, "js"), genDoc(depth-1).Draw(t, "scope"))
		case 19:
			return DocValue(genDoc(depth-1).Draw(t, "doc"))
		case 20:
			// An array whose names are not positions.
			return ArrayValue(genDoc(depth-1).Draw(t, "odd"))
		}
		return Array(rapid.SliceOfN(genValue(depth-1), 0, 12).Draw(t, "array")...)
	})
}

func genOID(t *rapid.T) (oid [12]byte) {
	copy(oid[:], rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 255}), 12, 12).Draw(t, "oid"))
	return oid
}

// genText draws short texts of the bytes that matter to the escapes.
func genText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return string(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 3, 'a', 'b', 0xfe, 0xff}), 0, 24).Draw(t, "text"))
	})
}

func genName() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return string(rapid.SliceOfN(rapid.SampledFrom([]byte{1, 2, 'a', 'b', 0xff}), 0, 3).Draw(t, "name"))
	})
}

func genDoc(depth int) *rapid.Generator[Doc] {
	return rapid.Custom(func(t *rapid.T) Doc {
		d := BeginDoc(nil)
		for range rapid.IntRange(0, 4).Draw(t, "n") {
			d = AppendElem(d, genName().Draw(t, "name"), genValue(depth).Draw(t, "v"))
		}
		return EndDoc(d, 0)
	})
}

// edges are whole numbers next to which encodings change.
var edges = []int64{0, 1, 127, 128, 1 << 15, 1 << 23, 1<<31 - 1, 1 << 31, 1 << 47, 1 << 53, 1<<53 + 1, 1 << 55, 1 << 62, math.MaxInt64}

func genNumber() *rapid.Generator[Value] {
	return rapid.Custom(func(t *rapid.T) Value {
		n := rapid.OneOf(rapid.SampledFrom(edges), rapid.Int64(), rapid.Int64Range(-300, 300)).Draw(t, "n")
		n += rapid.Int64Range(-2, 2).Draw(t, "near")
		if rapid.Bool().Draw(t, "neg") {
			n = -n
		}
		switch rapid.IntRange(0, 3).Draw(t, "type") {
		case 0:
			return Int32(int32(n))
		case 1:
			return Int64(n)
		case 2:
			f := rapid.OneOf(
				rapid.Just(float64(n)), rapid.Just(float64(n)+0.5), rapid.Just(float64(n)/10), rapid.Just(float64(n)/3),
				rapid.Just(math.Float64frombits(uint64(n))),
				rapid.SampledFrom([]float64{
					math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0.1, 1 << 63, 1 << 64, -1 << 63,
					math.MaxFloat64, math.SmallestNonzeroFloat64, 1e40, math.Nextafter(1, 0), math.Nextafter(1, 2),
					math.Float64frombits(plainNaN),
				}),
			).Draw(t, "f")
			return Double(f)
		}
		d := decimal{lo: magnitude(n), neg: n < 0, exp: rapid.OneOf(
			rapid.IntRange(-30, 30), rapid.SampledFrom([]int{decMinExp, decMaxExp, -340, -324, -323, -308, 290, 308}),
		).Draw(t, "exp")}
		switch rapid.IntRange(0, 12).Draw(t, "form") {
		case 0: // the whole 128 bits, canonical or not
			return Decimal(rapid.Uint64().Draw(t, "hi"), rapid.Uint64().Draw(t, "lo"))
		case 1:
			d.kind = decInf
		case 2:
			d.kind = decNaN
		case 3:
			d.hi = rapid.Uint64Range(0, maxCoeffHi).Draw(t, "chi")
		case 4: // 2^63 and 2^64 with zeros behind
			d.lo, d.exp = 9223372036854775808, 0
		case 5: // 0.1 and the like as a double's exact neighbour
			d.lo, d.exp = 1000000000000000055, -19
		}
		return d.value()
	})
}
