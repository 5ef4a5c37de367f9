package into

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/splitter"
)

// gather copies all parts into one collection, and names it and them. It gathers nothing when it finds that the list is done.
func (r *Result) gather(ctx context.Context) (all string, parts []part, err error) {
	if err := r.base(ctx); err != nil {
		return "", nil, err
	}
	if parts, err = r.parts(ctx, bson.D{{Key: "plan", Value: r.plan.N}}); err != nil {
		return "", nil, err
	}
	there, err := r.c.Client.Database(r.c.DB).ListCollectionNames(ctx, bson.D{})
	if err != nil {
		return "", nil, fmt.Errorf("list collections of %s: %w", r.c.DB, err)
	}
	var lost []part
	for _, p := range parts {
		// A range that gave nothing has no collection on some versions.
		if !slices.Contains(there, p.Coll) && p.Keys > 0 {
			lost = append(lost, p)
		}
	}
	if lost != nil {
		return "", nil, r.lost(ctx, lost)
	}
	all = r.companion("all")
	if err := r.c.Created(all); err != nil {
		return "", nil, err
	}
	if err := open(r.c.Client, r.c.DB, all).Drop(ctx); err != nil {
		return "", nil, fmt.Errorf("drop %s.%s: %w", r.c.DB, all, err)
	}
	err = splitter.Each(ctx, len(parts), r.c.Threads, func(ctx context.Context, i, _ int) error {
		if err := r.copy(ctx, parts[i], all); err != nil {
			return fmt.Errorf("gather range %d of %s: %w", parts[i].Range, r.ns(), err)
		}
		return nil
	})
	if err != nil {
		err = errors.Join(err, r.dropAfter(ctx, all))
	}
	return all, parts, err
}

// lost has ranges whose parts were dropped computed again, unless a machine that was quicker dropped them when it was done.
func (r *Result) lost(ctx context.Context, parts []part) error {
	now, err := r.current(ctx)
	if err != nil || now.Done {
		r.plan.Done, r.plan.Keys = now.Done, now.Keys
		return err
	}
	e := &LostPartsError{NS: r.ns()}
	for _, p := range parts {
		if p.Range == 0 {
			return &LostBaseError{NS: r.ns(), Coll: r.c.DB + "." + p.Coll}
		}
		e.Ranges = append(e.Ranges, p.Range)
		if _, err := r.record.DeleteOne(ctx, bson.D{{Key: "_id", Value: p.ID}}); err != nil {
			return fmt.Errorf("delete from %s: %w", r.recordNS(), err)
		}
	}
	return e
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

// different counts the different keys of what was gathered, and the results.
func (r *Result) different(ctx context.Context, all string) (keys, results int64, err error) {
	one := bson.D{{Key: "$sum", Value: 1}}
	cur, err := open(r.c.Client, r.c.DB, all).Aggregate(ctx, mongo.Pipeline{
		{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$key"}, {Key: "n", Value: one}}}},
		{{Key: "$group", Value: bson.D{{Key: "_id", Value: nil}, {Key: "keys", Value: one}, {Key: "results", Value: bson.D{{Key: "$sum", Value: "$n"}}}}}},
	}, options.Aggregate().SetAllowDiskUse(true))
	if err == nil {
		defer cur.Close(context.WithoutCancel(ctx))
		for cur.Next(ctx) {
			keys, _ = cur.Current.Lookup("keys").AsInt64OK()
			results, _ = cur.Current.Lookup("results").AsInt64OK()
		}
		err = cur.Err()
	}
	if err != nil {
		return 0, 0, fmt.Errorf("aggregate %s.%s: %w", r.c.DB, all, err)
	}
	return keys, results, nil
}
