package splitter

import (
	"cmp"
	"fmt"
	"math/big"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"pgregory.net/rapid"
)

func TestCompareOrdersAllTypes(t *testing.T) {
	for i, line := range ascending {
		for j, other := range ascending {
			for _, a := range line {
				for _, b := range other {
					if zero(a) || zero(b) {
						continue
					}
					if got := Compare(a, b); got != cmp.Compare(i, j) {
						t.Errorf("Compare(%s, %s) = %d, want %d", Text(a), Text(b), got, cmp.Compare(i, j))
					}
				}
			}
		}
	}
}

func TestCompareIsAnOrder(t *testing.T) {
	defined := anyValue().Filter(func(v bson.RawValue) bool { return !zero(v) })
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := defined.Draw(t, "a"), defined.Draw(t, "b"), defined.Draw(t, "c")
		if Compare(a, a) != 0 {
			t.Fatalf("%s differs from itself", Text(a))
		}
		if Compare(a, b) != -Compare(b, a) {
			t.Fatalf("%s and %s: %d and %d", Text(a), Text(b), Compare(a, b), Compare(b, a))
		}
		if Compare(a, b) <= 0 && Compare(b, c) <= 0 && Compare(a, c) > 0 {
			t.Fatalf("%s ≤ %s ≤ %s, but the first is greater than the last", Text(a), Text(b), Text(c))
		}
	})
}

// Numbers of all types compare as the fractions that they are.
func TestNumbersCompareByValue(t *testing.T) {
	number := rapid.Custom(func(t *rapid.T) bson.RawValue {
		small := rapid.Int64Range(-30, 30).Draw(t, "small")
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0:
			return raw(rapid.Int64().Draw(t, "long"))
		case 1:
			return raw(rapid.Float64().Draw(t, "double"))
		case 2:
			return raw(float64(rapid.Int64().Draw(t, "whole")))
		case 3:
			return raw(float64(small) / 8)
		case 4:
			return raw(int32(small))
		case 5:
			return raw(decimal(fmt.Sprintf("%dE%d", small, rapid.IntRange(-40, 40).Draw(t, "exponent"))))
		default:
			return raw(decimal(fmt.Sprint(float64(small) / 8)))
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		if got, want := Compare(a, b), rat(a).Cmp(rat(b)); got != want {
			t.Fatalf("%s %s against %s %s: got %d, want %d", TypeName(a), Text(a), TypeName(b), Text(b), got, want)
		}
	})
}

func rat(v bson.RawValue) *big.Rat {
	switch v.Type {
	case bson.TypeDouble:
		return new(big.Rat).SetFloat64(v.Double())
	case bson.TypeDecimal128:
		r, _ := new(big.Rat).SetString(v.Decimal128().String())
		return r
	default:
		return new(big.Rat).SetInt64(v.AsInt64())
	}
}
