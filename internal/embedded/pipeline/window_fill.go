package pipeline

import (
	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/mongoerr"
)

// parseFill reads $locf and $linearFill.
func (s *windowStage) parseFill(ps *parser, op string, arg, window bsonx.Value, o *windowOutput) error {
	if !window.IsMissing() {
		return parseFailed("'window' field is not allowed in %s", op)
	}
	e, err := ps.compile(arg)
	if err != nil {
		return err
	}
	o.reads = []*expr.Expr{e}
	if op == "$locf" {
		o.start = func(*run) windowFunc { return &carryForward{e: e.Clone()} }
		return nil
	}
	if s.sort == nil || len(s.sort.Fields) != 1 {
		return errf(605001, "%s must be specified with a top level sortBy expression with exactly one element", op)
	}
	x, err := ps.compile(bsonx.String("$" + s.sort.Fields[0].Path))
	if err != nil {
		return err
	}
	line, err := linear()
	if err != nil {
		return err
	}
	o.start = func(*run) windowFunc { return &linearFill{x: x.Clone(), y: e.Clone(), line: line.Clone()} }
	return nil
}

// carryForward is $locf: the last value that was not null.
type carryForward struct {
	e    *expr.Expr
	p    *partition
	last bsonx.Value
}

func (w *carryForward) begin(p *partition) { w.p, w.last = p, null }
func (w *carryForward) bytes() int64       { return int64(cap(w.last.Data)) }

func (w *carryForward) at(i int) (bsonx.Value, error) {
	d, err := w.p.doc(i)
	if err != nil {
		return null, err
	}
	v, err := w.e.Eval(d)
	if err != nil {
		return null, err
	}
	if !v.IsNullish() {
		w.last = bsonx.Value{Type: v.Type, Data: append(w.last.Data[:0:cap(w.last.Data)], v.Data...)}
	}
	return w.last, nil
}

// linearFill is $linearFill: a null becomes the point on the line between its neighbours that have a value.
type linearFill struct {
	x, y *expr.Expr
	line *expr.Expr
	p    *partition

	before, after point
	next          int // where after was found; the partition's length: nowhere
	prevX         bsonx.Value
}

// point is a place with its value.
type point struct {
	x, y bsonx.Value
	ok   bool
}

// linear is the expression of a line through (x1, y1) and (x2, y2) at x.
func linear() (*expr.Expr, error) {
	sub := func(a, b string) bsonx.Value {
		return makeDoc("$subtract", bsonx.Array(bsonx.String(a), bsonx.String(b)))
	}
	slope := makeDoc("$divide", bsonx.Array(sub("$y2", "$y1"), sub("$x2", "$x1")))
	rise := makeDoc("$multiply", bsonx.Array(sub("$x", "$x1"), slope))
	return expr.Compile(makeDoc("$add", bsonx.Array(bsonx.String("$y1"), rise)), nil)
}

func (w *linearFill) begin(p *partition) {
	w.p, w.before, w.after, w.next = p, point{}, point{}, 0
}

func (w *linearFill) bytes() int64 { return 0 }

func (w *linearFill) at(i int) (bsonx.Value, error) {
	here, err := w.read(i)
	if err != nil {
		return null, err
	}
	if i > 0 && bsonx.CompareAgg(here.x, w.prevX) == 0 {
		return null, errf(6050106, "There can be no repeated values in the sort field of $linearFill")
	}
	w.prevX = here.x
	if here.ok {
		w.before = here
		return here.y, nil
	}
	if !w.before.ok {
		return null, nil
	}
	for w.next <= i || w.next < w.p.len() && !w.after.ok {
		w.after = point{}
		if w.next = max(w.next, i) + 1; w.next >= w.p.len() {
			break
		}
		if w.after, err = w.read(w.next); err != nil {
			return null, err
		}
	}
	if !w.after.ok {
		return null, nil
	}
	return w.line.Eval(makeDoc("x", here.x, "x1", w.before.x, "x2", w.after.x, "y1", w.before.y, "y2", w.after.y).Doc())
}

func (w *linearFill) read(i int) (p point, err error) {
	d, err := w.p.doc(i)
	if err != nil {
		return p, err
	}
	if p.x, err = w.x.Eval(d); err != nil {
		return p, err
	}
	p.x = p.x.Clone()
	if !p.x.IsNumber() && p.x.Type != tDate {
		return p, errf(mongoerr.TypeMismatch, "$linearFill needs a sort field of numbers or dates, found %s", typeName(p.x))
	}
	if i > 0 && w.prevX.Data != nil && (p.x.Type == tDate) != (w.prevX.Type == tDate) {
		return p, errf(mongoerr.TypeMismatch, "$linearFill can't mix numbers and dates in its sort field")
	}
	if p.y, err = w.y.Eval(d); err != nil {
		return p, err
	}
	p.y = p.y.Clone()
	if !p.y.IsNumber() && !p.y.IsNullish() {
		return p, errf(mongoerr.TypeMismatch, "$linearFill fills numbers, found %s", typeName(p.y))
	}
	p.ok = !p.y.IsNullish()
	return p, nil
}
