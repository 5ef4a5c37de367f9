package expr

import (
	"math"

	"github.com/cockroachdb/apd/v3"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/libm"
)

// numeric checks the single argument of a math operator; done means that the result is ready.
func numeric(name string, v bsonx.Value) (done bool, res bsonx.Value, err error) {
	switch {
	case isNumber(v.Type):
		return false, missing, nil
	case nullish(v):
		return true, null, nil
	}
	return true, missing, errf(28765, "%s only supports numeric types, not %s", name, typeName(v))
}

func opAbs(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
	v := a[0]
	if done, res, err := numeric(name, v); done {
		return res, err
	}
	switch v.Type {
	case tDecimal:
		d := readDecimal(v)
		d.Negative = false
		return st.decimal(d), nil
	case tDouble:
		return st.f64(math.Abs(v.Double())), nil
	case tInt32:
		return st.intOrLong(max(integer(v), -integer(v))), nil
	}
	n := v.Int64()
	if n == math.MinInt64 {
		return missing, errf(28680, "can't take $abs of long long min")
	}
	return st.i64(max(n, -n)), nil
}

// rounder makes $ceil and $floor.
func rounder(f func(float64) float64, mode apd.Rounder) function {
	return func(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
		v := a[0]
		if done, res, err := numeric(name, v); done {
			return res, err
		}
		switch v.Type {
		case tDouble:
			return st.f64(f(v.Double())), nil
		case tDecimal:
			return st.decimal(wholeDecimal(readDecimal(v), mode)), nil
		}
		return v, nil
	}
}

// wholeDecimal rounds d to a whole number written without an exponent. As in IEEE 754, what needs more than 34
// digits for that, and infinity, become NaN.
func wholeDecimal(d *apd.Decimal, mode apd.Rounder) *apd.Decimal {
	nan := &apd.Decimal{Form: apd.NaN}
	if d.Form != apd.Finite {
		return nan
	}
	if d.Exponent <= 0 || d.Coeff.Sign() == 0 {
		d = quantize(d, 0, mode)
		d.Exponent = 0
		return d
	}
	if d.NumDigits()+int64(d.Exponent) > 34 {
		return nan
	}
	r := new(apd.Decimal)
	ctx := apd.Context{Precision: 34, MaxExponent: apd.MaxExponent, MinExponent: apd.MinExponent}
	if _, err := ctx.Quantize(r, d, 0); err != nil {
		return nan
	}
	return r
}

// quantize rounds d to that many decimal places; a number with fewer stays as it is.
func quantize(d *apd.Decimal, places int32, mode apd.Rounder) *apd.Decimal {
	if d.Form != apd.Finite || -d.Exponent <= places {
		return d
	}
	ctx := apd.Context{Precision: 100, MaxExponent: apd.MaxExponent, MinExponent: apd.MinExponent, Rounding: mode}
	r := new(apd.Decimal)
	if _, err := ctx.Quantize(r, d, -places); err != nil {
		return d
	}
	return r
}

// roundPlaces makes $round (half even) and $trunc.
func roundPlaces(mode apd.Rounder) function {
	return func(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
		v := a[0]
		if done, res, err := numeric(name, v); done {
			return res, err
		}
		places := int32(0)
		if len(a) == 2 {
			p := a[1]
			if nullish(p) {
				return null, nil
			}
			if !isNumber(p.Type) {
				return missing, errf(51081, "precision argument to %s must be a integral value", name)
			}
			n, ok := whole32(p)
			if !ok {
				return missing, errf(51082, "precision argument to %s must be a integral value", name)
			}
			if n < -20 || n > 100 {
				return missing, errf(51083, "cannot apply %s with precision value %d value must be in [-20, 100]", name, n)
			}
			places = n
		}
		return roundTo(st, v, places, mode)
	}
}

