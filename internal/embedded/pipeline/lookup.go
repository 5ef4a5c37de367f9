package pipeline

import (
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/store"
)

// lookupStage is $lookup: by equality of fields, by a pipeline, or both.
type lookupStage struct {
	ps      *parser
	from    store.NS
	as      []string
	asPath  string
	local   *expr.Expr
	foreign string
	vars    []lookupVar
	pipe    bsonx.Value // array, missing in the plain form
	fixed   *Pipeline   // the pipeline when it does not depend on the document
}

type lookupVar struct {
	name string
	e    *expr.Expr
}

func parseLookup(ps *parser, arg bsonx.Value) (stage, error) {
	if arg.Type != tDoc {
		return nil, errf(mongoerr.FailedToParse, "the $lookup stage specification must be an object, but found %s", typeName(arg))
	}
	s := &lookupStage{ps: ps, from: ps.o.NS}
	f := map[string]bsonx.Value{}
	for it := arg.Elems(); it.Next(); {
		name, v := string(it.Name()), it.Value()
		switch name {
		case "let":
			if v.Type != tDoc {
				return nil, errf(mongoerr.FailedToParse, "$lookup argument '%s' must be an object, is type %s", name, typeName(v))
			}
		case "pipeline":
			if v.Type != tArray {
				return nil, errf(mongoerr.TypeMismatch, "'pipeline' option must be specified as an array")
			}
		case "from", "as", "localField", "foreignField":
			if v.Type != tString && name != "from" {
				return nil, errf(mongoerr.FailedToParse, "$lookup argument '%s' must be a string, is type %s", name, typeName(v))
			}
		default:
			return nil, errf(mongoerr.FailedToParse, "unknown argument to $lookup: %s", name)
		}
		f[name] = v.Clone()
	}
	return s, s.parse(ps, f)
}

func (s *lookupStage) parse(ps *parser, f map[string]bsonx.Value) error {
	as, ok := f["as"]
	if !ok {
		return errf(mongoerr.FailedToParse, "must specify 'as' field for a $lookup")
	}
	s.asPath = as.Str()
	var err error
	if s.as, err = expr.SplitPath(s.asPath); err != nil {
		return err
	}
	from, hasFrom := f["from"]
	s.pipe = f["pipeline"]
	switch {
	case hasFrom && from.Type == tString:
		s.from.Coll = from.Str()
	case hasFrom && from.Type == tDoc && from.Doc().Get("coll").Type == tString:
		s.from.Coll = from.Doc().Get("coll").Str()
		if db := from.Doc().Get("db"); db.Type == tString {
			s.from.DB = db.Str()
		}
	case hasFrom:
		return errf(mongoerr.FailedToParse, "$lookup argument 'from' must be a string, is type %s", typeName(from))
	case s.pipe.IsMissing():
		return errf(mongoerr.FailedToParse, "must specify 'from' field for a $lookup")
	default:
		s.from.Coll = ""
	}
	local, hasLocal := f["localField"]
	foreign, hasForeign := f["foreignField"]
	if hasLocal != hasForeign || !hasLocal && s.pipe.IsMissing() {
		return errf(mongoerr.FailedToParse, "$lookup requires both or neither of 'localField' and 'foreignField' to be specified")
	}
	if hasLocal {
		if _, err := expr.SplitPath(local.Str()); err != nil {
			return err
		}
		if s.local, err = ps.compile(bsonx.String("$" + local.Str())); err != nil {
			return err
		}
		s.foreign = foreign.Str()
		if _, err := expr.SplitPath(s.foreign); err != nil {
			return err
		}
	}
	if let, ok := f["let"]; ok {
		if s.pipe.IsMissing() {
			return errf(mongoerr.FailedToParse, "$lookup with a 'let' argument must also specify 'pipeline'")
		}
		for it := let.Elems(); it.Next(); {
			name := string(it.Name())
			if err := expr.CheckVarName(name); err != nil {
				return err
			}
			e, err := ps.compile(it.Value())
			if err != nil {
				return err
			}
			s.vars = append(s.vars, lookupVar{name, e})
		}
	}
	if s.pipe.IsMissing() {
		return nil
	}
	// Parse once now, whatever the variables will be, so that mistakes show before running.
	scope := ps.scope
	for _, v := range s.vars {
		scope = scope.WithBound(v.name)
	}
	p, err := ps.nested(s.pipe, s.options(), scope, false)
	if len(s.vars) == 0 && s.local == nil {
		s.fixed = p
	}
	return err
}

func (s *lookupStage) options() Options {
	o := *s.ps.o
	o.NS, o.Hint = s.from, bsonx.Value{}
	return o
}

func (s *lookupStage) deps(d *deps) bool {
	d.expr(s.local)
	for _, v := range s.vars {
		d.expr(v.e)
	}
	d.hidden = append(d.hidden, s.asPath)
	return false
}

func (s *lookupStage) open(r *run, in query.Source) (query.Source, error) {
	l := &lookupSource{s: s, r: r, in: in}
	if s.local != nil {
		l.index = &foreignIndex{path: s.foreign}
	}
	return l, nil
}

