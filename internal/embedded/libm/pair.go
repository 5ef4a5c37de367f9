package libm

import "math"

// pair is the number hi + lo; lo is at most half a unit in the last place of hi.
type pair struct{ hi, lo float64 }

// fold makes a pair of a sum whose first part is the larger.
func fold(a, b float64) pair {
	s := a + b
	return pair{s, b - (s - a)}
}

func add(a, b pair) pair {
	s := a.hi + b.hi
	t := s - a.hi
	e := (a.hi - (s - t)) + (b.hi - t)
	return fold(s, e+a.lo+b.lo)
}

func mul(a, b pair) pair {
	p := a.hi * b.hi
	e := math.FMA(a.hi, b.hi, -p)
	return fold(p, e+(a.hi*b.lo+a.lo*b.hi))
}

func scale(a pair, f float64) pair {
	p := a.hi * f
	return fold(p, math.FMA(a.hi, f, -p)+a.lo*f)
}

func div(a, b pair) pair {
	q := a.hi / b.hi
	r := add(a, scale(b, -q))
	q2 := r.hi / b.hi
	r = add(r, scale(b, -q2))
	return add(fold(q, q2), pair{r.hi / b.hi, 0})
}

// nearest rounds a pair times 2^k to a double. What is a tie but for the error of computing is one: to even.
func (a pair) nearest(k int) float64 {
	f := a.hi
	next := math.Nextafter(f, math.Inf(1))
	if a.lo < 0 {
		next = math.Nextafter(f, math.Inf(-1))
	}
	if half := (next - f) / 2; half != 0 && math.Abs(a.lo/half-1) < 0x1p-20 && math.Float64bits(f)&1 == 1 {
		f = next
	}
	return math.Ldexp(f, k)
}
