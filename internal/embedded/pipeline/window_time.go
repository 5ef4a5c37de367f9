package pipeline

import (
	"encoding/binary"
	"math"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
)

// overTime is the argument of $derivative and $integral: a value, over the sort field.
type overTime struct {
	op   string
	x, y *expr.Expr
	unit float64 // milliseconds; 0: the sort field holds numbers
}

func (s *windowStage) parseOverTime(ps *parser, op string, arg, window bsonx.Value, o *windowOutput) error {
	switch {
	case s.sort == nil:
		return parseFailed("%s requires a sortBy", op)
	case len(s.sort.Fields) != 1:
		return parseFailed("%s requires a non-compound sortBy", op)
	case arg.Type != tDoc:
		return parseFailed("%s expects an object, but got a %s: %s", op, typeName(arg), arg)
	}
	t := overTime{op: op}
	var err error
	for it := arg.Elems(); it.Next(); {
		switch name := string(it.Name()); name {
		case "input":
			if t.y, err = ps.compile(it.Value()); err != nil {
				return err
			}
		case "unit":
			if it.Value().Type != tString {
				return parseFailed("'unit' must be a string, but got %s", typeName(it.Value()))
			}
			u, err := expr.ParseUnit(it.Value())
			if err != nil {
				return err
			}
			ms, ok := u.Millis()
			if !ok {
				return errf(5490710, "unit must be 'week' or smaller")
			}
			t.unit = float64(ms)
		default:
			return parseFailed("%s got unexpected argument: %s", op, name)
		}
	}
	if t.y == nil {
		return parseFailed("%s requires an 'input' expression", op)
	}
	if op == "$derivative" && window.IsMissing() {
		return parseFailed("$derivative requires explicit window bounds")
	}
	f, err := s.parseFrame(ps, window)
	if err != nil {
		return err
	}
	if t.x, err = ps.compile(bsonx.String("$" + s.sort.Fields[0].Path)); err != nil {
		return err
	}
	o.reads = []*expr.Expr{t.x, t.y}
	if op == "$integral" {
		o.start = func(*run) windowFunc { return newSlider(f, &integralColumn{t: t.clone()}, false) }
		return nil
	}
	o.start = func(*run) windowFunc { return &derivative{frame: f.clone(), t: t.clone()} }
	return nil
}

func (t overTime) clone() overTime {
	t.x, t.y = t.x.Clone(), t.y.Clone()
	return t
}

// point reads a document. x is in units, or the number itself.
func (t *overTime) point(d bsonx.Doc) (x float64, y bsonx.Value, err error) {
	v, err := t.x.Eval(d)
	if err != nil {
		return 0, y, err
	}
	codes := [3]int32{5624900, 5624901, 5624902}
	if t.op == "$integral" {
		codes = [3]int32{5423901, 5423902, 5423902}
	}
	switch {
	case t.unit != 0 && v.Type != tDate:
		return 0, y, errf(codeOf(codes[0]), "%s with 'unit' expects the sortBy field to be a Date, found %s", t.op, typeName(v))
	case t.unit == 0 && v.Type == tDate:
		return 0, y, errf(codeOf(codes[1]), "%s where the sortBy is a Date requires a 'unit'", t.op)
	case t.unit != 0:
		x = float64(v.Int64())
	case !v.IsNumber():
		return 0, y, errf(codeOf(codes[2]), "%s expects the sortBy field to be numeric, found %s", t.op, typeName(v))
	default:
		x, _ = v.AsFloat()
	}
	y, err = t.y.Eval(d)
	return x, y, err
}

// scale turns a difference of two x into units.
func (t *overTime) scale(dx float64) float64 {
	if t.unit != 0 {
		return dx / t.unit
	}
	return dx
}

// derivative is $derivative: the slope from the first to the last document of the window.
type derivative struct {
	*frame
	t overTime
}

func (w *derivative) bytes() int64 { return 0 }

