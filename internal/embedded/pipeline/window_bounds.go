package pipeline

import (
	"math"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/mongoerr"
)

// frame says which documents of the partition belong to a document's window.
type frame struct {
	ranged       bool // bounds are distances of the sort field, not numbers of documents
	lower, upper bound
	unit         *expr.Unit // distances are of time
	x            *expr.Expr // the sort field, of ranges

	p      *partition
	lo, hi int // where the pointers of a range stand
}

// bound is one end of a window.
type bound struct {
	kind boundKind
	n    int64 // documents, or units
	by   bsonx.Value
}

type boundKind uint8

const (
	unbounded boundKind = iota
	atCurrent
	atOffset
)

func parseFailed(format string, args ...any) error {
	return errf(mongoerr.FailedToParse, format, args...)
}

// parseFrame reads {documents: [lower, upper]} or {range: [lower, upper], unit}.
func (s *windowStage) parseFrame(ps *parser, v bsonx.Value) (*frame, error) {
	if v.IsMissing() {
		return &frame{}, nil
	}
	if v.Type != tDoc {
		return nil, parseFailed("'window' field must be an object")
	}
	d := v.Doc()
	docs, rng, unit := d.Get("documents"), d.Get("range"), d.Get("unit")
	known := 0
	for _, f := range []bsonx.Value{docs, rng, unit} {
		if !f.IsMissing() {
			known++
		}
	}
	switch {
	case !docs.IsMissing() && !rng.IsMissing():
		return nil, parseFailed("Window bounds can specify either 'documents' or 'range', not both.")
	case rng.IsMissing() && !unit.IsMissing():
		return nil, parseFailed("Window bounds can only specify 'unit' with range-based bounds.")
	case known != d.Len():
		return nil, parseFailed("'window' field can only contain 'documents' as the only argument or 'range' with an optional 'unit' field")
	case known == 0:
		return &frame{}, nil
	}
	f := &frame{ranged: !rng.IsMissing()}
	ends := docs
	if f.ranged {
		ends = rng
	}
	if ends.Type != tArray || ends.Doc().Len() != 2 {
		return nil, parseFailed("Window bounds must be a 2-element array: %s", ends)
	}
	if !unit.IsMissing() {
		if unit.Type != tString {
			return nil, parseFailed("'unit' must be a string")
		}
		u, err := expr.ParseUnit(unit)
		if err != nil {
			return nil, err
		}
		f.unit = &u
	}
	var err error
	if f.lower, err = f.bound(ps, ends.Doc().Get("0")); err != nil {
		return nil, err
	}
	if f.upper, err = f.bound(ps, ends.Doc().Get("1")); err != nil {
		return nil, err
	}
	if f.lower.kind != unbounded && f.upper.kind != unbounded && bsonx.CompareAgg(f.lower.by, f.upper.by) > 0 {
		return nil, errf(errWindowOrder, "Lower bound must not exceed upper bound: [%s, %s]", f.lower.by, f.upper.by)
	}
	if !f.ranged {
		if s.sort == nil && (f.lower.kind != unbounded || f.upper.kind != unbounded) {
			return nil, errf(errWindowSort, "Document-based bounds require a sortBy")
		}
		return f, nil
	}
	if s.sort == nil || len(s.sort.Fields) != 1 {
		return nil, errf(errWindowRange, "Range-based bounds require sortBy a single field")
	}
	if s.sort.Fields[0].Desc {
		return nil, errf(8947401, "Range-based bounds require an ascending sortBy")
	}
	f.x, err = ps.compile(bsonx.String("$" + s.sort.Fields[0].Path))
	return f, err
}

