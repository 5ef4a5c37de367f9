package bench

import (
	"math"
	"math/rand/v2"
	"testing"
)

func near(t *testing.T, what string, got, want, by float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > by {
		t.Errorf("%s: %v, want %v ± %v", what, got, want, by)
	}
}

// Critical values of U, two-sided at 0.05, from the table of R. C. Milton, "An extended table of critical values for the
// Mann-Whitney (Wilcoxon) two-sample statistic", JASA 59 (1964), as textbooks print it; -1 is where there is none.
func TestCriticalValuesOfTheTable(t *testing.T) {
	for _, c := range []struct{ n1, n2, u int }{
		{2, 2, -1},
		{3, 3, -1},
		{3, 4, -1},
		{3, 5, 0},
		{4, 4, 0},
		{5, 5, 2},
		{5, 8, 6},
		{6, 6, 5},
		{7, 7, 8},
		{7, 10, 14},
		{8, 8, 13},
		{9, 9, 17},
		{10, 10, 23},
		{12, 12, 37},
		{15, 15, 64},
		{20, 20, 127},
	} {
		if got := outside(c.n1, c.n2) - 1; got != c.u {
			t.Errorf("%d and %d runs: U %d, want %d", c.n1, c.n2, got, c.u)
		}
		if CanShow(c.n1, c.n2) != (c.u >= 0) {
			t.Errorf("%d and %d runs: can show a difference: %v", c.n1, c.n2, c.u < 0)
		}
	}
	// Where the normal distribution takes over there is no step.
	if a, b := outside(50, 50), outside(50, 51); b < a || b > a+40 {
		t.Errorf("50 and 50 runs: %d, 50 and 51: %d", a, b)
	}
}

// Hollander and Wolfe, "Nonparametric Statistical Methods" (1973), p. 69: permeability of the placenta at term and at
// 12 to 26 weeks, W = 35 and one-sided p = 0.1272. They estimate a shift of 0.305; ratios of exponentials are
// exponentials of shifts.
func TestHollanderAndWolfe(t *testing.T) {
	term := []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	early := []float64{1.15, 0.88, 0.90, 0.74, 1.21}
	v := CompareTimes(exp(early), exp(term))
	near(t, "p", v.P, 2*0.1272, 0.0001)
	near(t, "shift", math.Log(v.Ratio), 0.305, 0.0001) // the mean of two ratios is not quite that of their logarithms
	near(t, "from", math.Log(v.CI[0]), -0.15, 1e-9)
	near(t, "to", math.Log(v.CI[1]), 0.76, 1e-9)
	if v.Shown || v.RunsA != 5 || v.RunsB != 10 {
		t.Errorf("%+v", v)
	}
}

func exp(x []float64) []float64 {
	y := make([]float64, len(x))
	for i := range x {
		y[i] = math.Exp(x[i])
	}
	return y
}

// The smallest p that n and n runs can give is 2 / binomial(2n, n).
func TestClearestDifference(t *testing.T) {
	for n, p := range map[int]float64{1: 1, 2: 2.0 / 6, 3: 2.0 / 20, 4: 2.0 / 70, 6: 2.0 / 924} {
		a, b := make([]float64, n), make([]float64, n)
		for i := range n {
			a[i], b[i] = 1+float64(i)/100, 2+float64(i)/100
		}
		v := CompareTimes(a, b)
		near(t, "p", v.P, p, 1e-12)
		if v.Shown != (n >= 4) || (v.CI == nil) == v.Shown {
			t.Errorf("%d runs: %+v", n, v)
		}
	}
	if v := CompareTimes([]float64{1, 1, 1, 1}, []float64{1, 1, 1, 1}); v.P != 1 || v.Shown || v.Ratio != 1 || v.Needed != 0 {
		t.Errorf("all equal: %+v", v)
	}
	if v := CompareTimes([]float64{0, 0, 0, 0}, []float64{1, 1, 1, 1}); !v.Shown || math.IsInf(v.Ratio, 0) {
		t.Errorf("times of 0: %+v", v)
	}
	if CompareTimes(nil, []float64{1}) != nil {
		t.Error("no times, no comparison")
	}
}

// Noether's formula with alpha 0.05, power 0.8 and p = 0.7: (1.96 + 0.842)² / (6 · 0.04) = 32.7.
func TestNoether(t *testing.T) {
	a := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	b := make([]float64, 10) // 70 of 100 pairs have the larger value in b
	for i := range b {
		b[i] = a[i] + 2.5
	}
	above := 0
	for _, x := range a {
		for _, y := range b {
			if y > x {
				above++
			}
		}
	}
	p := float64(above) / 100
	want := math.Ceil(2.8016 * 2.8016 / (6 * (p - 0.5) * (p - 0.5)))
	if got := needed(a, b); float64(got) != want {
		t.Errorf("p = %v: %d runs, want %v", p, got, want)
	}
	if got := needed(b, a); float64(got) != want {
		t.Errorf("the other way round: %d runs, want %v", got, want)
	}
	if got := needed([]float64{1, 2, 3}, []float64{1, 2, 3}); got != 0 {
		t.Errorf("no difference at all: %d runs", got)
	}
}

// The interval leaves 1 out exactly when the test shows a difference, and nothing depends on which side is a.
func TestIntervalAndTestAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		a, b := noisy(r, 4+r.IntN(12), 1, 0.1), noisy(r, 4+r.IntN(12), 1+r.Float64()/5, 0.1)
		v, w := CompareTimes(a, b), CompareTimes(b, a)
		if in := v.CI[0] <= 1 && 1 <= v.CI[1]; in == v.Shown {
			t.Fatalf("interval %v and p %v do not agree", *v.CI, v.P)
		}
		if v.Ratio < v.CI[0] || v.Ratio > v.CI[1] {
			t.Fatalf("ratio %v is not in %v", v.Ratio, *v.CI)
		}
		near(t, "p", v.P, w.P, 1e-9)
		near(t, "interval", v.CI[0]*w.CI[1], 1, 1e-9)
		if v.Needed != w.Needed {
			t.Fatalf("needed: %d and %d", v.Needed, w.Needed)
		}
	}
}

// All pairs, sorted, say the same as halving.
func TestRatioIsTheKthOfAllPairs(t *testing.T) {
	v := CompareTimes([]float64{1, 2, 4, 8}, []float64{3, 3, 6, 12})
	// 3/8 3/8 6/8 3/4 3/4 6/4 12/8 3/2 3/2 3 3 3 3 3 6 12 in order:
	// .375 .375 .75 .75 .75 1.5 1.5 1.5 1.5 3 3 3 3 3 6 12
	near(t, "ratio", v.Ratio, 1.5, 1e-12)
	near(t, "from", v.CI[0], 0.375, 1e-12)
	near(t, "to", v.CI[1], 12, 1e-12)
}

// noisy are times about a median with log-normal noise: never negative, with a tail to the slow side, as times have.
func noisy(r *rand.Rand, n int, median, sigma float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = median * math.Exp(sigma*r.NormFloat64())
	}
	return x
}
