package aggregate

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/splitter"
)

// Config of Run. Collection and Pipeline are required. The answer streams to
// the client through cursors: Sink sees every {_id, value}.
type Config struct {
	Collection *mongo.Collection
	Pipeline   []bson.D         // after the range's $match; UniqueCount(key) for the built-in job
	Key        string           // the field that the ranges and the covering index are of
	Ranges     []splitter.Range // nil: whole
	Predicate  splitter.Predicate
	Threads    int // pipelines at a time, default 1
	// Owners are the shards that the ranges lie on, in their order, "" where that is not known (splitter.Report.Owners). At
	// most PerShard pipelines of one shard's ranges run at a time; 0: no limit.
	Owners   []string
	PerShard int
	Covered  bool // hint the index and sort on the key first so that the index alone answers; Run checks it by explain
	// Sink gets the results batch by batch; called from several goroutines, one at a time per part. The
	// documents are valid during the call only. May be nil. An error ends the run.
	Sink func(part int, results []bson.Raw) error
	// Into puts the results into collections instead of handing them to Sink. May be nil.
	Into *Into
	// Gate is asked before each part's pipeline is sent, with its shard of Owners. It blocks while the server is too busy; its error
	// fails the run. done is called when the last result is with Sink. May be nil: no limit.
	Gate func(ctx context.Context, shard string) (done func(), err error)
	// OnStart is called as parts start, with their Index, Range and Thread, OnPart as they finish; one call of either at a
	// time. May be nil.
	OnStart, OnPart func(Part)
	// Comment marks the pipelines on the server, for currentOp and its like: that of part i carries <Comment>_<i>.
	Comment string
}

// UniqueCount is $group by the field with {$sum: 1} as value.
func UniqueCount(key string) []bson.D {
	return []bson.D{{{Key: "$group", Value: bson.D{
		{Key: "_id", Value: "$" + key},
		{Key: "value", Value: bson.D{{Key: "$sum", Value: 1}}},
	}}}}
}

// Part is one range's pipeline.
type Part struct {
	Index   int
	Range   splitter.Range
	Owner   string   // shard that the range was said to lie on
	Shards  []string // that the router would ask, by explain; nil: no router, or this part was not explained
	Output  int64    // results
	Start   float64  // seconds since the run began
	Seconds float64  // wall, until the last result is with Sink
	Thread  int
}

// Report of Run.
type Report struct {
	Parts     []Part // by index; after an error only those that finished have a Seconds
	Output    int64
	Seconds   float64 // wall, without the explain
	IndexUsed string  // "" collection scan, or the server does not explain
	IsCovered bool    // explain says of every part that no document was fetched
}

// Run executes the pipeline. Errors: *splitter.NoIndexError when Covered finds
// no index, *splitter.KilledError, Sink's own, ctx's, server errors with the command and the range. The
// report is not nil once a pipeline was started.
func Run(ctx context.Context, c Config) (*Report, error) {
	x, err := prepare(ctx, c)
	if err != nil {
		return nil, err
	}
	rep := &Report{}
	rep.Parts = make([]Part, x.pieces())
	for i := range rep.Parts {
		rep.Parts[i] = Part{Index: i, Range: x.piece(i)}
		if i < len(c.Owners) {
			rep.Parts[i].Owner = c.Owners[i]
		}
	}
	if err := x.explain(ctx, rep); err != nil {
		return nil, err
	}
	start := time.Now()
	var mu sync.Mutex
	tell := func(to func(Part), p Part) {
		if to != nil {
			mu.Lock()
			defer mu.Unlock()
			to(p)
		}
	}
	owners := splitter.Owners{Of: c.Owners, Each: c.PerShard}
	err = splitter.EachOwned(ctx, x.pieces(), max(c.Threads, 1), owners, func(ctx context.Context, i, thread int) error {
		p := &rep.Parts[i]
		if x.Gate != nil {
			done, err := x.Gate(ctx, p.Owner)
			if err != nil {
				return err
			}
			defer done()
		}
		began := time.Now()
		p.Start, p.Thread = began.Sub(start).Seconds(), thread
		tell(c.OnStart, *p)
		if err := x.stream(ctx, p); err != nil {
			return err
		}
		p.Seconds = time.Since(began).Seconds()
		tell(c.OnPart, *p)
		return nil
	})
	rep.Seconds = time.Since(start).Seconds()
	for _, p := range rep.Parts {
		rep.Output += p.Output
	}
	return rep, err
}

