package mr

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/splitter"
)

// merge makes one answer of the parts.
func (r *runner) merge(ctx context.Context, rep *Report) error {
	restore := false
	for _, p := range rep.Parts {
		if r.JSMode && p.Mode != "" && r.keys.restores() {
			restore = true
		}
	}
	answer := rep.Answer.Collection
	switch {
	case len(rep.Parts) == 1 && rep.Parts[0].Coll == answer.Name():
		return nil
	case restore && r.disjoint():
		return r.restore(ctx, rep.Parts, answer)
	case restore:
		return r.gather(ctx, rep.Parts, answer)
	case r.disjoint():
		return r.concatenate(ctx, rep.Parts, answer)
	default:
		return r.reduceAgain(ctx, rep.Parts, answer)
	}
}

func (r *runner) collection(p Part) *mongo.Collection {
	return r.out(p.DB).Collection(p.Coll)
}

// concatenate puts disjoint parts together. The first part becomes the answer
// by its name alone, and the others are added to it, by the server where it can.
func (r *runner) concatenate(ctx context.Context, parts []Part, answer *mongo.Collection) error {
	rest := parts
	if r.rename(ctx, parts[0], answer) {
		parts[0].Coll = answer.Name()
		rest = parts[1:]
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return splitter.Each(ctx, len(rest), r.Threads, func(ctx context.Context, i, _ int) error {
		err := r.add(ctx, rest[i], answer)
		if isDuplicate(err) {
			return &DuplicateKeysError{NS: namespace(answer), EmitKey: r.Job.EmitKey, Message: err.Error()}
		}
		return err
	})
}

// rename gives a part's collection the answer's name. A server may refuse it (a sharded
// collection, missing rights); then the part is copied like the others.
func (r *runner) rename(ctx context.Context, p Part, answer *mongo.Collection) bool {
	return r.Client.Database("admin").RunCommand(ctx, r.confirmed(renameCommand(p, answer))).Err() == nil
}

func renameCommand(p Part, answer *mongo.Collection) bson.D {
	return bson.D{{Key: "renameCollection", Value: p.DB + "." + p.Coll}, {Key: "to", Value: namespace(answer)}}
}

// mergeStage adds documents to the answer, and fails at a key that it has.
func mergeStage(answer *mongo.Collection) bson.D {
	return bson.D{{Key: "$merge", Value: bson.D{
		{Key: "into", Value: bson.D{{Key: "db", Value: answer.Database().Name()}, {Key: "coll", Value: answer.Name()}}},
		{Key: "on", Value: "_id"},
		{Key: "whenMatched", Value: "fail"},
		{Key: "whenNotMatched", Value: "insert"},
	}}}
}

// add adds a part's results to the answer.
func (r *runner) add(ctx context.Context, p Part, answer *mongo.Collection) error {
	if r.server.WireVersion >= splitter.Wire42 {
		o := options.Aggregate()
		if r.server.WireVersion >= splitter.Wire44 {
			o.SetComment(r.Comment)
		}
		cur, err := r.collection(p).Aggregate(ctx, mongo.Pipeline{mergeStage(answer)}, o)
		if err == nil {
			return cur.Close(ctx)
		}
		if code(err) != codeUnknownStage {
			return fmt.Errorf("mr: $merge of %s.%s into %s: %w", p.DB, p.Coll, namespace(answer), err)
		}
	}
	return r.copy(ctx, p, newInserter(answer, r.server, r.concern()), func(dst []byte, doc bson.Raw) []byte { return append(dst, doc...) })
}

// copy streams a part through the client.
func (r *runner) copy(ctx context.Context, p Part, to *inserter, appendDoc func(dst []byte, doc bson.Raw) []byte) error {
	for doc, err := range (Answer{Collection: r.collection(p)}).Results(ctx, false) {
		if err != nil {
			return err
		}
		if err := to.add(ctx, func(dst []byte) []byte { return appendDoc(dst, doc) }); err != nil {
			return err
		}
	}
	return to.flush(ctx)
}

// restore copies disjoint parts and turns jsMode's keys back. A part that left
// jsMode on the way can have a key twice, as a string and as itself; those are
// put aside and reduced into the answer.
func (r *runner) restore(ctx context.Context, parts []Part, answer *mongo.Collection) error {
	aside := answer.Database().Collection(r.collName(gatherName))
	var mu sync.Mutex
	clashes := newInserter(aside, r.server, r.concern())
	err := splitter.Each(ctx, len(parts), r.Threads, func(ctx context.Context, i, _ int) error {
		to := newInserter(answer, r.server, r.concern())
		to.clash = func(docs []bson.Raw) error {
			mu.Lock()
			defer mu.Unlock()
			for _, d := range docs {
				if err := clashes.add(ctx, func(dst []byte) []byte { return keyRule{}.appendResult(dst, d, "key") }); err != nil {
					return err
				}
			}
			return nil
		}
		return r.copy(ctx, parts[i], to, func(dst []byte, doc bson.Raw) []byte { return r.keys.appendResult(dst, doc, "_id") })
	})
	if err != nil {
		return err
	}
	clashed := clashes.sent + len(clashes.starts)
	if clashed == 0 {
		return nil
	}
	if r.Job.Finalize != "" {
		return &CollisionError{NS: namespace(answer)}
	}
	if err := clashes.flush(ctx); err != nil {
		return err
	}
	return r.mapReduceAgain(ctx, aside, again(r.Job, "key"), output{"reduce", answer.Database().Name(), answer.Name()})
}

// gather copies overlapping parts of jsMode, keys turned back, into one
// collection and reduces that.
func (r *runner) gather(ctx context.Context, parts []Part, answer *mongo.Collection) error {
	all := answer.Database().Collection(r.collName(gatherName))
	err := splitter.Each(ctx, len(parts), r.Threads, func(ctx context.Context, i, _ int) error {
		return r.copy(ctx, parts[i], newInserter(all, r.server, r.concern()), func(dst []byte, doc bson.Raw) []byte {
			return r.keys.appendResult(dst, doc, "key")
		})
	})
	if err != nil {
		return err
	}
	return r.mapReduceAgain(ctx, all, again(r.Job, "key"), output{"replace", answer.Database().Name(), answer.Name()})
}

// reduceAgain reduces overlapping parts into one another, and finalizes at the end.
func (r *runner) reduceAgain(ctx context.Context, parts []Part, answer *mongo.Collection) error {
	to := answer
	if r.Job.Finalize != "" {
		to = answer.Database().Collection(r.collName(gatherName))
	}
	job := again(r.Job, "_id")
	job.Finalize = ""
	for i, p := range parts {
		if i == 0 && r.rename(ctx, p, to) {
			parts[0].Coll = to.Name()
			continue
		}
		if err := r.mapReduceAgain(ctx, r.collection(p), job, output{"reduce", to.Database().Name(), to.Name()}); err != nil {
			return err
		}
	}
	if r.Job.Finalize == "" {
		return nil
	}
	return r.mapReduceAgain(ctx, to, again(r.Job, "_id"), output{"replace", answer.Database().Name(), answer.Name()})
}

func (r *runner) mapReduceAgain(ctx context.Context, from *mongo.Collection, j Job, out output) error {
	err := from.Database().RunCommand(ctx, r.confirmed(command(from.Name(), j, r.tagged(nil), out, false, r.Comment, r.server.WireVersion))).Err()
	if s := scriptError(err, j); s != nil {
		return s
	}
	if u := unconfirmed(err); u != nil {
		err = u
	}
	if err != nil {
		return fmt.Errorf("mr: mapReduce of %s into %s.%s: %w", namespace(from), out.db, out.coll, err)
	}
	return nil
}

func namespace(c *mongo.Collection) string { return c.Database().Name() + "." + c.Name() }

func isDuplicate(err error) bool {
	var se mongo.ServerError
	return errors.As(err, &se) && se.HasErrorCode(codeDuplicateKey)
}
