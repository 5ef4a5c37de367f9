package libm

import "math"

// Log is the natural logarithm.
func Log(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) || x == 1 {
		return math.Log(x)
	}
	return logPair(x).nearest(0)
}

// logPair is the natural logarithm of a finite x > 0.
func logPair(x float64) pair {
	if math.Abs(x-1) < 1.0/64 {
		// 2 artanh(f / (2 + f))
		f := x - 1
		s := div(pair{f, 0}, fold(2, f))
		q := mul(s, s)
		sum := pair{}
		for i := 19.0; i > 1; i -= 2 {
			sum = mul(q, add(sum, div(pair{1, 0}, pair{i, 0})))
		}
		sum = mul(s, add(pair{1, 0}, sum))
		return pair{2 * sum.hi, 2 * sum.lo}
	}
	// One step from Go's: x·e^-y = 1 + d, and log(1 + d) is d - d²/2 for so small a d.
	frac, exp := math.Frexp(x)
	y := math.Log(frac) + float64(exp)*math.Ln2
	m, k := expPair(pair{-y, 0})
	d := scale(m, math.Ldexp(frac, exp+k))
	d = add(d, pair{-1, 0})
	return add(pair{y, 0}, add(d, scale(mul(d, d), -0.5)))
}

// Log10 is the logarithm to base 10 by the formula of the C library, which is not always the nearest double.
func Log10(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return math.Log10(x)
	}
	const (
		ivln10 = 4.34294481903251816668e-01
		lg2hi  = 3.01029995663611771306e-01
		lg2lo  = 3.69423907715893078616e-13
	)
	frac, exp := math.Frexp(x) // frac in [0.5, 1)
	k, m := exp-1, frac*2
	if k < 0 {
		k, m = k+1, frac
	}
	y := float64(k)
	z := y*lg2lo + float64(ivln10*Log(m))
	return float64(z) + y*lg2hi
}
