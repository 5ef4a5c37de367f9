package libm

import "math"

// Pow is x to the y.
func Pow(x, y float64) float64 {
	plain := math.Pow(x, y)
	if plain == 0 || plain == 1 || math.IsNaN(plain) || math.IsInf(plain, 0) || x == 0 || math.IsInf(x, 0) || math.IsInf(y, 0) {
		return plain
	}
	l := scale(logPair(math.Abs(x)), y)
	if math.Abs(l.hi) > 708 {
		return plain
	}
	m, k := expPair(l)
	return math.Copysign(m.nearest(k), plain)
}
