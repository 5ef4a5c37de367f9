package mr

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/splitter"
)

// copies says that results go into the sharded collection from here. The server's own way before 4.4, out: {merge, sharded: true}, loses results
// without a word: a router drops the collection and makes it anew while its primary shard has no documents of it, also those that others are putting
// there on the other shards, and its layout; and each shard fetches the results of its chunks by {_id: {$gte: min, $lt: max}}, which matches values of
// one type only, not null beside numbers.
func (r *runner) copies() bool {
	return r.Into.Add && r.Into.Sharded && r.server.WireVersion < splitter.Wire44
}

// asideCommand writes a part to a collection that is not sharded.
func (r *runner) asideCommand(p Part, job Job, coll string) bson.D {
	return r.intoCommand(job, both(r.Job.Query, p.Range.Filter(r.Predicate)), bson.D{{Key: "replace", Value: coll}, {Key: "db", Value: p.DB}})
}

// partAside runs a part beside the result and copies its results there.
func (r *runner) partAside(ctx context.Context, p *Part, job Job) (err error) {
	coll, dropped, err := r.Into.Aside(p.Index)
	if err != nil {
		return err
	}
	aside := r.out(p.DB).Collection(coll)
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropFor)
		defer cancel()
		derr := aside.Drop(ctx)
		if derr == nil {
			derr = dropped()
		} else {
			derr = fmt.Errorf("drop %s: %w", namespace(aside), derr)
		}
		if err == nil {
			err = derr
		}
	}()
	raw, err := r.Client.Database(r.DB).RunCommand(ctx, r.asideCommand(*p, job, coll)).Raw()
	if err != nil {
		return err
	}
	x := readReply(raw)
	p.Counts, p.Shards, p.ServerMS = x.counts, x.shards, x.serverMS
	_, err = splitter.Put(ctx, r.out(p.DB).Collection(p.Coll), (Answer{Collection: aside}).Results(ctx, false))
	return err
}

// dropFor is how long dropping the collection may take, also after an interrupt.
const dropFor = 10 * time.Second
