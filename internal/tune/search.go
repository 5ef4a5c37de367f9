package tune

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"mrbench/internal/bench"
)

// Candidate is a way of doing the job.
type Candidate struct {
	ID string
	// Options are what the candidate has and others do without: for each, the place in the list of the candidate that is the same
	// but for it. An option that gains nothing at two sizes is given up.
	Options map[string]int
}

// Trial is one run of a candidate.
type Trial struct {
	Candidate int     `json:"-"`
	Round     int     `json:"round"` // 1 and up; of the finals, counted anew
	Final     bool    `json:"final"`
	Share     float64 `json:"share"`     // of the documents that was asked for
	Documents int64   `json:"documents"` // that the run did read
	Seconds   float64 `json:"seconds"`
}

// Config of Run. Candidates, Documents, Measure and Budget are required.
type Config struct {
	Candidates []Candidate
	Documents  int64 // of the whole
	// Measure runs a candidate on a share of the data, from 0 to 1, and returns how many documents that were. An error puts the
	// candidate out of the search; when ctx has ended, it ends the search.
	Measure   func(ctx context.Context, candidate int, share float64, final bool) (documents int64, seconds float64, err error)
	Budget    time.Duration
	First     float64 // share of the first round; 0 is all
	Finalists int     // at most so many run on everything, default 4
	Seed      uint64  // of the order within rounds
	// Done is called after each trial. An error ends the search. It may be nil.
	Done func(Trial) error
	// Begin is called before each round with how many candidates it has. It may be nil.
	Begin func(round int, final bool, share float64, candidates int)
	Now   func() time.Time // nil is time.Now
}

const (
	// halvingShare of the budget is for choosing finalists, the rest for telling them apart.
	halvingShare = 0.5
	// leastFinals is the fewest runs of two finalists that can show a difference at all, by a Mann–Whitney test with
	// bench.Alpha.
	leastFinals = 4
	// mostFinals ends the finals whatever the budget allows: more runs tell what no one would notice.
	mostFinals = 1000
	// The finals end early when the best is shown with sureP. It is looked at first after surelyFinals runs, and again whenever there
	// are a fourth more: a chance that is taken often comes true more often, so it is far below bench.Alpha.
	sureP        = 0.001
	surelyFinals = 10
)

// Standing is what became of a candidate.
type Standing struct {
	Candidate int
	Trials    []Trial // in the order they were made
	// Estimate is the time on everything, in seconds, as the halving's trials suggest: see estimate. 0 when there are none.
	Estimate float64
	Out      string  // why it is not a finalist; "" it is
	Err      error   // of Measure
	walls    []Trial // the same trials with everything around them, by share
}

// finals are the times of the last runs.
func (s *Standing) finals() (seconds []float64) {
	for _, t := range s.Trials {
		if t.Final {
			seconds = append(seconds, t.Seconds)
		}
	}
	return seconds
}

// Outcome of a search.
type Outcome struct {
	Standings  []Standing // by candidate
	Finalists  []int      // best first; only those that ran in the finals
	FinalShare float64    // of the data; 0 when there were no finals
	Guess      int        // candidate with the lowest estimate of those that were left last; -1 when none ran
	Used       time.Duration
}

type search struct {
	Config
	out   *Outcome
	alive []int
	began time.Time
	round int
	ran   bool
	kept  map[string][]float64 // by option, at each size so far: the times with it over the times without
}

// Run searches. The outcome is there whatever happens; the error is ctx's cause or Done's.
func Run(ctx context.Context, c Config) (*Outcome, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Finalists == 0 {
		c.Finalists = 4
	}
	if !(c.First > 0 && c.First <= 1) {
		c.First = 1
	}
	s := &search{Config: c, out: &Outcome{Standings: make([]Standing, len(c.Candidates))}, began: c.Now(), kept: map[string][]float64{}}
	for i := range s.out.Standings {
		s.out.Standings[i].Candidate = i
		s.alive = append(s.alive, i)
	}
	err := s.halve(ctx)
	if err == nil {
		err = s.finals(ctx)
	}
	s.out.Used = s.Now().Sub(s.began)
	s.rank()
	return s.out, err
}

