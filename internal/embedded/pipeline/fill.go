package pipeline

import (
	"strconv"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// expandFill makes a $setWindowFields of the methods and an $addFields of the fixed values.
func expandFill(_ *parser, arg bsonx.Value) ([]bsonx.Value, error) {
	if arg.Type != tDoc {
		return nil, errf(mongoerr.FailedToParse, "The $fill stage specification must be an object, found %s", typeName(arg))
	}
	var sortBy, by, fields, output bsonx.Value
	for it := arg.Elems(); it.Next(); {
		v := it.Value()
		name := string(it.Name())
		var ok bool
		switch name {
		case "sortBy":
			sortBy, ok = v, v.Type == tDoc
		case "partitionBy":
			by, ok = v, v.Type == tDoc || v.Type == tString
		case "partitionByFields":
			fields, ok = v, v.Type == tArray
		case "output":
			output, ok = v, v.Type == tDoc
		default:
			return nil, errf(40415, "BSON field '$fill.%s' is an unknown field.", name)
		}
		if !ok {
			return nil, errf(mongoerr.TypeMismatch, "BSON field '$fill.%s' is the wrong type '%s'", name, typeName(v))
		}
	}
	switch {
	case output.IsMissing():
		return nil, errf(40414, "BSON field '$fill.output' is missing but a required field")
	case output.Doc().Len() == 0:
		return nil, errf(6050203, "The output field in '$fill' must contain an object with at least one element")
	case !by.IsMissing() && !fields.IsMissing():
		return nil, errf(6050204, "Maximum one of 'partitionBy' and 'partitionByFields' can be specified in '$fill'")
	}
	if !fields.IsMissing() {
		part := bsonx.BeginDoc(nil)
		n := 0
		for it := fields.Elems(); it.Next(); n++ {
			if it.Value().Type != tString {
				return nil, errf(mongoerr.TypeMismatch, "BSON field '$fill.partitionByFields' must be an array of strings, found %s", typeName(it.Value()))
			}
			// Names of their own: a path can't be a field's name.
			part = bsonx.AppendElem(part, "f"+strconv.Itoa(n), bsonx.String("$"+it.Value().Str()))
		}
		by = bsonx.DocValue(bsonx.EndDoc(part, 0))
	}
	windows, values, err := fillOutputs(output)
	if err != nil {
		return nil, err
	}
	var stages []bsonx.Value
	if windows.Doc().Len() > 0 {
		spec := []any{"output", windows}
		if !by.IsMissing() {
			spec = append(spec, "partitionBy", by)
		}
		if !sortBy.IsMissing() {
			spec = append(spec, "sortBy", sortBy)
		}
		stages = append(stages, makeStage(windowFields, makeDoc(spec...)))
	}
	if values.Doc().Len() > 0 {
		stages = append(stages, makeStage("$addFields", values))
	}
	return stages, nil
}

// fillOutputs tells the fields with a method from those with a value.
func fillOutputs(output bsonx.Value) (windows, values bsonx.Value, err error) {
	w, a := bsonx.BeginDoc(nil), bsonx.BeginDoc(nil)
	for it := output.Elems(); it.Next(); {
		name, v := string(it.Name()), it.Value()
		if v.Type != tDoc {
			return null, null, errf(6050200, "Each fill output specification must be an object with exactly one field")
		}
		method, value := v.Doc().Get("method"), v.Doc().Get("value")
		self := bsonx.String("$" + name)
		switch {
		case !method.IsMissing() && !value.IsMissing():
			return null, null, errf(6050201, "Each fill output specification must have exactly one of 'method' or 'value' fields, not both")
		case v.Doc().Len() != 1 || method.IsMissing() && value.IsMissing():
			return null, null, errf(6050200, "Each fill output specification must be an object with exactly one field, 'method' or 'value'")
		case !value.IsMissing():
			a = bsonx.AppendElem(a, name, makeDoc("$ifNull", bsonx.Array(self, value)))
		case method.Type == tString && method.Str() == "locf":
			w = bsonx.AppendElem(w, name, makeDoc("$locf", self))
		case method.Type == tString && method.Str() == "linear":
			w = bsonx.AppendElem(w, name, makeDoc("$linearFill", self))
		default:
			return null, null, errf(6050202, "Method must be either locf or linear")
		}
	}
	return bsonx.DocValue(bsonx.EndDoc(w, 0)), bsonx.DocValue(bsonx.EndDoc(a, 0)), nil
}
