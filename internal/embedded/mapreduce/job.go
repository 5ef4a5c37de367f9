package mapreduce

import (
	"bytes"
	"context"
	"time"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/script"
	"mrbench/internal/embedded/spill"
	"mrbench/internal/embedded/store"
)

// memory is what one job may use, in bytes.
type memory struct {
	runs  int64 // emits written out, before a sorted block goes to a file
	stage int64 // results waiting to be merged into a target
	sort  int64 // the blocking sort of input
	emits int   // what one input document may emit before emits are written out unreduced
}

// usual bounds a job to well below 300 MiB, also in jsMode.
func usual() memory {
	return memory{runs: 96 << 20, stage: 32 << 20, sort: 64 << 20, emits: 64 << 20}
}

// job is one running command.
type job struct {
	c        *config
	db       *store.DB
	memory   memory
	progress Progress
	f        *functions
	mix      *mixed
	js       *jsMap // nil in mixed mode
	sink     sink
	doc      []byte
	finalBuf []byte

	input, emits                     int64
	mapTime, reduceTime, loop, total time.Duration
}

// run does all of the work; what it leaves behind is gone or published when it returns.
func (j *job) run(ctx context.Context) (output int64, err error) {
	start := time.Now()
	snap := j.db.Snapshot()
	defer func() { _ = snap.Close() }()
	coll := snap.Collection(j.c.ns)
	switch {
	case coll == nil:
		return 0, mongoerr.New(mongoerr.NamespaceNotFound, "namespace does not exist: %s", j.c.ns)
	case coll.IsView():
		return 0, mongoerr.New(mongoerr.CommandNotSupportedOnView, "Namespace %s is a view, not a collection", j.c.ns)
	}

	rt := script.New()
	defer rt.Watch(ctx)()
	if err := j.prepare(rt, snap); err != nil {
		return 0, err
	}
	runs := spill.NewSorter(j.db.SpillOptions(j.memory.runs))
	defer func() { _ = runs.Close() }()
	onDisk := j.c.out.kind != outInline
	j.mix = newMixed(j.f, onDisk, runs, j.memory.emits)
	if j.c.jsMode {
		j.js = newJSMap(j.f)
	}
	rt.SetNative("emit", j.emit)

	if to := snap.Collection(j.c.out.ns); onDisk && to != nil && to.IsView() {
		return 0, mongoerr.New(mongoerr.CommandNotSupportedOnView, "Namespace %s is a view, not a collection", to.NS)
	}
	if err := j.openSink(ctx); err != nil {
		return 0, err
	}
	defer j.sink.abort()

	if err := j.mapAll(ctx, snap, coll); err != nil {
		return 0, err
	}
	reducing := time.Now()
	if err := j.finalReduce(ctx, runs); err != nil {
		return 0, err
	}
	j.reduceTime += time.Since(reducing)
	j.report("m/r: (3/3) final reduce to collection", 0, 0)
	reduces := j.f.reduces // those that `reduce` into the target makes do not count
	if output, err = j.sink.finish(ctx); err != nil {
		return 0, err
	}
	j.f.reduces = reduces
	j.total = time.Since(start)
	return output, nil
}

// prepare defines the globals and compiles the functions.
func (j *job) prepare(rt *script.Runtime, snap *store.Snap) error {
	if err := loadStored(rt, snap, j.c.ns.DB); err != nil {
		return err
	}
	if j.c.scope != nil {
		for it := j.c.scope.Iter(); it.Next(); {
			if err := rt.SetGlobal(string(it.Name()), it.Value()); err != nil {
				return err
			}
		}
	}
	var err error
	j.f, err = compile(rt, j.c)
	return err
}

// loadStored defines the functions that the database keeps in system.js.
func loadStored(rt *script.Runtime, snap *store.Snap, db string) error {
	c := snap.Collection(store.NS{DB: db, Coll: "system.js"})
	if c == nil || c.IsView() {
		return nil
	}
	it := snap.Records(c, nil, false)
	defer func() { _ = it.Close() }()
	for it.Next() {
		name, v := it.Doc().Get("_id"), it.Doc().Get("value")
		if name.Type != bsonx.TypeString || v.IsMissing() {
			continue
		}
		if err := rt.SetGlobal(name.Str(), v); err != nil {
			return err
		}
	}
	return it.Err()
}