func (s *search) used() float64 { return s.Now().Sub(s.began).Seconds() }

// halve runs rounds until few enough candidates are left or the time for it is used.
func (s *search) halve(ctx context.Context) error {
	share, limit := s.First, s.Budget.Seconds()*halvingShare
	for len(s.alive) > s.Finalists || s.round < 2 { // from two sizes forecasts are much better
		if s.round > 0 && !s.worthwhile(share) {
			break
		}
		s.round++
		if s.Begin != nil {
			s.Begin(s.round, false, share, len(s.alive))
		}
		turns := slices.Clone(s.alive) // some may fail meanwhile
		for _, k := range bench.Order(&s.Seed, len(turns), s.round) {
			i := turns[k]
			if s.ran && s.used()+s.forecast(i, share) > limit { // one run is better than none
				continue
			}
			if err := s.measure(ctx, i, Trial{Candidate: i, Round: s.round, Share: share}); err != nil {
				return err
			}
		}
		s.dropUnmeasured()
		s.dropOptions()
		s.keepBest(max(s.Finalists, (len(s.alive)+1)/2), fmt.Sprintf("round %d", s.round))
		if share == 1 {
			break
		}
		share = min(1, 2*share)
	}
	s.keepBest(s.Finalists, "no time")
	return nil
}

// worthwhile says whether another round leaves time to tell two finalists apart.
func (s *search) worthwhile(share float64) bool {
	cost := 0.0
	for _, i := range s.alive {
		cost += s.forecast(i, share)
	}
	best := s.byEstimate()
	finals := 0.0
	for _, i := range best[:min(2, len(best))] {
		finals += leastFinals * s.forecast(i, 1)
	}
	budget := s.Budget.Seconds()
	return s.used()+cost <= budget*halvingShare && (s.used()+cost+finals <= budget || share < 1 && s.used()+finals > budget)
}

// measure runs a candidate once.
func (s *search) measure(ctx context.Context, i int, t Trial) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	x := &s.out.Standings[i]
	start := s.Now()
	s.ran = true
	documents, seconds, err := s.Measure(ctx, i, t.Share, t.Final)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		x.Err, x.Out = err, err.Error()
		s.alive = slices.DeleteFunc(slices.Clone(s.alive), func(k int) bool { return k == i })
		return nil
	}
	t.Documents, t.Seconds = max(documents, 1), seconds
	x.walls = append(x.walls, Trial{Documents: s.documents(t.Share), Seconds: s.Now().Sub(start).Seconds()})
	x.Trials = append(x.Trials, t)
	if !t.Final {
		x.Estimate = estimate(x.Trials, s.Documents)
	}
	if s.Done != nil {
		return s.Done(t)
	}
	return nil
}

// forecast is how long a run will take with everything around it, as estimate has it. Of a candidate that never ran it is the
// middle one of those that did.
func (s *search) forecast(i int, share float64) float64 {
	if x := &s.out.Standings[i]; len(x.walls) > 0 {
		return estimate(x.walls, s.documents(share))
	}
	var walls []float64
	for _, y := range s.out.Standings {
		if len(y.walls) > 0 {
			walls = append(walls, estimate(y.walls, s.documents(share)))
		}
	}
	return medianOf(walls)
}

func (s *search) documents(share float64) int64 { return max(1, int64(share*float64(s.Documents))) }

// dropUnmeasured puts out candidates that never ran.
func (s *search) dropUnmeasured() {
	s.alive = slices.DeleteFunc(s.alive, func(i int) bool {
		if len(s.out.Standings[i].Trials) > 0 {
			return false
		}
		s.out.Standings[i].Out = NotTried
		return true
	})
}

// NotTried is why a candidate is out that the budget had no room for.
const NotTried = "not tried: the budget had no room for it"

func (s *search) byEstimate() []int {
	order := slices.Clone(s.alive)
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(s.out.Standings[a].Estimate, s.out.Standings[b].Estimate)
	})
	return order
}

