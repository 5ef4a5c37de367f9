package expr

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"mrbench/internal/embedded/bsonx"
)

func opConcat(st *state, _ string, a []bsonx.Value) (bsonx.Value, error) {
	n := 0
	for _, v := range a {
		if nullish(v) {
			return null, nil
		}
		if v.Type != tString {
			return missing, errf(16702, "$concat only supports strings, not %s", typeName(v))
		}
		n += len(v.StrBytes())
	}
	b := st.alloc(n + 5)
	l := n + 1
	copy(b, []byte{byte(l), byte(l >> 8), byte(l >> 16), byte(l >> 24)})
	o := 4
	for _, v := range a {
		o += copy(b[o:], v.StrBytes())
	}
	b[o] = 0
	return bsonx.Value{Type: tString, Data: b}, nil
}

func needString(name string, code int32, what string, v bsonx.Value) error {
	if v.Type != tString {
		return errf(codeOf(code), "%s requires %s to be a string, found: %s", name, what, typeName(v))
	}
	return nil
}

// mapASCII makes $toLower and $toUpper, which change ASCII letters only.
func mapASCII(lo, hi byte) function {
	return func(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
		s, err := coerceString(a[0])
		if err != nil {
			return missing, err
		}
		r := st.str(s)
		for i, b := range r.Data[4 : len(r.Data)-1] {
			if b >= lo && b <= hi {
				r.Data[4+i] = b ^ 0x20
			}
		}
		return r, nil
	}
}

func opStrcasecmp(st *state, _ string, a []bsonx.Value) (bsonx.Value, error) {
	var s [2]string
	for i, v := range a {
		t, err := coerceString(v)
		if err != nil {
			return missing, err
		}
		s[i] = upperASCII(t)
	}
	return st.i32(int32(strings.Compare(s[0], s[1]))), nil
}

func upperASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			b[i] = c - 0x20
		}
	}
	return string(b)
}

func opSplit(st *state, _ string, a []bsonx.Value) (bsonx.Value, error) {
	if nullish(a[0]) || nullish(a[1]) {
		return null, nil
	}
	if a[0].Type != tString {
		return missing, errf(40085, "$split requires an expression that evaluates to a string as a first argument, found: %s", typeName(a[0]))
	}
	if a[1].Type != tString {
		return missing, errf(40086, "$split requires an expression that evaluates to a string as a second argument, found: %s", typeName(a[1]))
	}
	sep := a[1].StrBytes()
	if len(sep) == 0 {
		return missing, errf(40087, "$split requires a non-empty separator")
	}
	w := st.build(tArray)
	rest := a[0].StrBytes()
	for {
		i := bytes.Index(rest, sep)
		if i < 0 {
			w.push(st.strBytes(rest))
			return w.done(), nil
		}
		w.push(st.strBytes(rest[:i]))
		rest = rest[i+len(sep):]
	}
}

func opStrLenBytes(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
	if err := needString(name, 34473, "its argument", a[0]); err != nil {
		return missing, err
	}
	return st.i32(int32(len(a[0].StrBytes()))), nil
}

func opStrLenCP(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
	if err := needString(name, 34471, "its argument", a[0]); err != nil {
		return missing, err
	}
	return st.i32(int32(utf8.RuneCount(a[0].StrBytes()))), nil
}

// indexOf makes $indexOfBytes and $indexOfCP.
func indexOf(cp bool, code int32) function {
	return func(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
		if nullish(a[0]) {
			return null, nil
		}
		if err := needString(name, code, "the first argument", a[0]); err != nil {
			return missing, err
		}
		if err := needString(name, code+1, "the second argument", a[1]); err != nil {
			return missing, err
		}
		lo, hi, err := bounds(name, a[2:])
		if err != nil {
			return missing, err
		}
		s := a[0].StrBytes()
		if cp {
			return st.i32(indexCP(s, a[1].StrBytes(), lo, hi)), nil
		}
		hi = min(hi, int64(len(s)))
		if lo > hi {
			return st.i32(-1), nil
		}
		if i := bytes.Index(s[lo:hi], a[1].StrBytes()); i >= 0 {
			return st.i32(int32(lo) + int32(i)), nil
		}
		return st.i32(-1), nil
	}
}

