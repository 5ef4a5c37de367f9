package cli

import (
	"context"
	"errors"

	"mrbench/mr"
)

// plan prints what tune would send: of each variant the combination with the most ranges, on all documents.
func (s *tuning) plan(ctx context.Context) error {
	d := s.m.dry
	err := s.prepare(ctx)
	if err == nil {
		d.line("// tune runs %s, on parts of the documents first: with narrower filters, or a limit", counted(len(s.list), "combination", "combinations"))
		err = s.o.planLimits(ctx, d, s.t, s.result.Threads, "range")
	}
	if err == nil {
		err = s.planVariants(ctx)
	}
	if errors.Is(err, errPlanEnds) {
		err = nil
	}
	return firstError(err, s.app.printPlan(d))
}

func (s *tuning) planVariants(ctx context.Context) error {
	m, last, count := s.m, map[string]int{}, map[string]int{}
	for i, c := range s.list {
		count[c.name()]++
		if old, ok := last[c.name()]; !ok || c.ranges >= s.list[old].ranges {
			last[c.name()] = i
		}
	}
	for i, c := range s.list {
		if last[c.name()] != i {
			continue
		}
		m.dry.line("// %s, one of %s of threads and ranges", c.text(), counted(count[c.name()], "combination", "combinations"))
		m.o.threads, m.ranges = c.threads, nil
		if c.variant.ranges {
			m.ranges, _ = s.parts.ranges(c.ranges, 1)
		}
		plan := m.planMapReduce
		if c.aggregate {
			plan = m.planPipeline
		}
		err := plan(ctx, i)
		if errors.Is(err, mr.ErrAmbiguousKeys) {
			m.dry.line("// it is skipped: %v", err)
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}