func (w *derivative) at(i int) (bsonx.Value, error) {
	lo, hi, err := w.window(i)
	if err != nil {
		return null, err
	}
	// Types are looked at even where there is nothing to compare.
	if d, err := w.p.doc(i); err != nil {
		return null, err
	} else if _, _, err := w.t.point(d); err != nil {
		return null, err
	}
	if hi-lo < 2 {
		return null, nil
	}
	x1, y1, err := w.end(lo)
	if err != nil {
		return null, err
	}
	x2, y2, err := w.end(hi - 1)
	if err != nil || !y1.IsNumber() || !y2.IsNumber() || x1 == x2 {
		return null, err
	}
	dy, _ := bsonx.Sub(y2, y1).AsFloat()
	return bsonx.Double(dy / w.t.scale(x2-x1)), nil
}

func (w *derivative) end(i int) (float64, bsonx.Value, error) {
	d, err := w.p.doc(i)
	if err != nil {
		return 0, null, err
	}
	x, y, err := w.t.point(d)
	return x, y.Clone(), err
}

// integralColumn is $integral: the area below the lines from each document to the next.
type integralColumn struct {
	t overTime
	s []area
}

// area is what lies between the first and the last point.
type area struct {
	n, seen                int64 // points; documents
	x1, y1, x2, y2, of, lo float64
}

const areaBytes = 8 * 8

func (c *integralColumn) resize(n int)  { c.s = grow(c.s, n) }
func (c *integralColumn) bytes() int64  { return areaBytes * int64(cap(c.s)) }
func (c *integralColumn) reset()        { c.s = wipe(c.s) }
func (c *integralColumn) clone() column { return &integralColumn{t: c.t.clone()} }

func (c *integralColumn) update(ids []uint32, docs []bsonx.Doc) error {
	for i, g := range ids {
		x, v, err := c.t.point(docs[i])
		if err != nil {
			return err
		}
		one := area{seen: 1}
		if v.IsNumber() {
			y, _ := v.AsFloat()
			one = area{n: 1, seen: 1, x1: x, y1: y, x2: x, y2: y}
		}
		c.s[g].join(&c.t, one)
	}
	return nil
}

// join adds an area that lies to the right. The sum carries a compensating term.
func (a *area) join(t *overTime, b area) {
	seen := a.seen + b.seen
	switch {
	case b.n == 0:
	case a.n == 0:
		*a = b
	default:
		a.plus(t.scale(b.x1-a.x2) * (a.y2 + b.y1) / 2)
		a.plus(b.of)
		a.plus(b.lo)
		a.n += b.n
		a.x2, a.y2 = b.x2, b.y2
	}
	a.seen = seen
}

func (a *area) plus(f float64) {
	s := a.of + f
	switch {
	case math.IsInf(s, 0) || math.IsNaN(s):
		a.lo = 0
	case math.Abs(a.of) >= math.Abs(f):
		a.lo += (a.of - s) + f
	default:
		a.lo += (f - s) + a.of
	}
	a.of = s
}

func (c *integralColumn) result(g uint32) (bsonx.Value, error) {
	if c.s[g].seen == 0 {
		return null, nil
	}
	return bsonx.Double(c.s[g].of + c.s[g].lo), nil
}

func (c *integralColumn) partial(dst []byte, g uint32) []byte {
	a := &c.s[g]
	dst = appendInt(appendInt(dst, a.n), a.seen)
	for _, f := range [...]float64{a.x1, a.y1, a.x2, a.y2, a.of, a.lo} {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(f))
	}
	return dst
}

func (c *integralColumn) merge(g uint32, src []byte) ([]byte, error) {
	var a area
	n, rest, err := takeInt(src)
	if err != nil {
		return nil, err
	}
	seen, rest, err := takeInt(rest)
	if err != nil || len(rest) < 6*8 {
		return nil, errPartial
	}
	a.n, a.seen = n, seen
	for i, f := range [...]*float64{&a.x1, &a.y1, &a.x2, &a.y2, &a.of, &a.lo} {
		*f = math.Float64frombits(binary.LittleEndian.Uint64(rest[8*i:]))
	}
	c.s[g].join(&c.t, a)
	return rest[6*8:], nil
}