func (j *job) openSink(ctx context.Context) error {
	switch j.c.out.kind {
	case outInline:
		j.sink = &inlineSink{}
	case outReplace:
		b, err := j.db.NewBuilder(ctx, j.c.out.ns, true)
		if err != nil {
			return err
		}
		j.sink = &replaceSink{b: b}
	default:
		s := &stagedSink{db: j.db, out: j.c.out, staged: spill.NewSorter(j.db.SpillOptions(j.memory.stage))}
		s.combine = func(staged, _ bsonx.Doc) (bsonx.Doc, error) { return staged, nil }
		if j.c.out.kind == outReduce {
			s.combine = j.reduceInto
		}
		j.sink = s
	}
	return nil
}

// emit is the script's emit.
func (j *job) emit(args []script.Value) (script.Value, error) {
	if j.js == nil {
		j.emits++
		return nil, j.mix.emit(args)
	}
	key, v := j.f.rt.Undefined(), j.f.rt.Undefined()
	if len(args) > 0 {
		key = args[0]
	}
	if len(args) > 1 {
		v = args[1]
	}
	j.emits++
	if !typeofObject(key) {
		return nil, j.js.emit(key, v)
	}
	if err := j.leaveJSMode(); err != nil {
		return nil, err
	}
	return nil, j.mix.emit(args)
}

// leaveJSMode continues in mixed mode: at the first key that is no property name, or with too many keys.
func (j *job) leaveJSMode() error {
	js := j.js
	j.js = nil
	return js.leave(j.mix)
}

const checkEvery = 100 // input documents

// mapAll calls map for each document.
func (j *job) mapAll(ctx context.Context, snap *store.Snap, coll *store.Collection) error {
	start := time.Now()
	uses := j.f.mapper.Uses
	in, err := openInput(ctx, j.db.SpillOptions(j.memory.sort), snap, coll, j.c, needs(uses))
	if err != nil {
		return err
	}
	defer j.c.scripts.Watch(ctx)()
	defer in.close()
	var all int64
	if j.c.filter == nil || j.c.filter.Empty() {
		if all = snap.Stats(coll).Documents; j.c.limit > 0 {
			all = min(all, j.c.limit)
		}
	}
	this := j.f.rt.NewThis()
	// The clock is not read for each document: map's time is what passes but for waiting for input and for check.
	mapping := time.Now()
	pause := func() { j.mapTime += time.Since(mapping) }
	err = j.f.rt.Inside(func() (more bool, err error) {
		wait := in.waits()
		if wait {
			pause()
		}
		doc, err := in.read()
		if wait {
			mapping = time.Now()
		}
		if err != nil || doc == nil {
			return false, err
		}
		arg := this.Show(doc)
		if uses.ThisEscapes {
			arg = j.f.rt.Fresh(doc)
		}
		if _, err := j.f.rt.Invoke(j.f.mapper, arg); err != nil {
			return false, err
		}
		j.input++
		if j.input%checkEvery == 0 {
			pause()
			reducing := time.Now()
			if err := j.check(); err != nil {
				return false, err
			}
			mapping = time.Now()
			j.reduceTime += mapping.Sub(reducing)
			j.report("m/r: (1/3) emit phase", j.input, all)
			return true, ctx.Err()
		}
		return true, nil
	})
	if err != nil {
		return interrupted(ctx, err)
	}
	if err := ctx.Err(); err != nil {
		return interrupted(ctx, err) // the end of input may be the reader's giving up
	}
	this.Show(bsonx.Empty)
	j.loop = time.Since(start)
	return nil
}

// check is what happens after every 100 input documents.
func (j *job) check() error {
	if j.js != nil {
		full, err := j.js.check()
		if err != nil || !full {
			return err
		}
		if err := j.leaveJSMode(); err != nil {
			return err
		}
	}
	return j.mix.check()
}

// needs are the fields that map reads, or nil for the whole document.
func needs(u script.Uses) []string {
	if u.ThisEscapes {
		return nil
	}
	fields := []string{}
	for _, f := range u.Fields {
		if f == "" || bytes.ContainsAny([]byte(f), ".$\x00") {
			return nil
		}
		fields = append(fields, f)
	}
	return fields
}

// interrupted prefers the context's own reason over how it surfaced.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return script.Interruption(ctx)
	}
	return err
}

func (j *job) report(phase string, done, total int64) {
	if j.progress != nil {
		j.progress(phase, done, total)
	}
}
