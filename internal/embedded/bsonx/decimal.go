package bsonx

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"

	"go.mongodb.org/mongo-driver/bson/primitive"
)

// Bounds of a decimal128: the value is coefficient × 10^exponent with at most 34 digits.
const (
	decDigits  = 34
	decMinExp  = -6176
	decMaxExp  = 6111
	decExpBias = 6176
)

// decimal is a decimal128 taken apart. A coefficient beyond 34 digits is not
// canonical and counts as zero, as the standard says.
type decimal struct {
	hi, lo uint64 // coefficient
	exp    int
	neg    bool
	kind   decKind
}

type decKind uint8

const (
	decFinite decKind = iota
	decInf
	decNaN
)

// 10^34-1, the largest coefficient.
const maxCoeffHi, maxCoeffLo = 0x1ed09bead87c0, 0x378d8e63ffffffff

func decimalOf(v Value) decimal {
	h, l := v.Decimal()
	return decimalOfBits(h, l)
}

func decimalOfBits(h, l uint64) decimal {
	d := decimal{neg: h>>63 == 1}
	switch top := h >> 58 & 31; {
	case top == 31:
		d.kind = decNaN
	case top == 30:
		d.kind = decInf
	case top >= 24: // the long coefficients, all beyond 34 digits
		d.exp = int(h>>47&0x3fff) - decExpBias
	default:
		d.exp = int(h>>49&0x3fff) - decExpBias
		d.hi, d.lo = h&(1<<49-1), l
		if d.hi > maxCoeffHi || d.hi == maxCoeffHi && d.lo > maxCoeffLo {
			d.hi, d.lo = 0, 0
		}
	}
	return d
}

func (d decimal) isZero() bool { return d.kind == decFinite && d.hi == 0 && d.lo == 0 }

// compareSameExp orders finite decimals of one exponent.
func (d decimal) compareSameExp(e decimal) int {
	c := cmp.Compare(d.hi, e.hi)
	if c == 0 {
		c = cmp.Compare(d.lo, e.lo)
	}
	switch {
	case d.isZero() && e.isZero():
		return 0
	case d.neg != e.neg:
		c = 1
	}
	if d.neg {
		return -c
	}
	return c
}

// bits packs d, which must be in range.
func (d decimal) bits() (h, l uint64) {
	switch d.kind {
	case decNaN:
		h = 31 << 58
	case decInf:
		h = 30 << 58
	default:
		h, l = uint64(d.exp+decExpBias)<<49|d.hi, d.lo
	}
	if d.neg {
		h |= 1 << 63
	}
	return h, l
}

func (d decimal) value() Value { return Decimal(d.bits()) }

// trim takes trailing zeros off the coefficient.
func (d decimal) trim() decimal {
	for d.hi|d.lo != 0 {
		q, ql, r := div10(d.hi, d.lo)
		if r != 0 {
			break
		}
		d.hi, d.lo, d.exp = q, ql, d.exp+1
	}
	return d
}

// div10 divides hi:lo by ten.
func div10(hi, lo uint64) (qhi, qlo, rem uint64) {
	qhi, r := hi/10, hi%10
	qlo, rem = bits.Div64(r, lo, 10)
	return qhi, qlo, rem
}

// digits gives the coefficient's decimal digits (values 0–9, not text), most
// significant first, without leading zeros; none for zero.
func (d decimal) digits(buf *[40]byte) []byte {
	i := len(buf)
	for hi, lo := d.hi, d.lo; hi|lo != 0; {
		var r uint64
		hi, lo, r = div10(hi, lo)
		i--
		buf[i] = byte(r)
	}
	return buf[i:]
}

func (d decimal) coeff() *big.Int {
	c := new(big.Int).SetUint64(d.hi)
	return c.Or(c.Lsh(c, 64), new(big.Int).SetUint64(d.lo))
}

// rat is |d| exactly. d must be finite; the cost grows with the exponent.
func (d decimal) rat() *big.Rat {
	if d.exp >= 0 {
		return new(big.Rat).SetInt(new(big.Int).Mul(d.coeff(), pow10(d.exp)))
	}
	return new(big.Rat).SetFrac(d.coeff(), pow10(-d.exp))
}

func pow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// adjusted is the exponent of the first digit; d is not zero.
func (d decimal) adjusted() int {
	var buf [40]byte
	return d.exp + len(d.digits(&buf)) - 1
}

// truncFloat is the double nearest to |d| among those not above it, and
// whether it is |d| exactly. Beyond the doubles it is the largest finite one.
func (d decimal) truncFloat() (f float64, exact bool) {
	if d.hi == 0 && d.lo < 1<<53 && d.exp == 0 {
		return float64(d.lo), true
	}
	switch adj := d.adjusted(); {
	case adj > 308:
		return math.MaxFloat64, false
	case adj < -324:
		return 0, false
	}
	r := d.rat()
	f, exact = r.Float64()
	if exact {
		return f, true
	}
	if math.IsInf(f, 0) {
		return math.MaxFloat64, false
	}
	if new(big.Rat).SetFloat64(f).Cmp(r) > 0 {
		f = math.Nextafter(f, 0)
	}
	return f, false
}

// float is the double nearest to d.
func (d decimal) float() float64 {
	var f float64
	switch {
	case d.kind == decNaN:
		return math.NaN()
	case d.kind == decInf:
		f = math.Inf(1)
	case d.isZero():
	case d.hi == 0 && d.lo < 1<<53 && d.exp >= -22 && d.exp <= 22:
		// Both operands are exact doubles, so the one rounding is right.
		f = float64(d.lo)
		if d.exp < 0 {
			f /= math.Pow10(-d.exp)
		} else {
			f *= math.Pow10(d.exp)
		}
	default:
		switch adj := d.adjusted(); {
		case adj > 309:
			f = math.Inf(1)
		case adj >= -325:
			f, _ = d.rat().Float64()
		}
	}
	if d.neg {
		f = -f
	}
	return f
}

// truncInt is d's whole part, saturating; exact tells whether d is that number.
func (d decimal) truncInt() (n int64, exact bool) {
	if d.kind != decFinite {
		if d.neg {
			return math.MinInt64, false
		}
		return math.MaxInt64, false
	}
	if d.isZero() {
		return 0, true
	}
	exact = true
	hi, lo, exp := d.hi, d.lo, d.exp
	for exp < 0 && hi|lo != 0 {
		var r uint64
		hi, lo, r = div10(hi, lo)
		exact = exact && r == 0
		exp++
	}
	for exp > 0 && hi == 0 && lo != 0 {
		hi, lo = bits.Mul64(lo, 10)
		exp--
	}
	switch {
	case hi == 0 && lo < 1<<63:
		n = int64(lo)
		if d.neg {
			n = -n
		}
		return n, exact
	case d.neg:
		return math.MinInt64, exact && hi == 0 && lo == 1<<63
	}
	return math.MaxInt64, false
}

// text is the decimal in MongoDB's form: "1.00", "1E+40", "NaN", "-Infinity".
func (d decimal) text() string {
	h, l := d.bits()
	return primitive.NewDecimal128(h, l).String()
}
