package pipeline

import (
	"slices"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/query"
)

// Names of what $setWindowFields is short for.
const (
	windowStageName  = "$_internalSetWindowFields"
	windowPartition  = "__internal_setWindowFields_partition_key"
	windowFields     = "$setWindowFields"
	errWindowSort    = 5339901
	errWindowRange   = 5339902
	errWindowOrder   = 5339900
	errWindowPaths   = 6307900
	errNoNumber      = 5429414
	errNoDate        = 5429413
	errWindowMemory  = 5414201
	errPartitionSize = 5643011
)

// windowStage computes fields from the documents around each one. Its input is sorted by partition and by sort.
type windowStage struct {
	partition *expr.Expr // nil: all documents are one partition
	sort      *query.SortSpec
	outputs   []windowOutput
}

// windowOutput is one field to set.
type windowOutput struct {
	path []string
	name string
	// start gives the function for one run.
	start func(r *run) windowFunc
	reads []*expr.Expr
	sorts *query.SortSpec // of $topN and its relatives
}

// windowFunc computes one output field, partition by partition.
type windowFunc interface {
	begin(p *partition)
	// at gives the value for document i; asked in order from 0. Valid until the next call.
	at(i int) (bsonx.Value, error)
	// bytes is the memory held.
	bytes() int64
}

// windowArgs are the stage's arguments.
type windowArgs struct {
	partitionBy bsonx.Value
	sortBy      bsonx.Value
	output      bsonx.Value
}

func parseWindowArgs(arg bsonx.Value) (a windowArgs, err error) {
	if arg.Type != tDoc {
		return a, errf(mongoerr.FailedToParse, "the %s stage specification must be an object, found %s", windowFields, typeName(arg))
	}
	for it := arg.Elems(); it.Next(); {
		v := it.Value()
		name := string(it.Name())
		switch name {
		case "partitionBy":
			a.partitionBy = v
			continue
		case "sortBy":
			a.sortBy = v
		case "output":
			a.output = v
		default:
			return a, errf(40415, "BSON field '%s.%s' is an unknown field.", windowFields, name)
		}
		if v.Type != tDoc {
			return a, errf(mongoerr.TypeMismatch, "BSON field '%s.%s' is the wrong type '%s', expected type 'object'", windowFields, name, typeName(v))
		}
	}
	if a.output.IsMissing() {
		return a, errf(40414, "BSON field '%s.output' is missing but a required field", windowFields)
	}
	return a, nil
}

// expandWindow puts a $sort in front, so that an index can serve it and it can go to disk: by the partition, then by sortBy.
// A partition that is more than a path gets a field for as long as it takes.
func expandWindow(ps *parser, arg bsonx.Value) ([]bsonx.Value, error) {
	a, err := parseWindowArgs(arg)
	if err != nil {
		return nil, err
	}
	var stages []bsonx.Value
	own := []any{"output", a.output}
	path, computed := "", false
	if !a.partitionBy.IsMissing() {
		e, err := ps.compile(a.partitionBy)
		if err != nil {
			return nil, err
		}
		if c, ok := e.Constant(); ok {
			if c.Type == tArray {
				return nil, errPartitionArray()
			}
		} else if path, ok = e.FieldPath(); !ok {
			path, computed = windowPartition, true
			stages = append(stages, makeStage("$set", makeDoc(path, a.partitionBy)))
		}
	}
	order := bsonx.BeginDoc(nil)
	if path != "" {
		own = append(own, "partitionBy", bsonx.String("$"+path))
		order = bsonx.AppendElem(order, path, bsonx.Int32(1))
	}
	if !a.sortBy.IsMissing() {
		own = append(own, "sortBy", a.sortBy)
		for it := a.sortBy.Elems(); it.Next(); {
			if string(it.Name()) != path {
				order = bsonx.AppendElem(order, string(it.Name()), it.Value())
			}
		}
	}
	if order = bsonx.EndDoc(order, 0); len(order) > len(bsonx.Empty) {
		stages = append(stages, makeStage("$sort", bsonx.DocValue(order)))
	}
	stages = append(stages, makeStage(windowStageName, makeDoc(own...)))
	if computed {
		stages = append(stages, makeStage("$unset", bsonx.String(path)))
	}
	return stages, nil
}

func errPartitionArray() error {
	return errf(mongoerr.TypeMismatch, "An expression used to partition cannot evaluate to value of type array")
}

func parseWindow(ps *parser, arg bsonx.Value) (stage, error) {
	a, err := parseWindowArgs(arg)
	if err != nil {
		return nil, err
	}
	s := &windowStage{}
	if !a.partitionBy.IsMissing() {
		if s.partition, err = ps.compile(a.partitionBy); err != nil {
			return nil, err
		}
	}
	if !a.sortBy.IsMissing() {
		if s.sort, err = sortSpec(a.sortBy.Doc()); err != nil {
			return nil, err
		}
	}
	for it := a.output.Elems(); it.Next(); {
		o := windowOutput{name: string(it.Name())}
		if o.path, err = expr.SplitPath(o.name); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(s.outputs, func(other windowOutput) bool { return overlap(other.name, o.name) }) {
			return nil, errf(errWindowPaths, "%s 'output' specification contains two conflicting paths", windowFields)
		}
		if it.Value().Type != tDoc {
			return nil, errf(mongoerr.FailedToParse, "The field '%s' must be an object", o.name)
		}
		if err := s.parseOutput(ps, it.Value().Doc(), &o); err != nil {
			return nil, err
		}
		s.outputs = append(s.outputs, o)
	}
	return s, nil
}

func (s *windowStage) deps(d *deps) bool {
	d.expr(s.partition)
	sorts := []*query.SortSpec{s.sort}
	for _, o := range s.outputs {
		for _, e := range o.reads {
			d.expr(e)
		}
		sorts = append(sorts, o.sorts)
	}
	for _, spec := range sorts {
		if spec != nil {
			for _, f := range spec.Fields {
				d.add(f.Path)
			}
		}
	}
	for _, o := range s.outputs {
		d.hidden = append(d.hidden, o.name)
	}
	return false
}
