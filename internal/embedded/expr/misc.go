package expr

import (
	"mrbench/internal/embedded/bsonx"
)

func opRand(st *state, _ string, _ []bsonx.Value) (bsonx.Value, error) {
	return st.f64(st.random()), nil
}

// parseRand takes {} or [] only.
func parseRand(_ *compiler, name string, arg bsonx.Value) (node, error) {
	if arg.Type != tDoc && arg.Type != tArray {
		return nil, errf(10065, "invalid parameter: expected an object (%s)", name)
	}
	if bsonx.Doc(arg.Data).Len() != 0 {
		return nil, errf(3040501, "%s does not currently accept arguments", name)
	}
	return &callNode{name: name, fn: opRand}, nil
}

func opBsonSize(st *state, _ string, a []bsonx.Value) (bsonx.Value, error) {
	switch {
	case nullish(a[0]):
		return null, nil
	case a[0].Type == tDoc:
		return st.i32(int32(len(a[0].Data))), nil
	}
	return missing, errf(31393, "$bsonSize requires a document input, found: %s", typeName(a[0]))
}

func opBinarySize(st *state, _ string, a []bsonx.Value) (bsonx.Value, error) {
	switch {
	case nullish(a[0]):
		return null, nil
	case a[0].Type == tString:
		return st.i32(int32(len(a[0].StrBytes()))), nil
	case a[0].Type == tBinary:
		_, b := a[0].Binary()
		return st.i32(int32(len(b))), nil
	}
	return missing, errf(51276, "$binarySize requires a string or BinData argument, found: %s", typeName(a[0]))
}

// timestampPart makes $tsSecond and $tsIncrement.
func timestampPart(code int32, shift uint) function {
	return func(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
		switch {
		case nullish(a[0]):
			return null, nil
		case a[0].Type == tTime:
			return st.i64(int64(uint64(a[0].Int64()) >> shift & 0xffffffff)), nil
		}
		return missing, errf(codeOf(code), "%s requires a timestamp argument, found: %s", name, typeName(a[0]))
	}
}
