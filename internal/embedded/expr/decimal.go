package expr

import (
	"encoding/binary"
	"math"
	"math/big"
	"strconv"

	"github.com/cockroachdb/apd/v3"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"mrbench/internal/embedded/bsonx"
)

// decimalContext is IEEE 754 decimal128: 34 digits, half even. Conditions give
// NaN and Infinity, as on a server, never an error.
func decimalContext() *apd.Context {
	return &apd.Context{Precision: 34, MaxExponent: 6144, MinExponent: -6143, Rounding: apd.RoundHalfEven}
}

func readDecimal(v bsonx.Value) *apd.Decimal {
	lo := binary.LittleEndian.Uint64(v.Data)
	hi := binary.LittleEndian.Uint64(v.Data[8:])
	p := primitive.NewDecimal128(hi, lo)
	d := new(apd.Decimal)
	switch {
	case p.IsNaN():
		d.Form = apd.NaN
		return d
	case p.IsInf() != 0:
		d.Form, d.Negative = apd.Infinite, p.IsInf() < 0
		return d
	}
	bi, exp, err := p.BigInt()
	if err != nil { // a non-canonical coefficient is zero
		return d
	}
	d.Negative = hi>>63 == 1
	d.Coeff.SetMathBigInt(bi.Abs(bi))
	d.Exponent = int32(exp)
	return d
}

func (st *state) decimal(d *apd.Decimal) bsonx.Value {
	b := st.alloc(16)
	hi, lo := decimalBits(d)
	binary.LittleEndian.PutUint64(b, lo)
	binary.LittleEndian.PutUint64(b[8:], hi)
	return bsonx.Value{Type: tDecimal, Data: b}
}

const (
	decimalNaN  = 0x7C00 << 48
	decimalInf  = 0x7800 << 48
	decimalSign = 1 << 63
	minDecExp   = -6176
	maxDecExp   = 6111
)

func decimalBits(d *apd.Decimal) (hi, lo uint64) {
	var sign uint64
	if d.Negative {
		sign = decimalSign
	}
	switch d.Form {
	case apd.NaN, apd.NaNSignaling:
		return decimalNaN, 0
	case apd.Infinite:
		return decimalInf | sign, 0
	}
	r := d
	if d.NumDigits() > 34 {
		r = new(apd.Decimal)
		if _, err := decimalContext().Round(r, d); err != nil {
			return decimalNaN, 0
		}
	}
	exp := int64(r.Exponent)
	c := new(big.Int).Set(r.Coeff.MathBigInt())
	ten := big.NewInt(10)
	if c.Sign() == 0 {
		exp = min(max(exp, minDecExp), maxDecExp)
	}
	for exp > maxDecExp {
		if r.NumDigits()+exp-maxDecExp > 34 && exp-maxDecExp > 34 {
			return decimalInf | sign, 0
		}
		c.Mul(c, ten)
		exp--
		if len(c.Text(10)) > 34 {
			return decimalInf | sign, 0
		}
	}
	for exp < minDecExp {
		var rem big.Int
		c.QuoRem(c, ten, &rem)
		exp++
		if c.Sign() == 0 {
			exp = minDecExp
		}
	}
	var buf [16]byte
	c.FillBytes(buf[:])
	hi = binary.BigEndian.Uint64(buf[:8])
	lo = binary.BigEndian.Uint64(buf[8:])
	return hi | uint64(exp+6176)<<49 | sign, lo
}

// toDecimal converts any number; a double keeps 15 digits, as MongoDB's
// arithmetic does.
func toDecimal(v bsonx.Value) *apd.Decimal {
	switch v.Type {
	case tInt32:
		return apd.New(int64(v.Int32()), 0)
	case tInt64:
		return apd.New(v.Int64(), 0)
	case tDouble:
		return decimalOfFloat(v.Double(), 15)
	case tDecimal:
		return readDecimal(v)
	}
	return &apd.Decimal{Form: apd.NaN}
}

// decimalOfFloat has exactly that many digits (padded with zeros), as converting
// a binary double gives; 34 asks for the shortest exact text instead.
func decimalOfFloat(f float64, digits int) *apd.Decimal {
	d := new(apd.Decimal)
	switch {
	case math.IsNaN(f):
		d.Form = apd.NaN
		return d
	case math.IsInf(f, 0):
		d.Form, d.Negative = apd.Infinite, f < 0
		return d
	case f == 0:
		d.Negative = math.Signbit(f)
		return d
	}
	if digits >= 34 {
		_, _, err := d.SetString(new(big.Float).SetFloat64(f).Text('g', -1))
		exact := new(big.Float).SetFloat64(f).Text('f', 1100)
		if err != nil {
			d.Form = apd.NaN
			return d
		}
		if e, _, err := apd.NewFromString(exact); err == nil {
			e.Reduce(e)
			if _, err := decimalContext().Round(e, e); err == nil {
				return e
			}
		}
		return d
	}
	s := strconv.FormatFloat(f, 'e', digits-1, 64)
	if _, _, err := d.SetString(s); err != nil {
		d.Form = apd.NaN
	}
	return d
}
