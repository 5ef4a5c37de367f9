package expr

import "mrbench/internal/embedded/bsonx"

// operands is what an accumulator in expression position works on: the elements
// when its only argument is an array, else the arguments.
func operands(a []bsonx.Value) []bsonx.Value {
	if len(a) == 1 && a[0].Type == tArray {
		return elems(a[0])
	}
	return a
}

func opSum(st *state, _ string, a []bsonx.Value) (bsonx.Value, error) {
	var s Sum
	for _, v := range operands(a) {
		s.Add(v)
	}
	return s.result(st), nil
}

func opAvg(st *state, _ string, a []bsonx.Value) (bsonx.Value, error) {
	var s Sum
	n := int64(0)
	for _, v := range operands(a) {
		if isNumber(v.Type) {
			s.Add(v)
			n++
		}
	}
	return s.mean(st, n), nil
}

// extreme makes $max (1) and $min (-1).
func extreme(sign int) function {
	return func(_ *state, _ string, a []bsonx.Value) (bsonx.Value, error) {
		best := null
		for _, v := range operands(a) {
			if !nullish(v) && (best.Type == tNull || sign*compare(v, best) > 0) {
				best = v
			}
		}
		return best, nil
	}
}

func stdDev(sample bool) function {
	return func(st *state, _ string, a []bsonx.Value) (bsonx.Value, error) {
		var s StdDev
		for _, v := range operands(a) {
			s.Add(v)
		}
		r := s.Result(sample)
		return st.keep(r.Type, r.Data), nil
	}
}
