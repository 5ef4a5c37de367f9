package into

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/splitter"
)

// Missing are those of the list's ranges [from, to), counted from 0, that are not in.
func (r *Result) Missing(ctx context.Context, from, to int) ([]int, error) {
	in := map[int]bool{}
	if !r.plan.Done {
		parts, err := r.parts(ctx, bson.D{{Key: "plan", Value: r.plan.N}})
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			in[p.Range-1] = true
		}
	}
	var missing []int
	for i := from; i < to && !r.plan.Done; i++ {
		if !in[i] {
			missing = append(missing, i)
		}
	}
	return missing, nil
}

// In is how many of the list's ranges are in.
func (r *Result) In(ctx context.Context) (in, of int, err error) {
	missing, err := r.Missing(ctx, 0, r.plan.Ranges)
	if err != nil {
		return 0, r.plan.Ranges, err
	}
	return r.plan.Ranges - len(missing), r.plan.Ranges, nil
}

// Where is the collection that range i, counted from 0, is to be put into: the result, or one of its own. Created is told of the latter.
func (r *Result) Where(i int) (coll string, err error) {
	if r.plan.Mode == Merge {
		return r.c.Coll, nil
	}
	coll = r.companion(fmt.Sprintf("part_%d", i+1))
	return coll, r.c.Created(coll)
}

func (r *Result) companion(what string) string { return r.c.Coll + companion + r.c.Run + "_" + what }

// totals are the number of keys and the sum of the values that are numbers.
type totals struct {
	Keys int64   `bson:"keys"`
	Sum  float64 `bson:"sum"`
}

func (r *Result) total(ctx context.Context, coll string, filter bson.D) (t totals, err error) {
	cur, err := open(r.c.Client, r.c.DB, coll).Aggregate(ctx, mongo.Pipeline{
		{{Key: "$match", Value: filter}},
		{{Key: "$group", Value: bson.D{
			{Key: "_id", Value: nil},
			{Key: "keys", Value: bson.D{{Key: "$sum", Value: 1}}},
			{Key: "sum", Value: bson.D{{Key: "$sum", Value: "$value"}}},
		}}},
	})
	if err == nil {
		defer cur.Close(context.WithoutCancel(ctx))
		for cur.Next(ctx) {
			t.Keys, _ = cur.Current.Lookup("keys").AsInt64OK()
			t.Sum = number(cur.Current.Lookup("sum"))
		}
		err = cur.Err()
	}
	if err != nil {
		return t, fmt.Errorf("aggregate %s.%s: %w", r.c.DB, coll, err)
	}
	return t, nil
}

func number(v bson.RawValue) float64 {
	switch v.Type {
	case bson.TypeDouble:
		return v.Double()
	case bson.TypeDecimal128:
		var f float64
		if _, err := fmt.Sscan(v.Decimal128().String(), &f); err != nil {
			return math.NaN()
		}
		return f
	}
	n, _ := v.AsInt64OK()
	return float64(n)
}

// Done notes that range i, counted from 0, is in, with its keys and their sum; documents were counted in it before. When another machine was quicker, this one's own part is dropped.
func (r *Result) Done(ctx context.Context, i int, documents int64) (keys int64, err error) {
	p := part{Plan: r.plan.N, Range: i + 1, Documents: documents, Host: r.c.Host, Run: r.c.Run}
	filter := bson.D{}
	coll := r.c.Coll
	if r.plan.Mode == Reduce {
		coll = r.companion(fmt.Sprintf("part_%d", i+1))
		p.Coll = coll
	} else {
		x := r.c.List.Pieces[i].Range
		filter = splitter.Range{Key: "_id", Lo: x.Lo, Hi: x.Hi}.Filter(r.c.Predicate)
	}
	t, err := r.total(ctx, coll, filter)
	if err != nil {
		return 0, err
	}
	p.Keys, p.Sum = t.Keys, t.Sum
	return t.Keys, r.note(ctx, p)
}

func (r *Result) note(ctx context.Context, p part) error {
	p.ID, p.Ended = fmt.Sprintf("part %d %d", p.Plan, p.Range), r.c.Now().UTC()
	first, err := r.insert(ctx, p)
	if err == nil && !first && p.Coll != "" {
		var there part
		if err := r.record.FindOne(ctx, bson.D{{Key: "_id", Value: p.ID}}).Decode(&there); err == nil && there.Coll != p.Coll {
			return r.drop(ctx, p.Coll)
		}
	}
	return err
}

func (r *Result) drop(ctx context.Context, coll string) error {
	if err := open(r.c.Client, r.c.DB, coll).Drop(ctx); err != nil {
		return fmt.Errorf("drop %s.%s: %w", r.c.DB, coll, err)
	}
	return r.c.Dropped(coll)
}

