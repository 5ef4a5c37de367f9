package mr

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/splitter"
)

// Into has the parts of a run put into collections that the caller names, and nothing merged: Report.Answer has no collection then. Outputs that
// are there already are the caller's business, and Created is not called.
type Into struct {
	DB   string
	Coll func(part int) string // where part i goes
	// Add adds to what is in the collection, a result in the place of one with the same key, so that others may add to it at the same
	// time; otherwise the collection is made anew.
	Add bool
	// Sharded says that the collections are sharded by {_id: 1}.
	Sharded bool
	// Aside names a collection of DB that is the run's own, for the results of a part on their way into a sharded collection through a router before 4.4:
	// they are copied from there, then it is dropped and dropped called. Needed with Add and Sharded.
	Aside func(part int) (coll string, dropped func() error, err error)
	// Done is called when a part is in; its error ends the run. May be called from several goroutines. May be nil.
	Done func(ctx context.Context, p Part) error
}

// Again is the job that reduces results {<key>, value} once more.
func (j Job) Again(key string) Job {
	a := again(j, key)
	a.EmitKey = key
	return a
}

func (c Config) checkInto() error {
	switch {
	case c.Into == nil:
		return nil
	case c.JSMode:
		return errors.New("mr: jsMode makes strings of keys, which nothing turns back in a collection that others fill: run without it")
	case c.Into.DB == "" || c.Into.Coll == nil:
		return errors.New("mr: no collection to put the parts into given")
	case c.Into.Add && c.Into.Sharded && c.Into.Aside == nil:
		return errors.New("mr: no collection for results on their way into a sharded one given")
	}
	return nil
}

// runInto is Run for Config.Into.
func (r *runner) runInto(ctx context.Context) (*Report, error) {
	rep := &Report{Databases: []string{r.Into.DB}}
	r.start = time.Now()
	err := r.runParts(ctx)
	slices.SortFunc(r.parts, func(a, b Part) int { return a.Index - b.Index })
	rep.Parts = r.parts
	rep.Seconds = time.Since(r.start).Seconds()
	rep.sum(false)
	if err != nil {
		r.stop(ctx)
		if ctx.Err() != nil {
			return rep, ctx.Err()
		}
	}
	return rep, err
}

// partInto runs a part and has the server put its results where they belong.
func (r *runner) partInto(ctx context.Context, p Part, job Job) (Part, error) {
	began := time.Now()
	p.Start = began.Sub(r.start).Seconds()
	if r.copies() {
		if err := r.partAside(ctx, &p, job); err != nil {
			return p, r.explainInto(err, p)
		}
		p.Seconds = time.Since(began).Seconds()
		return p, r.isIn(ctx, p)
	}
	empty, err := r.isEmpty(ctx, p)
	if err != nil {
		return p, err
	}
	list := r.intoCommands(p, job, empty)
	raw, err := r.Client.Database(r.DB).RunCommand(ctx, list[0]).Raw()
	if err != nil {
		return p, r.explainInto(err, p)
	}
	x := readReply(raw)
	if len(list) > 1 {
		raw, err := r.Client.Database(r.DB).RunCommand(ctx, list[1]).Raw()
		if err == nil {
			err = r.addNull(ctx, p, raw)
		}
		if err != nil {
			return p, r.explainInto(err, p)
		}
	}
	p.Seconds = time.Since(began).Seconds()
	p.Counts, p.Shards, p.ServerMS = x.counts, x.shards, x.serverMS
	return p, r.isIn(ctx, p)
}

// isEmpty says that nothing is in the result yet, where it matters: a server before 4.4 puts the first results there by dropping it and renaming another
// collection, and looks whether it is empty before it locks, unless the command is atomic. Of two that look at the same time one would drop the other's.
func (r *runner) isEmpty(ctx context.Context, p Part) (bool, error) {
	if !r.Into.Add || r.server.WireVersion >= splitter.Wire44 {
		return false, nil
	}
	coll := r.out(p.DB).Collection(p.Coll)
	n, err := coll.EstimatedDocumentCount(ctx)
	if err != nil {
		return false, fmt.Errorf("mr: count %s: %w", namespace(coll), err)
	}
	return n == 0, nil
}

