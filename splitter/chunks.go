package splitter

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// chunks takes the bounds of the chunks of a sharded collection. Chunks hold very
// different numbers of documents, so what lies between the bounds is counted afterwards.
func (r *reader) chunks(ctx context.Context) (cuts, error) {
	no := func(format string, args ...any) (cuts, error) {
		return cuts{}, &StrategyError{NS: r.ns, Strategy: Chunks, Reason: fmt.Sprintf(format, args...)}
	}
	if !r.server.Mongos {
		return no("this server is no mongos, so it has no chunks")
	}
	config := r.coll.Database().Client().Database("config")
	var about struct {
		Key     bson.Raw      `bson:"key"`
		UUID    bson.RawValue `bson:"uuid"`
		Dropped bool          `bson:"dropped"`
	}
	cur, err := config.Collection("collections").Find(ctx, bson.D{{Key: "_id", Value: r.ns}}, options.Find().SetLimit(1))
	if err != nil {
		return cuts{}, fmt.Errorf("splitter: %s: find in config.collections: %w", r.ns, err)
	}
	defer cur.Close(ctx)
	found := cur.Next(ctx)
	if err := cur.Err(); err != nil {
		return cuts{}, fmt.Errorf("splitter: %s: find in config.collections: %w", r.ns, err)
	}
	if found {
		if err := cur.Decode(&about); err != nil {
			return cuts{}, fmt.Errorf("splitter: %s: config.collections: %w", r.ns, err)
		}
	}
	if !found || about.Dropped || len(about.Key) == 0 {
		return no("the collection is not sharded")
	}
	elements, err := about.Key.Elements()
	if err != nil || len(elements) == 0 {
		return no("config.collections has no shard key")
	}
	if kind, ok := elements[0].Value().StringValueOK(); ok && elements[0].Key() == r.key {
		return no("the shard key %s is %s, so chunks are ranges of hashes, not of values", r.key, kind)
	}
	var depth int // how many fields of the shard key are fields of the ranges, in order
	for depth < min(len(elements), len(r.fields)) && elements[depth].Key() == r.fields[depth].key && elements[depth].Value().Type != bson.TypeString {
		depth++
	}
	if depth == 0 {
		return no("the shard key starts with %s, not with %s", elements[0].Key(), r.key)
	}
	filter := bson.D{{Key: "ns", Value: r.ns}}
	if r.server.WireVersion >= Wire50 {
		filter = bson.D{{Key: "uuid", Value: about.UUID}}
	}
	points, err := r.chunkBounds(ctx, filter, depth)
	return cuts{points: points, rough: true}, err
}

// chunkBounds reads the lower bounds of the chunks, of their first fields.
func (r *reader) chunkBounds(ctx context.Context, filter bson.D, depth int) ([]point, error) {
	chunks := r.coll.Database().Client().Database("config").Collection("chunks")
	cur, err := chunks.Find(ctx, filter, options.Find().SetSort(bson.D{{Key: "min", Value: 1}}).SetProjection(bson.D{{Key: "min", Value: 1}}))
	if err != nil {
		return nil, fmt.Errorf("splitter: %s: find in config.chunks: %w", r.ns, err)
	}
	defer cur.Close(ctx)
	var points []point
	for cur.Next(ctx) {
		least, ok := cur.Current.Lookup("min").DocumentOK()
		if !ok {
			return nil, fmt.Errorf("splitter: %s: config.chunks: a chunk has no min", r.ns)
		}
		p := make(point, depth)
		for i := range p {
			v, err := least.LookupErr(r.fields[i].key) // a dotted path is one name here
			if err != nil {
				return nil, fmt.Errorf("splitter: %s: config.chunks: a chunk's min has no %s", r.ns, r.fields[i].key)
			}
			p[i] = clone(v)
		}
		points = append(points, r.fields.extend(p))
	}
	if err := cur.Err(); err != nil {
		return nil, fmt.Errorf("splitter: %s: find in config.chunks: %w", r.ns, err)
	}
	return r.fields.tidy(points), nil
}
