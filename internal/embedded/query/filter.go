package query

import (
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/mongoerr"
)

// Filter is a parsed query document. Safe for one goroutine at a time; Clone for more.
type Filter struct {
	conj []conjunct // all must hold
	m    matcher
}

// conjunct is one condition of the filter with the text it came from.
type conjunct struct {
	node node
	src  bsonx.Doc // a filter document of this condition alone
}

// ParseFilter parses a query document. The scope holds the variables that $expr may use.
// Errors carry MongoDB's codes: 2 for a malformed or unknown operator, 9 for a malformed $expr,
// 115 for operators that this engine does not have.
func ParseFilter(d bsonx.Doc, s *expr.Scope) (*Filter, error) {
	if s == nil {
		s = &expr.Scope{}
	}
	p := parser{scope: s}
	conj, err := p.list(d, 0)
	if err != nil {
		return nil, err
	}
	return &Filter{conj: conj}, nil
}

// Match reports whether the document satisfies the filter. An error comes from
// $expr or $where only.
func (f *Filter) Match(doc bsonx.Doc) (bool, error) {
	f.m.err, f.m.pos = nil, -1
	for i := range f.conj {
		if !f.conj[i].node.match(doc, &f.m) {
			return false, f.m.err
		}
	}
	return f.m.err == nil, f.m.err
}

// matchPosition is Match that also gives the array position which the last matching condition met, or -1.
func (f *Filter) matchPosition(doc bsonx.Doc) (ok bool, pos int, err error) {
	ok, err = f.Match(doc)
	return ok, f.m.pos, err
}

// Empty reports whether every document matches because nothing is asked.
func (f *Filter) Empty() bool { return f == nil || len(f.conj) == 0 }

// Clone gives a filter for another goroutine.
func (f *Filter) Clone() *Filter {
	if f == nil {
		return nil
	}
	return &Filter{conj: cloneConjuncts(f.conj)}
}

// Deps adds the dotted paths that Match reads; whole is true when it may read anything.
func (f *Filter) Deps(add func(path string)) (whole bool) {
	if f == nil {
		return false
	}
	for _, k := range f.conj {
		whole = k.node.deps("", add) || whole
	}
	return whole
}

// And is a filter of both conditions. Either may be nil. The result shares state with both.
func And(a, b *Filter) *Filter {
	switch {
	case a.Empty():
		return b
	case b.Empty():
		return a
	}
	f := &Filter{conj: make([]conjunct, 0, len(a.conj)+len(b.conj))}
	f.conj = append(append(f.conj, a.conj...), b.conj...)
	return f
}

// Source gives the filter back as a document.
func (f *Filter) Source() bsonx.Doc {
	if f.Empty() {
		return bsonx.Empty
	}
	if len(f.conj) == 1 {
		return f.conj[0].src
	}
	b := newArray("$and")
	for _, k := range f.conj {
		b.add(bsonx.DocValue(k.src))
	}
	return b.doc()
}

// Watch lets the end of ctx interrupt JavaScript of the filter, until stop is called.
func (f *Filter) Watch(ctx context.Context) (stop func()) {
	var stops []func()
	for _, k := range f.conj {
		walk(k.node, func(n node) {
			if w, ok := n.(*whereNode); ok {
				stops = append(stops, w.watch(ctx))
			}
		})
	}
	return func() {
		for _, s := range stops {
			s()
		}
	}
}

// usesScript reports whether matching runs JavaScript.
func (f *Filter) usesScript() bool {
	if f == nil {
		return false
	}
	found := false
	for _, k := range f.conj {
		walk(k.node, func(n node) {
			if _, ok := n.(*whereNode); ok {
				found = true
			}
		})
	}
	return found
}

// walk visits a node and those below it.
func walk(n node, visit func(node)) {
	visit(n)
	switch n := n.(type) {
	case *andNode:
		for _, k := range n.kids {
			walk(k, visit)
		}
	case *orNode:
		for _, k := range n.kids {
			walk(k, visit)
		}
	case *notNode:
		walk(n.kid, visit)
	}
}

// CompileFilter turns an index's partialFilterExpression into a predicate that is safe
// for concurrent use, for store.Options.CompileFilter.
func CompileFilter(d bsonx.Doc) (func(bsonx.Doc) bool, error) {
	f, err := ParseFilter(d, nil)
	if err != nil {
		return nil, err
	}
	if f.usesScript() {
		return nil, mongoerr.New(mongoerr.CannotCreateIndex, "$where is not allowed in a partialFilterExpression")
	}
	free := make(chan *Filter, 16)
	return func(doc bsonx.Doc) bool {
		var own *Filter
		select {
		case own = <-free:
		default:
			own = f.Clone()
		}
		ok, err := own.Match(doc)
		select {
		case free <- own:
		default:
		}
		return ok && err == nil
	}, nil
}
