package splitter

import (
	"context"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// refuseArrays returns *MultikeyError when documents hold arrays in the key's path.
func (r *reader) refuseArrays(ctx context.Context) error {
	raw, err := r.coll.Database().RunCommand(ctx, bson.D{
		{Key: "explain", Value: bson.D{
			{Key: "find", Value: r.coll.Name()}, {Key: "filter", Value: bson.D{}}, {Key: "hint", Value: r.index},
		}},
		{Key: "verbosity", Value: "queryPlanner"},
	}).Raw()
	if err != nil && !refused(err) {
		return fmt.Errorf("splitter: %s: explain: %w", r.ns, err)
	}
	if err == nil {
		p := ReadPlan(raw)
		none := len(p.Indexes) > 0
		for _, f := range r.fields {
			none = none && !p.multikeyOn(f.key) && !positional(f.key)
		}
		if none {
			return nil
		}
	}
	for _, f := range r.fields {
		if err := r.findArray(ctx, f.key); err != nil {
			return err
		}
	}
	return nil
}

// findArray looks for documents with an array in a path.
func (r *reader) findArray(ctx context.Context, key string) error {
	// The index has seen arrays, or can't be asked. It does not forget arrays that were
	// removed, so look for one; this may read the collection.
	path := ""
	for part := range strings.SplitSeq(key, ".") {
		path = strings.TrimPrefix(path+"."+part, ".")
		cur, err := r.coll.Find(ctx, bson.D{{Key: path, Value: bson.D{{Key: "$type", Value: "array"}}}},
			options.Find().SetLimit(1).SetProjection(bson.D{{Key: "_id", Value: 1}}))
		if err != nil {
			return fmt.Errorf("splitter: %s: find arrays in %s: %w", r.ns, path, err)
		}
		found := cur.Next(ctx)
		err = cur.Err()
		_ = cur.Close(ctx)
		if err != nil {
			return fmt.Errorf("splitter: %s: find arrays in %s: %w", r.ns, path, err)
		}
		if found {
			return &MultikeyError{NS: r.ns, Key: key, Index: r.index}
		}
	}
	return nil
}
