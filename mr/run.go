package mr

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/splitter"
)

// runner is one run's state.
type runner struct {
	Config
	server splitter.Server
	keys   keyRule
	plain  atomic.Bool // the server refused jsMode, and the run goes on without
	start  time.Time

	mu    sync.Mutex
	parts []Part // finished
}

// Run executes the job. On cancel or failure it kills what runs on the server
// and waits for it; on cancel it returns ctx's error. A JavaScript error comes
// back as *ScriptError with function, line and message. Other errors: *JSModeError, ErrAmbiguousKeys,
// *OutputExistsError, *DuplicateKeysError, *CollisionError, *splitter.KilledError, server errors with the command and the
// range. The report is not nil once something may have been written.
func Run(ctx context.Context, c Config) (*Report, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &runner{Config: c}
	if r.server, err = splitter.AskServer(ctx, c.Client); err != nil {
		return nil, err
	}
	r.plain.Store(c.JSMode && c.AllowPlain && r.refusesJSMode())
	if c.JSMode && !r.plain.Load() {
		r.keys = newKeyRule(c.KeyTypes)
		// From 4.4 on jsMode is ignored, and the reply tells a server where it is not.
		if r.keys.ambiguous && r.server.WireVersion < splitter.Wire44 {
			return nil, ErrAmbiguousKeys
		}
	}
	if c.Into != nil {
		return r.runInto(ctx)
	}
	if err := r.refuseExisting(ctx); err != nil {
		return nil, err
	}
	rep := &Report{
		Databases: c.databases(),
		Answer:    Answer{Collection: c.out(c.database(0)).Collection(c.collName(answerName))},
	}
	for _, name := range c.writes() {
		if c.Created != nil {
			if err := c.Created(name); err != nil {
				return rep, fmt.Errorf("mr: recording output %s: %w", name, err)
			}
		}
	}
	r.start = time.Now()
	err = r.runParts(ctx)
	slices.SortFunc(r.parts, func(a, b Part) int { return a.Index - b.Index })
	rep.Parts = r.parts
	if err == nil {
		merging := time.Now()
		if err = r.merge(ctx, rep); splitter.Killed(err) {
			err = &splitter.KilledError{What: "the merge of the parts", Err: err}
		}
		rep.MergeSeconds = time.Since(merging).Seconds()
	}
	rep.Seconds = time.Since(r.start).Seconds()
	rep.sum(c.JSMode)
	if r.plain.Load() {
		rep.Mode = ModeIgnored
	}
	if err != nil {
		r.stop(ctx)
		if ctx.Err() != nil {
			return rep, ctx.Err()
		}
		return rep, err
	}
	return rep, nil
}

// refuseExisting makes sure that no output collection is there: replace would overwrite it.
func (r *runner) refuseExisting(ctx context.Context) error {
	for i := range r.pieces() {
		names := bson.A{r.collName(partName(i))}
		if i == 0 {
			names = append(names, r.collName(answerName), r.collName(gatherName))
		}
		db := r.out(r.database(i))
		found, err := db.ListCollectionNames(ctx, bson.D{{Key: "name", Value: bson.D{{Key: "$in", Value: names}}}})
		if err != nil {
			return fmt.Errorf("mr: listCollections of %s: %w", db.Name(), err)
		}
		if len(found) > 0 {
			return &OutputExistsError{NS: db.Name() + "." + found[0]}
		}
	}
	return nil
}

