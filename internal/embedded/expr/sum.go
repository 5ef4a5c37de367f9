package expr

import (
	"math"
	"math/bits"

	"github.com/cockroachdb/apd/v3"

	"mrbench/internal/embedded/bsonx"
)

// Sum adds numbers as MongoDB's $sum, $avg and $add do: whole numbers exactly (in
// 128 bits), doubles with a compensating term so that the order hardly matters,
// decimals in decimal. Its result has the widest type seen, growing from
// int32 to int64 to double as needed. The zero Sum is ready.
type Sum struct {
	hi   int64 // 128-bit sum of whole numbers
	lo   uint64
	sum  float64
	comp float64
	dec  *apd.Decimal
	rank numRank
}

// Add takes a number in; other values are ignored.
func (s *Sum) Add(v bsonx.Value) {
	switch v.Type {
	case tInt32:
		s.AddInt(int64(v.Int32()))
	case tInt64:
		s.rank = max(s.rank, rankInt64)
		s.AddInt(v.Int64())
	case tDouble:
		s.rank = max(s.rank, rankDouble)
		s.addFloat(v.Double())
	case tDecimal:
		s.rank = rankDecimal
		s.addDecimal(readDecimal(v))
	}
}

// AddInt adds a whole number without widening the type.
func (s *Sum) AddInt(n int64) {
	var c uint64
	s.lo, c = bits.Add64(s.lo, uint64(n), 0)
	s.hi += n>>63 + int64(c)
}

// Widen makes the result at least as wide as type t.
func (s *Sum) Widen(t bsonx.Type) { s.rank = max(s.rank, rank(t)) }

func (s *Sum) addFloat(f float64) {
	// Neumaier's summation; infinities and NaN must not meet the compensation.
	t := s.sum + f
	if math.IsInf(t, 0) || math.IsNaN(t) {
		s.sum, s.comp = t, 0
		return
	}
	if math.Abs(s.sum) >= math.Abs(f) {
		s.comp += (s.sum - t) + f
	} else {
		s.comp += (f - t) + s.sum
	}
	s.sum = t
}

func (s *Sum) addDecimal(d *apd.Decimal) {
	if s.dec == nil {
		s.dec = d
		return
	}
	_, _ = decimalContext().Add(s.dec, s.dec, d)
}

// Merge adds another sum (a partial one).
func (s *Sum) Merge(o *Sum) {
	var c uint64
	s.lo, c = bits.Add64(s.lo, o.lo, 0)
	s.hi += o.hi + int64(c)
	s.addFloat(o.sum)
	if o.comp != 0 {
		s.addFloat(o.comp)
	}
	if o.dec != nil {
		s.addDecimal(new(apd.Decimal).Set(o.dec))
	}
	s.rank = max(s.rank, o.rank)
}

func (s *Sum) int64() (int64, bool) {
	n := int64(s.lo)
	return n, s.hi == n>>63
}

func (s *Sum) intFloat() float64 {
	if n, ok := s.int64(); ok {
		return float64(n)
	}
	return float64(s.hi)*0x1p64 + float64(s.lo)
}

// float is the sum of everything but the decimals.
func (s *Sum) float() float64 {
	sum, comp := s.parts()
	return sum + comp
}

// parts is that sum as two doubles, the second what the first is short of.
func (s *Sum) parts() (sum, comp float64) {
	t := *s
	if n, ok := s.int64(); ok {
		hi := n >> 32 << 32
		t.addFloat(float64(hi))
		t.addFloat(float64(n - hi))
	} else {
		t.addFloat(s.intFloat())
	}
	return t.sum, t.comp
}

func (s *Sum) decimal() *apd.Decimal {
	d := new(apd.Decimal)
	if s.dec != nil {
		d.Set(s.dec)
	}
	ctx := decimalContext()
	if n, ok := s.int64(); ok {
		if n != 0 || s.dec == nil {
			_, _ = ctx.Add(d, d, apd.New(n, 0))
		}
	} else {
		_, _ = ctx.Add(d, d, decimalOfFloat(s.intFloat(), 34))
	}
	for _, f := range []float64{s.sum, s.comp} {
		if f != 0 {
			_, _ = ctx.Add(d, d, decimalOfFloat(f, 34))
		}
	}
	return d
}

// Result is the sum in its type; memory is fresh.
func (s *Sum) Result() bsonx.Value {
	var st state
	return s.result(&st)
}

func (s *Sum) result(st *state) bsonx.Value {
	switch s.rank {
	case rankDecimal:
		return st.decimal(s.decimal())
	case rankDouble:
		return st.f64(s.float())
	}
	n, ok := s.int64()
	switch {
	case !ok:
		return st.f64(s.intFloat())
	case s.rank == rankInt32:
		return st.intOrLong(n)
	}
	return st.i64(n)
}

// Mean is the sum divided by n: a decimal when there was one, else a double.
func (s *Sum) Mean(n int64) bsonx.Value {
	var st state
	return s.mean(&st, n)
}

func (s *Sum) mean(st *state, n int64) bsonx.Value {
	if n == 0 {
		return null
	}
	if s.rank == rankDecimal {
		return st.decimal(quotient(s.decimal(), apd.New(n, 0)))
	}
	return st.f64(s.float() / float64(n))
}

// trimRoot gives an exact square root half the exponent of its square, as IEEE 754 does.
func trimRoot(d, square *apd.Decimal) {
	exp := square.Exponent >> 1
	var r apd.Decimal
	if r.Reduce(d); r.Exponent < exp || d.Form != apd.Finite {
		return
	}
	n := int64(r.Exponent - exp)
	if r.NumDigits()+n > 34 {
		return
	}
	r.Coeff.Mul(&r.Coeff, new(apd.BigInt).Exp(apd.NewBigInt(10), apd.NewBigInt(n), nil))
	r.Exponent = exp
	d.Set(&r)
}

// trimQuotient drops trailing zeros of a root's or power's fraction: an exact one is shown as short as it goes.
func trimQuotient(d *apd.Decimal) {
	if d.Form != apd.Finite || d.Exponent >= 0 {
		return
	}
	exp := d.Exponent
	var r apd.Decimal
	r.Reduce(d)
	if r.Exponent > 0 {
		// keep whole numbers without an exponent
		r.Coeff.Mul(&r.Coeff, apd.NewBigInt(0).Exp(apd.NewBigInt(10), apd.NewBigInt(int64(r.Exponent)), nil))
		r.Exponent = 0
	}
	if r.Exponent >= exp {
		neg := d.Negative
		d.Set(&r)
		d.Negative = neg
	}
}
