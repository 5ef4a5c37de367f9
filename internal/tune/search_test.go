package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// machine is a simulated one: a run takes its candidate's fixed time and time a document, times noise, and its clock goes on by that.
type machine struct {
	now      time.Time
	fixed    []float64 // seconds
	document []float64 // seconds
	noise    float64   // standard deviation of the logarithm
	random   *rand.Rand
	all      int64
	longest  float64
	runs     int
	after    func(m *machine)
}

func newMachine(seed uint64, noise float64, all int64) *machine {
	return &machine{now: time.Unix(1e9, 0), noise: noise, all: all, random: rand.New(rand.NewPCG(seed, 7))}
}

func (m *machine) add(fixed, document float64) {
	m.fixed, m.document = append(m.fixed, fixed), append(m.document, document)
}

func (m *machine) measure(_ context.Context, i int, share float64, _ bool) (int64, float64, error) {
	n := int64(share * float64(m.all))
	t := (m.fixed[i] + m.document[i]*float64(n)) * math.Exp(m.noise*m.random.NormFloat64())
	m.now = m.now.Add(time.Duration(t * 1e9))
	m.longest = max(m.longest, t)
	m.runs++
	if m.after != nil {
		m.after(m)
	}
	return n, t, nil
}

func (m *machine) config(budget time.Duration) Config {
	c := Config{Documents: m.all, Measure: m.measure, Budget: budget, First: 1.0 / 16, Seed: 1, Now: func() time.Time { return m.now }}
	for i := range m.fixed {
		c.Candidates = append(c.Candidates, Candidate{ID: fmt.Sprint(i)})
	}
	return c
}

// forty candidates from 10 s to 40 s on everything, some with large fixed costs. The best is 15 % better than the next.
func forty(seed uint64, noise float64) *machine {
	m := newMachine(seed, noise, 1e6)
	for i := range 40 {
		whole := 11.5 + 28.5*m.random.Float64()
		if i == 17 {
			whole = 10
		}
		fixed := 0.2 * m.random.Float64()
		m.add(fixed, (whole-fixed)/1e6)
	}
	return m
}

// Trying all 40 once on everything would take 1000 s. 400 s are enough to find the best, and to be sure of it.
func TestFindsTheBestOfForty(t *testing.T) {
	t.Parallel()
	found, sure, wrong := 0, 0, 0
	const searches = 100
	for seed := range uint64(searches) {
		m := forty(seed, 0.05)
		out, err := Run(t.Context(), m.config(400*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		v := out.Verdict()
		if v.Best == 17 {
			found++
		}
		if v.Sure() {
			sure++
			if v.Best != 17 && slices.Contains(out.Finalists, 17) {
				wrong++
			}
		}
	}
	if found < 90 || sure < 80 || wrong > 2 {
		t.Errorf("of %d searches %d found the best, %d were sure, %d sure of the wrong one", searches, found, sure, wrong)
	}
}

// Whatever the budget and the times: it is not exceeded by more than one run, and the last runs are shared out evenly.
func TestNeverExceedsTheBudgetByMoreThanARun(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := newMachine(seed, 0.3, 1e6)
		for range 1 + r.IntN(50) {
			m.add(r.Float64(), r.ExpFloat64()*2e-5)
		}
		budget := time.Duration(math.Exp(r.Float64()*8) * 1e9)
		out, err := Run(t.Context(), m.config(budget))
		if err != nil {
			t.Fatal(err)
		}
		if over := (out.Used - budget).Seconds(); over > m.longest+1e-6 {
			t.Errorf("seed %d: %v of %v used, %d runs, the longest %.1f s", seed, out.Used, budget, m.runs, m.longest)
		}
		if m.runs == 0 {
			t.Errorf("seed %d: nothing was run", seed)
		}
		if out.Guess < 0 {
			t.Errorf("seed %d: not even a guess", seed)
		}
		least, most := math.MaxInt, 0
		for _, i := range out.Finalists {
			n := len(out.Standings[i].finals())
			least, most = min(least, n), max(most, n)
		}
		if len(out.Finalists) > 0 && most > least+1 {
			t.Errorf("seed %d: from %d to %d runs of finalists", seed, least, most)
		}
		for i, x := range out.Standings {
			if x.Out == "" && !slices.Contains(out.Finalists, i) && len(out.Finalists) > 0 && len(x.Trials) == 0 {
				t.Errorf("seed %d: candidate %d is out without a reason", seed, i)
			}
		}
	}
}

// Equal ones are told apart no more often than chance allows, however many there are and however often it is looked.
func TestEqualOnesCantBeToldApart(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 4, 12} {
		sure := 0
		for seed := range uint64(100) {
			m := newMachine(seed, 0.1, 1e6)
			for range n {
				m.add(0, 1e-5)
			}
			out, err := Run(t.Context(), m.config(600*time.Second))
			if err != nil {
				t.Fatal(err)
			}
			v := out.Verdict()
			if v.Sure() {
				sure++
				continue
			}
			text := v.Text(func(i int) string { return fmt.Sprint("way ", i) })
			if !strings.Contains(text, "can't be told apart in this budget") || !strings.Contains(text, "runs") {
				t.Errorf("seed %d: %s", seed, text)
			}
		}
		if sure > 12 { // 5 % are expected at most
			t.Errorf("%d of 100 searches told %d equal ones apart", sure, n)
		}
	}
}