// dropFor is how long dropping what was gathered may take after a failure.
const dropFor = 10 * time.Second

// Finish ends the list when all of its ranges are in; complete says whether. In mode reduce it gathers the parts, documents {key, value}, and has
// together put them into the result. Two machines may do so at the same time: both put the same there. Error: *LostPartsError.
func (r *Result) Finish(ctx context.Context, together func(ctx context.Context, gathered string) error) (complete bool, err error) {
	if r.plan.Done {
		return true, nil
	}
	in, of, err := r.In(ctx)
	if err != nil || in < of {
		return false, err
	}
	done := bson.D{{Key: "done", Value: true}}
	var waiting []string
	if r.plan.Mode == Reduce {
		all, parts, err := r.gather(ctx)
		if err != nil {
			return false, err
		}
		waiting = append(parts, all)
		defer func() {
			if !complete { // the next try gathers anew
				ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropFor)
				defer cancel()
				err = errors.Join(err, r.drop(ctx, all))
			}
		}()
		// A machine that was quicker drops the parts when it is done: what was gathered meanwhile may lack some.
		plans, err := r.plans(ctx)
		if err != nil {
			return false, err
		}
		if i := slices.IndexFunc(plans, func(p plan) bool { return p.N == r.plan.N }); i >= 0 && plans[i].Done {
			r.plan = plans[i]
			return true, r.drop(ctx, all)
		}
		if r.plan.Keys, err = r.different(ctx, all); err != nil {
			return false, err
		}
		if err := together(ctx, all); err != nil {
			return false, err
		}
		done = append(done, bson.E{Key: "keys", Value: r.plan.Keys})
	}
	if err := r.set(ctx, r.plan.ID, done); err != nil {
		return false, err
	}
	r.plan.Done = true
	for _, coll := range waiting {
		if err := r.drop(ctx, coll); err != nil {
			return true, err
		}
	}
	return true, nil
}

// gather copies all parts into one collection, and names it and them.
func (r *Result) gather(ctx context.Context) (all string, waiting []string, err error) {
	if err := r.base(ctx); err != nil {
		return "", nil, err
	}
	parts, err := r.parts(ctx, bson.D{{Key: "plan", Value: r.plan.N}})
	if err != nil {
		return "", nil, err
	}
	there, err := r.c.Client.Database(r.c.DB).ListCollectionNames(ctx, bson.D{})
	if err != nil {
		return "", nil, fmt.Errorf("list collections of %s: %w", r.c.DB, err)
	}
	lost := &LostPartsError{NS: r.ns()}
	for _, p := range parts {
		// A range that gave nothing has no collection on some versions.
		if !slices.Contains(there, p.Coll) && p.Keys > 0 {
			lost.Ranges = append(lost.Ranges, p.Range)
			if _, err := r.record.DeleteOne(ctx, bson.D{{Key: "_id", Value: p.ID}}); err != nil {
				return "", nil, fmt.Errorf("delete from %s: %w", r.recordNS(), err)
			}
		}
		waiting = append(waiting, p.Coll)
	}
	if lost.Ranges != nil {
		return "", nil, lost
	}
	all = r.companion("all")
	if err := r.c.Created(all); err != nil {
		return "", nil, err
	}
	if err := open(r.c.Client, r.c.DB, all).Drop(ctx); err != nil {
		return "", nil, fmt.Errorf("drop %s.%s: %w", r.c.DB, all, err)
	}
	return all, waiting, splitter.Each(ctx, len(parts), r.c.Threads, func(ctx context.Context, i, _ int) error {
		if err := r.copy(ctx, parts[i], all); err != nil {
			return fmt.Errorf("gather range %d of %s: %w", parts[i].Range, r.ns(), err)
		}
		return nil
	})
}

// base keeps what the result held before as a part, once, before anything is put there.
func (r *Result) base(ctx context.Context) error {
	if !r.plan.Base {
		return nil
	}
	have, err := r.parts(ctx, bson.D{{Key: "plan", Value: r.plan.N}, {Key: "range", Value: 0}})
	if err != nil || len(have) > 0 {
		return err
	}
	coll := r.companion("base")
	if err := r.c.Created(coll); err != nil {
		return err
	}
	cur, err := open(r.c.Client, r.c.DB, r.c.Coll).Aggregate(ctx, mongo.Pipeline{{{Key: "$out", Value: coll}}})
	if err != nil {
		return fmt.Errorf("$out of %s to %s: %w", r.ns(), coll, err)
	}
	if err := cur.Close(ctx); err != nil {
		return err
	}
	t, err := r.total(ctx, coll, bson.D{})
	if err != nil {
		return err
	}
	return r.note(ctx, part{Plan: r.plan.N, Keys: t.Keys, Sum: t.Sum, Coll: coll, Host: r.c.Host, Run: r.c.Run})
}

