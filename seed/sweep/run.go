package sweep

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/seed"
)

// Config of Run. Required are Database, Generator, Documents and Points.
type Config struct {
	Database  *mongo.Database // the points' collections are made in it and dropped
	Generator seed.Generator
	Documents int64 // a point
	IndexKeys bson.D
	Points    []Point
	Runs      int    // rounds, default 1
	Seed      uint64 // of the order in each round

	// Observe is called before a load; what it returns is called after it and tells the processor seconds that the
	// server used meanwhile, nil when they can't be known. May be nil.
	Observe func(context.Context) (end func() *float64)
	// Prefilling is told before a collection is filled. May be nil.
	Prefilling func(documents int64)
	// Started is told before a point is measured. May be nil.
	Started func(p Point, round int)
	// Done gets each sample as it is made. An error ends the sweep. May be nil.
	Done func(Sample) error
	// Progress of a point's load and of filling a collection; may be nil.
	Progress func(seed.Progress)
}

// Sample is one load at one point.
type Sample struct {
	Point
	Round        int      `json:"round"`         // 1 and up
	Documents    int64    `json:"documents"`     // that are there afterwards
	Missing      int64    `json:"missing"`       // sent and not there: write concern 0 hides failures
	Bytes        int64    `json:"bytes"`         // of BSON
	Seconds      float64  `json:"seconds"`       // load and index; with write concern 0 until the documents were there
	IndexSeconds float64  `json:"index_seconds"` // inside Seconds
	Batches      int64    `json:"batches"`
	BatchP50MS   float64  `json:"batch_p50_ms"`
	BatchP99MS   float64  `json:"batch_p99_ms"`
	BatchMaxMS   float64  `json:"batch_max_ms"`
	CPUSeconds   *float64 `json:"cpu_seconds"`     // as Config.Observe says; null when it is not known
	Error        string   `json:"error,omitempty"` // why there is no time
}

// Run measures every point. With an error of ctx or of Done, the samples so far come back beside it.
func Run(ctx context.Context, c Config) ([]Sample, error) {
	if c.Database == nil || c.Generator == nil || c.Documents < 1 || len(c.Points) == 0 {
		return nil, errors.New("sweep: a database, a generator, a number of documents and points are required")
	}
	s := &sweeper{c: c, pool: map[poolKey]*prefilled{}}
	var samples []Sample
	failed := make([]bool, len(c.Points))
	for round := 1; round <= max(1, c.Runs); round++ {
		for _, i := range order(c.Seed, round, len(c.Points)) {
			if failed[i] {
				continue
			}
			if ctx.Err() != nil {
				return samples, context.Cause(ctx)
			}
			if c.Started != nil {
				c.Started(c.Points[i], round)
			}
			sample, err := s.measure(ctx, c.Points[i])
			if ctx.Err() != nil {
				return samples, context.Cause(ctx)
			}
			if err != nil {
				sample.Error, failed[i] = err.Error(), true
			}
			sample.Round = round
			samples = append(samples, sample)
			if c.Done != nil {
				if err := c.Done(sample); err != nil {
					return samples, err
				}
			}
		}
	}
	return samples, s.dropPool(ctx)
}

// order is the order of a round's points.
func order(seed uint64, round, n int) []int {
	return rand.New(rand.NewPCG(seed, uint64(round))).Perm(n)
}

type sweeper struct {
	c    Config
	made int // collections
	pool map[poolKey]*prefilled
}

// collection makes one of its own name.
func (s *sweeper) collection(ctx context.Context) (*mongo.Collection, error) {
	s.made++
	name := fmt.Sprintf("sweep_%d", s.made)
	if err := s.c.Database.CreateCollection(ctx, name); err != nil {
		return nil, fmt.Errorf("create %s.%s: %w", s.c.Database.Name(), name, err)
	}
	return s.c.Database.Collection(name), nil
}

func (s *sweeper) drop(ctx context.Context, c *mongo.Collection) error {
	if err := c.Drop(ctx); err != nil {
		return fmt.Errorf("drop %s.%s: %w", c.Database().Name(), c.Name(), err)
	}
	return nil
}

// measure loads once at a point.
func (s *sweeper) measure(ctx context.Context, p Point) (Sample, error) {
	if p.Prefill > 0 {
		f, first, err := s.take(ctx, p)
		if err != nil {
			return Sample{Point: p}, err
		}
		sample, err := s.load(ctx, p, f.coll, shifted{s.c.Generator, first})
		if err != nil || sample.Missing > 0 { // nobody knows what is in it now
			err = errors.Join(err, s.giveUp(ctx, p))
		}
		return sample, err
	}
	coll, err := s.collection(ctx)
	if err != nil {
		return Sample{Point: p}, err
	}
	sample, err := s.load(ctx, p, coll, s.c.Generator)
	if ctx.Err() != nil {
		return sample, ctx.Err()
	}
	return sample, errors.Join(err, s.drop(ctx, coll))
}

func (s *sweeper) load(ctx context.Context, p Point, coll *mongo.Collection, g seed.Generator) (Sample, error) {
	end := func() *float64 { return nil }
	if s.c.Observe != nil {
		end = s.c.Observe(ctx)
	}
	r, err := seed.Run(ctx, seed.Config{
		Collection: coll, Generator: g, Documents: s.c.Documents, Append: p.Prefill > 0, Writers: p.Writers, Batch: p.Batch,
		Ordered: p.Ordered, WriteConcern: p.WriteConcern, Index: p.Index, IndexKeys: s.c.IndexKeys, Progress: s.c.Progress,
	})
	sample := Sample{Point: p, CPUSeconds: end()}
	if r == nil {
		return sample, err
	}
	sample.Documents, sample.Bytes, sample.Batches = r.Documents, r.Bytes, r.Batches
	sample.Seconds, sample.IndexSeconds = r.Seconds, r.IndexSeconds
	sample.BatchP50MS, sample.BatchP99MS, sample.BatchMaxMS = r.BatchP50MS, r.BatchP99MS, r.BatchMaxMS
	var count *seed.CountError
	if errors.As(err, &count) && count.Unacknowledged && count.Counted < count.Expected {
		sample.Missing = count.Expected - count.Counted
		sample.Documents -= sample.Missing
		return sample, nil
	}
	if err == nil && p.WriteConcern == "0" {
		sample.Seconds += r.CountSeconds // sent is not there yet: the count waited for the rest
	}
	return sample, err
}
