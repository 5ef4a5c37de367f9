package parity

import (
	"math"
	"math/big"
	"strings"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/bsontype"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"
)

// number is a numeric value in its simplest exact form: an int64 if it is one, else a double if it is one (NaN and
// the infinities are), else a decimal.
type number struct {
	kind numberKind
	i    int64
	f    float64
	d    *big.Rat
}

type numberKind uint8

const (
	integer numberKind = iota
	double
	decimal
)

// Limits of the doubles that convert to int64 without overflow: [-2^63, 2^63).
const (
	minInt64 = -1 << 63
	maxInt64 = 1 << 63
)

func isNumber(t bsontype.Type) bool {
	return t == bson.TypeDouble || t == bson.TypeInt32 || t == bson.TypeInt64 || t == bson.TypeDecimal128
}

func numberOf(v bson.RawValue) (number, bool) {
	switch v.Type {
	case bson.TypeInt32:
		i, _, ok := bsoncore.ReadInt32(v.Value)
		return number{i: int64(i)}, ok
	case bson.TypeInt64:
		i, _, ok := bsoncore.ReadInt64(v.Value)
		return number{i: i}, ok
	case bson.TypeDouble:
		f, _, ok := bsoncore.ReadDouble(v.Value)
		return fromDouble(f), ok
	case bson.TypeDecimal128:
		d, _, ok := bsoncore.ReadDecimal128(v.Value)
		return fromDecimal(d), ok
	default:
		return number{}, false
	}
}

func fromDouble(f float64) number {
	if f >= minInt64 && f < maxInt64 && f == math.Trunc(f) {
		return number{i: int64(f)}
	}
	if f != f {
		f = math.NaN() // one bit pattern for all
	}
	return number{kind: double, f: f}
}

func fromDecimal(d primitive.Decimal128) number {
	if d.IsNaN() {
		return number{kind: double, f: math.NaN()}
	}
	if s := d.IsInf(); s != 0 {
		return number{kind: double, f: math.Inf(s)}
	}
	c, exp, err := d.BigInt()
	if err != nil || c.Sign() == 0 {
		return number{}
	}
	r := new(big.Rat).SetInt(c)
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exp, -exp))), nil)
	if exp < 0 {
		r.Quo(r, new(big.Rat).SetInt(ten))
	} else {
		r.Mul(r, new(big.Rat).SetInt(ten))
	}
	if r.IsInt() && r.Num().IsInt64() {
		return number{i: r.Num().Int64()}
	}
	if f, exact := r.Float64(); exact {
		return number{kind: double, f: f}
	}
	return number{kind: decimal, d: r}
}

// rat is the value as a fraction; nil for NaN and the infinities.
func (n number) rat() *big.Rat {
	switch n.kind {
	case integer:
		return new(big.Rat).SetInt64(n.i)
	case double:
		return new(big.Rat).SetFloat64(n.f)
	default:
		return n.d
	}
}

// sum adds numbers exactly, so that their order does not matter.
type sum struct {
	hi    int64 // 128 bits, two's complement, of the whole numbers
	lo    uint64
	rest  *big.Rat // what is not a whole number
	inf   [2]bool  // saw -Inf, +Inf
	nan   bool
	other bool // saw something that is not a number
}

func (s *sum) add(n number) {
	switch {
	case n.kind == integer:
		s.addInt(n.i>>63, uint64(n.i))
	case n.f != n.f:
		s.nan = true
	case math.IsInf(n.f, 0):
		s.inf[b2i(n.f > 0)] = true
	default:
		if s.rest == nil {
			s.rest = new(big.Rat)
		}
		s.rest.Add(s.rest, n.rat())
	}
}

func (s *sum) addInt(hi int64, lo uint64) {
	old := s.lo
	s.lo += lo
	s.hi += hi
	if s.lo < old {
		s.hi++
	}
}

func (s *sum) merge(o *sum) {
	s.addInt(o.hi, o.lo)
	if o.rest != nil {
		if s.rest == nil {
			s.rest = new(big.Rat)
		}
		s.rest.Add(s.rest, o.rest)
	}
	s.inf[0], s.inf[1] = s.inf[0] || o.inf[0], s.inf[1] || o.inf[1]
	s.nan, s.other = s.nan || o.nan, s.other || o.other
}

// String is exact for whole numbers, else has 17 significant digits.
func (s *sum) String() string {
	switch {
	case s.nan || s.inf[0] && s.inf[1]:
		return "NaN"
	case s.inf[0]:
		return "-Inf"
	case s.inf[1]:
		return "+Inf"
	}
	whole := new(big.Int).Lsh(big.NewInt(s.hi), 64)
	whole.Add(whole, new(big.Int).SetUint64(s.lo))
	if s.rest == nil || s.rest.Sign() == 0 {
		return whole.String()
	}
	total := new(big.Rat).Add(s.rest, new(big.Rat).SetInt(whole))
	if total.IsInt() {
		return total.Num().String()
	}
	f, _ := new(big.Float).SetPrec(200).SetRat(total).Float64()
	return strings.TrimSpace(new(big.Float).SetFloat64(f).Text('g', 17))
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
