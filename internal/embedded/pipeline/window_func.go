package pipeline

import (
	"strings"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/query"
)

// parseOutput reads {$function: argument, window: {…}}.
func (s *windowStage) parseOutput(ps *parser, d bsonx.Doc, o *windowOutput) error {
	op := ""
	var arg, window bsonx.Value
	for it := d.Iter(); it.Next(); {
		if name := string(it.Name()); strings.HasPrefix(name, "$") {
			op, arg = name, it.Value()
			break
		}
	}
	if op == "" {
		first := ""
		if it := d.Iter(); it.Next() {
			first = ", " + string(it.Name())
		}
		return parseFailed("Expected a $-prefixed window function%s", first)
	}
	if !isWindowFunc(op) {
		return parseFailed("Unrecognized window function, %s", op)
	}
	for it := d.Iter(); it.Next(); {
		switch name := string(it.Name()); {
		case name == "window":
			window = it.Value()
		case name != op && isWindowFunc(name):
			return parseFailed("Cannot specify two functions in window function spec")
		case name != op:
			return parseFailed("Window function %s found an unknown argument: %s", op, name)
		}
	}
	switch op {
	case "$rank", "$denseRank", "$documentNumber":
		return s.parseRank(op, arg, d, o)
	case "$shift":
		return s.parseShift(ps, arg, window, o)
	case "$expMovingAvg":
		return s.parseMovingAverage(ps, arg, d, o)
	case "$locf", "$linearFill":
		return s.parseFill(ps, op, arg, window, o)
	case "$derivative", "$integral":
		return s.parseOverTime(ps, op, arg, window, o)
	}
	f, err := s.parseFrame(ps, window)
	if err != nil {
		return err
	}
	if op == "$first" || op == "$last" {
		e, err := ps.compile(arg)
		if err != nil {
			return err
		}
		o.reads = []*expr.Expr{e}
		o.start = func(*run) windowFunc {
			return &endOfWindow{frame: f.clone(), e: e.Clone(), last: op == "$last"}
		}
		return nil
	}
	col, err := windowColumn(ps, op, arg)
	if err != nil {
		return err
	}
	o.reads, o.sorts = columnReads(col)
	o.start = func(*run) windowFunc { return newSlider(f, col, heavy(op)) }
	return nil
}

func isWindowFunc(op string) bool {
	switch op {
	case "$sum", "$avg", "$min", "$max", "$count", "$push", "$addToSet", "$stdDevPop", "$stdDevSamp", "$first", "$last",
		"$firstN", "$lastN", "$minN", "$maxN", "$top", "$topN", "$bottom", "$bottomN", "$median", "$percentile",
		"$covariancePop", "$covarianceSamp", "$derivative", "$integral", "$expMovingAvg", "$shift", "$rank", "$denseRank",
		"$documentNumber", "$locf", "$linearFill":
		return true
	}
	return false
}

// windowColumn is an accumulator; unlike in $group an array may be its argument.
func windowColumn(ps *parser, op string, arg bsonx.Value) (column, error) {
	switch {
	case op == "$covariancePop" || op == "$covarianceSamp":
		return parseCovariance(ps, op, arg)
	case op == "$count" && (arg.Type != tDoc || arg.Doc().Len() != 0):
		return nil, parseFailed("$count only accepts an empty object as input")
	case arg.Type == tArray:
		// A list is one value here: none of these takes several arguments.
		arg = makeDoc("$map", makeDoc("input", arg, "in", bsonx.String("$$this")))
	}
	return ps.column(op, arg)
}

// endOfWindow is $first and $last.
type endOfWindow struct {
	*frame
	e    *expr.Expr
	last bool
}

func (w *endOfWindow) bytes() int64 { return 0 }

func (w *endOfWindow) at(i int) (bsonx.Value, error) {
	lo, hi, err := w.window(i)
	if err != nil || lo == hi {
		return null, err
	}
	if w.last {
		lo = hi - 1
	}
	d, err := w.p.doc(lo)
	if err != nil {
		return null, err
	}
	v, err := w.e.Eval(d)
	return orNull(v), err
}

// rank is $rank, $denseRank and $documentNumber.
type rank struct {
	op        string
	sort      *query.SortSpec
	p         *partition
	key, prev []byte
	n         int64
}

func (s *windowStage) parseRank(op string, arg bsonx.Value, d bsonx.Doc, o *windowOutput) error {
	switch {
	case d.Len() != 1:
		return errf(5371601, "Rank style window functions take no other arguments")
	case arg.Type != tDoc || arg.Doc().Len() != 0:
		return errf(5371603, "%s must be specified with '{}' as the value", op)
	case s.sort == nil || len(s.sort.Fields) != 1:
		return errf(5371602, "%s must be specified with a top level sortBy expression with exactly one element", op)
	}
	o.start = func(*run) windowFunc { return &rank{op: op, sort: s.sort} }
	return nil
}

func (w *rank) begin(p *partition) { w.p, w.n = p, 0 }
func (w *rank) bytes() int64       { return int64(cap(w.key) + cap(w.prev)) }

