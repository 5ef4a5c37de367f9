package pipeline

import (
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/query"
)

// graphLookupStage is $graphLookup: a breadth-first search in a collection.
type graphLookupStage struct {
	ps       *parser
	o        Options
	start    *expr.Expr
	from, to string // connectFromField, connectToField
	fromPath []string
	as       []string
	asPath   string
	depth    []string // depthField; nil: none
	maxDepth int64    // -1: none
	restrict bsonx.Value
}

func parseGraphLookup(ps *parser, arg bsonx.Value) (stage, error) {
	if arg.Type != tDoc {
		return nil, errf(mongoerr.FailedToParse, "the $graphLookup stage specification must be an object, but found %s", typeName(arg))
	}
	s := &graphLookupStage{ps: ps, o: *ps.o, maxDepth: -1}
	s.o.NS.Coll, s.o.Hint = "", bsonx.Value{}
	var err error
	for it := arg.Elems(); it.Next(); {
		name, v := string(it.Name()), it.Value()
		switch name {
		case "startWith":
			if s.start, err = ps.compile(v); err != nil {
				return nil, err
			}
		case "maxDepth":
			if s.maxDepth, err = graphDepth(v); err != nil {
				return nil, err
			}
		case "restrictSearchWithMatch":
			if v.Type != tDoc {
				return nil, errf(40185, "$graphLookup.restrictSearchWithMatch must be an object, but found %s", typeName(v))
			}
			s.restrict = v.Clone()
		case "from":
			switch {
			case v.Type != tString:
				return nil, errf(mongoerr.FailedToParse, "$graphLookup argument 'from' must be a string, is type %s", typeName(v))
			case v.Str() == "":
				return nil, errf(mongoerr.InvalidNamespace, "Invalid $graphLookup namespace: %s.", s.o.NS.DB)
			}
			s.o.NS.Coll = v.Str()
		case "as", "connectFromField", "connectToField", "depthField":
			if v.Type != tString {
				return nil, errf(40103, "expected string as argument for %s, found: %s", name, typeName(v))
			}
			path, err := expr.SplitPath(v.Str())
			if err != nil {
				return nil, err
			}
			switch name {
			case "as":
				s.as, s.asPath = path, v.Str()
			case "connectFromField":
				s.from, s.fromPath = v.Str(), path
			case "connectToField":
				s.to = v.Str()
			default:
				s.depth = path
			}
		default:
			return nil, errf(40104, "Unknown argument to $graphLookup: %s", name)
		}
	}
	switch {
	case s.o.NS.Coll == "":
		return nil, errf(mongoerr.FailedToParse, "must specify 'from' field for a $graphLookup")
	case s.start == nil || s.as == nil || s.from == "" || s.to == "":
		return nil, errf(40105, "$graphLookup requires 'from', 'as', 'startWith', 'connectFromField', and 'connectToField' to be specified.")
	}
	// The filter's mistakes show before running.
	_, err = s.search(bsonx.Array(null))
	return s, err
}

func graphDepth(v bsonx.Value) (int64, error) {
	f, _ := v.AsFloat()
	n, whole := v.AsInt64()
	switch {
	case !v.IsNumber():
		return 0, errf(40100, "maxDepth requires a numeric argument, found type: %s", typeName(v))
	case f < 0:
		return 0, errf(40101, "maxDepth requires a nonnegative argument, found: %s", v)
	case !whole:
		return 0, errf(40102, "maxDepth could not be represented as a long long: %s", v)
	}
	return n, nil
}

// search finds the documents whose connectToField has one of the values.
func (s *graphLookupStage) search(values bsonx.Value) (*Pipeline, error) {
	match := bsonx.DocValue(equalityFilter(s.to, values))
	if !s.restrict.IsMissing() {
		match = makeDoc("$and", bsonx.Array(match, s.restrict))
	}
	return s.ps.nested(bsonx.Array(makeStage("$match", match)), s.o, s.ps.scope, false)
}

func (s *graphLookupStage) deps(d *deps) bool {
	d.expr(s.start)
	d.hidden = append(d.hidden, s.asPath)
	return false
}

func (s *graphLookupStage) open(r *run, in query.Source) (query.Source, error) {
	return &graphLookupSource{s: s, r: r, in: in}, nil
}

