package pipeline

import (
	"mrbench/internal/embedded/bsonx"
)

// expandBucket makes a $group over a $switch, and a $sort by _id.
func expandBucket(ps *parser, arg bsonx.Value) ([]bsonx.Value, error) {
	if arg.Type != tDoc {
		return nil, errf(40201, "Argument to $bucket stage must be an object, but found type: %s.", typeName(arg))
	}
	var by, dflt, output bsonx.Value
	var bounds []bsonx.Value
	for it := arg.Elems(); it.Next(); {
		v := it.Value()
		switch string(it.Name()) {
		case "groupBy":
			if !isExpression(v) {
				return nil, errf(40202, "The $bucket 'groupBy' field must be defined as a $-prefixed path or an expression, but found: %s.", v)
			}
			by = v
		case "boundaries":
			var err error
			if bounds, err = boundaries(ps, v); err != nil {
				return nil, err
			}
		case "default":
			e, err := ps.compile(v)
			if err != nil {
				return nil, err
			}
			c, ok := e.Constant()
			if !ok {
				return nil, errf(40195, "The $bucket 'default' field must be a constant expression, but found: %s.", v)
			}
			dflt = c
		case "output":
			if v.Type != tDoc {
				return nil, errf(40196, "The $bucket 'output' field must be an object, but found type: %s.", typeName(v))
			}
			output = v
		default:
			return nil, errf(40197, "Unrecognized option to $bucket: %s.", it.Name())
		}
	}
	if by.IsMissing() || bounds == nil {
		return nil, errf(40198, "$bucket requires 'groupBy' and 'boundaries' to be specified.")
	}
	if !dflt.IsMissing() && bsonx.CompareAgg(dflt, bounds[0]) >= 0 && bsonx.CompareAgg(dflt, bounds[len(bounds)-1]) < 0 {
		return nil, errf(40199, "The $bucket 'default' field must be less than the lowest boundary or greater than or equal to the highest boundary.")
	}
	var branches []bsonx.Value
	literal := func(v bsonx.Value) bsonx.Value { return makeDoc("$const", v) }
	for i := range len(bounds) - 1 {
		branches = append(branches, makeDoc(
			"case", makeDoc("$and", bsonx.Array(
				makeDoc("$gte", bsonx.Array(by, literal(bounds[i]))),
				makeDoc("$lt", bsonx.Array(by, literal(bounds[i+1]))))),
			"then", literal(bounds[i])))
	}
	sw := makeDoc("branches", bsonx.Array(branches...))
	if !dflt.IsMissing() {
		sw = makeDoc("branches", bsonx.Array(branches...), "default", literal(dflt))
	}
	group := withOutput(makeDoc("$switch", sw), output)
	return []bsonx.Value{makeStage("$group", group), makeStage("$sort", makeDoc("_id", bsonx.Int32(1)))}, nil
}

// withOutput writes a $group's argument; without output documents are counted.
func withOutput(id, output bsonx.Value) bsonx.Value {
	b := bsonx.BeginDoc(nil)
	b = bsonx.AppendElem(b, "_id", id)
	if output.IsMissing() {
		output = makeDoc("count", makeDoc("$sum", bsonx.Int32(1)))
	}
	for it := output.Elems(); it.Next(); {
		b = appendRaw(b, it.Name(), it.Value())
	}
	return bsonx.DocValue(bsonx.EndDoc(b, 0))
}

func isExpression(v bsonx.Value) bool {
	switch v.Type {
	case tString:
		s := v.StrBytes()
		return len(s) > 0 && s[0] == '$'
	case tDoc:
		it := v.Elems()
		return it.Next() && len(it.Name()) > 0 && it.Name()[0] == '$'
	}
	return false
}

func boundaries(ps *parser, v bsonx.Value) ([]bsonx.Value, error) {
	if v.Type != tArray {
		return nil, errf(40200, "The $bucket 'boundaries' field must be an array, but found type: %s.", typeName(v))
	}
	var out []bsonx.Value
	for it := v.Elems(); it.Next(); {
		e, err := ps.compile(it.Value())
		if err != nil {
			return nil, err
		}
		c, ok := e.Constant()
		if !ok {
			return nil, errf(40191, "The $bucket 'boundaries' field must be an array of constant values, but found value: %s.", it.Value())
		}
		out = append(out, c)
	}
	if len(out) < 2 {
		return nil, errf(40192, "The $bucket 'boundaries' field must have at least 2 values, but found %d value(s).", len(out))
	}
	for i := 1; i < len(out); i++ {
		if bsonx.Canon(out[i-1].Type) != bsonx.Canon(out[i].Type) {
			return nil, errf(40193, "All values in the 'boundaries' option to $bucket must have the same type. Found conflicting types %s and %s.", typeName(out[i-1]), typeName(out[i]))
		}
		if bsonx.CompareAgg(out[i-1], out[i]) >= 0 {
			return nil, errf(40194, "The 'boundaries' option to $bucket must be sorted, but elements %d and %d are not in ascending order.", i-1, i)
		}
	}
	return out, nil
}