func (w *rank) at(i int) (bsonx.Value, error) {
	if w.op == "$documentNumber" {
		return intOrLong(int64(i) + 1), nil
	}
	d, err := w.p.doc(i)
	if err != nil {
		return null, err
	}
	w.key = w.sort.AppendKey(w.key[:0], d)
	if i == 0 || string(w.key) != string(w.prev) {
		if w.op == "$rank" {
			w.n = int64(i) + 1
		} else {
			w.n++
		}
	}
	w.prev = append(w.prev[:0], w.key...)
	return intOrLong(w.n), nil
}

// shift is $shift: a value of another document, so many places on.
type shift struct {
	e    *expr.Expr
	by   int
	none bsonx.Value
	p    *partition
}

func (s *windowStage) parseShift(ps *parser, arg, window bsonx.Value, o *windowOutput) error {
	switch {
	case !window.IsMissing():
		return parseFailed("$shift does not accept a 'window' field")
	case s.sort == nil:
		return parseFailed("'$shift' requires a sortBy")
	case arg.Type != tDoc:
		return parseFailed("'$shift' field must be an object, but found type %s", typeName(arg))
	}
	w := shift{none: null}
	var by bsonx.Value
	for it := arg.Elems(); it.Next(); {
		v := it.Value()
		switch name := string(it.Name()); name {
		case "output":
			e, err := ps.compile(v)
			if err != nil {
				return err
			}
			w.e = e
		case "by":
			by = v
		case "default":
			e, err := ps.compile(v)
			if err != nil {
				return err
			}
			c, ok := e.Constant()
			if !ok {
				return parseFailed("'$shift:default' expression must yield a constant value.")
			}
			w.none = orNull(c)
		default:
			return parseFailed("Unknown argument in '$shift': %s", name)
		}
	}
	n, whole := by.AsInt64()
	switch {
	case w.e == nil:
		return parseFailed("'$shift' requires an 'output' expression.")
	case by.IsMissing():
		return parseFailed("'$shift' requires 'by' as an integer value.")
	case !by.IsNumber() || !whole || n != int64(int32(n)):
		return parseFailed("'$shift:by' field must be an integer, but found by: %s", by)
	}
	w.by = int(n)
	o.reads = []*expr.Expr{w.e}
	o.start = func(*run) windowFunc {
		c := w
		c.e = w.e.Clone()
		return &c
	}
	return nil
}

func (w *shift) begin(p *partition) { w.p = p }
func (w *shift) bytes() int64       { return 0 }

func (w *shift) at(i int) (bsonx.Value, error) {
	if i += w.by; i < 0 || i >= w.p.len() {
		return w.none, nil
	}
	d, err := w.p.doc(i)
	if err != nil {
		return null, err
	}
	v, err := w.e.Eval(d)
	return orNull(v), err
}

// movingAverage is $expMovingAvg.
type movingAverage struct {
	e   *expr.Expr
	avg *expr.MovingAverage
	p   *partition
}

func (s *windowStage) parseMovingAverage(ps *parser, arg bsonx.Value, d bsonx.Doc, o *windowOutput) error {
	if d.Len() != 1 || arg.Type != tDoc {
		return parseFailed("$expMovingAvg must have exactly one argument that is an object")
	}
	input, n, alpha := arg.Doc().Get("input"), arg.Doc().Get("N"), arg.Doc().Get("alpha")
	if arg.Doc().Len() != 2 || input.IsMissing() || n.IsMissing() == alpha.IsMissing() {
		return parseFailed("$expMovingAvg sub object must have exactly two fields: An 'input' field, and either an 'N' field or an 'alpha' field")
	}
	if s.sort == nil {
		return parseFailed("$expMovingAvg requires an explicit 'sortBy'")
	}
	e, err := ps.compile(input)
	if err != nil {
		return err
	}
	var start func() *expr.MovingAverage
	if alpha.IsMissing() {
		k, whole := n.AsInt64()
		switch {
		case !n.IsNumber() || !whole:
			return parseFailed("'N' field must be an integer, but found %s. To use a non-integer, use the 'alpha' argument instead", n)
		case k <= 0:
			return parseFailed("'N' must be greater than zero. Got %d", k)
		}
		start = func() *expr.MovingAverage { return expr.NewMovingAverageOf(k) }
	} else {
		f, _ := alpha.AsFloat()
		switch {
		case !alpha.IsNumber():
			return parseFailed("'alpha' must be a number")
		case !(f > 0 && f < 1):
			return parseFailed("'alpha' must be between 0 and 1 (exclusive), found %s", alpha)
		}
		alpha = alpha.Clone()
		start = func() *expr.MovingAverage { return expr.NewMovingAverage(alpha) }
	}
	o.reads = []*expr.Expr{e}
	o.start = func(*run) windowFunc { return &movingAverage{e: e.Clone(), avg: start()} }
	return nil
}

func (w *movingAverage) begin(p *partition) {
	w.p = p
	w.avg.Reset()
}

func (w *movingAverage) bytes() int64 { return 0 }

func (w *movingAverage) at(i int) (bsonx.Value, error) {
	d, err := w.p.doc(i)
	if err != nil {
		return null, err
	}
	v, err := w.e.Eval(d)
	if err != nil {
		return null, err
	}
	w.avg.Add(v)
	return w.avg.Result(), nil
}

// heavy: the accumulator's state is as large as the window.
func heavy(op string) bool {
	switch op {
	case "$push", "$addToSet", "$median", "$percentile":
		return true
	}
	return false
}
