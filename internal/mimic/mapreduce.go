package mimic

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/mongofake"
)

// mapReduce refuses a command as the version does, or says what the engine is to get.
func (s *Server) mapReduce(ctx context.Context, c mongofake.Command) (own, body bson.D, err error) {
	if s.c.NoScripting {
		if s.atLeast(4, 4) {
			return refuse(31264, "Cannot run server-side javascript without the javascript engine enabled"), nil, nil
		}
		return refuse(16149, "cannot run map reduce without the js engine"), nil, nil
	}
	if err := bson.Unmarshal(c.Body, &body); err != nil {
		return nil, nil, err
	}
	sharded := false
	if s.c.Topology == Mongos {
		coll, err := s.sharded(ctx, namespace(c))
		if err != nil {
			return nil, nil, err
		}
		sharded = coll != nil
	}
	if own, err := s.refuseOutput(ctx, c); own != nil || err != nil {
		return own, nil, err
	}
	if !s.atLeast(4, 4) {
		if field := badField(body); field != "" && s.handsOut(c, sharded) {
			return bson.D{{Key: "ok", Value: 0.0}, {Key: "errmsg", Value: "unknown m/r field for sharding: " + field}}, nil, nil
		}
		if told(c) {
			if body, err = s.shardOutput(ctx, c, body); err != nil {
				return nil, nil, err
			}
		}
		return nil, body, nil
	}
	if na, ok := c.Body.Lookup("out", "nonAtomic").BooleanOK(); ok && !na {
		return refuse(2, "nonAtomic: false is not supported"), nil, nil
	}
	if db, ok := c.Body.Lookup("out", "db").StringValueOK(); ok && s.c.Topology == Mongos {
		names, err := s.inside.ListDatabaseNames(ctx, bson.D{{Key: "name", Value: db}})
		if err != nil {
			return nil, nil, err
		}
		if !slices.Contains(names, db) {
			return refuse(26, "database "+db+" not found"), nil, nil
		}
	}
	return nil, without(body, "jsMode", "verbose"), nil // taken, and ignored
}

// mapReduceReply makes the reply of a finished command the version's.
func (s *Server) mapReduceReply(ctx context.Context, c mongofake.Command, d bson.D) (bson.D, error) {
	if !succeeded(d) {
		return d, nil
	}
	if s.atLeast(4, 4) {
		return without(d, "counts", "timeMillis", "timing"), nil
	}
	if s.c.Topology != Mongos {
		return d, nil
	}
	coll, err := s.sharded(ctx, namespace(c))
	if err != nil || !s.handsOut(c, coll != nil) {
		return d, err
	}
	if told(c) {
		if d, err = s.finish(ctx, c, d); err != nil {
			return nil, err
		}
	}
	counts, _ := value(d, "counts").(bson.D)
	whole := bson.D{}
	for _, e := range counts {
		whole = append(whole, bson.E{Key: e.Key, Value: number(e.Value)})
	}
	shares, post := bson.D{}, bson.D{}
	perShard := []shardCount{{"s1", number(value(counts, "input"))}} // where a collection lies that is not sharded
	if coll != nil {
		if perShard, err = s.perShard(ctx, coll, c.Body.Lookup("query")); err != nil {
			return nil, err
		}
	}
	var read int64
	for _, n := range perShard {
		read += n.n
	}
	for _, n := range perShard {
		share := bson.D{}
		for _, name := range []string{"input", "emit", "reduce", "output"} {
			v := int32(n.n) // emits are one a document in the jobs that are run here
			if name == "reduce" || name == "output" {
				v = int32(number(value(counts, name)) * n.n / max(read, 1)) // keys are spread as documents are
			}
			share = append(share, bson.E{Key: name, Value: v})
		}
		shares = append(shares, bson.E{Key: s.shardHost(n.shard), Value: share})
	}
	post = append(post, bson.E{Key: s.shardHost("s1"), Value: bson.D{
		{Key: "input", Value: number(value(counts, "output"))}, {Key: "reduce", Value: int64(0)}, {Key: "output", Value: number(value(counts, "output"))},
	}})
	out := bson.D{}
	for _, name := range []string{"results", "result"} {
		if v := value(d, name); v != nil {
			out = append(out, bson.E{Key: name, Value: v})
		}
	}
	ms := int32(number(value(d, "timeMillis")))
	return append(
		out, bson.E{Key: "counts", Value: whole}, bson.E{Key: "timeMillis", Value: ms},
		bson.E{Key: "timing", Value: bson.D{{Key: "shardProcessing", Value: ms}, {Key: "postProcessing", Value: int32(0)}}},
		bson.E{Key: "shardCounts", Value: shares}, bson.E{Key: "postProcessCounts", Value: post}, bson.E{Key: "ok", Value: 1.0},
	), nil
}

func succeeded(d bson.D) bool { return number(value(d, "ok")) == 1 }

func number(v any) int64 {
	switch n := v.(type) {
	case int32:
		return int64(n)
	case int64:
		return n
	case float64:
		return int64(n)
	}
	return 0
}

// value is a field of a document, nil when there is none.
func value(d bson.D, name string) any {
	for _, e := range d {
		if e.Key == name {
			return e.Value
		}
	}
	return nil
}
