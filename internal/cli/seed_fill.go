package cli

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/internal/target"
	"mrbench/seed"
)

// fill seeds the collection. It records the collection as mrbench's own when it creates it. A result beside an
// error says how far it came.
func (a *app) fill(ctx context.Context, t *target.Target, o seedOptions) (_ *seedResult, err error) {
	if o.writeConcern == "" {
		o.writeConcern = seedConcern(t)
	}
	conf := seed.Config{
		Collection: t.Client.Database(a.common.ns.DB).Collection(a.common.ns.Coll),
		Writers:    o.writers, Batch: o.batch, Ordered: o.ordered, WriteConcern: o.writeConcern,
		Index: seed.IndexMoment(o.index), IndexKeys: bson.D{{Key: a.common.key, Value: 1}},
		OnDuplicate: seed.OnDuplicate(o.onDuplicate), Append: o.add, Verbose: o.verbose, Retries: o.retries,
	}
	if o.retries == 0 {
		conf.Retries = -1
	}
	if conf.Source, err = a.sourceConfig(o); err != nil {
		return nil, err
	}
	var cp *checkpoints
	if conf.Source == nil {
		if conf.Generator, err = a.generatorOf(o); err != nil {
			return nil, err
		}
		conf.Documents = o.docs
	} else {
		if _, err := conf.Source.Files(); err != nil { // before anything is made or dropped
			return nil, usageError("%w", err)
		}
		if cp, err = a.checkpointsOf(t, conf.Source); err != nil {
			return nil, err
		}
	}
	if o.resume {
		if conf.Checkpoint, err = a.resume(cp); err != nil {
			return nil, err
		}
	}
	var bad *rejects
	if o.skipBad != "" {
		if bad, err = openRejects(a.env.path(o.skipBad), o.resume, o.overwrite); err != nil {
			return nil, err
		}
		defer finish(&err, closer(bad.close))
		conf.Bad = bad.take
	}
	if !o.resume {
		if o.shardKey != nil {
			err = a.makeSharded(ctx, t, o)
		} else {
			err = a.makeCollection(ctx, t, o)
		}
		if err != nil {
			return nil, a.explainFill(err, o, cp)
		}
		if cp != nil {
			if old, err := cp.load(); err == nil && old != nil && o.add {
				a.tell("an unfinished load of these files is known; it is given up, and all of them are loaded again (--resume goes on with it)")
			}
			if err := cp.remove(); err != nil {
				return nil, err
			}
		}
	}
	if cp != nil {
		conf.Save = func(p *seed.Checkpoint) error {
			if err := bad.sync(); err != nil {
				return err
			}
			return cp.save(p)
		}
	}
	governor, end, err := o.govern(ctx, a, t, o.writers)
	if err != nil {
		return nil, err
	}
	defer end()
	conf.Gate, conf.Comment = loadGate(governor), t.AppName
	if o.verbose {
		a.tell("%s", findText(t.AppName))
	}
	show, stop := a.seedProgress(a.common.ns.String())
	conf.Progress = show
	rep, err := seed.Run(ctx, conf)
	stop()
	if err != nil {
		if e, ok := errors.AsType[*seed.CountError](err); !ok || e.Unacknowledged {
			a.notFinished(err, o, rep, cp)
		}
		err = a.explainFill(err, o, cp)
		if rep == nil {
			return nil, err
		}
	} else {
		if rerr := a.recordData(ctx, t, o, rep); rerr != nil {
			a.tell("warning: results will not say what %s was filled with: %v", a.common.ns, rerr)
		}
		if cp != nil {
			err = cp.remove()
		}
	}
	r := a.resultOf(o, t, rep, bad, err == nil)
	if governor != nil {
		r.PausedSeconds, r.PausedFor = governor.Paused()
	}
	return r, err
}

// resultOf makes a report complete.
func (a *app) resultOf(o seedOptions, t *target.Target, rep *seed.Report, bad *rejects, complete bool) *seedResult {
	r := &seedResult{Report: rep, Seed: o.seed, Complete: complete}
	if rep.Generator == uniquesName || rep.Index != string(seed.IndexNone) {
		r.Key = a.common.key
	}
	if rep.Generator == uniquesName {
		if r.Keys = o.keys; r.Keys == 0 {
			r.Keys = max(1, o.docs/10)
		}
	}
	if bad != nil && bad.n > 0 {
		r.RejectsFile = bad.path
	}
	r.Server.Kind, r.Server.Version = t.Kind, t.Version
	return r
}

// seedConcern is the write concern of a load that no flag says: the connection string's, or 1.
func seedConcern(t *target.Target) string {
	if w := t.Wishes.WriteConcern; w != nil && (w.W != nil || w.Journal != nil && *w.Journal) {
		return concernText(w)
	}
	return "1"
}

// makeCollection creates the collection to be filled, and records it. One that exists stays as it is, unless it holds
// documents, which is an error, or drop is asked for.
func (a *app) makeCollection(ctx context.Context, t *target.Target, o seedOptions) error {
	ns := a.common.ns
	db := t.Client.Database(ns.DB)
	_, exists, err := collectionUUID(ctx, db, ns.Coll)
	if err != nil {
		return err
	}
	if err := mayDo(ctx, t, toSeed(ns, o, exists)); err != nil {
		return err
	}
	if exists && o.drop {
		drop := func() error { return db.Collection(ns.Coll).Drop(ctx) }
		if err := a.afterFailOver(ctx, t, "dropping "+ns.String(), drop); err != nil {
			return fmt.Errorf("drop %s: %w", ns, err)
		}
		exists = false
	}
	if exists {
		n, err := db.Collection(ns.Coll).EstimatedDocumentCount(ctx)
		if err == nil && n > 0 && !o.add {
			err = &seed.NotEmptyError{NS: ns.String(), Documents: n}
		}
		return err
	}
	tried := false
	create := func() error {
		err := db.CreateCollection(ctx, ns.Coll)
		if ce, ok := errors.AsType[mongo.CommandError](err); ok && ce.Code == codeNamespaceExists && tried {
			return nil // it was not there a moment ago: the first try made it, and its answer was lost
		}
		tried = true
		return err
	}
	if err := a.afterFailOver(ctx, t, "making "+ns.String(), create); err != nil {
		return fmt.Errorf("create %s: %w", ns, err)
	}
	uuid, _, err := collectionUUID(ctx, db, ns.Coll)
	if err != nil {
		return err
	}
	dir, err := a.dataDir()
	if err != nil {
		return err
	}
	return createdIn(dir).add(creation{Kind: kindCollection, Name: ns.String(), UUID: uuid, Server: t.Identity, Time: a.env.Now()})
}
