package mimic

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/internal/mongofake"
)

// refuseSharding is the answer of shardCollection where it does not go on to shard: a refusal, or for a collection that is sharded by that
// very key already, success.
func (s *Server) refuseSharding(ctx context.Context, c mongofake.Command, ns string, key bson.D) (bson.D, error) {
	db, name := splitNS(ns)
	if len(key) == 0 {
		return refuse(2, "Shard key is empty"), nil
	}
	have, err := s.sharded(ctx, ns)
	switch {
	case err != nil:
		return nil, err
	case have != nil && fmt.Sprint(have.Key) == fmt.Sprint(key):
		return bson.D{{Key: "collectionsharded", Value: ns}, {Key: "collectionUUID", Value: have.UUID}, {Key: "ok", Value: 1.0}}, nil
	case have != nil:
		return refuse(23, "sharding already enabled for collection "+ns), nil
	}
	if !s.atLeast(6, 0) {
		err := s.config("databases").FindOne(ctx, bson.D{{Key: "_id", Value: db}, {Key: "partitioned", Value: true}}).Err()
		if errors.Is(err, mongo.ErrNoDocuments) {
			return refuse(20, "sharding not enabled for db "+db), nil
		}
		if err != nil {
			return nil, err
		}
	}
	if c.Body.Lookup("numInitialChunks").Type != 0 && key[0].Value != "hashed" {
		return refuse(72, "numInitialChunks is not supported when the shard key is not hashed."), nil
	}
	return s.refuseIndexes(ctx, s.inside.Database(db).Collection(name), key)
}

// refuseIndexes wants unique indexes to begin with the key, and one that begins with it where there are documents.
func (s *Server) refuseIndexes(ctx context.Context, coll *mongo.Collection, key bson.D) (bson.D, error) {
	var indexes []struct {
		Key    bson.D
		Name   string
		Unique bool
	}
	cur, err := coll.Indexes().List(ctx)
	if err == nil {
		err = cur.All(ctx, &indexes)
	}
	if err != nil {
		return nil, nil //nolint:nilerr // there is no collection yet
	}
	useful := false
	for _, x := range indexes {
		prefix := len(x.Key) >= len(key)
		for i := range min(len(key), len(x.Key)) {
			prefix = prefix && x.Key[i].Key == key[i].Key
		}
		if x.Unique && x.Name != "_id_" && !prefix {
			return refuse(72, fmt.Sprintf("can't shard collection '%s.%s' with unique index on %v and proposed shard key %v. Uniqueness can't be maintained unless shard key is a prefix",
				coll.Database().Name(), coll.Name(), x.Key, key)), nil
		}
		useful = useful || prefix
	}
	if useful {
		return nil, nil
	}
	switch err := coll.FindOne(ctx, bson.D{}).Err(); {
	case errors.Is(err, mongo.ErrNoDocuments):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return refuse(72, "Please create an index that starts with the proposed shard key before sharding the collection"), nil
}

// movedChunk is the chunk that moveChunk is about, by a key in it or by both its bounds.
func (s *Server) movedChunk(ctx context.Context, coll *shardedColl, c mongofake.Command) (*chunk, bson.D, error) {
	bounds, byBounds := c.Body.Lookup("bounds").ArrayOK()
	if !byBounds {
		x, err := s.chunkOf(ctx, coll, c.Body.Lookup("find"))
		return x, nil, err
	}
	ends, err := bounds.Values()
	if err != nil || len(ends) != 2 {
		return nil, refuse(2, "bounds can only have exactly 2 elements"), err
	}
	x, err := s.chunkOf(ctx, coll, ends[0])
	if err != nil {
		return nil, nil, err
	}
	for i, have := range []bson.D{x.Min, x.Max} {
		var want bson.D
		if err := ends[i].Unmarshal(&want); err != nil {
			return nil, nil, err
		}
		if fmt.Sprint(want) != fmt.Sprint(have) {
			return nil, bson.D{{Key: "ok", Value: 0.0}, {Key: "errmsg", Value: fmt.Sprintf("no chunk found with the shard key bounds [%v,%v)", want, have)}}, nil
		}
	}
	return x, nil, nil
}
