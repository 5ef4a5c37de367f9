package pipeline

import (
	"strings"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/mongoerr"
)

const densifyStageName = "$_internalDensify"

// maxDensified is how many documents one $densify may make.
const maxDensified = 500_000

// densifyStage adds the documents that are missing at regular steps of a field. Its input is sorted.
type densifyStage struct {
	field  []string
	path   string
	parts  [][]string
	names  []string // of parts
	bounds densifyBounds
	lo, hi bsonx.Value // of explicit bounds: [lo, hi)
	step   bsonx.Value
	unit   *expr.Unit // the field holds dates
	steps  int64      // in units
}

type densifyBounds uint8

const (
	densifyFull densifyBounds = iota
	densifyPartition
	densifyExplicit
)

// expandDensify puts the $sort in front: by the field, and by the partition before it unless all partitions cover the same range.
func expandDensify(ps *parser, arg bsonx.Value) ([]bsonx.Value, error) {
	st, err := parseDensify(ps, arg)
	if err != nil {
		return nil, err
	}
	s := st.(*densifyStage)
	order := bsonx.BeginDoc(nil)
	if s.bounds != densifyFull {
		for _, name := range s.names {
			order = bsonx.AppendElem(order, name, bsonx.Int32(1))
		}
	}
	order = bsonx.EndDoc(bsonx.AppendElem(order, s.path, bsonx.Int32(1)), 0)
	return []bsonx.Value{makeStage("$sort", bsonx.DocValue(order)), makeStage(densifyStageName, arg)}, nil
}

func parseDensify(_ *parser, arg bsonx.Value) (stage, error) {
	if arg.Type != tDoc {
		return nil, errf(mongoerr.FailedToParse, "The $densify stage specification must be an object, found %s", typeName(arg))
	}
	s := &densifyStage{}
	var rng bsonx.Value
	for it := arg.Elems(); it.Next(); {
		v := it.Value()
		name, want := string(it.Name()), bsonx.Type(0)
		switch name {
		case "field":
			want = tString
		case "partitionByFields":
			want = tArray
		case "range":
			want, rng = tDoc, v
		default:
			return nil, errf(40415, "BSON field '$densify.%s' is an unknown field.", name)
		}
		if v.Type != want {
			return nil, errf(mongoerr.TypeMismatch, "BSON field '$densify.%s' is the wrong type '%s', expected type '%s'", name, typeName(v), bsonx.TypeName(want))
		}
		switch name {
		case "field":
			s.path = v.Str()
		case "partitionByFields":
			for e := v.Elems(); e.Next(); {
				if e.Value().Type != tString {
					return nil, errf(mongoerr.TypeMismatch, "BSON field '$densify.partitionByFields' must be an array of strings, found %s", typeName(e.Value()))
				}
				s.names = append(s.names, e.Value().Str())
			}
		}
	}
	for _, need := range []string{"field", "range"} {
		if arg.Doc().Get(need).IsMissing() {
			return nil, errf(40414, "BSON field '$densify.%s' is missing but a required field", need)
		}
	}
	if err := s.parseRange(rng); err != nil {
		return nil, err
	}
	for _, name := range s.names {
		p, err := expr.SplitPath(name)
		if err != nil {
			return nil, err
		}
		s.parts = append(s.parts, p)
	}
	var err error
	if s.field, err = expr.SplitPath(s.path); err != nil {
		return nil, err
	}
	for _, name := range s.names {
		switch {
		case name == s.path || strings.HasPrefix(name, s.path+"."):
			return nil, errf(8993000, "BSON field '$densify.partitionByFields' contains the field that is being densified")
		case strings.HasPrefix(s.path, name+"."):
			return nil, errf(9554500, "The field that is being densified contains the BSON field '$densify.partitionByFields'")
		}
	}
	if s.bounds == densifyPartition && len(s.parts) == 0 {
		return nil, errf(5733408, "One cannot specify the bounds as 'partition' without specifying a non-empty array of partitionByFields. You may have meant to specify 'full' bounds.")
	}
	return s, nil
}

