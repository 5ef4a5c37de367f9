package pipeline

import (
	"strings"

	"mrbench/internal/embedded/bsonx"
)

// expandCount makes {$group: {_id: null, name: {$sum: 1}}}, {$project: {_id: 0}} of {$count: name}.
func expandCount(_ *parser, arg bsonx.Value) ([]bsonx.Value, error) {
	if arg.Type != tString {
		return nil, errf(40156, "the count field must be a non-empty string")
	}
	name := arg.Str()
	switch {
	case name == "":
		return nil, errf(40157, "the count field must be a non-empty string")
	case name[0] == '$':
		return nil, errf(40158, "the count field cannot be a $-prefixed path")
	case strings.IndexByte(name, 0) >= 0:
		return nil, errf(40159, "the count field cannot contain a null byte")
	case strings.IndexByte(name, '.') >= 0:
		return nil, errf(40160, "the count field cannot contain '.'")
	}
	return []bsonx.Value{
		makeStage("$group", makeDoc("_id", null, name, makeDoc("$sum", bsonx.Int32(1)))),
		makeStage("$project", makeDoc("_id", bsonx.Int32(0))),
	}, nil
}

// expandSortByCount makes a $group that counts and a $sort of {$sortByCount: expression}.
func expandSortByCount(_ *parser, arg bsonx.Value) ([]bsonx.Value, error) {
	switch arg.Type {
	case tDoc:
		it := arg.Elems()
		if !it.Next() || len(it.Name()) == 0 || it.Name()[0] != '$' {
			return nil, errf(40147, "the sortByCount field must be defined as a $-prefixed path or an expression inside an object")
		}
	case tString:
		if s := arg.StrBytes(); len(s) == 0 || s[0] != '$' {
			return nil, errf(40148, "the sortByCount field must be defined as a $-prefixed path or an expression inside an object")
		}
	default:
		return nil, errf(40149, "the sortByCount field must be specified as a string or as an object")
	}
	return []bsonx.Value{
		makeStage("$group", makeDoc("_id", arg, "count", makeDoc("$sum", bsonx.Int32(1)))),
		makeStage("$sort", makeDoc("count", bsonx.Int32(-1))),
	}, nil
}
