package command

import (
	"strings"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// wrongType is MongoDB's answer to an argument of another type than it takes.
func wrongType(cmd, field string, v bsonx.Value, want ...string) error {
	if len(want) == 1 {
		return mongoerr.New(mongoerr.TypeMismatch, "BSON field '%s.%s' is the wrong type '%s', expected type '%s'",
			cmd, field, bsonx.TypeName(v.Type), want[0])
	}
	return mongoerr.New(mongoerr.TypeMismatch, "BSON field '%s.%s' is the wrong type '%s', expected types '[%s]'",
		cmd, field, bsonx.TypeName(v.Type), strings.Join(want, ", "))
}

func missingField(cmd, field string) error {
	return mongoerr.New(errMissingField, "BSON field '%s.%s' is missing but a required field", cmd, field)
}

// flag reads a boolean; numbers count as well, as MongoDB lets them.
func flag(cmd, field string, v bsonx.Value, otherwise bool) (bool, error) {
	switch {
	case v.IsNullish():
		return otherwise, nil
	case v.Type == bsonx.TypeBoolean || v.IsNumber():
		return v.Truthy(), nil
	}
	return false, wrongType(cmd, field, v, "bool", "long", "int", "decimal", "double")
}

func (c *call) flag(field string, otherwise bool) (bool, error) {
	return flag(c.cmd.name, field, c.arg(field), otherwise)
}

// whole reads a number, cut to a whole one; missing and null give the default.
func whole(cmd, field string, v bsonx.Value, otherwise int64) (int64, error) {
	if v.IsNullish() {
		return otherwise, nil
	}
	if n, ok := v.TruncInt64(); ok {
		return n, nil
	}
	return 0, wrongType(cmd, field, v, "long", "int", "decimal", "double")
}

func (c *call) whole(field string, otherwise int64) (int64, error) {
	return whole(c.cmd.name, field, c.arg(field), otherwise)
}

// natural reads a whole number that must not be negative, 0 if absent; what names it in the error.
func (c *call) natural(field, what string) (int64, error) {
	n, err := c.whole(field, 0)
	if err == nil && n < 0 {
		err = mongoerr.New(mongoerr.BadValue, "%s value must be non-negative, but received: %d", what, n)
	}
	return n, err
}

// document reads an object; missing and null give the empty document.
func document(cmd, field string, v bsonx.Value) (bsonx.Doc, error) {
	switch {
	case v.IsNullish():
		return bsonx.Empty, nil
	case v.Type == bsonx.TypeEmbeddedDocument:
		return v.Doc(), nil
	}
	return nil, wrongType(cmd, field, v, "object")
}

func (c *call) document(field string) (bsonx.Doc, error) {
	return document(c.cmd.name, field, c.arg(field))
}

// text reads a string that must be there.
func (c *call) text(field string) (string, error) {
	v := c.arg(field)
	switch {
	case v.IsMissing():
		return "", missingField(c.cmd.name, field)
	case v.Type != bsonx.TypeString:
		return "", wrongType(c.cmd.name, field, v, "string")
	}
	return v.Str(), nil
}

// hint reads an index name or key pattern.
func hint(cmd string, v bsonx.Value) (bsonx.Value, error) {
	switch v.Type {
	case bsonx.Missing, bsonx.TypeString:
		return v, nil
	case bsonx.TypeEmbeddedDocument:
		if v.Doc().Len() == 0 {
			return bsonx.Value{}, nil
		}
		return v, nil
	}
	return v, wrongType(cmd, "hint", v, "string", "object")
}
