package bench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// machine is a simulated one: a clock that moves only when a row runs, by the row's time with noise, drift and hiccups.
type machine struct {
	now   time.Time
	r     *rand.Rand
	sigma float64 // log-normal noise
	drift float64 // share of the time that all rows get slower by in 1000 s
	// cold is how much longer the first row of a round takes.
	cold float64
	// hiccup is how often a run takes three times as long.
	hiccup float64
}

func newMachine(seed uint64) *machine {
	return &machine{now: time.Unix(0, 0), r: rand.New(rand.NewPCG(seed, 1)), sigma: 0.05}
}

// row takes seconds, when nothing disturbs it.
func (m *machine) row(id string, seconds float64) Job {
	return Job{ID: id, Run: func(_ context.Context, t Turn) (Sample, error) {
		s := seconds * math.Exp(m.sigma*m.r.NormFloat64()) * (1 + m.drift*m.now.Sub(time.Unix(0, 0)).Seconds()/1000)
		if t.Order == 1 {
			s *= 1 + m.cold
		}
		if m.r.Float64() < m.hiccup {
			s *= 3
		}
		m.now = m.now.Add(time.Duration(s * 1e9))
		return Sample{Seconds: s}, nil
	}}
}

func (m *machine) measure(t *testing.T, p Plan) []Row {
	t.Helper()
	p.Now = func() time.Time { return m.now }
	out, err := Rounds(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	var rows []Row
	for _, j := range p.Jobs {
		row := Row{ID: j.ID}
		row.Fill(out[j.ID])
		rows = append(rows, row)
	}
	Relate(rows)
	return rows
}

const trials = 1000

// A share measured in all trials is within four standard errors of want.
func share(t *testing.T, what string, hits int, want float64) {
	t.Helper()
	got := float64(hits) / trials
	near(t, what, got, want, 4*math.Sqrt(want*(1-want)/trials))
}

// Intervals of the median hold the true median as often as they say: at least 95 times in 100. n runs can't give exactly
// 95; how often is known from the binomial distribution.
func TestMedianIntervalsCover(t *testing.T) {
	for n, exact := range map[int]float64{6: 1 - 2.0/64, 10: 1 - 2*11.0/1024, 15: 1 - 2*576.0/32768, 20: 1 - 2*21700.0/1048576} {
		m := newMachine(uint64(n))
		hits := 0
		for range trials {
			ci := m.measure(t, Plan{Jobs: []Job{m.row("a", 2)}, Runs: n})[0].Seconds.CI
			if ci[0] <= 2 && 2 <= ci[1] {
				hits++
			}
		}
		share(t, fmt.Sprintf("%d runs: coverage of the median's interval", n), hits, exact)
	}
}

// falseAlarms is how often the test shows a difference where there is none: the share of orders of n and n values whose
// U is at most the critical value, both ways; the numbers are from the exact distribution.
var falseAlarms = map[int]float64{4: 2.0 / 70, 6: 0.04113, 10: 0.04326}

func TestFalseAlarms(t *testing.T) {
	for n, exact := range falseAlarms {
		m := newMachine(100 + uint64(n))
		m.hiccup = 0.05 // what is odd about the noise does not matter, as long as it is the same for both
		alarms, covered := 0, 0
		for range trials {
			v := m.measure(t, Plan{Jobs: []Job{m.row("a", 1), m.row("b", 1)}, Runs: n})[1].Versus
			if v.Shown {
				alarms++
			}
			if v.CI[0] <= 1 && 1 <= v.CI[1] {
				covered++
			}
		}
		share(t, fmt.Sprintf("%d runs: false alarms", n), alarms, exact)
		share(t, fmt.Sprintf("%d runs: coverage of the change's interval", n), covered, 1-exact)
	}
}

// What is there is shown, the more often the more runs there are, and the interval holds the true ratio.
func TestPower(t *testing.T) {
	last := 0.0
	for _, n := range []int{4, 6, 10} {
		m := newMachine(200 + uint64(n))
		shown, covered := 0, 0
		for range trials {
			v := m.measure(t, Plan{Jobs: []Job{m.row("a", 1), m.row("b", 1.07)}, Runs: n})[1].Versus
			if v.Shown && v.Ratio > 1 {
				shown++
			}
			if v.CI[0] <= 1.07 && 1.07 <= v.CI[1] {
				covered++
			}
		}
		share(t, fmt.Sprintf("%d runs: coverage", n), covered, 1-falseAlarms[n])
		power := float64(shown) / trials
		if power <= last {
			t.Errorf("%d runs show the difference in %v, fewer runs in %v", n, power, last)
		}
		last = power
	}
	if last < 0.7 {
		t.Errorf("10 runs show a difference of 7 %% with noise of 5 %% in %v of all trials", last)
	}
}

// Noether's number of runs shows a difference of that size four times out of five.
func TestNeededRunsHavePower(t *testing.T) {
	// With shift d and noise s, P(b > a) = Phi(d / (s sqrt 2)): 0.8 for d = 1.1902 s, for which the
	// formula gives 7.849 / (6 · 0.09) = 14.5.
	m := newMachine(7)
	b := math.Exp(1.1902 * m.sigma)
	shown := 0
	for range trials {
		if m.measure(t, Plan{Jobs: []Job{m.row("a", 1), m.row("b", b)}, Runs: 15})[1].Versus.Shown {
			shown++
		}
	}
	near(t, "power", float64(shown)/trials, Power, 0.06)
}

// A machine that gets slower meets all rows alike, since they take turns; one after the other, the later one would seem slower.
func TestDriftDoesNotFavourARow(t *testing.T) {
	const n = 10
	m := newMachine(3)
	m.drift = 20 // 2 % a second
	seed := uint64(1)
	turns, sequence := 0, 0
	for range trials {
		m.now = time.Unix(0, 0)
		seed++
		if m.measure(t, Plan{Jobs: []Job{m.row("a", 1), m.row("b", 1)}, Runs: n, Shuffle: &seed})[1].Versus.Shown {
			turns++
		}
		m.now = time.Unix(0, 0)
		a := m.measure(t, Plan{Jobs: []Job{m.row("a", 1)}, Runs: n})
		b := m.measure(t, Plan{Jobs: []Job{m.row("b", 1)}, Runs: n})
		if CompareTimes(a[0].Seconds.All, b[0].Seconds.All).Shown {
			sequence++
		}
	}
	if got := float64(turns) / trials; got > Alpha {
		t.Errorf("false alarms with drift: %v", got)
	}
	if got := float64(sequence) / trials; got < 0.9 {
		t.Errorf("the drift is too small to matter: one after the other, %v of the trials show it", got)
	}
}

// A row that always came first would pay for what the first one meets. Shuffling gives each its share.
func TestShufflingSharesThePlaces(t *testing.T) {
	m := newMachine(5)
	m.cold = 0.5
	listed, shuffled := 0, 0
	for i := range trials {
		jobs := func() []Job { return []Job{m.row("a", 1), m.row("b", 1)} }
		if m.measure(t, Plan{Jobs: jobs(), Runs: 10})[1].Versus.Shown {
			listed++
		}
		seed := uint64(i)
		if m.measure(t, Plan{Jobs: jobs(), Runs: 10, Shuffle: &seed})[1].Versus.Shown {
			shuffled++
		}
	}
	if listed < trials*9/10 {
		t.Errorf("the place does not matter: %d of %d", listed, trials)
	}
	if got := float64(shuffled) / trials; got > Alpha {
		t.Errorf("false alarms of shuffled rows: %v", got)
	}
}

// Few runs of an even machine are called outliers, nearly all hiccups are.
func TestOutliersOfANoisyMachine(t *testing.T) {
	m := newMachine(11)
	calm, found, hiccups := 0, 0, 0
	for range trials {
		calm += len(Outliers(noisy(m.r, 10, 1, m.sigma)))
		x := noisy(m.r, 10, 1, m.sigma)
		i := m.r.IntN(10)
		x[i] *= 3
		hiccups++
		for _, o := range Outliers(x) {
			if o.Round == i+1 {
				found++
			}
		}
	}
	if got := float64(calm) / trials / 10; got > 0.03 {
		t.Errorf("%v of the runs of an even machine are called outliers", got)
	}
	if got := float64(found) / float64(hiccups); got < 0.99 {
		t.Errorf("%v of the hiccups are found", got)
	}
}
