package splitter

import (
	"cmp"
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
