package expr

import (
	"github.com/cockroachdb/apd/v3"

	"mrbench/internal/embedded/bsonx"
)

// MovingAverage is $expMovingAvg: each number moves the average towards itself by the share alpha. It is computed in
// decimal, as MongoDB does; the result is a double unless a decimal was added.
type MovingAverage struct {
	alpha, rest *apd.Decimal
	cur         *apd.Decimal // nil: no number yet
	decimal     bool
}

// NewMovingAverage takes a share between 0 and 1.
func NewMovingAverage(alpha bsonx.Value) *MovingAverage {
	return newMovingAverage(toDecimal(alpha))
}

// NewMovingAverageOf takes the number of values that carry most of the weight: alpha is 2 / (n + 1).
func NewMovingAverageOf(n int64) *MovingAverage {
	a := new(apd.Decimal)
	_, _ = decimalContext().Quo(a, apd.New(2, 0), apd.New(n+1, 0))
	return newMovingAverage(a)
}

func newMovingAverage(alpha *apd.Decimal) *MovingAverage {
	m := &MovingAverage{alpha: alpha, rest: new(apd.Decimal)}
	_, _ = decimalContext().Sub(m.rest, apd.New(1, 0), alpha)
	return m
}

// Reset forgets all numbers.
func (m *MovingAverage) Reset() { m.cur, m.decimal = nil, false }

// Add takes a number in; other values are ignored.
func (m *MovingAverage) Add(v bsonx.Value) {
	if !isNumber(v.Type) {
		return
	}
	m.decimal = m.decimal || v.Type == tDecimal
	x := toDecimal(v)
	if m.cur == nil {
		m.cur = new(apd.Decimal).Set(x)
		return
	}
	ctx := decimalContext()
	var a, b apd.Decimal
	_, _ = ctx.Mul(&a, m.alpha, x)
	_, _ = ctx.Mul(&b, m.rest, m.cur)
	_, _ = ctx.Add(m.cur, &a, &b)
}

// Result is null before the first number; memory is fresh.
func (m *MovingAverage) Result() bsonx.Value {
	if m.cur == nil {
		return null
	}
	var st state
	if m.decimal {
		return st.decimal(m.cur)
	}
	f, _ := m.cur.Float64()
	return st.f64(f)
}