// indexCP looks for sub at the code points [lo, hi): it begins there and may end beyond.
func indexCP(s, sub []byte, lo, hi int64) int32 {
	if len(s) == 0 && len(sub) == 0 {
		return 0
	}
	at, ok := cpOffset(s, lo)
	for i := lo; ok && i < hi && at < len(s); i++ {
		if bytes.HasPrefix(s[at:], sub) {
			return int32(i)
		}
		_, w := utf8.DecodeRune(s[at:])
		at += w
	}
	return -1
}

// cpOffset is where code point n starts; not ok beyond the end (the end itself is fine).
func cpOffset(s []byte, n int64) (int, bool) {
	i := 0
	for ; n > 0; n-- {
		if i >= len(s) {
			return len(s), false
		}
		_, w := utf8.DecodeRune(s[i:])
		i += w
	}
	return i, true
}

func opSubstrBytes(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
	s, err := coerceString(a[0])
	if err != nil {
		return missing, err
	}
	if !isNumber(a[1].Type) || a[1].Type == tDecimal {
		return missing, errf(16034, "%s: starting index must be a numeric type (is BSON type %s)", name, typeName(a[1]))
	}
	if !isNumber(a[2].Type) || a[2].Type == tDecimal {
		return missing, errf(16035, "%s: length must be a numeric type (is BSON type %s)", name, typeName(a[2]))
	}
	lo, _ := a[1].TruncInt64()
	n, _ := a[2].TruncInt64()
	if lo < 0 {
		return missing, errf(50752, "%s: starting index must be non-negative (got: %d)", name, lo)
	}
	if lo > int64(len(s)) {
		return st.str(""), nil
	}
	hi := int64(len(s))
	if n >= 0 && n < hi-lo {
		hi = lo + n
	}
	if lo < int64(len(s)) && !utf8.RuneStart(s[lo]) {
		return missing, errf(28656, "%s: Invalid range, starting index is a UTF-8 continuation byte.", name)
	}
	if hi < int64(len(s)) && !utf8.RuneStart(s[hi]) {
		return missing, errf(28657, "%s: Invalid range, ending index is in the middle of a UTF-8 character.", name)
	}
	return st.str(s[lo:hi]), nil
}

func opSubstrCP(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
	s, err := coerceString(a[0])
	if err != nil {
		return missing, err
	}
	var n [2]int64
	for i, v := range a[1:] {
		if !isNumber(v.Type) {
			return missing, errf(codeOf(int32(34450+2*i)), "%s: index and length must be numeric types (is BSON type %s)", name, typeName(v))
		}
		k, ok := whole32(v)
		if !ok {
			return missing, errf(codeOf(int32(34451+2*i)), "%s: index and length must be representable as 32-bit integers, found %s", name, v)
		}
		if n[i] = int64(k); k < 0 {
			return missing, errf(codeOf(int32(34455-i)), "%s: index and length must be non-negative, found %d", name, k)
		}
	}
	b := []byte(s)
	lo, ok := cpOffset(b, n[0])
	if !ok {
		return st.str(""), nil
	}
	w, _ := cpOffset(b[lo:], n[1])
	return st.strBytes(b[lo : lo+w]), nil
}

// trimSpace is what $trim takes off when no chars are given.
const trimSpace = "\x00\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"

func trim(left, right bool) op {
	return named{
		notObject: 50696, unknown: 50694,
		params: []param{{"input", 50695}, {"chars", 0}},
		fn: func(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
			if nullish(a[0]) {
				return null, nil
			}
			if err := needString(name, 50699, "its input", a[0]); err != nil {
				return missing, err
			}
			chars := trimSpace
			if a[1].Type != tAbsent {
				if nullish(a[1]) {
					return null, nil
				}
				if err := needString(name, 50700, "'chars'", a[1]); err != nil {
					return missing, err
				}
				chars = a[1].Str()
			}
			s := a[0].StrBytes()
			if left {
				s = bytes.TrimLeft(s, chars)
			}
			if right {
				s = bytes.TrimRight(s, chars)
			}
			return st.strBytes(s), nil
		},
	}.op()
}

func replace(n int) op {
	return named{
		notObject: 51751, unknown: 51750,
		params: []param{{"input", 51749}, {"find", 51748}, {"replacement", 51747}},
		fn: func(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
			isNull := false
			for i, v := range a {
				if nullish(v) {
					isNull = true
					continue
				}
				if err := needString(name, int32(51746-i), []string{"'input'", "'find'", "'replacement'"}[i], v); err != nil {
					return missing, err
				}
			}
			if isNull {
				return null, nil
			}
			return st.str(strings.Replace(a[0].Str(), a[1].Str(), a[2].Str(), n)), nil
		},
	}.op()
}
