package expr

import (
	"slices"

	"mrbench/internal/embedded/bsonx"
)

// sorted gives the distinct elements in order.
func sorted(vs []bsonx.Value) []bsonx.Value {
	slices.SortStableFunc(vs, bsonx.CompareAgg)
	return slices.CompactFunc(vs, func(a, b bsonx.Value) bool { return bsonx.CompareAgg(a, b) == 0 })
}

func has(set []bsonx.Value, v bsonx.Value) bool {
	_, ok := slices.BinarySearchFunc(set, v, bsonx.CompareAgg)
	return ok
}

func needArray(name string, code int32, v bsonx.Value) error {
	if v.Type != tArray {
		return errf(codeOf(code), "All operands of %s must be arrays. One argument is of type: %s", name, typeName(v))
	}
	return nil
}

func opSetUnion(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
	var all []bsonx.Value
	for _, v := range a {
		if nullish(v) {
			return null, nil
		}
		if err := needArray(name, 17043, v); err != nil {
			return missing, err
		}
		all = append(all, elems(v)...)
	}
	return st.array(sorted(all)), nil
}

func opSetIntersection(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
	var keep []bsonx.Value
	for i, v := range a {
		if nullish(v) {
			return null, nil
		}
		if err := needArray(name, 17047, v); err != nil {
			return missing, err
		}
		set := sorted(elems(v))
		if i == 0 {
			keep = set
			continue
		}
		if len(keep) > len(set) { // the elements are those of the smaller set
			keep, set = set, keep
		}
		keep = slices.DeleteFunc(keep, func(v bsonx.Value) bool { return !has(set, v) })
	}
	return st.array(keep), nil
}

func opSetDifference(st *state, _ string, a []bsonx.Value) (bsonx.Value, error) {
	if nullish(a[0]) || nullish(a[1]) {
		return null, nil
	}
	for i, v := range a {
		if v.Type != tArray {
			return missing, errf(codeOf(int32(17048+i)), "both operands of $setDifference must be arrays. Argument %d is of type: %s", i+1, typeName(v))
		}
	}
	not := sorted(elems(a[1]))
	var out, seen []bsonx.Value
	for it := a[0].Elems(); it.Next(); {
		v := it.Value()
		if has(not, v) || has(seen, v) {
			continue
		}
		i, _ := slices.BinarySearchFunc(seen, v, bsonx.CompareAgg)
		seen = slices.Insert(seen, i, v)
		out = append(out, v)
	}
	return st.array(out), nil
}

func opSetEquals(_ *state, name string, a []bsonx.Value) (bsonx.Value, error) {
	if len(a) < 2 {
		return missing, errf(17045, "$setEquals needs at least two arguments had: %d", len(a))
	}
	var first []bsonx.Value
	for i, v := range a {
		if err := needArray(name, 17044, v); err != nil {
			return missing, err
		}
		set := sorted(elems(v))
		if i == 0 {
			first = set
		} else if !slices.EqualFunc(first, set, func(x, y bsonx.Value) bool { return bsonx.CompareAgg(x, y) == 0 }) {
			return vFalse, nil
		}
	}
	return vTrue, nil
}

// parseSetIsSubset tells a constant second set, which has codes of its own.
func parseSetIsSubset(c *compiler, name string, arg bsonx.Value) (node, error) {
	args, err := c.args(name, arg, 2, 2)
	if err != nil {
		return nil, err
	}
	_, first := args[0].(*constNode)
	set, second := args[1].(*constNode)
	if first || !second {
		return &callNode{name: name, fn: opSetIsSubset, args: args}, nil
	}
	if set.v.Type != tArray {
		return nil, errf(17311, "both operands of $setIsSubset must be arrays. Second argument is of type: %s", typeName(set.v))
	}
	fn := func(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
		if err := needArray(name, 17310, a[0]); err != nil {
			return missing, err
		}
		return opSetIsSubset(st, name, a)
	}
	return &callNode{name: name, fn: fn, args: args}, nil
}

func opSetIsSubset(_ *state, name string, a []bsonx.Value) (bsonx.Value, error) {
	if err := needArray(name, 17046, a[0]); err != nil {
		return missing, err
	}
	if err := needArray(name, 17042, a[1]); err != nil {
		return missing, err
	}
	set := sorted(elems(a[1]))
	for it := a[0].Elems(); it.Next(); {
		if !has(set, it.Value()) {
			return vFalse, nil
		}
	}
	return vTrue, nil
}

// anyTrue makes $anyElementTrue (true) and $allElementsTrue (false).
func anyTrue(stop bool, code int32) function {
	return func(_ *state, name string, a []bsonx.Value) (bsonx.Value, error) {
		if a[0].Type != tArray {
			return missing, errf(codeOf(code), "%s's argument must be an array, but is %s", name, typeName(a[0]))
		}
		for it := a[0].Elems(); it.Next(); {
			if it.Value().Truthy() == stop {
				return boolean(stop), nil
			}
		}
		return boolean(!stop), nil
	}
}
