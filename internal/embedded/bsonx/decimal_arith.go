package bsonx

import (
	"math/big"
	"math/bits"
	"strconv"

	"github.com/cockroachdb/apd/v3"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"mrbench/internal/embedded/mongoerr"
)

// DecimalContext has decimal128's precision, exponents and rounding, for
// operations this package does not have (Sqrt, Exp, Ln, Pow, …) between ToAPD and FromAPD.
func DecimalContext() *apd.Context {
	return &apd.Context{
		Precision: decDigits, MaxExponent: decMaxExp + decDigits - 1, MinExponent: decMinExp + decDigits - 1,
		Rounding: apd.RoundHalfEven,
	}
}

type decOp func(ctx *apd.Context, d, x, y *apd.Decimal) (apd.Condition, error)

func decAdd(ctx *apd.Context, d, x, y *apd.Decimal) (apd.Condition, error) { return ctx.Add(d, x, y) }

func decSub(ctx *apd.Context, d, x, y *apd.Decimal) (apd.Condition, error) { return ctx.Sub(d, x, y) }

func decMul(ctx *apd.Context, d, x, y *apd.Decimal) (apd.Condition, error) { return ctx.Mul(d, x, y) }

func decQuo(ctx *apd.Context, d, x, y *apd.Decimal) (apd.Condition, error) { return ctx.Quo(d, x, y) }

func decRem(ctx *apd.Context, d, x, y *apd.Decimal) (apd.Condition, error) { return ctx.Rem(d, x, y) }

// DecimalQuo is a ÷ b as a decimal; b must not be zero.
func DecimalQuo(a, b Value) Value { return decimalOp(a, b, decQuo) }

// DecimalRem is the remainder of a ÷ b with a's sign, as a decimal; b must not be zero.
func DecimalRem(a, b Value) Value { return decimalOp(a, b, decRem) }

func decimalOp(a, b Value, op decOp) Value {
	var d apd.Decimal
	// Traps are off: what has no value is NaN or an infinity in d.
	if _, err := op(DecimalContext(), &d, ToAPD(a), ToAPD(b)); err != nil {
		return decimal{kind: decNaN}.value()
	}
	return FromAPD(&d)
}

// ToDecimal converts any number to a decimal, as MongoDB does: a double by its
// first 15 significant digits, all of which it keeps (2.5 is 2.50000000000000).
func ToDecimal(v Value) Value {
	switch v.Type {
	case TypeInt32, TypeInt64:
		n := asInt(v)
		return decimal{lo: magnitude(n), neg: n < 0}.value()
	case TypeDouble:
		return floatDecimal(v.Double()).value()
	}
	return v
}

// floatDecimal has the 15 digits that every double of ordinary size keeps.
func floatDecimal(f float64) decimal {
	switch {
	case f != f:
		return decimal{kind: decNaN}
	case f > 1.7976931348623157e308 || f < -1.7976931348623157e308:
		return decimal{kind: decInf, neg: f < 0}
	}
	// d.dddddddddddddde±xx
	text := strconv.FormatFloat(f, 'e', 14, 64)
	d := decimal{}
	if text[0] == '-' {
		d.neg, text = true, text[1:]
	}
	d.lo = uint64(text[0] - '0')
	for _, c := range []byte(text[2:16]) {
		d.lo = d.lo*10 + uint64(c-'0')
	}
	exp, _ := strconv.Atoi(text[17:]) // FormatFloat wrote it
	d.exp = exp - 14
	if d.lo == 0 {
		d.exp = 0
	}
	return d
}

// ParseDecimal reads "1.00", "1E+40", "NaN", "-Infinity". Digits beyond 34
// that would be lost, and exponents out of range, are errors (BadValue).
func ParseDecimal(s string) (Value, error) {
	p, err := primitive.ParseDecimal128(s)
	if err != nil {
		return Value{}, mongoerr.New(mongoerr.BadValue, "%q is no decimal128: %v", s, err)
	}
	h, l := p.GetBytes()
	return Decimal(h, l), nil
}

// ToAPD converts any number for arithmetic with DecimalContext.
func ToAPD(v Value) *apd.Decimal {
	d := decimalOf(ToDecimal(v))
	r := &apd.Decimal{Negative: d.neg}
	switch d.kind {
	case decNaN:
		r.Form = apd.NaN
	case decInf:
		r.Form = apd.Infinite
	default:
		r.Exponent = int32(d.exp)
		if d.hi == 0 {
			r.Coeff.SetUint64(d.lo)
		} else {
			r.Coeff.SetMathBigInt(d.coeff())
		}
	}
	return r
}

// FromAPD rounds d to a decimal128 value.
func FromAPD(d *apd.Decimal) Value {
	r := decimal{neg: d.Negative}
	switch d.Form {
	case apd.NaN, apd.NaNSignaling:
		return decimal{kind: decNaN}.value()
	case apd.Infinite:
		r.kind = decInf
		return r.value()
	}
	c, exp := d.Coeff.MathBigInt(), int(d.Exponent)
	if digits := int(d.NumDigits()); digits > decDigits || exp < decMinExp {
		drop := max(digits-decDigits, decMinExp-exp)
		if drop > digits {
			c, exp, drop = new(big.Int), decMinExp, 0 // less than half of the smallest decimal
		}
		c, exp = roundDecimal(c, exp, drop)
	}
	r.hi, r.lo = new(big.Int).Rsh(c, 64).Uint64(), new(big.Int).And(c, new(big.Int).SetUint64(1<<64-1)).Uint64()
	r.exp = exp
	if r.isZero() {
		r.exp = min(max(r.exp, decMinExp), decMaxExp)
		return r.value()
	}
	// A large exponent may still fit with zeros moved into the coefficient.
	for r.exp > decMaxExp {
		hi, lo, ok := mul10(r.hi, r.lo)
		if !ok {
			r.kind = decInf
			return r.value()
		}
		r.hi, r.lo, r.exp = hi, lo, r.exp-1
	}
	return r.value()
}

// roundDecimal drops digits digits, half to even.
func roundDecimal(c *big.Int, exp, digits int) (*big.Int, int) {
	unit := pow10(digits)
	q, rem := new(big.Int).QuoRem(c, unit, new(big.Int))
	switch rem.Lsh(rem, 1).Cmp(unit) {
	case 1:
		q.Add(q, big.NewInt(1))
	case 0:
		if q.Bit(0) == 1 {
			q.Add(q, big.NewInt(1))
		}
	}
	exp += digits
	if q.Cmp(pow10(decDigits)) == 0 {
		q.Quo(q, big.NewInt(10))
		exp++
	}
	return q, exp
}

// mul10 multiplies a coefficient; ok is false when it would exceed 34 digits.
func mul10(hi, lo uint64) (rhi, rlo uint64, ok bool) {
	carry, rlo := bits.Mul64(lo, 10)
	rhi = hi*10 + carry
	return rhi, rlo, rhi < maxCoeffHi || rhi == maxCoeffHi && rlo <= maxCoeffLo
}
