package scaling

import (
	"math"
	"math/bits"
	"slices"
)

// closeEnough is the relative error below which no further cost is added.
const closeEnough = 0.005

// leastSquares finds x ≥ 0 so that the columns of a, each times its x, come near to y, measured by the mean square of the
// relative error. At most most columns are used, earlier ones and fewer of them first. Every y is above 0.
func leastSquares(a [][]float64, y []float64, most int) []float64 {
	columns := len(a[0])
	masks := make([]uint, 0, 1<<columns)
	for m := uint(1); m < 1<<columns; m++ {
		if bits.OnesCount(m) <= most {
			masks = append(masks, m)
		}
	}
	slices.SortStableFunc(masks, func(a, b uint) int { return bits.OnesCount(a) - bits.OnesCount(b) })
	best, least := make([]float64, columns), math.Inf(1)
	for _, m := range masks {
		x := solve(a, y, m)
		if x == nil {
			continue
		}
		if e := relativeError(a, x, y); e < least-closeEnough {
			best, least = x, e
		}
	}
	return best
}

func relativeError(a [][]float64, x, y []float64) float64 {
	sum := 0.0
	for i := range a {
		e := dot(a[i], x)/y[i] - 1
		sum += e * e
	}
	return math.Sqrt(sum / float64(len(a)))
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// solve uses the columns of a mask alone; nil when they depend on one another or one would have to be negative.
func solve(a [][]float64, y []float64, mask uint) []float64 {
	var use []int
	for c := range a[0] {
		if mask&(1<<c) != 0 {
			use = append(use, c)
		}
	}
	n := len(use)
	scale := make([]float64, n) // columns differ by many orders of magnitude
	for j, c := range use {
		for i := range a {
			scale[j] = max(scale[j], a[i][c]/y[i])
		}
		if scale[j] == 0 {
			return nil
		}
	}
	m := make([][]float64, n) // the normal equations, their right side last
	for j := range m {
		m[j] = make([]float64, n+1)
		for i := range a {
			left := a[i][use[j]] / y[i] / scale[j]
			for k := range use {
				m[j][k] += left * a[i][use[k]] / y[i] / scale[k]
			}
			m[j][n] += left
		}
	}
	for j := range m {
		p := j
		for i := j + 1; i < n; i++ {
			if math.Abs(m[i][j]) > math.Abs(m[p][j]) {
				p = i
			}
		}
		m[j], m[p] = m[p], m[j]
		if math.Abs(m[j][j]) < 1e-9 {
			return nil
		}
		for i := range m {
			if f := m[i][j] / m[j][j]; i != j {
				for k := j; k <= n; k++ {
					m[i][k] -= f * m[j][k]
				}
			}
		}
	}
	x := make([]float64, len(a[0]))
	for j, c := range use {
		if x[c] = m[j][n] / m[j][j] / scale[j]; x[c] < 0 {
			return nil
		}
	}
	return x
}