type lookupSource struct {
	s      *lookupStage
	r      *run
	in     query.Source
	index  *foreignIndex // for the equality form over a collection without an index
	out    block
	arr    []byte
	n      int
	cached bool // arr is the answer for every document
}

func (l *lookupSource) Next(ctx context.Context) ([]bsonx.Doc, error) {
	docs, err := l.in.Next(ctx)
	if err != nil || len(docs) == 0 {
		return nil, err
	}
	l.out.reset()
	for _, d := range docs {
		if err := l.find(ctx, d); err != nil {
			return nil, err
		}
		res := appendSet(l.out.start(), d, l.s.as, bsonx.ArrayValue(l.arr))
		if len(res)-l.out.from > maxDocument {
			return nil, errTooLarge(len(res) - l.out.from)
		}
		l.out.end(res)
	}
	return l.out.docs, nil
}

// find fills arr with the documents that belong to d.
func (l *lookupSource) find(ctx context.Context, d bsonx.Doc) error {
	if l.cached {
		return nil
	}
	l.arr, l.n = bsonx.BeginDoc(l.arr[:0]), 0
	err := l.search(ctx, d)
	l.arr = bsonx.EndDoc(l.arr, 0)
	l.cached = err == nil && l.s.fixed != nil
	return err
}

func (l *lookupSource) search(ctx context.Context, d bsonx.Doc) error {
	s := l.s
	if s.fixed != nil {
		return l.collect(ctx, s.fixed)
	}
	var filter bsonx.Doc
	if s.local != nil {
		v, err := s.local.Eval(d)
		if err != nil {
			return err
		}
		filter = equalityFilter(s.foreign, v)
		if s.pipe.IsMissing() {
			return l.equal(ctx, filter, v)
		}
	}
	scope := s.ps.scope
	for _, v := range s.vars {
		val, err := v.e.Eval(d)
		if err != nil {
			return err
		}
		scope = scope.With(v.name, val)
	}
	stages := s.pipe
	if filter != nil {
		all := []bsonx.Value{makeStage("$match", bsonx.DocValue(filter))}
		for it := s.pipe.Elems(); it.Next(); {
			all = append(all, it.Value())
		}
		stages = bsonx.Array(all...)
	}
	p, err := s.ps.nested(stages, s.options(), scope, false)
	if err != nil {
		return err
	}
	return l.collect(ctx, p)
}

func (l *lookupSource) collect(ctx context.Context, p *Pipeline) error {
	src, err := p.Run(ctx, l.r.snap)
	if err != nil {
		return err
	}
	return l.drain(ctx, src)
}

func (l *lookupSource) drain(ctx context.Context, src query.Source) error {
	defer src.Close()
	for {
		docs, err := src.Next(ctx)
		if err != nil || len(docs) == 0 {
			return err
		}
		for _, d := range docs {
			l.add(d)
		}
		if len(l.arr) > maxDocument {
			return errf(4568, "Total size of documents in %s matching pipeline's $lookup stage exceeds %d bytes", l.s.from.Coll, maxDocument)
		}
	}
}

func (l *lookupSource) add(d bsonx.Doc) {
	l.arr = bsonx.AppendElem(l.arr, indexName(l.n), bsonx.DocValue(d))
	l.n++
}

// equal finds the documents whose foreign field is v: by an index of the collection, or by one made here.
func (l *lookupSource) equal(ctx context.Context, filter bsonx.Doc, v bsonx.Value) error {
	c := l.r.snap.Collection(l.s.from)
	if c == nil {
		return nil
	}
	f, err := query.ParseFilter(filter, nil)
	if err != nil {
		return err
	}
	if c.IsView() {
		p, err := l.s.ps.nested(bsonx.Array(makeStage("$match", bsonx.DocValue(filter))), l.s.options(), l.s.ps.scope, false)
		if err != nil {
			return err
		}
		return l.collect(ctx, p)
	}
	plan, err := query.MakePlan(l.r.snap, c, query.Request{Filter: f, Spill: l.r.spill()})
	if err != nil {
		return err
	}
	if plan.Index == nil {
		ok, err := l.index.build(ctx, l.r, plan)
		if err != nil {
			return err
		}
		if ok {
			return l.index.find(f, v, l.add)
		}
	}
	src, err := plan.Open(l.r.snap)
	if err != nil {
		return err
	}
	return l.drain(ctx, src)
}

func (l *lookupSource) Close() error { return l.in.Close() }

// equalityFilter asks for documents whose field equals v or, for an array, one of its elements. Regular
// expressions are compared, not matched.
func equalityFilter(path string, v bsonx.Value) bsonx.Doc {
	eq := func(v bsonx.Value) bsonx.Value { return makeDoc(path, makeDoc("$eq", v)) }
	if v.IsNullish() {
		return eq(null).Doc()
	}
	if v.Type != tArray {
		return eq(v).Doc()
	}
	regex := false
	var ors []bsonx.Value
	for it := v.Elems(); it.Next(); {
		regex = regex || it.Value().Type == tRegex
		ors = append(ors, eq(it.Value()))
	}
	if regex {
		return makeDoc("$or", bsonx.Array(ors...)).Doc()
	}
	return makeDoc(path, makeDoc("$in", v)).Doc()
}