type graphLookupSource struct {
	s   *graphLookupStage
	r   *run
	in  query.Source
	out block
}

func (g *graphLookupSource) Next(ctx context.Context) ([]bsonx.Doc, error) {
	docs, err := g.in.Next(ctx)
	if err != nil || len(docs) == 0 {
		return nil, err
	}
	g.out.reset()
	for _, d := range docs {
		found, err := g.walk(ctx, d)
		if err != nil {
			return nil, err
		}
		res := appendSet(g.out.start(), d, g.s.as, found)
		if len(res)-g.out.from > maxDocument {
			return nil, errTooLarge(len(res) - g.out.from)
		}
		g.out.end(res)
	}
	return g.out.docs, nil
}

// graphWalk is the state of one search.
type graphWalk struct {
	g        *graphLookupSource
	asked    map[string]bool // keys of values searched for
	seen     map[string]bool // keys of documents' _id
	frontier []bsonx.Value
	held     int64
	key      []byte
	res      []byte
	n        int
}

// bytesOfEntry is what a map entry takes beside its key.
const bytesOfEntry = 48

func (g *graphLookupSource) walk(ctx context.Context, d bsonx.Doc) (bsonx.Value, error) {
	w := &graphWalk{g: g, asked: map[string]bool{}, seen: map[string]bool{}, res: bsonx.BeginDoc(nil)}
	start, err := g.s.start.Eval(d)
	if err != nil {
		return null, err
	}
	if start.Type == tArray {
		for it := start.Elems(); it.Next(); {
			w.reach(it.Value())
		}
	} else {
		w.reach(orNull(start))
	}
	for depth := int64(0); len(w.frontier) > 0 && (g.s.maxDepth < 0 || depth <= g.s.maxDepth); depth++ {
		p, err := g.s.search(bsonx.Array(w.frontier...))
		if err != nil {
			return null, err
		}
		w.frontier = nil
		src, err := p.Run(ctx, g.r.snap)
		if err != nil {
			return null, err
		}
		err = w.visit(ctx, src, depth)
		if e := src.Close(); err == nil {
			err = e
		}
		if err != nil {
			return null, err
		}
	}
	return bsonx.ArrayValue(bsonx.EndDoc(w.res, 0)), nil
}

// reach notes a value to search for, once.
func (w *graphWalk) reach(v bsonx.Value) {
	w.key = bsonx.AppendKey(w.key[:0], v, false)
	if w.asked[string(w.key)] {
		return
	}
	w.asked[string(w.key)] = true
	w.held += int64(len(w.key)+len(v.Data)) + bytesOfEntry
	w.frontier = append(w.frontier, v.Clone())
}

func (w *graphWalk) visit(ctx context.Context, src query.Source, depth int64) error {
	s := w.g.s
	for {
		docs, err := src.Next(ctx)
		if err != nil || len(docs) == 0 {
			return err
		}
		for _, d := range docs {
			w.key = bsonx.AppendKey(w.key[:0], d.Get("_id"), false)
			if w.seen[string(w.key)] {
				continue
			}
			w.seen[string(w.key)] = true
			w.held += int64(len(w.key)+len(d)) + bytesOfEntry
			if s.depth != nil {
				w.res = bsonx.AppendElem(w.res, indexName(w.n), bsonx.DocValue(appendSet(nil, d, s.depth, bsonx.Int64(depth))))
			} else {
				w.res = bsonx.AppendElem(w.res, indexName(w.n), bsonx.DocValue(d))
			}
			w.n++
			w.leaves(bsonx.DocValue(d), s.fromPath)
			if w.held > w.g.r.memory() {
				return errf(40099, "$graphLookup reached maximum memory consumption")
			}
		}
	}
}

// leaves reaches for the values of connectFromField, through arrays.
func (w *graphWalk) leaves(v bsonx.Value, path []string) {
	switch {
	case v.Type == tArray:
		for it := v.Elems(); it.Next(); {
			if len(path) == 0 {
				w.reach(it.Value())
			} else {
				w.leaves(it.Value(), path)
			}
		}
	case len(path) > 0:
		if v.Type == tDoc {
			w.leaves(v.Doc().Get(path[0]), path[1:])
		}
	case !v.IsMissing():
		w.reach(v)
	}
}

func (g *graphLookupSource) Close() error { return g.in.Close() }
