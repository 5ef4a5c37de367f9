package bench

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// mostRounds ends a plan whatever its budget allows.
const mostRounds = 10_000

// Turn is one run of a row: which row, in which round, and as which of the round.
type Turn struct {
	Row    string
	Round  int // 1 and up; warm-up rounds count down to 0
	Order  int // place in the round, 1 and up
	Warmup bool
}

// Job is a row that can be measured. Run measures it once. A sample whose Start is 0 gets the time when Run was called.
type Job struct {
	ID  string
	Run func(ctx context.Context, t Turn) (Sample, error)
}

// SkipError says that a row can't be run on this server, which is not a failure.
type SkipError struct{ Reason string }

func (e *SkipError) Error() string { return e.Reason }

// Plan says how often and in which order, and what to tell about it.
type Plan struct {
	Jobs   []Job
	Runs   int // measured rounds, at least 1
	Warmup int // rounds before them that do not count
	// Shuffle is the seed of the jobs' order, which is another in each round, as [Order] says; nil keeps them as listed.
	Shuffle *uint64
	// Budget adds whole rounds to Runs, warm-up included, while another one is expected to end in time. It never
	// takes any away.
	Budget time.Duration
	// Before is called ahead of each run; its time is not measured. An error ends the plan. It may be nil.
	Before func(context.Context, Turn) error
	// Done is called with every finished run, warm-up included. An error ends the plan. It may be nil.
	Done func(Sample) error
	// Started is what a sample's Start counts from; zero is the call of Rounds.
	Started time.Time
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Outcome is what a job came to.
type Outcome struct {
	Samples []Sample // measured ones only
	Err     error    // a *SkipError, or why it failed; it has no further runs after it
}

// Rounds runs every job once a round, so that whatever drifts on the machine meets all of them, in shuffled order. A job that fails is left out of later rounds. When ctx ends, the outcomes so far
// come back with its cause.
func Rounds(ctx context.Context, p Plan) (map[string]*Outcome, error) {
	outcomes := make(map[string]*Outcome, len(p.Jobs))
	for _, j := range p.Jobs {
		if outcomes[j.ID] != nil {
			return nil, fmt.Errorf("row %s is listed twice", j.ID)
		}
		outcomes[j.ID] = &Outcome{}
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	began := p.Now()
	if p.Started.IsZero() {
		p.Started = began
	}
	var took []float64 // seconds of each measured round
	for round := 1 - p.Warmup; ; round++ {
		if round > max(1, p.Runs) && !p.another(round, took, p.Now().Sub(began)) {
			return outcomes, nil
		}
		start := p.Now()
		ran, err := p.round(ctx, round, outcomes)
		if err != nil {
			return outcomes, err
		}
		if ran == 0 {
			return outcomes, nil
		}
		if round >= 1 {
			took = append(took, p.Now().Sub(start).Seconds())
		}
	}
}

// another says whether the budget has room for one more round, should it take as long as the middle one so far.
func (p *Plan) another(round int, took []float64, elapsed time.Duration) bool {
	return round <= mostRounds && elapsed.Seconds()+median(took) <= p.Budget.Seconds()
}

// round runs each job that has not failed and returns how many that were.
func (p *Plan) round(ctx context.Context, round int, outcomes map[string]*Outcome) (ran int, err error) {
	for _, i := range Order(p.Shuffle, len(p.Jobs), round) {
		j := p.Jobs[i]
		o := outcomes[j.ID]
		if o.Err != nil {
			continue
		}
		ran++
		t := Turn{Row: j.ID, Round: round, Order: ran, Warmup: round < 1}
		if ctx.Err() != nil {
			return ran, context.Cause(ctx)
		}
		if p.Before != nil {
			if err := p.Before(ctx, t); err != nil {
				if ctx.Err() != nil {
					err = context.Cause(ctx)
				}
				return ran, err
			}
		}
		start := p.Now()
		s, err := j.Run(ctx, t)
		if err != nil {
			if ctx.Err() != nil {
				return ran, context.Cause(ctx)
			}
			o.Err = err
			continue
		}
		s.Row, s.Round, s.Order, s.Warmup = j.ID, t.Round, t.Order, t.Warmup
		if s.Start == 0 {
			s.Start = start.Sub(p.Started).Seconds()
		}
		if !t.Warmup {
			o.Samples = append(o.Samples, s)
		}
		if p.Done != nil {
			if err := p.Done(s); err != nil {
				return ran, err
			}
		}
	}
	return ran, nil
}

// Skipped returns the reason when err says that a row can't be run here, else "".
func Skipped(err error) string {
	if s, ok := errors.AsType[*SkipError](err); ok {
		return s.Reason
	}
	return ""
}
