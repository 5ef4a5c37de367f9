package bench

import (
	"context"
	"errors"
	"fmt"
)

// Job is a row that can be measured. Run measures it once.
type Job struct {
	ID  string
	Run func(ctx context.Context, round int, warmup bool) (Sample, error)
}

// SkipError says that a row can't be run on this server, which is not a failure.
type SkipError struct{ Reason string }

func (e *SkipError) Error() string { return e.Reason }

// Plan says how often and what to tell about it.
type Plan struct {
	Jobs   []Job
	Runs   int // measured rounds, at least 1
	Warmup int // rounds before them that do not count
	// Before is called ahead of each run of a job; it may be nil.
	Before func(id string, round int, warmup bool)
	// Done is called with every finished run, warm-up included. An error ends the plan. It may be nil.
	Done func(Sample) error
}

// Outcome is what a job came to.
type Outcome struct {
	Samples []Sample // measured ones only
	Err     error    // a *SkipError, or why it failed; it has no further runs after it
}

// Rounds runs every job once a round, in their order, so that whatever drifts on the machine meets all of them. A
// job that fails is left out of later rounds. When ctx ends, the outcomes so far come back with its cause.
func Rounds(ctx context.Context, p Plan) (map[string]*Outcome, error) {
	outcomes := make(map[string]*Outcome, len(p.Jobs))
	for _, j := range p.Jobs {
		if outcomes[j.ID] != nil {
			return nil, fmt.Errorf("row %s is listed twice", j.ID)
		}
		outcomes[j.ID] = &Outcome{}
	}
	for round := 1 - p.Warmup; round <= max(1, p.Runs); round++ {
		for _, j := range p.Jobs {
			o := outcomes[j.ID]
			if o.Err != nil {
				continue
			}
			if ctx.Err() != nil {
				return outcomes, context.Cause(ctx)
			}
			warmup := round < 1
			if p.Before != nil {
				p.Before(j.ID, round, warmup)
			}
			s, err := j.Run(ctx, round, warmup)
			if err != nil {
				if ctx.Err() != nil {
					return outcomes, context.Cause(ctx)
				}
				o.Err = err
				continue
			}
			s.Row, s.Round, s.Warmup = j.ID, round, warmup
			if !warmup {
				o.Samples = append(o.Samples, s)
			}
			if p.Done != nil {
				if err := p.Done(s); err != nil {
					return outcomes, err
				}
			}
		}
	}
	return outcomes, nil
}

// Skipped returns the reason when err says that a row can't be run here, else "".
func Skipped(err error) string {
	if s, ok := errors.AsType[*SkipError](err); ok {
		return s.Reason
	}
	return ""
}
