package splitter

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// bucketAuto has the server sort all documents by the key and count even runs of
// them: exact, in one pass, on disk where memory does not do. It needs no rights beyond reading.
func (r *reader) bucketAuto(ctx context.Context, ranges int) (cuts, error) {
	by, stages := "$"+r.key, bson.A{}
	if len(r.base) > 0 {
		stages = append(stages, bson.D{{Key: "$match", Value: r.base}})
	}
	if len(r.fields) > 1 {
		d := bson.D{}
		for i, f := range r.fields { // null for a missing one, or the documents would have different fields
			d = append(d, bson.E{Key: partName(i), Value: bson.D{{Key: "$ifNull", Value: bson.A{"$" + f.key, nil}}}})
		}
		stages = append(stages, bson.D{{Key: "$project", Value: bson.D{{Key: "_id", Value: 0}, {Key: "k", Value: d}}}})
		by = "$k"
	}
	cur, err := r.coll.Aggregate(ctx, append(stages, bson.D{{Key: "$bucketAuto", Value: bson.D{
		{Key: "groupBy", Value: by}, {Key: "buckets", Value: min(ranges*keysPerRange, maxSplitKeys)},
	}}}), options.Aggregate().SetAllowDiskUse(true))
	if err != nil {
		return cuts{}, fmt.Errorf("splitter: %s: $bucketAuto: %w", r.ns, err)
	}
	defer cur.Close(ctx)
	var found []bucket
	for cur.Next(ctx) {
		b, err := r.fields.readBucket(cur.Current)
		if err != nil {
			return cuts{}, fmt.Errorf("splitter: %s: $bucketAuto: %w", r.ns, err)
		}
		found = append(found, b)
	}
	if err := cur.Err(); err != nil {
		return cuts{}, fmt.Errorf("splitter: %s: $bucketAuto: %w", r.ns, err)
	}
	c := r.fields.cuts(found)
	for _, f := range r.fields {
		if f.descending { // the server sorted otherwise, so its counts are of other pieces
			c.weights, c.rough = nil, true
		}
	}
	return c, nil
}

// partName is the name of a field of a compound key while it is sorted.
func partName(i int) string { return "f" + strconv.Itoa(i) }

func (l layout) readBucket(d bson.Raw) (bucket, error) {
	least, err := d.LookupErr("_id", "min")
	if err != nil {
		return bucket{}, fmt.Errorf("a bucket has no _id.min: %w", err)
	}
	n, ok := d.Lookup("count").AsInt64OK()
	if !ok {
		return bucket{}, errors.New("a bucket has no count")
	}
	if len(l) == 1 {
		return bucket{point{clone(least)}, n}, nil
	}
	values, ok := least.DocumentOK()
	if !ok {
		return bucket{}, fmt.Errorf("a bucket of several fields begins with %s", TypeName(least))
	}
	b := bucket{make(point, len(l)), n}
	for i := range l {
		v, err := values.LookupErr(partName(i))
		if err != nil {
			return bucket{}, fmt.Errorf("a bucket has no value of %s: %w", l[i].key, err)
		}
		b.from[i] = clone(v)
	}
	return b, nil
}
