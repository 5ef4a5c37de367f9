package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"mrbench/internal/report"
	"mrbench/seed"
	"mrbench/seed/sweep"
)

// Small loads from which the time of a sweep is guessed.
const (
	probeSingles = 50    // documents, one an insert: what an insert costs
	probeBatch   = 1000  // documents an insert
	probeDocs    = 10000 // what a document costs
)

// speed is what the small loads showed.
type speed struct {
	document float64            // seconds
	insert   map[string]float64 // seconds beside the documents, by write concern
}

// announce says what is going to be done and about how long it takes.
func (s *sweeping) announce(ctx context.Context) error {
	v, err := s.probe(ctx)
	if err != nil {
		return err
	}
	points, runs, docs := len(s.conf.Points), s.o.runs, s.conf.Documents
	loads := map[[2]any]int{} // of prefilled collections
	seconds := 0.0
	for _, p := range s.conf.Points {
		seconds += v.of(p, docs) * float64(runs)
		if p.Prefill > 0 {
			loads[[2]any{p.Prefill, p.Index != seed.IndexNone}] += runs
		}
	}
	prefilled, fills := int64(0), 0
	for k, n := range loads {
		size := k[0].(int64)
		times := sweep.Fills(size, docs, n)
		fills += times
		prefilled += int64(times) * size
		each := float64(size) * v.document
		if k[1].(bool) {
			each *= 1.6 // the index
		}
		seconds += each * float64(times)
	}
	text := fmt.Sprintf("%s × %s: %s documents", counted(points, "point", "points"), counted(runs, "run", "runs"), report.Thousands(docs*int64(points)*int64(runs)))
	if fills > 0 {
		text += fmt.Sprintf(", and %s to fill %d collections before", report.Thousands(prefilled), fills)
	}
	s.app.tell("%s; about %s, as small loads suggest", text, roughly(time.Duration(seconds*float64(time.Second))))
	for _, k := range s.result.Skipped {
		s.app.tell("left out: %s: %s", counted(k.Points, "point", "points"), k.Reason)
	}
	return nil
}

// probe loads little.
func (s *sweeping) probe(ctx context.Context) (speed, error) {
	v := speed{insert: map[string]float64{}}
	c := seed.Config{Generator: s.conf.Generator, Documents: min(probeDocs, s.conf.Documents), Batch: probeBatch, Writers: 1}
	r, err := s.probeLoad(ctx, c)
	if err != nil {
		return v, err
	}
	v.document = r.LoadSeconds / float64(c.Documents)
	var concerns []string
	for _, p := range s.conf.Points {
		if !slices.Contains(concerns, p.WriteConcern) {
			concerns = append(concerns, p.WriteConcern)
		}
	}
	for _, w := range concerns {
		c.Documents, c.Batch, c.WriteConcern = min(probeSingles, s.conf.Documents), 1, w
		r, err := s.probeLoad(ctx, c)
		if err != nil { // the point will say why
			v.insert[w] = 0
			continue
		}
		v.insert[w] = max(0, r.LoadSeconds/float64(c.Documents)-v.document)
	}
	return v, ctx.Err()
}

func (s *sweeping) probeLoad(ctx context.Context, c seed.Config) (*seed.Report, error) {
	c.Collection = s.conf.Database.Collection("probe")
	r, err := seed.Run(ctx, c)
	if derr := c.Collection.Drop(ctx); err == nil {
		err = derr
	}
	return r, err
}

// of guesses the seconds of a point.
func (v speed) of(p sweep.Point, docs int64) float64 {
	inserts := float64(docs) / float64(p.Batch)
	each := v.document
	switch p.Index {
	case seed.IndexBefore:
		each *= 2
	case seed.IndexAfter:
		each *= 1.6
	}
	return inserts*v.insert[p.WriteConcern]/float64(p.Writers) + each*float64(docs)
}

// roughly is a time for a person.
func roughly(d time.Duration) string {
	if d < time.Second {
		return "less than a second"
	}
	return shortTime(d)
}
