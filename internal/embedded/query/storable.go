package query

import (
	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// BadName is the error for a field name in v that begins with $, at any depth, or nil: what an update stores has none,
// but for those of a DBRef. path is where v goes.
func BadName(v bsonx.Value, path string) error {
	if v.Type != typeObject && v.Type != typeArray {
		return nil
	}
	for it := v.Elems(); it.Next(); {
		name := string(it.Name())
		full := path + "." + name
		if v.Type == typeObject && len(name) > 0 && name[0] == '$' && name != "$ref" && name != "$id" && name != "$db" {
			return mongoerr.New(mongoerr.DollarPrefixedFieldName, "The dollar ($) prefixed field '%s' in '%s' is not valid for storage.", name, full)
		}
		if err := BadName(it.Value(), full); err != nil {
			return err
		}
	}
	return nil
}

// badOperand is BadName of what an operator stores at path.
func badOperand(op, path string, v bsonx.Value) error {
	switch op {
	case "$push", "$addToSet":
		if v.Type != typeObject {
			break
		}
		if list := v.Doc().Get("$each"); list.Type == typeArray {
			return BadName(list, path)
		}
	case "$set", "$setOnInsert", "$min", "$max":
	default:
		return nil
	}
	return BadName(v, path)
}
