package command

import (
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/pipeline"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/store"
)

const docType = bsonx.TypeEmbeddedDocument

// Memory of one blocking sort or group before it goes to disk.
const blockingMemory = 100 << 20

// read is what find, count, distinct and their explain want of a collection or view.
type read struct {
	ns      store.NS
	filter  bsonx.Doc
	sort    bsonx.Doc
	let     bsonx.Doc
	hint    bsonx.Value
	min     bsonx.Doc
	max     bsonx.Doc
	skip    int64
	limit   int64 // 0: none
	needs   []string
	project *query.Projection
	noDisk  bool // allowDiskUse: false

	parsedFilter *query.Filter
	parsedSort   *query.SortSpec
	scope        *expr.Scope
	scripts      expr.Scripts // the $functions of the filter and the projection
}

// watch lets the end of ctx stop the read's JavaScript, until stop is called.
func (r *read) watch(ctx context.Context) (stop func()) { return r.scripts.Watch(ctx) }

// parse checks the filter and the sort, before anything is looked up: a bad filter fails on a missing collection too.
func (r *read) parse() (err error) {
	if r.scope, err = letScope(r.let); err != nil {
		return err
	}
	r.scope = r.scope.WithScripts(&r.scripts)
	if r.parsedFilter, err = query.ParseFilter(r.filter, r.scope); err != nil {
		return err
	}
	if r.sort.Len() > 0 && !isNatural(r.sort) {
		r.parsedSort, err = query.ParseSort(r.sort)
	}
	return err
}

// plan chooses how to read a collection that is not a view.
func (r *read) plan(s *Server, snap *store.Snap, coll *store.Collection) (*query.Plan, error) {
	disk := s.db.SpillOptions(blockingMemory)
	if r.noDisk {
		disk.Refuse = mongoerr.New(mongoerr.QueryExceededMemoryLimit, "Sort exceeded memory limit of %d bytes, but did not opt in to external sorting. Pass allowDiskUse: true to opt in", blockingMemory)
	}
	return query.MakePlan(snap, coll, query.Request{
		Filter: r.parsedFilter, Sort: r.parsedSort, Needs: r.needs, Hint: r.naturalHint(),
		Min: r.min, Max: r.max, Skip: r.skip, Limit: r.limit, Spill: disk,
	})
}

// open gives the documents. A missing collection gives a nil Source.
func (r *read) open(ctx context.Context, s *Server, snap *store.Snap) (query.Source, error) {
	coll := snap.Collection(r.ns)
	if coll == nil {
		return nil, nil
	}
	if coll.IsView() {
		p, err := r.viewPipeline(s, snap, coll)
		if err != nil {
			return nil, err
		}
		return p.Run(ctx, snap)
	}
	plan, err := r.plan(s, snap, coll)
	if err != nil {
		return nil, err
	}
	return plan.Open(snap)
}

// naturalHint turns a sort of {$natural: ±1} into the hint that means the same.
func (r *read) naturalHint() bsonx.Value {
	if isNatural(r.sort) {
		return bsonx.DocValue(r.sort)
	}
	return r.hint
}

func isNatural(sort bsonx.Doc) bool { return !sort.Get("$natural").IsMissing() }

// viewPipeline is the view's own pipeline followed by the read's stages.
func (r *read) viewPipeline(s *Server, snap *store.Snap, view *store.Collection) (*pipeline.Pipeline, error) {
	base, stages, err := resolveView(snap, view)
	if err != nil {
		return nil, err
	}
	if r.filter.Len() > 0 {
		stages = append(stages, build(func(w *builder) { w.doc("$match", r.filter) }))
	}
	if r.parsedSort != nil {
		stages = append(stages, build(func(w *builder) { w.doc("$sort", r.sort) }))
	}
	if r.skip > 0 {
		stages = append(stages, build(func(w *builder) { w.int64("$skip", r.skip) }))
	}
	if r.limit > 0 {
		stages = append(stages, build(func(w *builder) { w.int64("$limit", r.limit) }))
	}
	return pipeline.Parse(arrayOf(stages), pipeline.Options{
		DB: s.db, NS: base, Let: r.let, Hint: r.hint, AllowDiskUse: !r.noDisk, MemoryLimit: blockingMemory,
	})
}

// letScope has the variables of a command's let; their values are constant expressions, without JavaScript.
func letScope(let bsonx.Doc) (*expr.Scope, error) {
	scope := &expr.Scope{}
	if len(let) == 0 {
		return scope, nil
	}
	for it := let.Iter(); it.Next(); {
		e, err := expr.Compile(it.Value(), scope)
		if err != nil {
			return nil, err
		}
		v, ok := e.Constant()
		if !ok {
			if v, err = e.Eval(bsonx.Empty); err != nil {
				return nil, err
			}
		}
		scope = scope.With(string(it.Name()), v.Clone())
	}
	return scope, nil
}

// arrayOf makes a BSON array of documents.
func arrayOf(docs []bsonx.Doc) bsonx.Doc {
	return build(func(w *builder) {
		for i, d := range docs {
			w.elem(i, bsonx.DocValue(d))
		}
	})
}

// documentsOf splits an array whose elements must be documents.
func documentsOf(cmd, field string, v bsonx.Value) ([]bsonx.Doc, error) {
	if v.IsMissing() {
		return nil, nil
	}
	if v.Type != bsonx.TypeArray {
		return nil, wrongType(cmd, field, v, "array")
	}
	var docs []bsonx.Doc
	for it := v.Elems(); it.Next(); {
		e := it.Value()
		if e.Type != docType {
			return nil, wrongType(cmd, field+"."+string(it.Name()), e, "object")
		}
		docs = append(docs, e.Doc())
	}
	return docs, nil
}

// requireCollection refuses views for commands that work on stored documents.
func requireCollection(ns store.NS, coll *store.Collection) error {
	if coll != nil && coll.IsView() {
		return mongoerr.New(mongoerr.CommandNotSupportedOnView, "Namespace %s is a view, not a collection", ns)
	}
	return nil
}