// runParts runs the commands, at most Threads at a time, and PerShard of a shard.
func (r *runner) runParts(ctx context.Context) error {
	owners := splitter.Owners{Of: r.Owners, Each: r.PerShard}
	return splitter.EachOwned(ctx, r.pieces(), r.Threads, owners, func(ctx context.Context, i, thread int) error {
		p, err := r.runPart(ctx, i, thread)
		if err != nil {
			return err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.parts = append(r.parts, p)
		if r.OnPart != nil {
			r.OnPart(p)
		}
		return nil
	})
}

func (r *runner) runPart(ctx context.Context, i, thread int) (Part, error) {
	p, job := r.planPart(i)
	p.Thread = thread
	if r.Gate != nil {
		done, err := r.Gate(ctx, p.Owner)
		if err != nil {
			return p, err
		}
		defer done()
	}
	if r.OnStart != nil {
		r.mu.Lock()
		r.OnStart(p)
		r.mu.Unlock()
	}
	if r.Into != nil {
		return r.partInto(ctx, p, job)
	}
	if r.createsOutput() {
		if err := r.out(p.DB).CreateCollection(ctx, p.Coll); err != nil {
			return p, fmt.Errorf("mr: create %s.%s: %w", p.DB, p.Coll, err)
		}
	}
	query := r.tagged(both(r.Job.Query, p.Range.Filter(r.Predicate)))
	out := output{"replace", p.DB, p.Coll}
	began := time.Now()
	p.Start = began.Sub(r.start).Seconds()
	jsMode := r.JSMode && !r.plain.Load()
	raw, err := r.Client.Database(r.DB).RunCommand(ctx, r.confirmed(command(r.Coll, job, query, out, jsMode, r.Comment, r.server.WireVersion))).Raw()
	if jsMode && jsModeRefused(err) {
		if !r.AllowPlain {
			return p, &JSModeError{Message: err.Error()}
		}
		r.plain.Store(true)
		began = time.Now()
		raw, err = r.Client.Database(r.DB).RunCommand(ctx, r.confirmed(command(r.Coll, job, query, out, false, r.Comment, r.server.WireVersion))).Raw()
	}
	if err != nil {
		if splitter.Killed(err) {
			return p, &splitter.KilledError{What: "mapReduce on " + r.DB + "." + r.Coll, Index: i, Range: p.Range, Err: err}
		}
		return p, r.explain(err, p.Range)
	}
	p.Seconds = time.Since(began).Seconds()
	x := readReply(raw)
	p.Counts, p.Shards, p.Mode, p.ServerMS = x.counts, x.shards, x.mode, x.serverMS
	if jsMode && p.Mode != "" && r.keys.ambiguous {
		return p, ErrAmbiguousKeys
	}
	return p, nil
}

// planPart is where part i is written, and its job.
func (r *runner) planPart(i int) (Part, Job) {
	p := Part{Index: i, Range: r.part(i), DB: r.database(i), Coll: r.collName(partName(i))}
	if i < len(r.Owners) {
		p.Owner = r.Owners[i]
	}
	switch {
	case r.Into != nil:
		p.DB, p.Coll = r.Into.DB, r.Into.Coll(i)
	case r.pieces() == 1 && !r.JSMode:
		p.Coll = r.collName(answerName) // nothing is to be merged
	}
	job := r.Job
	if !r.disjoint() {
		job.Finalize = "" // it runs when everything is reduced
	}
	return p, job
}

// createsOutput says that collections are made before mapReduce writes: routers since 4.4 write to existing databases
// only. replace takes the collection's place.
func (r *runner) createsOutput() bool {
	return r.server.Mongos && r.server.WireVersion >= splitter.Wire44
}

// refusesJSMode says that the server is known to refuse jsMode: a router before 4.4 does for outputs that name a database, as all here do.
func (r *runner) refusesJSMode() bool {
	return r.server.Mongos && r.server.WireVersion < splitter.Wire44
}

// jsModeRefused reads a router's refusal, which has no code.
func jsModeRefused(err error) bool {
	var ce mongo.CommandError
	return errors.As(err, &ce) && strings.Contains(ce.Message, "unknown m/r field for sharding") && strings.Contains(ce.Message, "jsMode")
}

// explain says what a failed mapReduce means.
func (r *runner) explain(err error, x splitter.Range) error {
	if s := scriptError(err, r.Job); s != nil {
		return s
	}
	if u := unconfirmed(err); u != nil {
		err = u
	}
	ns := r.DB + "." + r.Coll
	if code(err) == codeNamespaceNotFound {
		return fmt.Errorf("mr: %s does not exist: check the name, or fill it first: %w", ns, err)
	}
	if x.Everything() {
		return fmt.Errorf("mr: mapReduce on %s: %w", ns, err)
	}
	return fmt.Errorf("mr: mapReduce on %s, range %s of %s: %w", ns, x, x.Key, err)
}
