package expr

import (
	"math"
	"slices"

	"mrbench/internal/embedded/bsonx"
)

func at(v bsonx.Value, i int64) bsonx.Value {
	if i < 0 {
		i += int64(bsonx.Doc(v.Data).Len())
	}
	if i < 0 {
		return missing
	}
	for it := v.Elems(); it.Next(); i-- {
		if i == 0 {
			return it.Value()
		}
	}
	return missing
}

func opArrayElemAt(_ *state, name string, a []bsonx.Value) (bsonx.Value, error) {
	arr, i := a[0], a[1]
	if nullish(arr) || nullish(i) {
		return null, nil
	}
	if arr.Type != tArray {
		return missing, errf(28689, "%s's first argument must be an array, but is %s", name, typeName(arr))
	}
	if !isNumber(i.Type) {
		return missing, errf(28690, "%s's second argument must be a numeric value, but is %s", name, typeName(i))
	}
	n, ok := whole32(i)
	if !ok {
		return missing, errf(28691, "%s's second argument must be representable as a 32-bit integer: %s", name, i)
	}
	return at(arr, int64(n)), nil
}

// endOf makes $first (0) and $last (-1).
func endOf(i int64) function {
	return func(_ *state, name string, a []bsonx.Value) (bsonx.Value, error) {
		if nullish(a[0]) {
			return null, nil
		}
		if a[0].Type != tArray {
			return missing, errf(28689, "%s's argument must be an array, but is %s", name, typeName(a[0]))
		}
		return at(a[0], i), nil
	}
}

func opSlice(st *state, _ string, a []bsonx.Value) (bsonx.Value, error) {
	if slices.ContainsFunc(a, nullish) {
		return null, nil
	}
	arr := a[0]
	if arr.Type != tArray {
		return missing, errf(28724, "First argument to $slice must be an array, but is of type: %s", typeName(arr))
	}
	var n [2]int64
	for i, v := range a[1:] {
		if !isNumber(v.Type) {
			return missing, errf(codeOf(int32(28725+2*i)), "$slice needs numeric arguments, found %s", typeName(v))
		}
		k, ok := whole32(v)
		if !ok {
			return missing, errf(codeOf(int32(28726+2*i)), "Arguments to $slice can't be represented as a 32-bit integer: %s", v)
		}
		n[i] = int64(k)
	}
	size := int64(bsonx.Doc(arr.Data).Len())
	var lo, hi int64
	if len(a) == 2 {
		if n[0] >= 0 {
			lo, hi = 0, min(n[0], size)
		} else {
			lo, hi = max(size+n[0], 0), size
		}
	} else {
		if n[1] <= 0 {
			return missing, errf(28729, "Third argument to $slice must be positive: %d", n[1])
		}
		if lo = n[0]; lo < 0 {
			lo = max(size+lo, 0)
		}
		hi = min(lo+n[1], size)
	}
	w := st.build(tArray)
	i := int64(0)
	for it := arr.Elems(); it.Next() && i < hi; i++ {
		if i >= lo {
			w.push(it.Value())
		}
	}
	return w.done(), nil
}

func opConcatArrays(st *state, _ string, a []bsonx.Value) (bsonx.Value, error) {
	w := st.build(tArray)
	for _, v := range a {
		if nullish(v) {
			w.drop()
			return null, nil
		}
		if v.Type != tArray {
			w.drop()
			return missing, errf(28664, "$concatArrays only supports arrays, not %s", typeName(v))
		}
		it := v.Elems()
		for it.Next() {
			w.push(it.Value())
		}
	}
	return w.done(), nil
}

func opIn(_ *state, _ string, a []bsonx.Value) (bsonx.Value, error) {
	if a[1].Type != tArray {
		return missing, errf(40081, "$in requires an array as a second argument, found: %s", typeName(a[1]))
	}
	it := a[1].Elems()
	for it.Next() {
		if compare(a[0], it.Value()) == 0 {
			return vTrue, nil
		}
	}
	return vFalse, nil
}

func opReverseArray(st *state, _ string, a []bsonx.Value) (bsonx.Value, error) {
	if nullish(a[0]) {
		return null, nil
	}
	if a[0].Type != tArray {
		return missing, errf(34435, "The argument to $reverseArray must be an array, but was of type: %s", typeName(a[0]))
	}
	es := elems(a[0])
	slices.Reverse(es)
	return st.array(es), nil
}

func opSize(st *state, _ string, a []bsonx.Value) (bsonx.Value, error) {
	if a[0].Type != tArray {
		return missing, errf(17124, "The argument to $size must be an array, but was of type: %s", typeName(a[0]))
	}
	return st.i32(int32(bsonx.Doc(a[0].Data).Len())), nil
}

func opIsArray(_ *state, _ string, a []bsonx.Value) (bsonx.Value, error) {
	return boolean(a[0].Type == tArray), nil
}

// maxRange bounds what one $range may build.
const maxRange = 16 << 20 / 8

