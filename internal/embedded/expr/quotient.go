package expr

import "github.com/cockroachdb/apd/v3"

// quotient is x ÷ y as IEEE 754 gives decimals: an exact one has, as far as its digits allow, the exponent of
// x less that of y (7.00 ÷ 1 is 7.00, 1 ÷ 4 is 0.25); another one has all digits. y is not zero.
func quotient(x, y *apd.Decimal) *apd.Decimal {
	c, q := decimalContext(), new(apd.Decimal)
	cond, err := c.Quo(q, x, y)
	if err != nil || q.Form != apd.Finite || cond.Inexact() {
		return q
	}
	ideal := x.Exponent - y.Exponent
	if q.IsZero() {
		q.Exponent = ideal
		return q
	}
	var r apd.Decimal
	r.Reduce(q)
	pad := min(int64(r.Exponent)-int64(ideal), int64(c.Precision)-r.NumDigits())
	if pad > 0 {
		r.Coeff.Mul(&r.Coeff, new(apd.BigInt).Exp(apd.NewBigInt(10), apd.NewBigInt(pad), nil))
		r.Exponent -= int32(pad)
	}
	return &r
}
