package query

import (
	"strings"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// arithmetic is $inc and $mul.
func arithmetic(op, path string, by bsonx.Value) (modifier, error) {
	if !by.IsNumber() {
		verb := "increment"
		if op == "$mul" {
			verb = "multiply"
		}
		return nil, mongoerr.New(mongoerr.TypeMismatch, "Cannot %s with non-numeric argument: {%s: %s}", verb, path, by.String())
	}
	return func(old bsonx.Value, at *application) (bsonx.Value, bool, error) {
		if old.IsMissing() {
			if op == "$mul" {
				return bsonx.Mul(by, zeroLike(by)), false, nil
			}
			return by, false, nil
		}
		if !old.IsNumber() {
			return old, false, mongoerr.New(mongoerr.TypeMismatch, "Cannot apply %s to a value of non-numeric type. {%s} has the field '%s' of non-numeric type %s",
				op, at.id(), lastPart(path), bsonx.TypeName(old.Type))
		}
		v := bsonx.Add(old, by)
		if op == "$mul" {
			v = bsonx.Mul(old, by)
		}
		if v.Type == typeDouble && old.Type != typeDouble && by.Type != typeDouble {
			return old, false, bad("Failed to apply %s operations to current value (%s) for document {%s}", op, old.String(), at.id())
		}
		return v, false, nil
	}, nil
}

func zeroLike(v bsonx.Value) bsonx.Value {
	switch v.Type {
	case typeInt32:
		return bsonx.Int32(0)
	case typeInt64:
		return bsonx.Int64(0)
	}
	if v.Type == typeDouble {
		return bsonx.Double(0)
	}
	return bsonx.Int32(0)
}

func lastPart(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// extreme is $min and $max.
func extreme(isMax bool, v bsonx.Value) modifier {
	return func(old bsonx.Value, _ *application) (bsonx.Value, bool, error) {
		if old.IsMissing() {
			return v, false, nil
		}
		c := bsonx.Compare(v, old)
		return v, isMax && c <= 0 || !isMax && c >= 0, nil
	}
}

// currentDate is $currentDate: true, or {$type: "date" | "timestamp"}.
func (up *updateParser) currentDate(v bsonx.Value) (modifier, error) {
	stamp := false
	switch v.Type {
	case typeBool:
	case typeObject:
		t := v.Doc().Get("$type")
		if v.Doc().Len() != 1 || t.IsMissing() {
			return nil, bad("The only valid field of the option is '$type': {$currentDate: {field : {$type: 'date/timestamp'}}}")
		}
		if t.Type != typeString || t.Str() != "date" && t.Str() != "timestamp" {
			return nil, bad("The '$type' string field is required to be 'date' or 'timestamp': {$currentDate: {field : {$type: 'date'}}}")
		}
		stamp = t.Str() == "timestamp"
	default:
		return nil, bad("%s is not valid type for $currentDate. Please use a boolean ('true') or a $type expression ({$type: 'timestamp/date'}).", bsonx.TypeName(v.Type))
	}
	return func(_ bsonx.Value, at *application) (bsonx.Value, bool, error) {
		now := at.u.now()
		if stamp {
			return bsonx.Timestamp(uint32(now.Unix()), 1), false, nil
		}
		return bsonx.Date(now.UnixMilli()), false, nil
	}, nil
}

// bit is $bit: {and|or|xor: int}.
func bit(path string, v bsonx.Value) (modifier, error) {
	if v.Type != typeObject {
		return nil, bad("The $bit modifier is not compatible with a %s. You must pass in an embedded document: {$bit: {field: {and/or/xor: #}}", bsonx.TypeName(v.Type))
	}
	type step struct {
		op string
		n  bsonx.Value
	}
	var steps []step
	for it := v.Elems(); it.Next(); {
		op, n := string(it.Name()), it.Value()
		if op != "and" && op != "or" && op != "xor" {
			return nil, bad("The $bit modifier only supports 'and', 'or', and 'xor', not '%s' which is an unknown operator: {%s: %s}", op, op, n.String())
		}
		if n.Type != typeInt32 && n.Type != typeInt64 {
			return nil, bad("The $bit modifier field must be an Integer(32/64 bit); a '%s' is not supported here: {%s: %s}", bsonx.TypeName(n.Type), op, n.String())
		}
		steps = append(steps, step{op, n.Clone()})
	}
	if len(steps) == 0 {
		return nil, bad("You must pass in at least one bitwise operation. The format is: {$bit: {field: {and/or/xor: #}}")
	}
	return func(old bsonx.Value, at *application) (bsonx.Value, bool, error) {
		if old.IsMissing() {
			old = bsonx.Int32(0)
		}
		if old.Type != typeInt32 && old.Type != typeInt64 {
			return old, false, bad("Cannot apply $bit to a value of non-integral type.{%s} has the field %s of non-integer type %s", at.id(), lastPart(path), bsonx.TypeName(old.Type))
		}
		n, _ := old.AsInt64()
		wide := old.Type == typeInt64
		for _, s := range steps {
			by, _ := s.n.AsInt64()
			wide = wide || s.n.Type == typeInt64
			switch s.op {
			case "and":
				n &= by
			case "or":
				n |= by
			default:
				n ^= by
			}
		}
		if wide {
			return bsonx.Int64(n), false, nil
		}
		return bsonx.Int32(int32(n)), false, nil
	}, nil
}