// gatherStages copies a part: one document a key and part.
func (r *Result) gatherStages(p part, all string) mongo.Pipeline {
	return mongo.Pipeline{
		{{Key: "$project", Value: bson.D{
			{Key: "_id", Value: bson.D{{Key: "part", Value: bson.D{{Key: "$literal", Value: p.Range}}}, {Key: "key", Value: "$_id"}}},
			{Key: "key", Value: "$_id"},
			{Key: "value", Value: 1},
		}}},
		{{Key: "$merge", Value: bson.D{{Key: "into", Value: all}, {Key: "on", Value: "_id"}, {Key: "whenMatched", Value: "replace"}, {Key: "whenNotMatched", Value: "insert"}}}},
	}
}

// copyBatch is how many documents one insert has.
const copyBatch = 1000

func (r *Result) copy(ctx context.Context, p part, all string) error {
	from := open(r.c.Client, r.c.DB, p.Coll)
	if r.c.Wire >= splitter.Wire42 {
		cur, err := from.Aggregate(ctx, r.gatherStages(p, all))
		if err != nil {
			return err
		}
		return cur.Close(ctx)
	}
	cur, err := from.Find(ctx, bson.D{})
	if err != nil {
		return err
	}
	defer cur.Close(context.WithoutCancel(ctx))
	to := r.c.Client.Database(r.c.DB).Collection(all)
	var batch []any
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		_, err := to.InsertMany(ctx, batch, options.InsertMany().SetOrdered(true))
		batch = batch[:0]
		return err
	}
	for cur.Next(ctx) {
		doc := slices.Clone(cur.Current)
		key := doc.Lookup("_id")
		batch = append(batch, bson.D{
			{Key: "_id", Value: bson.D{{Key: "part", Value: p.Range}, {Key: "key", Value: key}}}, {Key: "key", Value: key}, {Key: "value", Value: doc.Lookup("value")},
		})
		if len(batch) == copyBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := cur.Err(); err != nil {
		return err
	}
	return flush()
}

// different counts the different keys of what was gathered.
func (r *Result) different(ctx context.Context, all string) (n int64, err error) {
	cur, err := open(r.c.Client, r.c.DB, all).Aggregate(ctx, mongo.Pipeline{
		{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$key"}}}},
		{{Key: "$group", Value: bson.D{{Key: "_id", Value: nil}, {Key: "n", Value: bson.D{{Key: "$sum", Value: 1}}}}}},
	}, options.Aggregate().SetAllowDiskUse(true))
	if err == nil {
		defer cur.Close(context.WithoutCancel(ctx))
		for cur.Next(ctx) {
			n, _ = cur.Current.Lookup("n").AsInt64OK()
		}
		err = cur.Err()
	}
	if err != nil {
		return 0, fmt.Errorf("aggregate %s.%s: %w", r.c.DB, all, err)
	}
	return n, nil
}

// Check is the result beside its parts.
type Check struct {
	Keys, PartKeys int64
	Sum, PartSum   float64
	SumKnown       bool // PartSum has to be Sum
}

// Agrees says that the result is what its parts are.
func (c Check) Agrees() bool {
	return c.Keys == c.PartKeys && (!c.SumKnown || math.Abs(c.Sum-c.PartSum) <= 1e-9*max(math.Abs(c.Sum), math.Abs(c.PartSum)) || math.IsNaN(c.Sum) && math.IsNaN(c.PartSum))
}

// Check compares the result with the sum of its parts, when all are in; what counts have to add up to are the documents of the ranges. In mode reduce keys are in several parts: the different ones are
// counted, and sums are compared for counts only.
func (r *Result) Check(ctx context.Context) (c Check, err error) {
	t, err := r.total(ctx, r.c.Coll, bson.D{})
	if err != nil {
		return c, err
	}
	c.Keys, c.Sum = t.Keys, t.Sum
	plans, err := r.plans(ctx)
	if err != nil {
		return c, err
	}
	parts, err := r.parts(ctx, bson.D{})
	if err != nil {
		return c, err
	}
	last := plans[len(plans)-1]
	c.SumKnown = last.Mode == Merge || r.c.Additive
	for _, p := range parts {
		if p.Range == 0 && p.Plan > 1 {
			continue // it is what the lists before gave
		}
		if r.c.Additive && p.Range > 0 { // counts add up to the documents, which were counted without the result
			c.PartSum += float64(p.Documents)
		} else {
			c.PartSum += p.Sum
		}
		c.PartKeys += p.Keys
	}
	if last.Mode == Reduce {
		c.PartKeys = last.Keys
	}
	return c, nil
}
