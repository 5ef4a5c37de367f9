package query

import (
	"bytes"
	"slices"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

func elements(v bsonx.Value) []bsonx.Value {
	var out []bsonx.Value
	it := v.Elems()
	for it.Next() {
		out = append(out, it.Value())
	}
	return out
}

// push is $push: a value, or {$each, $position, $sort, $slice}.
func (up *updateParser) push(path string, v bsonx.Value) (modifier, error) {
	each := []bsonx.Value{v}
	var position, limit *int64
	var order func(a, b bsonx.Value) int
	if v.Type == typeObject && !v.Doc().Get("$each").IsMissing() {
		it := v.Elems()
		for it.Next() {
			name, arg := string(it.Name()), it.Value()
			var err error
			switch name {
			case "$each":
				if arg.Type != typeArray {
					return nil, bad("The argument to $each in $push must be an array but it was of type: %s", bsonx.TypeName(arg.Type))
				}
				each = elements(arg)
			case "$slice":
				limit, err = wholeNumber("$slice", arg)
			case "$position":
				position, err = wholeNumber("$position", arg)
			case "$sort":
				order, err = pushOrder(arg)
			default:
				err = bad("Unrecognized clause in $push: %s", name)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return func(old bsonx.Value, at *application) (bsonx.Value, bool, error) {
		if !old.IsMissing() && old.Type != typeArray {
			return old, false, bad("The field '%s' must be an array but is of type %s in document {%s}", path, bsonx.TypeName(old.Type), at.id())
		}
		var elems []bsonx.Value
		if !old.IsMissing() {
			elems = elements(old)
		}
		i := len(elems)
		if position != nil {
			if i = int(min(*position, int64(len(elems)))); i < 0 {
				i = max(0, len(elems)+i)
			}
		}
		elems = slices.Insert(elems, i, each...)
		if order != nil {
			slices.SortStableFunc(elems, order)
		}
		if limit != nil {
			if n := int(min(max(*limit, -int64(len(elems))), int64(len(elems)))); n >= 0 {
				elems = elems[:n]
			} else {
				elems = elems[len(elems)+n:]
			}
		}
		return bsonx.Array(elems...), false, nil
	}, nil
}

func wholeNumber(clause string, v bsonx.Value) (*int64, error) {
	n, ok := v.AsInt64()
	if !ok {
		return nil, bad("The value for %s must be an integer value but was given type: %s", clause, bsonx.TypeName(v.Type))
	}
	return &n, nil
}

// pushOrder is $sort inside of $push: ±1 for the elements, or a sort document for their fields.
func pushOrder(v bsonx.Value) (func(a, b bsonx.Value) int, error) {
	if v.IsNumber() {
		n, ok := v.AsInt64()
		if !ok || n != 1 && n != -1 {
			return nil, bad("The $sort element value must be either 1 or -1")
		}
		return func(a, b bsonx.Value) int { return int(n) * bsonx.Compare(a, b) }, nil
	}
	if v.Type != typeObject {
		return nil, bad("The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort embedded fields")
	}
	spec, err := ParseSort(v.Doc())
	if err != nil || spec == nil {
		return nil, bad("The $sort pattern is invalid: %s", v.String())
	}
	key := func(v bsonx.Value) []byte {
		d := bsonx.Empty
		if v.Type == typeObject {
			d = v.Doc()
		}
		return spec.AppendKey(nil, d)
	}
	return func(a, b bsonx.Value) int { return bytes.Compare(key(a), key(b)) }, nil
}

// addToSet is $addToSet: a value, or {$each: […]}.
func addToSet(path string, v bsonx.Value) (modifier, error) {
	each := []bsonx.Value{v}
	if v.Type == typeObject {
		if it := v.Elems(); it.Next() && string(it.Name()) == "$each" {
			if it.Value().Type != typeArray {
				return nil, mongoerr.New(mongoerr.TypeMismatch, "The argument to $each in $addToSet must be an array but it was of type %s", bsonx.TypeName(it.Value().Type))
			}
			each = elements(it.Value())
			if v.Doc().Len() > 1 {
				return nil, bad("Found unexpected fields after $each in $addToSet: %s", v.String())
			}
		}
	}
	return func(old bsonx.Value, at *application) (bsonx.Value, bool, error) {
		if !old.IsMissing() && old.Type != typeArray {
			return old, false, bad("Cannot apply $addToSet to non-array field. Field named '%s' has non-array type %s", lastPart(path), bsonx.TypeName(old.Type))
		}
		var elems []bsonx.Value
		if !old.IsMissing() {
			elems = elements(old)
		}
		before := len(elems)
		for _, e := range each {
			if !slices.ContainsFunc(elems, func(o bsonx.Value) bool { return bsonx.Equal(o, e) }) {
				elems = append(elems, e)
			}
		}
		return bsonx.Array(elems...), len(elems) == before && !old.IsMissing(), nil
	}, nil
}

// pop is $pop: 1 takes the last element, -1 the first.
func pop(path string, v bsonx.Value) (modifier, error) {
	n, ok := v.AsInt64()
	if !ok || n != 1 && n != -1 {
		return nil, failed("$pop expects 1 or -1, found: %s", v.String())
	}
	return func(old bsonx.Value, _ *application) (bsonx.Value, bool, error) {
		if old.Type != typeArray {
			return old, false, mongoerr.New(mongoerr.TypeMismatch, "Path '%s' contains an element of non-array type '%s'", path, bsonx.TypeName(old.Type))
		}
		elems := elements(old)
		switch {
		case len(elems) == 0:
			return old, true, nil
		case n == 1:
			elems = elems[:len(elems)-1]
		default:
			elems = elems[1:]
		}
		return bsonx.Array(elems...), false, nil
	}, nil
}

// pull is $pull: elements equal to a value, or satisfying operators, or documents matching a filter.
func (up *updateParser) pull(v bsonx.Value) (modifier, error) {
	var want leaf
	switch {
	case v.Type == typeRegex:
		r, err := newRegex(v.Regex())
		if err != nil {
			return nil, err
		}
		want = r
	case v.Type == typeObject && isOperators(v.Doc()) && !isTopLevelOperator(v.Doc()):
		tests, err := up.p.valueTests(v.Doc(), 0)
		if err != nil {
			return nil, err
		}
		want = &allLeaf{tests}
	case v.Type == typeObject:
		n, err := up.p.document(v.Doc(), 0)
		if err != nil {
			return nil, err
		}
		want = docLeaf{n}
	default:
		want = newIn([]bsonx.Value{v}, nil)
	}
	return remover("$pull", func(e bsonx.Value, m *matcher) bool { return want.test(e, m) }), nil
}

func isTopLevelOperator(d bsonx.Doc) bool {
	it := d.Iter()
	it.Next()
	switch string(it.Name()) {
	case "$and", "$or", "$nor", "$expr", "$where", "$comment":
		return true
	}
	return false
}

// docLeaf asks a filter about a value that is a document.
type docLeaf struct{ n node }

func (l docLeaf) clone() leaf { return docLeaf{l.n.clone()} }
func (l docLeaf) test(v bsonx.Value, m *matcher) bool {
	return v.Type == typeObject && l.n.match(v.Doc(), m)
}

func pullAll(v bsonx.Value) (modifier, error) {
	if v.Type != typeArray {
		return nil, bad("$pullAll requires an array argument but was given a %s", bsonx.TypeName(v.Type))
	}
	all := elements(v)
	return remover("$pullAll", func(e bsonx.Value, _ *matcher) bool {
		return slices.ContainsFunc(all, func(o bsonx.Value) bool { return bsonx.Equal(e, o) })
	}), nil
}

func remover(op string, unwanted func(bsonx.Value, *matcher) bool) modifier {
	return func(old bsonx.Value, _ *application) (bsonx.Value, bool, error) {
		if old.Type != typeArray {
			return old, false, bad("Cannot apply %s to a non-array value", op)
		}
		m := matcher{pos: -1}
		elems := elements(old)
		n := len(elems)
		elems = slices.DeleteFunc(elems, func(e bsonx.Value) bool { return unwanted(e, &m) })
		return bsonx.Array(elems...), len(elems) == n, m.err
	}
}
