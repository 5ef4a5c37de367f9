package bench

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"
)

// What the program calls shown, everywhere.
const (
	Alpha      = 0.05      // a difference is shown when chance alone gives one as large less often
	Confidence = 1 - Alpha // of intervals
	Power      = 0.8       // how often Versus.Needed runs show a difference that is there
	MostNeeded = 1000      // more runs than this are not suggested
)

// CompareTimes sets two sets of times side by side by the Mann–Whitney test, which assumes nothing about how times vary
// but that runs are independent, and by the interval that belongs to it. It is nil when either is empty.
func CompareTimes(a, b []float64) *Versus {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	a, b = ascending(a), ascending(b)
	test := benchmath.AssumeNothing.Compare(sampleOf(a), sampleOf(b))
	pairs := len(a) * len(b)
	v := &Versus{RunsA: len(a), RunsB: len(b), P: min(1, test.P), Ratio: (ratio(a, b, (pairs+1)/2) + ratio(a, b, pairs/2+1)) / 2}
	v.Shown = v.P < Alpha
	if k := outside(len(a), len(b)); k > 0 {
		v.CI = &[2]float64{ratio(a, b, k), ratio(a, b, pairs+1-k)}
	}
	if !v.Shown {
		v.Needed = needed(a, b)
	}
	return v
}

// CanShow says whether the test can show any difference with so many runs: with three on each side even the clearest
// one comes by chance one time out of ten.
func CanShow(a, b int) bool {
	return a > 0 && b > 0 && outside(a, b) > 0
}

// leastTime stands for times that the clock could not tell from none, so that ratios exist.
const leastTime = 1e-9

func ascending(x []float64) []float64 {
	x = slices.Clone(x)
	for i := range x {
		x[i] = max(x[i], leastTime)
	}
	slices.Sort(x)
	return x
}

func sampleOf(x []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(x), &benchmath.DefaultThresholds)
}

// ratio is the k-th smallest of all b/a, k from 1. It is found by halving, which takes no memory where there are
// millions of pairs.
func ratio(a, b []float64, k int) float64 {
	lo, hi := b[0]/a[len(a)-1], b[len(b)-1]/a[0]
	if pairsUpTo(a, b, lo) >= k {
		return lo
	}
	for {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			return hi
		}
		if pairsUpTo(a, b, mid) >= k {
			hi = mid
		} else {
			lo = mid
		}
	}
}

// pairsUpTo counts the pairs with b/a at most r; a and b ascend.
func pairsUpTo(a, b []float64, r float64) int {
	n, j := 0, 0
	for _, x := range a {
		for j < len(b) && b[j]/x <= r {
			j++
		}
		n += j
	}
	return n
}

// outside is which ratio from either end the interval at Confidence begins with; 0 when there are too few pairs for one.
// It inverts the test: the interval holds the ratios that the test does not reject.
func outside(n1, n2 int) int {
	if max(n1, n2) > stats.MannWhitneyExactLimit {
		m, sd := float64(n1*n2)/2, math.Sqrt(float64(n1*n2*(n1+n2+1))/12)
		return max(0, int(math.Floor(m-stats.StdNormal.InvCDF(1-Alpha/2)*sd)))
	}
	total := 0.0
	orders := ordersByU(n1, n2)
	for _, n := range orders {
		total += n
	}
	below, k := 0.0, 0
	for ; k < len(orders); k++ {
		if below += orders[k] / total; below > Alpha/2 {
			break
		}
	}
	return k
}

// ordersByU counts the orders of n1 and n2 values by their U, the number of pairs with the second smaller: an order
// either ends with one of the first, which n2 others come before, or with one of the second.
func ordersByU(n1, n2 int) []float64 {
	rows := make([][]float64, n2+1) // of i values of the first and j of the second, for the i reached
	for j := range rows {
		rows[j] = []float64{1}
	}
	for i := 1; i <= n1; i++ {
		for j := 1; j <= n2; j++ {
			u := make([]float64, i*j+1)
			for k, n := range rows[j] {
				u[k+j] += n
			}
			for k, n := range rows[j-1] {
				u[k] += n
			}
			rows[j] = u
		}
	}
	return rows[n2]
}

// needed is Noether's number of runs for each side ("Sample size determination for some common nonparametric tests",
// JASA 82 (1987) 645-647): (z(1-alpha/2) + z(power))² / (6 (p - 1/2)²), with p the share of pairs in which b is slower.
// It takes p as seen for the real one, so it is a guess, and the worse the fewer runs there were.
func needed(a, b []float64) int {
	above := 0.0
	for _, x := range a {
		less, _ := slices.BinarySearch(b, x)
		upTo := less
		for upTo < len(b) && b[upTo] == x {
			upTo++
		}
		above += float64(len(b)-upTo) + float64(upTo-less)/2
	}
	p := above / float64(len(a)*len(b))
	z := stats.StdNormal.InvCDF(1-Alpha/2) + stats.StdNormal.InvCDF(Power)
	n := math.Ceil(z * z / (6 * (p - 0.5) * (p - 0.5)))
	if !(n <= MostNeeded) {
		return 0
	}
	return max(int(n), min(len(a), len(b))+1)
}
