package pipeline

import (
	"strings"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/query"
)

// groupStage is $group.
type groupStage struct {
	id   *expr.Expr
	accs []accumulator
}

// accumulator is one output field. Its column is a pattern: runs clone it.
type accumulator struct {
	name string
	op   string
	col  column
}

func parseGroup(ps *parser, arg bsonx.Value) (stage, error) {
	if arg.Type != tDoc {
		return nil, errf(15947, "a group's fields must be specified in an object")
	}
	s := &groupStage{}
	seen := map[string]bool{}
	for it := arg.Elems(); it.Next(); {
		name, v := string(it.Name()), it.Value()
		if name == "_id" {
			if s.id != nil {
				return nil, errf(15948, "a group's _id may only be specified once")
			}
			e, err := ps.compile(v)
			if err != nil {
				return nil, err
			}
			s.id = e
			continue
		}
		if seen[name] {
			return nil, errf(16414, "duplicate field name '%s' in $group", name)
		}
		seen[name] = true
		a, err := ps.accumulator(name, v)
		if err != nil {
			return nil, err
		}
		s.accs = append(s.accs, a)
	}
	if s.id == nil {
		return nil, errf(15955, "a group specification must include an _id")
	}
	return s, nil
}

// accumulator parses one field: {$op: expression}.
func (ps *parser) accumulator(name string, v bsonx.Value) (accumulator, error) {
	a := accumulator{name: name}
	switch {
	case strings.IndexByte(name, '.') >= 0:
		return a, errf(40235, "The field name '%s' cannot contain '.'", name)
	case name != "" && name[0] == '$':
		return a, errf(40236, "The field name '%s' cannot be an operator name", name)
	case v.Type != tDoc:
		return a, errf(40234, "The field '%s' must be an accumulator object", name)
	}
	it := v.Elems()
	if !it.Next() {
		return a, errf(40234, "The field '%s' must be an accumulator object", name)
	}
	op, arg := string(it.Name()), it.Value()
	if it.Next() {
		return a, errf(40238, "The field '%s' must specify one accumulator", name)
	}
	if op == "" || op[0] != '$' {
		return a, errf(40234, "The field '%s' must be an accumulator object", name)
	}
	a.op = op
	var err error
	a.col, err = ps.column(op, arg)
	return a, err
}

func (ps *parser) column(op string, arg bsonx.Value) (column, error) {
	switch op {
	case "$firstN", "$lastN", "$maxN", "$minN", "$top", "$bottom", "$topN", "$bottomN":
		return parsePick(ps, op, arg)
	case "$count":
		if arg.Type != tDoc || arg.Doc().Len() != 0 {
			return nil, errf(14, "$count takes no arguments, i.e. $count:{}")
		}
		return &countColumn{by: bsonx.Int32(1)}, nil
	case "$sum", "$avg", "$min", "$max", "$first", "$last", "$push", "$addToSet", "$stdDevPop", "$stdDevSamp", "$mergeObjects":
	case "$accumulator":
		return parseScripted(ps, arg)
	case "$median", "$percentile":
		return parsePercentileColumn(ps, op, arg)
	default:
		return nil, errf(15952, "unknown group operator '%s'", op)
	}
	if arg.Type == tArray {
		return nil, errf(40237, "The %s accumulator is a unary operator", op)
	}
	e, err := ps.compile(arg)
	if err != nil {
		return nil, err
	}
	r := newReader(e)
	switch op {
	case "$sum":
		if r.isConst && (r.constant.Type == tInt32 || r.constant.Type == tInt64) {
			return &countColumn{by: r.constant}, nil
		}
		return &sumColumn{r: r}, nil
	case "$avg":
		return &sumColumn{r: r, avg: true}, nil
	case "$min":
		return &extremeColumn{r: r, sign: -1}, nil
	case "$max":
		return &extremeColumn{r: r, sign: 1}, nil
	case "$first", "$last":
		return &endColumn{r: r, last: op == "$last"}, nil
	case "$push":
		return &pushColumn{r: r}, nil
	case "$addToSet":
		return &pushColumn{r: r, set: &groupTable{}}, nil
	case "$stdDevPop", "$stdDevSamp":
		return &stdDevColumn{r: r, sample: op == "$stdDevSamp"}, nil
	}
	return &mergeObjectsColumn{r: r}, nil
}

func (s *groupStage) deps(d *deps) bool {
	d.expr(s.id)
	for _, a := range s.accs {
		a.deps(d)
	}
	return true
}

func (a accumulator) deps(d *deps) {
	reads, sort := columnReads(a.col)
	for _, e := range reads {
		d.expr(e)
	}
	if sort != nil {
		for _, f := range sort.Fields {
			d.add(f.Path)
		}
	}
}

// columnReads is what an accumulator reads of a document: expressions, and what it sorts by.
func columnReads(c column) (reads []*expr.Expr, sort *query.SortSpec) {
	switch c := c.(type) {
	case *sumColumn:
		return []*expr.Expr{c.r.e}, nil
	case *extremeColumn:
		return []*expr.Expr{c.r.e}, nil
	case *endColumn:
		return []*expr.Expr{c.r.e}, nil
	case *pushColumn:
		return []*expr.Expr{c.r.e}, nil
	case *stdDevColumn:
		return []*expr.Expr{c.r.e}, nil
	case *mergeObjectsColumn:
		return []*expr.Expr{c.r.e}, nil
	case *scriptColumn:
		return []*expr.Expr{c.args}, nil
	case *covarianceColumn:
		return []*expr.Expr{c.e}, nil
	case *percentileColumn:
		return []*expr.Expr{c.r.e}, nil
	case *pickColumn:
		return []*expr.Expr{c.r.e}, c.sort
	}
	return nil, nil
}

// ordered: the result depends on the order of the documents.
func (a accumulator) ordered() bool {
	switch a.col.(type) {
	case *endColumn, *pushColumn, *mergeObjectsColumn, *scriptColumn:
		return true
	case *pickColumn:
		return true // equal keys are told apart by their order
	}
	return false
}

// ordered: some accumulator's result depends on the order of the documents.
func (s *groupStage) ordered() bool {
	for _, a := range s.accs {
		if a.ordered() {
			return true
		}
	}
	return false
}

// counts: only the number of documents matters, no document is read for the accumulators.
func (s *groupStage) counts() bool {
	for _, a := range s.accs {
		if _, ok := a.col.(*countColumn); !ok {
			return false
		}
	}
	return true
}
