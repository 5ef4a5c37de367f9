package aggregate

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/splitter"
)

// Into has the results of the parts put into collections, a result in the place of one with the same _id, so that others may add to
// them at the same time: by $merge, and before 4.2 by updates from here. Sink gets nothing then, and Part.Output is 0 where the server writes.
// The pipeline groups by Key.
type Into struct {
	Coll func(part int) *mongo.Collection // where part i goes
	// Done is called when a part is in; its error ends the run. May be called from several goroutines. May be nil.
	Done func(ctx context.Context, p Part) error
}

func nullID(op string) bson.D {
	return bson.D{{Key: "$match", Value: bson.D{{Key: "_id", Value: bson.D{{Key: op, Value: nil}}}}}}
}

// intoStages are the pipelines of a part, of which the server writes the first when merges says so. $merge takes no key that is null: the
// second pipeline gives that one to be written from here; nil where the range has none.
func (x *run) intoStages(r splitter.Range, to *mongo.Collection, merges bool) (whole, null []bson.D) {
	whole = x.pipeline(r)
	if !merges {
		return whole, nil
	}
	if r.Contains(bson.RawValue{}) {
		null = append(slices.Insert(x.pipeline(r), 0, bson.D{{Key: "$match", Value: bson.D{{Key: x.Key, Value: nil}}}}), nullID("$eq"))
	}
	return append(whole, nullID("$ne"), bson.D{{Key: "$merge", Value: bson.D{
		{Key: "into", Value: bson.D{{Key: "db", Value: to.Database().Name()}, {Key: "coll", Value: to.Name()}}},
		{Key: "on", Value: "_id"},
		{Key: "whenMatched", Value: "replace"},
		{Key: "whenNotMatched", Value: "insert"},
	}}}), null
}

// into runs a part and puts its results where they belong.
func (x *run) into(ctx context.Context, p *Part, o *options.AggregateOptions) error {
	to := x.Into.Coll(p.Index)
	merges := x.server.WireVersion >= splitter.Wire42
	whole, null := x.intoStages(p.Range, to, merges)
	cur, err := x.Collection.Aggregate(ctx, whole, o)
	if err != nil {
		return err
	}
	if err := write(ctx, cur, to, p); err != nil {
		return err
	}
	if null != nil {
		if cur, err = x.Collection.Aggregate(ctx, null, o); err != nil {
			return err
		}
		if err := write(ctx, cur, to, p); err != nil {
			return err
		}
	}
	if x.Into.Done != nil {
		return x.Into.Done(ctx, *p)
	}
	return nil
}

// write puts what a cursor gives into a collection; a cursor of $merge gives nothing.
func write(ctx context.Context, cur *mongo.Cursor, to *mongo.Collection, p *Part) error {
	defer cur.Close(context.WithoutCancel(ctx))
	n, err := splitter.Put(ctx, to, func(yield func(bson.Raw, error) bool) {
		for cur.Next(ctx) {
			if !yield(cur.Current, nil) {
				return
			}
		}
		if err := cur.Err(); err != nil {
			yield(nil, err)
		}
	})
	p.Output += n
	return err
}