func roundTo(st *state, v bsonx.Value, places int32, mode apd.Rounder) (bsonx.Value, error) {
	switch v.Type {
	case tDecimal:
		if places == 0 {
			return st.decimal(wholeDecimal(readDecimal(v), mode)), nil
		}
		return st.decimal(quantize(readDecimal(v), places, mode)), nil
	case tDouble:
		f := v.Double()
		if places == 0 {
			if mode == apd.RoundDown {
				return st.f64(math.Trunc(f)), nil
			}
			return st.f64(math.RoundToEven(f)), nil
		}
		d := decimalOfFloat(f, 34)
		r, err := quantize(d, places, mode).Float64()
		if err != nil || d.Form != apd.Finite {
			return v, nil
		}
		return st.f64(r), nil
	}
	if places >= 0 {
		return v, nil
	}
	d := quantize(apd.New(integer(v), 0), places, mode)
	n, err := d.Int64()
	if err != nil {
		return missing, errf(51080, "invalid conversion from Decimal128 result in rounding: too large")
	}
	if v.Type == tInt32 {
		return st.intOrLong(n), nil
	}
	return st.i64(n), nil
}

// real makes an operator of one number computed in double; dec computes it for decimals and may be nil
// (computed in double then).
func real(f func(float64) float64, dec func(c *apd.Context, d, x *apd.Decimal) (apd.Condition, error), check func(name string, v bsonx.Value, f float64) error) function {
	return func(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
		v := a[0]
		if done, res, err := numeric(name, v); done {
			return res, err
		}
		x := float(v)
		if check != nil && !math.IsNaN(x) {
			if err := check(name, v, x); err != nil {
				return missing, err
			}
		}
		if v.Type != tDecimal {
			return st.f64(f(x)), nil
		}
		in := readDecimal(v)
		if dec != nil && in.Form == apd.Finite {
			d := new(apd.Decimal)
			if _, err := dec(decimalContext(), d, in); err == nil {
				if name == "$sqrt" {
					trimRoot(d, in)
				} else {
					trimQuotient(d)
				}
				return st.decimal(d), nil
			}
		}
		return st.decimal(decimalOfFloat(f(x), 34)), nil
	}
}

func decExp(c *apd.Context, d, x *apd.Decimal) (apd.Condition, error)   { return c.Exp(d, x) }
func decSqrt(c *apd.Context, d, x *apd.Decimal) (apd.Condition, error)  { return c.Sqrt(d, x) }
func decLn(c *apd.Context, d, x *apd.Decimal) (apd.Condition, error)    { return c.Ln(d, x) }
func decLog10(c *apd.Context, d, x *apd.Decimal) (apd.Condition, error) { return c.Log10(d, x) }

func positive(code int32) func(string, bsonx.Value, float64) error {
	return func(name string, v bsonx.Value, f float64) error {
		if f <= 0 {
			return errf(codeOf(code), "%s's argument must be a positive number, but is %s", name, v)
		}
		return nil
	}
}

func notNegative(name string, v bsonx.Value, f float64) error {
	if f < 0 {
		return errf(28714, "%s's argument must be greater than or equal to 0", name)
	}
	return nil
}

func within(lo, hi float64) func(string, bsonx.Value, float64) error {
	return func(name string, v bsonx.Value, f float64) error {
		if f < lo || f > hi {
			return errf(50989, "cannot apply %s to %s, value must be in [%v,%v]", name, v, lo, hi)
		}
		return nil
	}
}

func finite(name string, v bsonx.Value, f float64) error {
	if math.IsInf(f, 0) {
		return errf(50989, "cannot apply %s to %s, value must be in (-inf,inf)", name, v)
	}
	return nil
}

func opAtan2(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
	for i, v := range a {
		if nullish(v) {
			return null, nil
		}
		if !isNumber(v.Type) {
			return missing, errf(codeOf(int32(51044+i)), "%s only supports numeric types, not %s", name, typeName(v))
		}
	}
	f := math.Atan2(float(a[0]), float(a[1]))
	if wider(a[0].Type, a[1].Type) == tDecimal {
		return st.decimal(decimalOfFloat(f, 34)), nil
	}
	return st.f64(f), nil
}