// Where there is no doubt the rest of the budget is not used.
func TestEndsWhenThereIsNoDoubt(t *testing.T) {
	t.Parallel()
	m := newMachine(1, 0.05, 1e6)
	m.add(0, 1e-6)
	m.add(0, 3e-6)
	out, err := Run(t.Context(), m.config(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if v := out.Verdict(); out.Used > 2*time.Minute || !v.Sure() || v.Best != 0 {
		t.Errorf("%v used, %+v", out.Used, v)
	}
}

func TestVerdictText(t *testing.T) {
	t.Parallel()
	name := func(i int) string { return []string{"A", "B"}[i] }
	times := func(x ...float64) (trials []Trial) {
		for _, s := range x {
			trials = append(trials, Trial{Final: true, Seconds: s})
		}
		return trials
	}
	for _, c := range []struct {
		a, b []float64
		want string
	}{
		{[]float64{1, 1.1, 1.2, 1.05}, []float64{2, 2.1, 2.2, 2.3}, "A is better than B: 0.50 times its time [0.43, 0.60], p=0.029, 4 and 4 runs"},
		{[]float64{1, 1.1}, []float64{2, 2.1}, "A and B can't be told apart in this budget: 2 and 2 runs, p=0.33; fewer than 4 runs each can show nothing"},
		{[]float64{1, 1.2, 1.1, 1.3}, []float64{1.15, 1.25, 1.4, 1.05}, "A and B can't be told apart in this budget: 4 and 4 runs, p=0.69; about 80 more of each would, if the difference is what it seems"},
		{[]float64{1, 2, 3, 4}, []float64{1, 2, 3, 4}, "A and B can't be told apart in this budget: 4 and 4 runs, p=1.00; no reasonable number of runs would"},
		{[]float64{1}, nil, "A is the only one that was measured to the end"},
		{nil, nil, "nothing is sure: no finalist was measured"},
	} {
		o := &Outcome{Standings: []Standing{{Trials: times(c.a...)}, {Trials: times(c.b...)}}}
		s := &search{out: o}
		s.rank()
		if d := cmp.Diff(c.want, o.Verdict().Text(name)); d != "" {
			t.Error(d)
		}
	}
}

// An option that gains nothing is given up after two sizes, and one that does is not.
func TestOptionsThatGainNothing(t *testing.T) {
	t.Parallel()
	m := newMachine(1, 0.001, 1e6)
	var candidates []Candidate
	for i := range 8 { // four pairs, each without and with
		m.add(0, (10+float64(i/2)/10)*1e-6*[]float64{1, 1.002}[i%2])
		candidates = append(candidates, Candidate{ID: fmt.Sprint(i)})
		if i%2 == 1 {
			candidates[i].Options = map[string]int{"useless": i - 1}
		}
	}
	c := m.config(200 * time.Second)
	c.Candidates, c.Finalists = candidates, 2
	out, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	gone := 0
	for i, x := range out.Standings {
		if strings.HasPrefix(x.Out, "useless gained nothing: 1.0") {
			gone++
			if i%2 == 0 {
				t.Errorf("candidate %d does not have it", i)
			}
		}
	}
	if gone == 0 {
		t.Error("the option was not given up")
	}
	for i := range m.document { // the other way round
		m.document[i] = (10 + float64(i/2)/10) * 1e-6 * []float64{1.2, 1}[i%2]
	}
	if out, err = Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if out.Verdict().Best != 1 {
		t.Errorf("best is %d", out.Verdict().Best)
	}
	for i, x := range out.Standings {
		if strings.Contains(x.Out, "gained nothing") {
			t.Errorf("%d: %s", i, x.Out)
		}
	}
}

// One that fails is out, with its error, also in the finals, and the others go on.
func TestFailures(t *testing.T) {
	t.Parallel()
	m := newMachine(1, 0.01, 1e6)
	for i := range 6 {
		m.add(0, 1e-5*(1+float64(i)/10))
	}
	broken, late := errors.New("broken"), errors.New("late")
	c := m.config(400 * time.Second)
	c.Measure = func(ctx context.Context, i int, share float64, final bool) (int64, float64, error) {
		switch {
		case i == 5:
			return 0, 0, broken
		case i == 0 && final:
			return 0, 0, late
		}
		return m.measure(ctx, i, share, final)
	}
	out, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if !errors.Is(out.Standings[5].Err, broken) || !errors.Is(out.Standings[0].Err, late) || out.Verdict().Best != 1 || slices.Contains(out.Finalists, 0) {
		t.Errorf("%+v", out)
	}
}

// However many fail, and whenever: the others are measured, and each one that failed has its error.
func TestAnyNumberOfFailures(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		m := newMachine(seed, 0.1, 1e6)
		for range 1 + r.IntN(20) {
			m.add(0.1, 1e-5*r.Float64())
		}
		share := r.Float64() * 1.2 // sometimes all
		failed := map[int]bool{}
		c := m.config(time.Duration(1+r.IntN(200)) * time.Second)
		c.Measure = func(ctx context.Context, i int, part float64, final bool) (int64, float64, error) {
			if failed[i] {
				t.Errorf("seed %d: %d ran again", seed, i)
			}
			if r.Float64() < share {
				failed[i] = true
				return 0, 0, broken
			}
			return m.measure(ctx, i, part, final)
		}
		out, err := Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range out.Standings {
			if failed[i] != (x.Err != nil) || failed[i] && slices.Contains(out.Finalists, i) {
				t.Errorf("seed %d: %d: %+v", seed, i, x)
			}
		}
		if out.Verdict().Best < 0 && out.Guess >= 0 && failed[out.Guess] {
			t.Errorf("seed %d: the guess failed", seed)
		}
	}
}

// When it is stopped, what is known comes back.
func TestStopped(t *testing.T) {
	t.Parallel()
	stop := errors.New("stop")
	for _, after := range []int{1, 30, 90} {
		m := forty(1, 0.01)
		ctx, cancel := context.WithCancelCause(t.Context())
		m.after = func(m *machine) {
			if m.runs == after {
				cancel(stop)
			}
		}
		out, err := Run(ctx, m.config(400*time.Second))
		trials := 0
		for _, x := range out.Standings {
			trials += len(x.Trials)
		}
		if !errors.Is(err, stop) || m.runs != after || trials != after-1 {
			t.Errorf("%v after %d runs, %d of them kept", err, m.runs, trials)
		}
	}
}

// Data too large for the budget: the last runs are on a part, and it is said which.
func TestFinalsOnAPart(t *testing.T) {
	t.Parallel()
	m := forty(3, 0.02)
	out, err := Run(t.Context(), m.config(100*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if out.FinalShare <= 0 || out.FinalShare >= 1 || len(out.Finalists) < 2 {
		t.Errorf("share %v, finalists %v", out.FinalShare, out.Finalists)
	}
	if n := len(out.Standings[out.Finalists[0]].finals()); n < leastFinals {
		t.Errorf("%d runs", n)
	}
}

func TestEstimate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		trials []Trial
		want   float64
	}{
		{"one size", []Trial{{Documents: 100, Seconds: 2}}, 20},
		{"fixed cost", []Trial{{Documents: 100, Seconds: 2}, {Documents: 200, Seconds: 3}}, 11},
		{"faster on more", []Trial{{Documents: 100, Seconds: 3}, {Documents: 200, Seconds: 2}}, 2},
		{"slower than in proportion", []Trial{{Documents: 100, Seconds: 1}, {Documents: 200, Seconds: 4}}, 20},
		{"the same size twice", []Trial{{Documents: 200, Seconds: 5}, {Documents: 200, Seconds: 4}}, 20},
		{"everything", []Trial{{Documents: 500, Seconds: 5}, {Documents: 1000, Seconds: 9}}, 9},
	} {
		if got := estimate(c.trials, 1000); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