func opRange(st *state, _ string, a []bsonx.Value) (bsonx.Value, error) {
	var n [3]int64
	n[2] = 1
	for i, v := range a {
		if !isNumber(v.Type) {
			return missing, errf(codeOf(int32(34443+2*i)), "$range requires numeric arguments, found value of type: %s", typeName(v))
		}
		k, ok := whole32(v)
		if !ok {
			return missing, errf(codeOf(int32(34444+2*i)), "$range arguments must be representable as a 32-bit integer, found: %s", v)
		}
		n[i] = int64(k)
	}
	if n[2] == 0 {
		return missing, errf(34449, "$range requires a non-zero step value")
	}
	w := st.build(tArray)
	for i := n[0]; n[2] > 0 && i < n[1] || n[2] < 0 && i > n[1]; i += n[2] {
		if w.n >= maxRange {
			w.drop()
			return missing, errf(146, "$range would use too much memory: more than %d elements", maxRange)
		}
		w.push(bsonx.Value{Type: tInt32, Data: le32(int32(i))})
	}
	return w.done(), nil
}

func le32(n int32) []byte { return []byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)} }

// bounds reads the optional start and end of $indexOf….
func bounds(name string, a []bsonx.Value) (lo, hi int64, err error) {
	hi = math.MaxInt32
	for i, v := range a {
		if v.Type == tAbsent {
			continue
		}
		n, ok := whole32(v)
		if !ok {
			return 0, 0, errf(40096, "%s requires an integral %s index, found a value of type: %s, with value: %s",
				name, []string{"starting", "ending"}[i], typeName(v), v)
		}
		if n < 0 {
			return 0, 0, errf(40097, "%s requires a nonnegative %s index, found: %d", name, []string{"start", "ending"}[i], n)
		}
		if i == 0 {
			lo = int64(n)
		} else {
			hi = int64(n)
		}
	}
	return lo, hi, nil
}

// parseIndexOfArray tells a constant that is no array, when the rest is not constant: that has a code of its own.
func parseIndexOfArray(c *compiler, name string, arg bsonx.Value) (node, error) {
	args, err := c.args(name, arg, 2, 4)
	if err != nil {
		return nil, err
	}
	if in, ok := args[0].(*constNode); ok && !nullish(in.v) && in.v.Type != tArray {
		for _, a := range args[1:] {
			if _, ok := a.(*constNode); !ok {
				return nil, errf(50809, "First operand of $indexOfArray must be an array. First argument is of type: %s", typeName(in.v))
			}
		}
	}
	return &callNode{name: name, fn: opIndexOfArray, args: args}, nil
}

func opIndexOfArray(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
	if nullish(a[0]) {
		return null, nil
	}
	if a[0].Type != tArray {
		return missing, errf(40090, "$indexOfArray requires an array as a first argument, found: %s", typeName(a[0]))
	}
	lo, hi, err := bounds(name, a[2:])
	if err != nil {
		return missing, err
	}
	i := int64(0)
	for it := a[0].Elems(); it.Next() && i < hi; i++ {
		if i >= lo && compare(it.Value(), a[1]) == 0 {
			return st.i32(int32(i)), nil
		}
	}
	return st.i32(-1), nil
}

// firstN makes $firstN and $lastN.
func firstN(last bool) function {
	return func(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
		n, err := CheckN(name, a[0])
		if err != nil {
			return missing, err
		}
		if a[1].Type != tArray {
			return missing, errf(5788200, "%s requires 'input' to be an array, found %s", name, typeName(a[1]))
		}
		es := elems(a[1])
		k := int(min(n, int64(len(es))))
		if last {
			return st.array(es[len(es)-k:]), nil
		}
		return st.array(es[:k]), nil
	}
}

// extremeN makes $maxN and $minN.
func extremeN(sign int) function {
	return func(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
		n, err := CheckN(name, a[0])
		if err != nil {
			return missing, err
		}
		if a[1].Type != tArray {
			return missing, errf(5788200, "%s requires 'input' to be an array, found %s", name, typeName(a[1]))
		}
		es := slices.DeleteFunc(elems(a[1]), nullish)
		slices.SortStableFunc(es, func(x, y bsonx.Value) int { return sign * bsonx.CompareAgg(x, y) })
		return st.array(es[:min(n, int64(len(es)))]), nil
	}
}

// CheckN reads the n of $firstN and its kind: a positive whole number.
func CheckN(name string, v bsonx.Value) (int64, error) {
	if !isNumber(v.Type) {
		return 0, errf(5787902, "Value for 'n' must be of integral type, but found %s", v)
	}
	n, ok := v.AsInt64()
	if !ok {
		return 0, errf(5787903, "Value for 'n' must be of integral type, but found %s", v)
	}
	if n <= 0 {
		return 0, errf(5787908, "'n' must be greater than 0, found %d for %s", n, name)
	}
	return n, nil
}
