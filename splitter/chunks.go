package splitter

import (
	"bytes"
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/bsontype"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
	"go.mongodb.org/mongo-driver/mongo/readpref"
)

// chunks reads where the chunks of a sharded collection begin and end, and which shard has them. Chunks hold very
// different numbers of documents, so what lies between the bounds is counted afterwards: see alongChunks.
func (r *reader) chunks(ctx context.Context) (cuts, error) {
	no := func(format string, args ...any) (cuts, error) {
		return cuts{}, &StrategyError{NS: r.ns, Strategy: Chunks, Reason: fmt.Sprintf(format, args...)}
	}
	if !r.server.Mongos {
		return no("this server is no mongos, so it has no chunks")
	}
	config := r.config()
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
	for depth < min(len(elements), len(r.fields)) && elements[depth].Key() == r.fields[depth].key &&
		elements[depth].Value().Type != bson.TypeString && !r.fields[depth].descending {
		depth++
	}
	if depth == 0 {
		return no("the shard key starts with %s, not with %s", elements[0].Key(), r.key)
	}
	m := &chunkMap{fields: r.fields, depth: depth}
	for range chunkReads {
		if m.chunks, m.whole, err = r.readChunks(ctx, about.UUID, elements, depth); err != nil || m.whole {
			break
		}
	}
	return cuts{points: m.points(), chunks: m}, err
}

// chunkReads is how often the list of chunks is read while splits and migrations change it under the cursor.
const chunkReads = 3

// readChunks reads the chunks, of their first fields. whole says that each begins where the one before ends. Chunks name their
// collection by its namespace before 5.0 and by its uuid since.
func (r *reader) readChunks(ctx context.Context, uuid bson.RawValue, key []bson.RawElement, depth int) (list []chunk, whole bool, err error) {
	by := []bson.D{{{Key: "ns", Value: r.ns}}, {{Key: "uuid", Value: uuid}}}
	if r.server.WireVersion >= Wire50 {
		by[0], by[1] = by[1], by[0]
	}
	for _, filter := range by {
		if filter[0].Key == "uuid" && uuid.Type == 0 {
			continue
		}
		if list, whole, err = r.findChunks(ctx, filter, key, depth); err != nil || len(list) > 0 {
			break
		}
	}
	return list, whole, err
}

func (r *reader) findChunks(ctx context.Context, filter bson.D, key []bson.RawElement, depth int) (list []chunk, whole bool, err error) {
	chunks := r.config().Collection("chunks")
	cur, err := chunks.Find(ctx, filter, options.Find().SetSort(bson.D{{Key: "min", Value: 1}}).
		SetProjection(bson.D{{Key: "_id", Value: 0}, {Key: "min", Value: 1}, {Key: "max", Value: 1}, {Key: "shard", Value: 1}}))
	if err != nil {
		return nil, false, fmt.Errorf("splitter: %s: find in config.chunks: %w", r.ns, err)
	}
	defer cur.Close(ctx)
	whole = true
	var before bson.Raw // the last chunk's max
	for cur.Next(ctx) {
		var d struct {
			Min, Max bson.Raw
			Shard    string
		}
		if err := bson.Unmarshal(cur.Current, &d); err != nil {
			return nil, false, fmt.Errorf("splitter: %s: config.chunks: %w", r.ns, err)
		}
		x := chunk{shard: d.Shard}
		if x.lo, x.loIn, err = r.bound(d.Min, key, depth); err != nil {
			return nil, false, fmt.Errorf("splitter: %s: config.chunks: a chunk's min %w", r.ns, err)
		}
		if x.hi, x.hiIn, err = r.bound(d.Max, key, depth); err != nil {
			return nil, false, fmt.Errorf("splitter: %s: config.chunks: a chunk's max %w", r.ns, err)
		}
		if all(d.Max, bson.TypeMaxKey) {
			x.hi, x.hiIn = make(point, len(r.fields)), false
		}
		whole = whole && (len(list) == 0 && zero(x.lo[0]) || bytes.Equal(before, d.Min))
		before = d.Max
		list = append(list, x)
	}
	if err := cur.Err(); err != nil {
		return nil, false, fmt.Errorf("splitter: %s: find in config.chunks: %w", r.ns, err)
	}
	return list, whole && all(before, bson.TypeMaxKey), nil
}

// config is the cluster's metadata, read where it is newest.
func (r *reader) config() *mongo.Database {
	return r.coll.Database().Client().Database("config", options.Database().SetReadPreference(readpref.Primary()))
}

// bound reads a bound of a chunk as a point of the ranges' fields. MinKey at its end bounds nothing, and is left out. in
// says that it goes on in fields that ranges are not of.
func (r *reader) bound(d bson.Raw, key []bson.RawElement, depth int) (p point, in bool, err error) {
	p = make(point, len(r.fields))
	for i, e := range key {
		v, err := d.LookupErr(e.Key()) // a dotted path is one name here
		switch {
		case err != nil:
			return nil, false, fmt.Errorf("has no %s", e.Key())
		case i < depth:
			p[i] = clone(v)
		case v.Type != bson.TypeMinKey:
			in = true
		}
	}
	p.settle()
	for i := depth - 1; i >= 0 && !in && p[i].Type == bson.TypeMinKey; i-- {
		p[i] = bson.RawValue{}
	}
	return p, in, nil
}

// all says that every field of a bound has a type.
func all(d bson.Raw, t bsontype.Type) bool {
	elements, err := d.Elements()
	for _, e := range elements {
		if e.Value().Type != t {
			return false
		}
	}
	return err == nil && len(elements) > 0
}
