package libm

import "math"

// ln2 in three doubles.
const (
	ln2a = 6.93147180559945286227e-01
	ln2b = 2.31904681384629955842e-17
	ln2c = 5.70770843841621207658e-34
)

// Exp is e to the x.
func Exp(x float64) float64 {
	if math.IsNaN(x) || x > 709.8 || x < -745.2 {
		return math.Exp(x)
	}
	m, k := expPair(pair{x, 0})
	return m.nearest(k)
}

// expPair is e to the x as m times 2^k, m near 1.
func expPair(x pair) (m pair, k int) {
	n := math.Round(x.hi / ln2a)
	r := add(x, scale(pair{ln2a, 0}, -n))
	r = add(r, scale(pair{ln2b, ln2c}, -n))
	// The series for e^(r/512) - 1, then doubled nine times: (1+p)² - 1 = 2p + p².
	r = pair{r.hi / 512, r.lo / 512}
	p := pair{1, 0}
	for i := 10.0; i > 1; i-- {
		p = add(pair{1, 0}, mul(div(r, pair{i, 0}), p))
	}
	p = mul(r, p)
	for range 9 {
		p = add(pair{2 * p.hi, 2 * p.lo}, mul(p, p))
	}
	return add(pair{1, 0}, p), int(n)
}
