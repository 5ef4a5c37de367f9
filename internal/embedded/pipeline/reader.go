package pipeline

import (
	"strings"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
)

// reader evaluates an expression for each document of a block; a plain field
// and a constant are read without the expression.
type reader struct {
	e        *expr.Expr
	f        *bsonx.Finder
	constant bsonx.Value
	isConst  bool
}

func newReader(e *expr.Expr) reader {
	if v, ok := e.Constant(); ok {
		return reader{e: e, constant: v, isConst: true}
	}
	if p, ok := e.FieldPath(); ok && strings.IndexByte(p, '.') < 0 {
		return reader{e: e, f: bsonx.NewFinder(p)}
	}
	return reader{e: e}
}

// clone is for another goroutine.
func (r *reader) clone() reader { return newReader(r.e.Clone()) }

func (r *reader) get(d bsonx.Doc) (bsonx.Value, error) {
	switch {
	case r.f != nil:
		return r.f.Get(d), nil
	case r.isConst:
		return r.constant, nil
	}
	return r.e.Eval(d)
}
