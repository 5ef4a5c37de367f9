package splitter

import (
	"context"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// reader asks about the fields of ranges through their index.
type reader struct {
	coll    *mongo.Collection
	ns      string
	key     string // the first field
	fields  layout
	base    bson.D // only documents that match this; nil: all
	index   string
	pattern bson.D // of the index
	server  Server
}

// valueAt reads a path out of a found document; a zero value when it is missing. The value is a copy.
func valueAt(doc bson.Raw, path string) bson.RawValue {
	v, err := doc.LookupErr(strings.Split(path, ".")...)
	if err != nil {
		return bson.RawValue{}
	}
	return clone(v)
}

func clone(v bson.RawValue) bson.RawValue {
	return bson.RawValue{Type: v.Type, Value: append([]byte{}, v.Value...)}
}

// keys reads up to limit keys that match, along the index, after skip of them.
func (r *reader) keys(ctx context.Context, filter bson.D, down bool, skip, limit int64) ([]bson.RawValue, error) {
	direction := 1
	if down {
		direction = -1
	}
	cur, err := r.coll.Find(ctx, both(r.base, filter), options.Find().SetHint(r.index).SetSort(bson.D{{Key: r.key, Value: direction}}).
		SetProjection(r.projection()).
		SetSkip(skip).SetLimit(limit))
	if err != nil {
		return nil, fmt.Errorf("splitter: %s: find along %s: %w", r.ns, r.index, err)
	}
	defer cur.Close(ctx)
	var found []bson.RawValue
	for cur.Next(ctx) {
		found = append(found, valueAt(cur.Current, r.key))
	}
	if err := cur.Err(); err != nil {
		return nil, fmt.Errorf("splitter: %s: find along %s: %w", r.ns, r.index, err)
	}
	return found, nil
}

// projection leaves the keys alone, so that the index can answer.
func (r *reader) projection() bson.D {
	p, id := bson.D{}, false
	for _, f := range r.fields {
		p = append(p, bson.E{Key: f.key, Value: 1})
		id = id || f.key == "_id" || strings.HasPrefix(f.key, "_id.")
	}
	if !id {
		p = append(p, bson.E{Key: "_id", Value: 0})
	}
	return p
}

// any says whether some document matches.
func (r *reader) any(ctx context.Context, filter bson.D, hint bool) (bool, error) {
	o := options.Find().SetProjection(bson.D{{Key: "_id", Value: 1}}).SetLimit(1)
	if hint {
		o.SetHint(r.index)
	}
	cur, err := r.coll.Find(ctx, both(r.base, filter), o)
	if err != nil {
		return false, fmt.Errorf("splitter: %s: find: %w", r.ns, err)
	}
	defer cur.Close(ctx)
	found := cur.Next(ctx)
	if err := cur.Err(); err != nil {
		return false, fmt.Errorf("splitter: %s: find: %w", r.ns, err)
	}
	return found, nil
}

// count counts the documents that match, along the index. The count command is
// the quickest way, for servers count index entries without looking at documents;
// on a router it would count orphaned documents too, so there they are aggregated.
func (r *reader) count(ctx context.Context, filter bson.D) (int64, error) {
	filter = both(r.base, filter)
	if r.server.Mongos {
		n, err := r.coll.CountDocuments(ctx, filter, options.Count().SetHint(r.index))
		if err != nil {
			return 0, fmt.Errorf("splitter: %s: aggregate count: %w", r.ns, err)
		}
		return n, nil
	}
	raw, err := r.coll.Database().RunCommand(ctx, bson.D{
		{Key: "count", Value: r.coll.Name()}, {Key: "query", Value: filter}, {Key: "hint", Value: r.index},
	}).Raw()
	if err != nil {
		return 0, fmt.Errorf("splitter: %s: count: %w", r.ns, err)
	}
	n, ok := raw.Lookup("n").AsInt64OK()
	if !ok {
		return 0, fmt.Errorf("splitter: %s: count: the reply has no number n", r.ns)
	}
	return n, nil
}

// quickTotal is the server's own figure, which a crash or shards can make wrong.
func (r *reader) quickTotal(ctx context.Context) (int64, error) {
	n, err := r.coll.EstimatedDocumentCount(ctx)
	if err != nil {
		return 0, fmt.Errorf("splitter: %s: count: %w", r.ns, err)
	}
	return n, nil
}

// exactTotal looks at every document and at no index.
func (r *reader) exactTotal(ctx context.Context) (int64, error) {
	n, err := r.coll.CountDocuments(ctx, bson.D{})
	if err != nil {
		return 0, fmt.Errorf("splitter: %s: aggregate count: %w", r.ns, err)
	}
	return n, nil
}

// bracketFilter is all of one bracket of the first field, or what lies in it from a value on.
func (r *reader) bracketFilter(b bracket, lo, hi bson.RawValue) bson.D {
	return anyOf(r.key, interval{key: r.key, lo: lo, hi: hi, present: 1 << b}.clauses())
}
