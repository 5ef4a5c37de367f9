package mr

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
	"go.mongodb.org/mongo-driver/mongo/readpref"

	"mrbench/splitter"
)

// fetchesChunks says that the server adds to a sharded collection as routers before 4.4 do: each shard fetches the results of its chunks by
// {_id: {$gte: min, $lt: max}}, which matches values of one type only, and the others are lost without a word.
func (r *runner) fetchesChunks() bool {
	return r.Into.Add && r.Into.Sharded && r.server.WireVersion < splitter.Wire44
}

// findBounds reads where the chunks of the result begin and end. Of one that is not there yet they are taken to be the ranges.
func (r *runner) findBounds(ctx context.Context) error {
	if !r.fetchesChunks() {
		return nil
	}
	config := r.Client.Database("config", options.Database().SetReadPreference(readpref.Primary()))
	ns := r.Into.DB + "." + r.Into.Coll(0)
	cur, err := config.Collection("chunks").Find(ctx, bson.D{{Key: "ns", Value: ns}})
	if err != nil {
		return fmt.Errorf("mr: chunks of %s: find in config.chunks: %w", ns, err)
	}
	defer cur.Close(context.WithoutCancel(ctx))
	for cur.Next(ctx) {
		lo, hi := cur.Current.Lookup("min", "_id"), cur.Current.Lookup("max", "_id")
		r.bounds = append(r.bounds, splitter.Bounds{
			Lo: bson.RawValue{Type: lo.Type, Value: slices.Clone(lo.Value)}, Hi: bson.RawValue{Type: hi.Type, Value: slices.Clone(hi.Value)},
		})
	}
	if err := cur.Err(); err != nil {
		return fmt.Errorf("mr: chunks of %s: find in config.chunks: %w", ns, err)
	}
	if r.bounds == nil {
		for i := range r.pieces() {
			x := r.part(i)
			r.bounds = append(r.bounds, splitter.Bounds{Lo: x.Lo, Hi: x.Hi})
		}
	}
	return nil
}

// halves are the filters of what such a server puts into the result and of what it would lose; nil nothing.
func (r *runner) halves(x splitter.Range, job Job) (found, rest bson.D) {
	if job.EmitKey == "" { // nothing says which documents make which keys
		return nil, bson.D{}
	}
	return x.Fetched(r.bounds)
}

// chunkCommand has the server put into the result what query matches.
func (r *runner) chunkCommand(p Part, job Job, query bson.D) bson.D {
	return r.intoCommand(job, query, bson.D{{Key: "merge", Value: p.Coll}, {Key: "db", Value: p.DB}, {Key: "sharded", Value: true}, {Key: "nonAtomic", Value: true}})
}

// asideCommand writes what query matches to a collection that is not sharded.
func (r *runner) asideCommand(job Job, query bson.D, db, coll string) bson.D {
	return r.intoCommand(job, query, bson.D{{Key: "replace", Value: coll}, {Key: "db", Value: db}})
}

// partInChunks puts a part into the result: by the server what it does not lose, and the rest, which few collections have, from here.
func (r *runner) partInChunks(ctx context.Context, p *Part, job Job) error {
	found, rest := r.halves(p.Range, job)
	if found != nil {
		if err := r.counted(ctx, p, r.chunkCommand(*p, job, both(r.Job.Query, found))); err != nil {
			return err
		}
	}
	p.Counts.Known = true
	if rest == nil {
		return nil
	}
	rest = both(r.Job.Query, rest)
	err := r.Client.Database(r.DB).Collection(r.Coll).FindOne(ctx, rest, options.FindOne().SetProjection(bson.D{{Key: "_id", Value: 1}})).Err()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("find in %s.%s: %w", r.DB, r.Coll, err)
	}
	if r.Into.Aside == nil {
		return fmt.Errorf("a router before 4.4 would lose results on the way into %s.%s, and there is no collection to put them aside", p.DB, p.Coll)
	}
	coll, dropped, err := r.Into.Aside(p.Index)
	if err != nil {
		return err
	}
	if err := r.counted(ctx, p, r.asideCommand(job, rest, p.DB, coll)); err != nil {
		return err
	}
	aside := r.out(p.DB).Collection(coll)
	if err := r.put(ctx, aside, r.out(p.DB).Collection(p.Coll)); err != nil {
		return err
	}
	if err := aside.Drop(ctx); err != nil {
		return fmt.Errorf("drop %s: %w", namespace(aside), err)
	}
	return dropped()
}

// counted runs a command and adds what its reply says to the part.
func (r *runner) counted(ctx context.Context, p *Part, cmd bson.D) error {
	raw, err := r.Client.Database(r.DB).RunCommand(ctx, cmd).Raw()
	if err != nil {
		return err
	}
	x := readReply(raw)
	if p.Counts == (Counts{}) || p.Counts == (Counts{Known: true}) {
		p.Counts, p.Shards, p.ServerMS = x.counts, x.shards, x.serverMS
		return nil
	}
	p.Counts.add(x.counts)
	for _, s := range x.shards {
		if i := slices.IndexFunc(p.Shards, func(y ShardCounts) bool { return y.Host == s.Host }); i >= 0 {
			p.Shards[i].Counts.add(s.Counts)
		} else {
			p.Shards = append(p.Shards, s)
		}
	}
	p.ServerMS += x.serverMS
	return nil
}

func (c *Counts) add(x Counts) {
	c.Input += x.Input
	c.Emit += x.Emit
	c.Reduce += x.Reduce
	c.Output += x.Output
	c.Known = c.Known && x.Known
}

// putBatch is how many results one bulk write has.
const putBatch = 1000

// put copies results, each in the place of one with the same key.
func (r *runner) put(ctx context.Context, from, to *mongo.Collection) error {
	var batch []mongo.WriteModel
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		o := options.BulkWrite().SetOrdered(false)
		_, err := to.BulkWrite(ctx, batch, o)
		if mongo.IsDuplicateKeyError(err) { // two inserted the same key at the same moment; now it is there to be replaced
			_, err = to.BulkWrite(ctx, batch, o)
		}
		batch = batch[:0]
		if err != nil {
			return fmt.Errorf("update of %s: %w", namespace(to), err)
		}
		return nil
	}
	for doc, err := range (Answer{Collection: from}).Results(ctx, false) {
		if err != nil {
			return err
		}
		doc = slices.Clone(doc)
		filter := bson.D{{Key: "_id", Value: bson.D{{Key: "$eq", Value: doc.Lookup("_id")}}}}
		batch = append(batch, mongo.NewReplaceOneModel().SetFilter(filter).SetReplacement(doc).SetUpsert(true))
		if len(batch) == putBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// planInChunks adds to a plan what a part takes.
func (r *runner) planInChunks(plan *Plan, p Part, job Job) {
	found, rest := r.halves(p.Range, job)
	if found != nil {
		plan.add(r.DB, true, r.chunkCommand(p, job, both(r.Job.Query, found)), "")
	}
	if rest != nil {
		const note = "keys of other types, if there are some: a router before 4.4 would lose them; they are copied from there by updates, and it is dropped"
		plan.add(r.DB, true, r.asideCommand(job, both(r.Job.Query, rest), p.DB, p.Coll+" (beside)"), note)
	}
}