// keepBest keeps the n with the lowest estimates. why is said of the others, with their place.
func (s *search) keepBest(n int, why string) {
	order := s.byEstimate()
	if len(order) <= n {
		s.alive = order
		return
	}
	for place, i := range order[n:] {
		s.out.Standings[i].Out = fmt.Sprintf("%s: %d of %d", why, n+place+1, len(order))
	}
	s.alive = order[:n]
}

// finals runs the finalists in turns until the budget is used or there is no doubt.
func (s *search) finals(ctx context.Context) error {
	if len(s.alive) == 0 {
		return nil
	}
	left := s.Budget.Seconds() - s.used()
	share := 1.0
	// Fewer finalists when there is no time for all; and a part, when there is none for two on everything.
	for cost := s.roundCost(share); cost*leastFinals > left; cost = s.roundCost(share) {
		if len(s.alive) > 2 {
			i := s.alive[len(s.alive)-1]
			s.out.Standings[i].Out = "no time for more finalists"
			s.alive = s.alive[:len(s.alive)-1]
			continue
		}
		if share <= s.First {
			break
		}
		share = max(s.First, share/2)
	}
	s.out.FinalShare = share
	look := surelyFinals
	for round := 1; round <= mostFinals; round++ {
		if round > 1 && s.used()+s.roundCost(share) > s.Budget.Seconds() {
			return nil
		}
		begun := false
		turns := slices.Clone(s.alive)
		for _, k := range bench.Order(&s.Seed, len(turns), round) {
			i := turns[k]
			if s.used() >= s.Budget.Seconds() || round == 1 && s.used()+s.forecast(i, share) > s.Budget.Seconds() {
				continue
			}
			if s.Begin != nil && !begun {
				s.Begin(round, true, share, len(s.alive))
			}
			begun = true
			if err := s.measure(ctx, i, Trial{Candidate: i, Round: round, Final: true, Share: share}); err != nil {
				return err
			}
		}
		if len(s.alive) == 0 || !begun {
			return nil
		}
		if round >= look {
			if len(s.alive) == 1 || s.surely() {
				return nil
			}
			look = round + round/4
		}
	}
	return nil
}

// surely says whether more runs would tell nothing new.
func (s *search) surely() bool {
	s.rank()
	v := s.out.Verdict()
	return v.Sure() && v.Versus.P < sureP
}

func (s *search) roundCost(share float64) float64 {
	cost := 0.0
	for _, i := range s.alive {
		cost += s.forecast(i, share)
	}
	return cost
}

// rank orders the finalists, those that failed aside.
func (s *search) rank() {
	s.out.Guess = -1
	if order := s.byEstimate(); len(order) > 0 {
		if i := slices.IndexFunc(order, func(i int) bool { return len(s.out.Standings[i].Trials) > 0 }); i >= 0 {
			s.out.Guess = order[i]
		}
	}
	s.out.Finalists = nil
	for i, x := range s.out.Standings {
		if x.Err == nil && len(x.finals()) > 0 {
			s.out.Finalists = append(s.out.Finalists, i)
		}
	}
	if len(s.out.Finalists) == 0 {
		s.out.FinalShare = 0
	}
	slices.SortStableFunc(s.out.Finalists, func(a, b int) int {
		return cmp.Compare(medianOf(s.out.Standings[a].finals()), medianOf(s.out.Standings[b].finals()))
	})
}

// estimate is the time on all documents that trials on parts suggest. From one size it is in proportion, which counts what a run
// costs whatever it reads too often. From two it is on the line through the two largest, but no less than the last time and no
// more than in proportion.
func estimate(trials []Trial, all int64) float64 {
	last := trials[len(trials)-1]
	most := last.Seconds * max(1, float64(all)/float64(last.Documents))
	for _, t := range slices.Backward(trials) {
		if t.Documents < last.Documents {
			slope := (last.Seconds - t.Seconds) / float64(last.Documents-t.Documents)
			line := last.Seconds + slope*float64(all-last.Documents)
			return math.Min(math.Max(line, last.Seconds), most)
		}
	}
	return most
}

func medianOf(x []float64) float64 {
	s := bench.Summarize(x)
	if s == nil {
		return 0
	}
	return s.Median
}
