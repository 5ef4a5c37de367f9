package splitter_test

import (
	"math"
	"math/rand/v2"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
)

// random draws values for one collection.
type random func(r *rand.Rand) any

// randoms are kinds of keys that collections have: one type, all types, few values, heavy ones.
var randoms = []random{
	func(r *rand.Rand) any { return int32(r.IntN(400)) },
	randomValue,
	func(r *rand.Rand) any { return every[r.IntN(len(every))] },
	func(r *rand.Rand) any { // half have one key
		if r.IntN(2) == 0 {
			return "heavy"
		}
		return randomValue(r)
	},
	func(r *rand.Rand) any { // numbers of all types and sizes, with holes
		if r.IntN(4) == 0 {
			return []any{missing, nil, math.NaN(), decimal("NaN"), primitive.Undefined{}}[r.IntN(5)]
		}
		return randomNumber(r)
	},
	func(r *rand.Rand) any { return randomText(r) },
	func(r *rand.Rand) any { return []any{false, true, nil}[r.IntN(3)] },
	func(r *rand.Rand) any { return primitive.DateTime(r.IntN(1000)) },
	func(r *rand.Rand) any { return randomDocument(r, 2) },
}

// randomValue is of any BSON type but array.
func randomValue(r *rand.Rand) any {
	switch r.IntN(18) {
	case 0:
		return missing
	case 1:
		return []any{nil, primitive.Undefined{}, primitive.MinKey{}, primitive.MaxKey{}}[r.IntN(4)]
	case 2, 3, 4:
		return randomNumber(r)
	case 5, 6:
		return randomText(r)
	case 7:
		return primitive.Symbol(randomText(r))
	case 8:
		return randomDocument(r, 2)
	case 9:
		return primitive.Binary{Subtype: []byte{0, 3, 4, 5, 128}[r.IntN(5)], Data: []byte(randomText(r))}
	case 10:
		return primitive.ObjectID{11: byte(r.IntN(256)), 0: byte(r.IntN(2))}
	case 11:
		return r.IntN(2) == 0
	case 12:
		return primitive.DateTime(r.Int64() >> r.IntN(64) * int64(1-2*r.IntN(2)))
	case 13:
		return primitive.Timestamp{T: r.Uint32() >> r.IntN(32), I: 1 + uint32(r.IntN(3))}
	case 14:
		return primitive.Regex{Pattern: string('a' + rune(r.IntN(5))), Options: []string{"", "i", "im"}[r.IntN(3)]}
	case 15:
		return primitive.DBPointer{DB: string('a' + rune(r.IntN(5))), Pointer: primitive.ObjectID{byte(r.IntN(3))}}
	case 16:
		return primitive.JavaScript(randomText(r))
	default:
		return primitive.CodeWithScope{Code: primitive.JavaScript(randomText(r)), Scope: randomDocument(r, 1)}
	}
}

func randomNumber(r *rand.Rand) any {
	switch r.IntN(8) {
	case 0:
		return int32(r.Uint32()) >> r.IntN(32)
	case 1:
		return r.Int64() >> r.IntN(64)
	case 2:
		return math.Float64frombits(r.Uint64()) // any double, NaN and infinities too
	case 3:
		return primitive.NewDecimal128(r.Uint64(), r.Uint64()) // any decimal
	case 4:
		return []any{math.Copysign(0, -1), 0.0, int32(0), int64(0), decimal("-0"), decimal("0E-10"), math.Inf(1), math.Inf(-1), decimal("Infinity")}[r.IntN(9)]
	case 5:
		return float64(r.IntN(20)) / 2
	case 6:
		return int64(r.IntN(20))
	default:
		return primitive.NewDecimal128(0x3040000000000000, uint64(r.IntN(20)))
	}
}

// randomText has any bytes, NUL and such that are no UTF-8 among them, which servers store as they are.
func randomText(r *rand.Rand) string {
	b := make([]byte, r.IntN(4))
	for i := range b {
		if b[i] = byte('a' + r.IntN(3)); r.IntN(3) == 0 {
			b[i] = byte(r.IntN(256))
		}
	}
	return string(b)
}

func randomDocument(r *rand.Rand, depth int) bson.D {
	d := bson.D{}
	for _, name := range []string{"a", "b", "c"}[:r.IntN(4)] {
		switch {
		case depth > 0 && r.IntN(4) == 0:
			d = append(d, bson.E{Key: name, Value: randomDocument(r, depth-1)})
		case r.IntN(4) == 0:
			d = append(d, bson.E{Key: name, Value: bson.A{randomNumber(r), nil}})
		default:
			v := randomNumber(r)
			if r.IntN(2) == 0 {
				v = int32(r.IntN(3))
			}
			d = append(d, bson.E{Key: name, Value: v})
		}
	}
	return d
}
