package mimic

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/internal/mongofake"
)

// handsOut reports whether a router before 4.4 has shards run a mapReduce each for itself and one of them put the results together; else it
// passes the command on. It does so for a sharded source, and for whatever source when the output names a database or is sharded.
func (s *Server) handsOut(c mongofake.Command, sharded bool) bool {
	return s.c.Topology == Mongos && (sharded || told(c) || c.Body.Lookup("out", "db").Type != 0)
}

// told reports whether the output is said to be sharded.
func told(c mongofake.Command) bool {
	sharded, _ := c.Body.Lookup("out", "sharded").BooleanOK()
	return sharded
}

// badField is the first field that such a router does not hand on, "" none.
func badField(body bson.D) string {
	for _, e := range body {
		known := slices.Contains([]string{
			"mapReduce", "mapreduce", "map", "reduce", "query", "sort", "collation", "scope", "verbose", "out", "finalize", "bypassDocumentValidation",
			"readConcern", "writeConcern", "maxTimeMS", "lsid", "txnNumber",
		}, e.Key)
		if !known && e.Key[0] != '$' {
			return e.Key
		}
	}
	return ""
}

// waitingRoom is where the shards' results are until they are put together.
func waitingRoom(c mongofake.Command) string {
	h := fnv.New64a()
	_, _ = h.Write(c.Body)
	return fmt.Sprintf("tmp.mrs.%x", h.Sum64())
}

// anew says that a router makes the output anew: it does so for replace, and for merge and reduce while the primary shard has no documents of it.
func (s *Server) anew(ctx context.Context, how, ns string) (bool, error) {
	coll, err := s.sharded(ctx, ns)
	if err != nil || coll == nil || how == "replace" {
		return true, err
	}
	counts, err := s.perShard(ctx, coll, bson.RawValue{})
	return err == nil && counts[0].n == 0, err
}

// shardOutput makes the output a collection sharded by _id in one chunk, unless it is one that holds something, and has the engine write beside it, unless the results are to be reduced with what is there.
func (s *Server) shardOutput(ctx context.Context, c mongofake.Command, body bson.D) (bson.D, error) {
	how, ns := outputOf(c)
	anew, err := s.anew(ctx, how, ns)
	if err != nil {
		return nil, err
	}
	db, name := splitNS(ns)
	if anew {
		if err := errors.Join(s.forget(ctx, bson.D{{Key: "_id", Value: ns}}), s.inside.Database(db).Collection(name).Drop(ctx)); err != nil {
			return nil, err
		}
		if err := s.shard(ctx, ns, bson.D{{Key: "_id", Value: int32(1)}}, 0); err != nil {
			return nil, err
		}
	}
	out := bson.D{{Key: how, Value: name}, {Key: "db", Value: db}}
	if how != "reduce" {
		out = bson.D{{Key: "replace", Value: waitingRoom(c)}, {Key: "db", Value: db}}
	}
	return replace(body, "out", out), nil
}

// finish puts results into their sharded collection: each shard fetches those of a chunk by {_id: {$gte: min, $lt: max}}, which matches values of one
// type only. Results of other types, such as a key that is null beside numbers, are lost on the way.
func (s *Server) finish(ctx context.Context, c mongofake.Command, d bson.D) (bson.D, error) {
	how, ns := outputOf(c)
	db, name := splitNS(ns)
	to := s.inside.Database(db).Collection(name)
	if how != "reduce" {
		from := s.inside.Database(db).Collection(waitingRoom(c))
		if err := s.fetchChunks(ctx, ns, from, to); err != nil {
			return nil, err
		}
		if err := from.Drop(ctx); err != nil {
			return nil, err
		}
	}
	d = replace(d, "result", name)
	if c.Body.Lookup("out", "db").Type != 0 {
		d = replace(d, "result", bson.D{{Key: "db", Value: db}, {Key: "collection", Value: name}})
	}
	n, err := to.CountDocuments(ctx, bson.D{})
	counts, _ := value(d, "counts").(bson.D)
	return replace(d, "counts", replace(counts, "output", n)), err
}

func (s *Server) fetchChunks(ctx context.Context, ns string, from, to *mongo.Collection) error {
	coll, err := s.sharded(ctx, ns)
	if err != nil || coll == nil {
		return errors.Join(err, fmt.Errorf("%s is not sharded", ns))
	}
	var chunks []chunk
	cur, err := s.config("chunks").Find(ctx, s.owner(coll))
	if err == nil {
		err = cur.All(ctx, &chunks)
	}
	if err != nil {
		return err
	}
	for _, x := range chunks {
		cur, err := from.Find(ctx, bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: x.Min[0].Value}, {Key: "$lt", Value: x.Max[0].Value}}}})
		if err != nil {
			return err
		}
		var docs []bson.Raw
		if err := cur.All(ctx, &docs); err != nil {
			return err
		}
		for _, doc := range docs {
			_, err := to.ReplaceOne(ctx, bson.D{{Key: "_id", Value: bson.D{{Key: "$eq", Value: doc.Lookup("_id")}}}}, doc, options.Replace().SetUpsert(true))
			if err != nil && !mongo.IsDuplicateKeyError(err) {
				return err
			}
		}
	}
	return nil
}