func (r *runner) isIn(ctx context.Context, p Part) error {
	if r.Into.Done == nil {
		return nil
	}
	return r.Into.Done(ctx, p)
}

func (r *runner) explainInto(err error, p Part) error {
	if splitter.Killed(err) {
		return &splitter.KilledError{What: "mapReduce on " + r.DB + "." + r.Coll, Index: p.Index, Range: p.Range, Err: err}
	}
	return r.explain(err, p.Range)
}

// intoCommands are what a part takes; empty says that it may be the first. Since 4.4 mapReduce adds to a collection by $merge, which takes no key that is
// null: that one comes inline.
func (r *runner) intoCommands(p Part, job Job, empty bool) []bson.D {
	query := both(r.Job.Query, p.Range.Filter(r.Predicate))
	send := func(query, out bson.D) bson.D { return r.intoCommand(job, query, out) }
	if !r.Into.Add {
		return []bson.D{send(query, bson.D{{Key: "replace", Value: p.Coll}, {Key: "db", Value: p.DB}})}
	}
	out := bson.D{{Key: "merge", Value: p.Coll}, {Key: "db", Value: p.DB}}
	if !empty {
		out = append(out, bson.E{Key: "nonAtomic", Value: true})
	}
	if r.server.WireVersion < splitter.Wire44 || job.EmitKey == "" || !p.Range.Contains(bson.RawValue{}) {
		return []bson.D{send(query, out)}
	}
	return []bson.D{
		send(both(query, bson.D{{Key: job.EmitKey, Value: bson.D{{Key: "$ne", Value: nil}}}}), out),
		send(both(query, bson.D{{Key: job.EmitKey, Value: nil}}), bson.D{{Key: "inline", Value: 1}}),
	}
}

// intoCommand is a mapReduce of what query matches, into out.
func (r *runner) intoCommand(job Job, query, out bson.D) bson.D {
	// Before 4.4 commands have no comment, and filters have one on every version.
	query = append(slices.Clone(query), bson.E{Key: "$comment", Value: r.Comment})
	cmd := command(r.Coll, job, query, output{}, false, r.Comment, r.server.WireVersion)
	for i := range cmd {
		if cmd[i].Key == "out" {
			cmd[i].Value = out
		}
	}
	if out[0].Key == "inline" { // nothing is written
		return cmd
	}
	return r.confirmed(cmd)
}

// addNull writes the result of the key null that came inline.
func (r *runner) addNull(ctx context.Context, p Part, raw bson.Raw) error {
	list, _ := raw.Lookup("results").ArrayOK()
	results, err := list.Values()
	if err != nil || len(results) == 0 {
		return err
	}
	if len(results) > 1 {
		return fmt.Errorf("mapReduce gave %d results for documents whose %s is null or missing: it emits other keys too", len(results), r.Job.EmitKey)
	}
	value, err := results[0].Document().LookupErr("value")
	if err != nil {
		value = bson.RawValue{Type: bson.TypeNull}
	}
	_, err = r.Client.Database(p.DB).Collection(p.Coll).ReplaceOne(ctx, bson.D{{Key: "_id", Value: nil}},
		bson.D{{Key: "_id", Value: nil}, {Key: "value", Value: value}}, options.Replace().SetUpsert(true))
	if mongo.IsDuplicateKeyError(err) { // somebody else wrote the same at the same moment
		err = nil
	}
	return err
}

// planInto is Commands for Config.Into.
func (r *runner) planInto() (*Plan, error) {
	p := &Plan{}
	for i := range r.pieces() {
		x, job := r.planPart(i)
		if r.copies() {
			coll, _, err := r.Into.Aside(x.Index)
			if err != nil {
				return nil, err
			}
			p.add(r.DB, true, r.asideCommand(x, job, coll), "copied from there to "+x.Coll+" by updates, and dropped")
			continue
		}
		for k, cmd := range r.intoCommands(x, job, false) {
			note := ""
			if k > 0 {
				note = "the key null, which is then written by an update"
			}
			p.add(r.DB, k == 0, cmd, note)
		}
	}
	return p, nil
}