func (s *densifyStage) parseRange(rng bsonx.Value) error {
	var bounds, unit bsonx.Value
	for it := rng.Elems(); it.Next(); {
		v := it.Value()
		switch name := string(it.Name()); name {
		case "step":
			if s.step = v.Clone(); !v.IsNumber() {
				return errf(mongoerr.TypeMismatch, "BSON field '$densify.range.step' is the wrong type '%s', expected types '[int, decimal, double, long']", typeName(v))
			}
		case "bounds":
			bounds = v
		case "unit":
			if unit = v; v.Type != tString {
				return errf(mongoerr.TypeMismatch, "BSON field '$densify.range.unit' is the wrong type '%s', expected type 'string'", typeName(v))
			}
		default:
			return errf(40415, "BSON field '$densify.range.%s' is an unknown field.", name)
		}
	}
	switch {
	case s.step.IsMissing():
		return errf(40414, "BSON field '$densify.range.step' is missing but a required field")
	case bounds.IsMissing():
		return errf(40414, "BSON field '$densify.range.bounds' is missing but a required field")
	case bsonx.CompareAgg(s.step, bsonx.Int32(0)) <= 0 || bsonx.CompareAgg(s.step, s.step) != 0:
		return errf(5733401, "The step parameter in a range statement must be a strictly positive numeric value")
	}
	if !unit.IsMissing() {
		n, whole := s.step.AsInt64()
		if !whole || n > 1<<40 {
			return errf(6586400, "The step parameter in a range statement must be a whole number when densifying a date range")
		}
		u, err := expr.ParseUnit(unit)
		if err != nil {
			return err
		}
		s.unit, s.steps = &u, n
	}
	switch {
	case bounds.Type == tString && bounds.Str() == "full":
		s.bounds = densifyFull
	case bounds.Type == tString && bounds.Str() == "partition":
		s.bounds = densifyPartition
	case bounds.Type == tString:
		return errf(5946802, "Bounds string must either be 'full' or 'partition'")
	case bounds.Type == tArray:
		s.bounds = densifyExplicit
		return s.parseBounds(bounds.Doc())
	default:
		return errf(5733404, "The bounds in a range statement must be the string 'full', 'partition', or an ascending array of two numbers or two dates")
	}
	return nil
}

func (s *densifyStage) parseBounds(d bsonx.Doc) error {
	if d.Len() != 2 {
		return errf(5733403, "A bounding array in a range statement must have exactly two elements")
	}
	s.lo, s.hi = d.Get("0").Clone(), d.Get("1").Clone()
	switch {
	case bsonx.CompareAgg(s.lo, s.hi) > 0:
		return errf(5733402, "A bounding array must be an ascending array of either two dates or two numbers")
	case s.lo.IsNumber() && s.unit != nil:
		return errf(5733409, "Numeric bounds may not have unit parameter")
	case s.lo.IsNumber() && !s.hi.IsNumber():
		return errf(5733406, "A bounding array must contain either both dates or both numeric types")
	case s.lo.IsNumber() && (s.lo.Type != s.hi.Type || s.lo.Type != s.step.Type):
		return errf(5876900, "Upper bound, lower bound, and step must all have the same type")
	case s.lo.IsNumber():
	case s.lo.Type != tDate:
		return errf(5946800, "Explicit bounds must be numeric or dates")
	case s.hi.Type != tDate:
		return errf(5733405, "A bounding array must contain either both dates or both numeric types")
	case s.unit == nil:
		return errf(5733410, "A bounding array of dates must specify a unit")
	}
	return nil
}

func (s *densifyStage) deps(d *deps) bool {
	d.add(s.path)
	for _, name := range s.names {
		d.add(name)
	}
	return false
}

// after is the next step.
func (s *densifyStage) after(v bsonx.Value) bsonx.Value {
	if s.unit != nil {
		return bsonx.Date(s.unit.Add(v.Int64(), s.steps))
	}
	return bsonx.Add(v, s.step)
}