// Results runs it once more, ordered by _id, for finding the first differing
// keys. Ranges are left out: the whole is one pipeline. A document is valid until
// the next one is asked for.
func Results(ctx context.Context, c Config) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		c.Ranges = nil
		x, err := prepare(ctx, c)
		if err != nil {
			yield(nil, err)
			return
		}
		stages := append(x.pipeline(splitter.Range{}), bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}})
		cur, err := c.Collection.Aggregate(ctx, stages, x.options())
		if err != nil {
			yield(nil, fmt.Errorf("aggregate: %s: %w", x.ns, err))
			return
		}
		defer cur.Close(context.WithoutCancel(ctx))
		for cur.Next(ctx) {
			if !yield(cur.Current, nil) {
				return
			}
		}
		if err := cur.Err(); err != nil {
			yield(nil, fmt.Errorf("aggregate: %s: %w", x.ns, err))
		}
	}
}

// run is a checked Config.
type run struct {
	Config
	ns    string
	index string // to hint, "" none

	server splitter.Server // asked for Into only
}

func prepare(ctx context.Context, c Config) (*run, error) {
	if c.Collection == nil {
		return nil, errors.New("aggregate: no collection given")
	}
	if len(c.Pipeline) == 0 {
		return nil, errors.New("aggregate: no pipeline given")
	}
	x := &run{Config: c, ns: c.Collection.Database().Name() + "." + c.Collection.Name()}
	if c.Into != nil {
		var err error
		if x.server, err = splitter.AskServer(ctx, c.Collection.Database().Client()); err != nil {
			return nil, err
		}
	}
	if !c.Covered {
		return x, nil
	}
	if c.Key == "" {
		return nil, errors.New("aggregate: covered: no key given")
	}
	var err error
	x.index, _, err = splitter.IndexFor(ctx, c.Collection, c.Key)
	return x, err
}

func (x *run) pieces() int { return max(len(x.Ranges), 1) }

func (x *run) piece(i int) splitter.Range {
	if len(x.Ranges) == 0 {
		return splitter.Range{Key: x.Key}
	}
	return x.Ranges[i]
}

// pipeline is the whole pipeline of one range.
func (x *run) pipeline(r splitter.Range) []bson.D {
	var stages []bson.D
	if !r.Everything() {
		stages = append(stages, bson.D{{Key: "$match", Value: r.Filter(x.Predicate)}})
	}
	if x.Covered {
		stages = append(stages, bson.D{{Key: "$sort", Value: bson.D{{Key: x.Key, Value: 1}}}})
	}
	return append(stages, x.Pipeline...)
}

// batchSize is more than a reply holds: the server cuts batches at 16 MB.
const batchSize = 100_000

func (x *run) options() *options.AggregateOptions {
	o := options.Aggregate().SetAllowDiskUse(true).SetBatchSize(batchSize)
	if x.index != "" {
		o.SetHint(x.index)
	}
	return o
}

// stream runs one range and hands its results on, a cursor's batch at a time.
func (x *run) stream(ctx context.Context, p *Part) error {
	where := func(err error) error {
		if splitter.Killed(err) {
			return &splitter.KilledError{What: "aggregate on " + x.ns, Index: p.Index, Range: p.Range, Err: err}
		}
		if p.Range.Everything() {
			return fmt.Errorf("aggregate: %s: %w", x.ns, err)
		}
		return fmt.Errorf("aggregate: %s, range %s of %s: %w", x.ns, p.Range, p.Range.Key, err)
	}
	o := x.options()
	if x.Comment != "" {
		o.SetComment(fmt.Sprintf("%s_%d", x.Comment, p.Index))
	}
	if x.Into != nil {
		if err := x.into(ctx, p, o); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return where(err)
		}
		return nil
	}
	cur, err := x.Collection.Aggregate(ctx, x.pipeline(p.Range), o)
	if err != nil {
		return where(err)
	}
	defer cur.Close(context.WithoutCancel(ctx)) // a cursor that is left open goes on working
	var batch []bson.Raw
	for cur.Next(ctx) {
		batch = append(batch[:0], cur.Current)
		// Next does not leave the batch while documents of it remain, so what is
		// collected here stays valid.
		for range cur.RemainingBatchLength() {
			if !cur.Next(ctx) {
				break
			}
			batch = append(batch, cur.Current)
		}
		p.Output += int64(len(batch))
		if x.Sink == nil {
			continue
		}
		if err := x.Sink(p.Index, batch); err != nil {
			return err
		}
	}
	if err := cur.Err(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return where(err)
	}
	return nil
}
