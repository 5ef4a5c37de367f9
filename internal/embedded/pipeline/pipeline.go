package pipeline

import (
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/spill"
	"mrbench/internal/embedded/store"
)

// defaultMemory is what a blocking stage may use before it spills: 100 MiB, as MongoDB.
const defaultMemory = 100 << 20

// Options of one aggregate command.
type Options struct {
	DB           *store.DB
	NS           store.NS // Coll "" for {aggregate: 1}
	Let          bsonx.Doc
	Hint         bsonx.Value
	AllowDiskUse bool      // the command's default is true (as since 6.0)
	Collation    bsonx.Doc // non-empty: refused
	MemoryLimit  int64     // bytes per blocking stage, 0: 100 MiB
	Parallel     int       // cores one pipeline may use where order and result do not depend on it; 0: GOMAXPROCS
	// CurrentOps lists what runs, for $currentOp; nil: none.
	CurrentOps func() []bsonx.Doc

	parallelFrom int64 // documents from where on several workers pay; 0: parallelFrom. Tests make it small.
}

// Pipeline is parsed and optimized. One Run at a time.
type Pipeline struct {
	o      Options
	raw    bsonx.Doc // the stages as given
	scope  *expr.Scope
	stages []parsed
	head   head
	sub    bool // part of another pipeline
}

// parsed is a stage with what it came from.
type parsed struct {
	name string
	arg  bsonx.Value
	stage
}

// stage is one step. A stage's expressions have state, so a Pipeline runs once at a time.
type stage interface {
	// open puts the stage behind in.
	open(r *run, in query.Source) (query.Source, error)
	// deps notes what the stage reads of its input; stop means that nothing else of
	// the input reaches later stages.
	deps(d *deps) (stop bool)
}

// run is what the sources of one run share.
type run struct {
	o     *Options
	snap  *store.Snap
	scope *expr.Scope
}

func (r *run) memory() int64 {
	if r.o.MemoryLimit > 0 {
		return r.o.MemoryLimit
	}
	return defaultMemory
}

// spill gives the options of a stage's spilling. Without permission to use the
// disk the sorter's own limit is never reached; the stage looks at its memory itself.
func (r *run) spill() spill.Options {
	if r.o.DB == nil {
		return spill.Options{MemoryLimit: r.memory()}
	}
	return r.o.DB.SpillOptions(r.memory())
}

// sorting is spill for a $sort, which asks whether the disk may be used.
func (r *run) sorting() spill.Options {
	o := r.spill()
	if !r.o.AllowDiskUse {
		o.Refuse = errMemory("$sort")
	}
	return o
}

func errMemory(stage string) error {
	return errf(mongoerr.QueryExceededMemoryLimit, "Exceeded memory limit for %s, but didn't allow external sort. Pass allowDiskUse:true to opt in.", stage)
}

// Parse checks all stages (40324 unknown stage; 40323 more than one field;
// stage-specific codes) and optimizes: $match pushed into the plan, $sort served
// by an index, dependencies found for a covered read, $limit into $sort.
func Parse(stages bsonx.Doc, o Options) (*Pipeline, error) {
	if len(o.Collation) > len(bsonx.Empty) {
		return nil, errf(mongoerr.CommandNotSupported, "collation is not supported by this engine")
	}
	scope := (&expr.Scope{}).With("NOW", expr.Now())
	if len(o.Let) > len(bsonx.Empty) {
		for it := o.Let.Iter(); it.Next(); {
			name := string(it.Name())
			if err := expr.CheckVarName(name); err != nil {
				return nil, err
			}
			e, err := expr.Compile(it.Value(), scope)
			if err != nil {
				return nil, err
			}
			v, err := e.Eval(bsonx.Empty)
			if err != nil {
				return nil, err
			}
			scope = scope.With(name, v)
		}
	}
	// Not before: nothing would stop a script of let.
	scope = scope.WithScripts(&expr.Scripts{})
	return parse(stages, o, scope, false)
}

