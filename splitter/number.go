package splitter

import (
	"cmp"
	"errors"
	"math"
	"math/big"
	"strconv"

	"go.mongodb.org/mongo-driver/bson"
)

// exactDouble is up to where a double has every integer.
const exactDouble = 1 << 53

// compareNumbers compares by exact value across int, long, double and decimal. No NaN comes here.
func compareNumbers(x, y bson.RawValue) int {
	m, xInt := x.AsInt64OK()
	n, yInt := y.AsInt64OK()
	xInt = xInt && x.Type != bson.TypeDouble
	yInt = yInt && y.Type != bson.TypeDouble
	switch {
	case xInt && yInt:
		return cmp.Compare(m, n)
	case x.Type == bson.TypeDouble && y.Type == bson.TypeDouble:
		return cmp.Compare(x.Double(), y.Double()+0) // -0 equals 0
	case xInt && y.Type == bson.TypeDouble && max(m, -m) < exactDouble && m != math.MinInt64:
		return cmp.Compare(float64(m), y.Double()+0)
	case yInt && x.Type == bson.TypeDouble && max(n, -n) < exactDouble && n != math.MinInt64:
		return cmp.Compare(x.Double()+0, float64(n))
	}
	a, b := exact(x), exact(y)
	switch {
	case a.infinite != 0 || b.infinite != 0:
		return cmp.Compare(a.infinite, b.infinite)
	case a.m.Sign() != b.m.Sign():
		return cmp.Compare(a.m.Sign(), b.m.Sign())
	case a.m.Sign() == 0:
		return 0
	}
	if c := cmp.Compare(a.magnitude(), b.magnitude()); c != 0 {
		return c * a.m.Sign()
	}
	// The same number of digits before the point: to bring both to one exponent takes few digits.
	if a.exp > b.exp {
		return a.scaled(a.exp - b.exp).Cmp(b.m)
	}
	return a.m.Cmp(b.scaled(b.exp - a.exp))
}

// decimalNumber is m × 10^exp, or an infinity by its sign. Every number of BSON is one.
type decimalNumber struct {
	m        *big.Int
	exp      int
	infinite int
}

// maxCoefficient is the largest that a Decimal128 has: 34 nines.
var maxCoefficient = new(big.Int).Sub(power(10, 34), big.NewInt(1))

func power(base, exp int64) *big.Int { return new(big.Int).Exp(big.NewInt(base), big.NewInt(exp), nil) }

func exact(v bson.RawValue) decimalNumber {
	switch v.Type {
	case bson.TypeInt32:
		return decimalNumber{m: big.NewInt(int64(v.Int32()))}
	case bson.TypeInt64:
		return decimalNumber{m: big.NewInt(v.Int64())}
	case bson.TypeDouble:
		return exactOf(v.Double())
	default:
		d := v.Decimal128()
		if s := d.IsInf(); s != 0 {
			return decimalNumber{infinite: s}
		}
		m, exp, err := d.BigInt()
		if err != nil || m.CmpAbs(maxCoefficient) > 0 {
			return decimalNumber{m: new(big.Int)} // more digits than a decimal has: servers take it for 0
		}
		return decimalNumber{m: m, exp: exp}
	}
}

// exactOf writes a double in decimal: f × 2^-n is f × 5^n × 10^-n.
func exactOf(f float64) decimalNumber {
	if math.IsInf(f, 0) {
		return decimalNumber{infinite: int(math.Copysign(1, f))}
	}
	fraction, exp := math.Frexp(f)
	m := big.NewInt(int64(fraction * exactDouble))
	exp -= 53
	if exp >= 0 {
		return decimalNumber{m: m.Lsh(m, uint(exp))}
	}
	return decimalNumber{m: m.Mul(m, power(5, int64(-exp))), exp: exp}
}

// magnitude is the number of digits before the point, negative for zeros behind it.
func (d decimalNumber) magnitude() int {
	n := len(d.m.Text(10))
	if d.m.Sign() < 0 {
		n--
	}
	return n + d.exp
}

// scaled is the coefficient at an exponent lower by n.
func (d decimalNumber) scaled(n int) *big.Int {
	p := power(10, int64(n))
	return p.Mul(p, d.m)
}

// float is a number of any type, rounded.
func float(v bson.RawValue) float64 {
	switch v.Type {
	case bson.TypeDouble:
		return v.Double()
	case bson.TypeDecimal128:
		f, err := strconv.ParseFloat(v.Decimal128().String(), 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return math.NaN()
		}
		return f
	default:
		return number64(v)
	}
}
