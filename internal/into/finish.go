package into

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

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

// Aside is a collection of this run's own beside the result, for results of range i, counted from 0, on their way into it. Created is told of it;
// dropped notes that it is gone. -1 is for what is put together at the end.
func (r *Result) Aside(i int) (coll string, dropped func() error, err error) {
	coll = AsideOf(r.c.Coll, r.c.Run, i)
	return coll, func() error { return r.c.Dropped(coll) }, r.c.Created(coll)
}

// AsideOf is the name of that collection.
func AsideOf(result, run string, i int) string {
	return fmt.Sprintf("%s%s%s_put_%d", result, companion, run, i+1)
}

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

// Done notes that range i, counted from 0, is in, with its keys and their sum; documents were counted in it before. When another machine was
// quicker, this one's own part is dropped. Error: *GoneError.
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
	if _, err := r.current(ctx); err != nil {
		return err
	}
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

// dropAfter drops what was gathered, also after an interrupt.
func (r *Result) dropAfter(ctx context.Context, coll string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropFor)
	defer cancel()
	return r.drop(ctx, coll)
}

// Finish ends the list when all of its ranges are in; complete says whether. In mode reduce it gathers the parts, documents {key, value}, and has
// together put them into the result. Two machines may do so at the same time: both put the same there. Errors: *LostPartsError,
// *LostBaseError, *GoneError.
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
		if err != nil || r.plan.Done {
			return r.plan.Done, err
		}
		expected := int64(0)
		for _, p := range parts {
			waiting, expected = append(waiting, p.Coll), expected+p.Keys
		}
		waiting = append(waiting, all)
		defer func() {
			if !complete { // the next try gathers anew
				err = errors.Join(err, r.dropAfter(ctx, all))
			}
		}()
		// A machine that was quicker drops the parts when it is done: what was gathered meanwhile may lack some.
		now, err := r.current(ctx)
		if err != nil {
			return false, err
		}
		if now.Done {
			r.plan = now
			return true, r.drop(ctx, all)
		}
		keys, gathered, err := r.different(ctx, all)
		if err != nil {
			return false, err
		}
		if gathered != expected {
			return false, fmt.Errorf("gathered %d results of the %d in the parts of %s: a part was dropped or written to meanwhile; run it again", gathered, expected, r.ns())
		}
		r.plan.Keys = keys
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

// Check compares the result with the sum of its parts, when all are in; what counts have to add up to are the documents of the ranges. In mode
// reduce keys are in several parts: the different ones are counted, and sums are compared for counts only. Error: *GoneError.
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
	if len(plans) == 0 {
		return c, r.gone()
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