func opLog(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
	x, b := a[0], a[1]
	if nullish(x) || nullish(b) {
		return null, nil
	}
	if !isNumber(x.Type) {
		return missing, errf(28756, "$log's argument must be numeric, not %s", typeName(x))
	}
	if !isNumber(b.Type) {
		return missing, errf(28757, "$log's base must be numeric, not %s", typeName(b))
	}
	fx, fb := float(x), float(b)
	if fx <= 0 {
		return missing, errf(28758, "$log's argument must be a positive number, but is %s", x)
	}
	if fb <= 0 || fb == 1 {
		return missing, errf(28759, "$log's base must be a positive number not equal to 1, but is %s", b)
	}
	if wider(x.Type, b.Type) == tDecimal {
		c := decimalContext()
		l, m, q := new(apd.Decimal), new(apd.Decimal), new(apd.Decimal)
		_, e1 := c.Ln(l, toDecimal(x))
		_, e2 := c.Ln(m, toDecimal(b))
		if e1 == nil && e2 == nil {
			_, _ = c.Quo(q, l, m)
			trimQuotient(q)
			return st.decimal(q), nil
		}
	}
	return st.f64(libm.Log(fx) / libm.Log(fb)), nil
}

func opPow(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
	b, e := a[0], a[1]
	if nullish(b) || nullish(e) {
		return null, nil
	}
	if !isNumber(b.Type) {
		return missing, errf(28762, "$pow's base must be numeric, not %s", typeName(b))
	}
	if !isNumber(e.Type) {
		return missing, errf(28763, "$pow's exponent must be numeric, not %s", typeName(e))
	}
	if float(b) == 0 && float(e) < 0 {
		return missing, errf(28764, "$pow cannot take a base of 0 and a negative exponent")
	}
	t := wider(b.Type, e.Type)
	switch t {
	case tDecimal:
		d := new(apd.Decimal)
		if _, err := decimalContext().Pow(d, toDecimal(b), toDecimal(e)); err == nil {
			return st.decimal(fullDigits(d)), nil
		}
		return st.decimal(decimalOfFloat(libm.Pow(float(b), float(e)), 34)), nil
	case tDouble:
		return st.f64(libm.Pow(float(b), float(e))), nil
	}
	n, ok := intPow(integer(b), integer(e))
	switch {
	case !ok:
		return st.f64(libm.Pow(float(b), float(e))), nil
	case t == tInt32:
		return st.intOrLong(n), nil
	}
	return st.i64(n), nil
}

// fullDigits writes a power with all 34 digits, as MongoDB does.
func fullDigits(d *apd.Decimal) *apd.Decimal {
	if d.Form != apd.Finite {
		return d
	}
	if d.Coeff.Sign() == 0 {
		d.Exponent = minDecExp
		return d
	}
	n := min(int64(34)-d.NumDigits(), int64(d.Exponent)-minDecExp)
	if n > 0 {
		d.Coeff.Mul(&d.Coeff, new(apd.BigInt).Exp(apd.NewBigInt(10), apd.NewBigInt(n), nil))
		d.Exponent -= int32(n)
	}
	return d
}

// intPow is exact, or not ok when the result is no int64.
func intPow(b, e int64) (int64, bool) {
	switch {
	case e < 0 && b == 1:
		return 1, true
	case e < 0 && b == -1:
		return 1 - 2*(e&1), true
	case e < 0:
		return 0, false
	}
	r := int64(1)
	for ; e > 0; e >>= 1 {
		var over bool
		if e&1 == 1 {
			if r, over = mulOverflows(r, b); over {
				return 0, false
			}
		}
		if e > 1 {
			if b, over = mulOverflows(b, b); over {
				return 0, false
			}
		}
	}
	return r, true
}

// bitwise folds whole numbers.
func bitwise(start int64, f func(x, y int64) int64) function {
	return func(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
		acc, t := start, rankInt32
		for _, v := range a {
			if nullish(v) {
				return null, nil
			}
			if v.Type != tInt32 && v.Type != tInt64 {
				return missing, errf(14, "%s only supports int and long operands, not %s", name, typeName(v))
			}
			t = max(t, rank(v.Type))
			acc = f(acc, integer(v))
		}
		if t == rankInt32 {
			return st.i32(int32(acc)), nil
		}
		return st.i64(acc), nil
	}
}

func opBitNot(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
	switch v := a[0]; {
	case nullish(v):
		return null, nil
	case v.Type == tInt32:
		return st.i32(^v.Int32()), nil
	case v.Type == tInt64:
		return st.i64(^v.Int64()), nil
	default:
		return missing, errf(28765, "$bitNot only supports int and long, not: %s", typeName(v))
	}
}