func parse(stages bsonx.Doc, o Options, scope *expr.Scope, sub bool) (*Pipeline, error) {
	p := &Pipeline{o: o, raw: stages, scope: scope, sub: sub}
	ps := parser{o: &p.o, scope: scope, sub: sub}
	var err error
	if p.stages, err = ps.stages(stages); err != nil {
		return nil, err
	}
	p.optimize()
	return p, nil
}

// Writes reports the target of a final $out or $merge.
func (p *Pipeline) Writes() (ns store.NS, ok bool) {
	if n := len(p.stages); n > 0 {
		if w, isWrite := p.stages[n-1].stage.(writer); isWrite {
			return w.target(), true
		}
	}
	return store.NS{}, false
}

// writer is a last stage that writes a collection.
type writer interface {
	target() store.NS
}

// Run starts it on a snapshot. When it ends in $out or $merge the source is
// empty and the work is done by the first Next.
func (p *Pipeline) Run(ctx context.Context, snap *store.Snap) (query.Source, error) {
	if v, err := p.overView(snap); v != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return v.Run(ctx, snap)
	}
	r := &run{o: &p.o, snap: snap, scope: p.scope}
	src, rest, err := p.openHead(ctx, r)
	if err != nil {
		return nil, err
	}
	if src, err = chain(r, src, rest); err != nil || p.sub {
		return src, err
	}
	if x := p.scope.Scripts(); x != nil && x.Used() {
		src = &watched{src, x}
	}
	return src, nil
}

// watched lets the end of ctx stop JavaScript of all stages.
type watched struct {
	query.Source
	scripts *expr.Scripts
}

func (w *watched) Next(ctx context.Context) ([]bsonx.Doc, error) {
	defer w.scripts.Watch(ctx)()
	return w.Source.Next(ctx)
}

// chain opens stages one behind the other.
func chain(r *run, src query.Source, stages []parsed) (query.Source, error) {
	for _, s := range stages {
		next, err := s.open(r, src)
		if err != nil {
			_ = src.Close()
			return nil, err
		}
		src = next
	}
	return src, nil
}

// maxViewDepth is how many views may stand on each other.
const maxViewDepth = 20

// overView gives the pipeline on the collection below a view, nil if NS is none.
func (p *Pipeline) overView(snap *store.Snap) (*Pipeline, error) {
	if p.o.NS.Coll == "" || snap == nil {
		return nil, nil
	}
	ns := p.o.NS
	var pre []bsonx.Value
	for depth := 0; ; depth++ {
		c := snap.Collection(ns)
		if c == nil || !c.IsView() {
			break
		}
		if depth == maxViewDepth {
			return nil, errf(165, "View depth too deep or view cycle detected; maximum depth is %d", maxViewDepth)
		}
		var own []bsonx.Value
		if v := c.Options.Get("pipeline"); v.Type == tArray {
			for it := v.Elems(); it.Next(); {
				own = append(own, it.Value())
			}
		}
		pre = append(own, pre...)
		on := c.Options.Get("viewOn")
		if on.Type != tString {
			break
		}
		ns.Coll = on.Str()
	}
	if ns == p.o.NS {
		return nil, nil
	}
	for it := p.raw.Iter(); it.Next(); {
		pre = append(pre, it.Value())
	}
	o := p.o
	o.NS = ns
	return parse(bsonx.Doc(bsonx.Array(pre...).Data), o, p.scope, p.sub)
}

// RunOn applies the stages to one document (pipeline updates).
func (p *Pipeline) RunOn(ctx context.Context, doc bsonx.Doc) (bsonx.Doc, error) {
	r := &run{o: &p.o, scope: p.scope}
	src, err := chain(r, &listSource{docs: []bsonx.Doc{doc}}, p.unoptimized())
	if err != nil {
		return nil, err
	}
	defer src.Close()
	if x := p.scope.Scripts(); x.Used() && !p.sub {
		defer x.Watch(ctx)()
	}
	docs, err := src.Next(ctx)
	if err != nil {
		return nil, err
	}
	if len(docs) != 1 {
		return nil, errf(mongoerr.FailedToParse, "the pipeline must give one document for a document, it gave %d", len(docs))
	}
	return append(bsonx.Doc(nil), docs[0]...), nil
}