func (f *frame) bound(ps *parser, v bsonx.Value) (bound, error) {
	zero := bsonx.Int32(0)
	if v.Type == tString {
		switch v.Str() {
		case "unbounded":
			return bound{kind: unbounded}, nil
		case "current":
			return bound{kind: atCurrent, by: zero}, nil
		}
		return bound{}, parseFailed("Window bounds must be 'unbounded', 'current', or a number.")
	}
	e, err := ps.compile(v)
	if err != nil {
		return bound{}, err
	}
	c, ok := e.Constant()
	if !ok {
		return bound{}, parseFailed("Window bounds expression must be a constant.")
	}
	b := bound{kind: atOffset, by: c}
	if f.ranged && f.unit == nil {
		if !c.IsNumber() {
			return b, parseFailed("Range-based bounds expression must be a number")
		}
		return b, nil
	}
	n, whole := c.AsInt64()
	if !c.IsNumber() || !whole || n != int64(int32(n)) && !f.ranged || n > math.MaxInt32<<8 || n < -math.MaxInt32<<8 {
		if f.ranged {
			return b, parseFailed("With 'unit', range-based bounds must be an integer")
		}
		return b, parseFailed("Numeric document-based bounds must be an integer")
	}
	b.n = n
	return b, nil
}

// everything: each document's window is the whole partition.
func (f *frame) everything() bool { return f.lower.kind == unbounded && f.upper.kind == unbounded }

// clone is for another run.
func (f *frame) clone() *frame {
	c := *f
	if c.x != nil {
		c.x = c.x.Clone()
	}
	return &c
}

func (f *frame) begin(p *partition) { f.p, f.lo, f.hi = p, 0, 0 }

// window gives the bounds [lo, hi) of document i's window. Asked in order, neither ever goes back.
func (f *frame) window(i int) (lo, hi int, err error) {
	n := f.p.len()
	if !f.ranged {
		return f.lower.document(i, 0, n, 0), f.upper.document(i, 1, n, n), nil
	}
	if f.everything() {
		return 0, n, nil
	}
	x, err := f.value(i)
	if err != nil {
		return 0, 0, err
	}
	if f.lower.kind == atOffset || f.upper.kind == atOffset {
		switch {
		case f.unit != nil && x.Type != tDate:
			return 0, 0, errf(errNoDate, "Invalid range: Expected the sortBy field to be a Date, but it was %s", typeName(x))
		case f.unit == nil && !x.IsNumber():
			return 0, 0, errf(errNoNumber, "Invalid range: Expected the sortBy field to be a number, but it was %s", typeName(x))
		}
	}
	x = x.Clone()
	if f.lower.kind != unbounded {
		if f.lo, err = f.advance(f.lo, f.shift(x, f.lower), 0); err != nil {
			return 0, 0, err
		}
	}
	if f.upper.kind == unbounded {
		f.hi = n
	} else if f.hi, err = f.advance(f.hi, f.shift(x, f.upper), 1); err != nil {
		return 0, 0, err
	}
	return min(f.lo, f.hi), f.hi, nil
}

// document is a bound in numbers of documents: at is 0 for the first of the window and 1 for what follows its last.
func (b bound) document(i, at, n, otherwise int) int {
	if b.kind == unbounded {
		return otherwise
	}
	return int(min(max(int64(i)+b.n+int64(at), 0), int64(n)))
}

// advance moves a pointer over documents whose value is below to; with past also over those that equal it.
func (f *frame) advance(from int, to bsonx.Value, past int) (int, error) {
	for ; from < f.p.len(); from++ {
		v, err := f.value(from)
		if err != nil {
			return 0, err
		}
		if bsonx.CompareAgg(orNull(v), orNull(to)) >= past {
			break
		}
	}
	return from, nil
}

func (f *frame) shift(x bsonx.Value, b bound) bsonx.Value {
	switch {
	case b.kind == atCurrent:
		return x
	case f.unit != nil:
		return bsonx.Date(f.unit.Add(x.Int64(), b.n))
	}
	return bsonx.Add(x, b.by)
}

func (f *frame) value(i int) (bsonx.Value, error) {
	d, err := f.p.doc(i)
	if err != nil {
		return null, err
	}
	return f.x.Eval(d)
}
