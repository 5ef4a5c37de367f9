package bsonx

import (
	"cmp"
	"math"
)

// AsFloat converts any number (a large int64 or a decimal rounded) to a
// double; ok is false for other types.
func (v Value) AsFloat() (f float64, ok bool) {
	switch v.Type {
	case TypeInt32:
		return float64(v.Int32()), true
	case TypeDouble:
		return v.Double(), true
	case TypeInt64:
		return float64(v.Int64()), true
	case TypeDecimal128:
		return decimalOf(v).float(), true
	}
	return 0, false
}

// AsInt64 converts a number whose value is a whole number in int64 range; ok
// is false otherwise.
func (v Value) AsInt64() (n int64, ok bool) {
	switch v.Type {
	case TypeInt32:
		return int64(v.Int32()), true
	case TypeInt64:
		return v.Int64(), true
	case TypeDouble:
		f := v.Double()
		if f >= -1<<63 && f < 1<<63 && f == math.Trunc(f) {
			return int64(f), true
		}
	case TypeDecimal128:
		if n, exact := decimalOf(v).truncInt(); exact {
			return n, true
		}
	}
	return 0, false
}

// TruncInt64 truncates any number toward zero, saturating; ok is false for
// other types and NaN.
func (v Value) TruncInt64() (n int64, ok bool) {
	switch v.Type {
	case TypeInt32:
		return int64(v.Int32()), true
	case TypeInt64:
		return v.Int64(), true
	case TypeDouble:
		f := v.Double()
		switch {
		case f >= 1<<63:
			return math.MaxInt64, true
		case f < -1<<63:
			return math.MinInt64, true
		case f == f:
			return int64(f), true
		}
	case TypeDecimal128:
		if d := decimalOf(v); d.kind != decNaN {
			n, _ = d.truncInt()
			return n, true
		}
	}
	return 0, false
}

// IsNaN reports whether v is a NaN double or decimal.
func (v Value) IsNaN() bool {
	switch v.Type {
	case TypeDouble:
		f := v.Double()
		return f != f
	case TypeDecimal128:
		return decimalOf(v).kind == decNaN
	}
	return false
}

// compareNumbers orders two numbers by exact value, NaN first.
func compareNumbers(a, b Value) int {
	if a.Type == TypeInt32 && b.Type == TypeInt32 {
		return cmp.Compare(a.Int32(), b.Int32())
	}
	switch a.Type {
	case TypeInt32, TypeInt64:
		switch b.Type {
		case TypeInt32, TypeInt64:
			return cmp.Compare(asInt(a), asInt(b))
		case TypeDouble:
			return compareIntFloat(asInt(a), b.Double())
		}
	case TypeDouble:
		switch b.Type {
		case TypeInt32, TypeInt64:
			return -compareIntFloat(asInt(b), a.Double())
		case TypeDouble:
			return cmp.Compare(a.Double(), b.Double())
		}
	}
	return compareDecimals(a, b)
}

// compareIntFloat compares without rounding n to a double.
func compareIntFloat(n int64, f float64) int {
	switch {
	case f != f:
		return 1
	case f >= 1<<63:
		return -1
	case f < -1<<63:
		return 1
	}
	t := int64(f)
	if t != n {
		return cmp.Compare(n, t)
	}
	return cmp.Compare(float64(t), f)
}
