package expr

import (
	"math"

	"mrbench/internal/embedded/bsonx"
)

// wider is the type that arithmetic on two number types gives.
func wider(a, b bsonx.Type) bsonx.Type {
	return max(rank(a), rank(b)).typ()
}

type numRank uint8

const (
	rankInt32 numRank = iota
	rankInt64
	rankDouble
	rankDecimal
)

func rank(t bsonx.Type) numRank {
	switch t {
	case tInt64:
		return rankInt64
	case tDouble:
		return rankDouble
	case tDecimal:
		return rankDecimal
	}
	return rankInt32
}

func (r numRank) typ() bsonx.Type {
	switch r {
	case rankInt64:
		return tInt64
	case rankDouble:
		return tDouble
	case rankDecimal:
		return tDecimal
	}
	return tInt32
}

// integer reads an int32 or int64.
func integer(v bsonx.Value) int64 {
	if v.Type == tInt32 {
		return int64(v.Int32())
	}
	return v.Int64()
}

// float reads any number; a decimal is rounded.
func float(v bsonx.Value) float64 {
	switch v.Type {
	case tInt32:
		return float64(v.Int32())
	case tDouble:
		return v.Double()
	}
	f, _ := v.AsFloat()
	return f
}

// whole reads a number that is a whole one within int32, whatever its type.
func whole32(v bsonx.Value) (int32, bool) {
	if !isNumber(v.Type) {
		return 0, false
	}
	n, ok := v.AsInt64()
	if !ok || n != int64(int32(n)) {
		return 0, false
	}
	return int32(n), true
}

func mulOverflows(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, false
	}
	p := a * b
	return p, p/b != a || (a == -1 && b == math.MinInt64) || (b == -1 && a == math.MinInt64)
}
