package splitter

import (
	"fmt"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"pgregory.net/rapid"
)

func TestTidy(t *testing.T) {
	in := []bson.RawValue{raw("a"), raw(int32(1)), raw(1.0), raw(primitive.MinKey{}), raw(primitive.Undefined{}), raw(nil), raw(primitive.Symbol("a"))}
	var got []string
	for _, p := range one("f", in, 0) {
		got = append(got, p.Range.From())
	}
	if want := `[MinKey null 1 "a"]`; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// With split keys that stand for equal numbers of documents, the pieces differ by
// one distance at most.
func TestChooseIsEven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "ranges")
		keys := make([]point, rapid.IntRange(0, 400).Draw(t, "keys"))
		for i := range keys {
			keys[i] = point{raw(int32(i + 1))}
		}
		chosen := cuts{points: keys}.choose(n)
		if want := min(n-1, len(keys)); len(chosen) != want {
			t.Fatalf("%d points, want %d", len(chosen), want)
		}
		least, most, last := len(keys)+1, 0, 0
		for i := range len(chosen) + 1 {
			end := len(keys) + 1
			if i < len(chosen) {
				end = int(chosen[i][0].Int32())
			}
			least, most, last = min(least, end-last), max(most, end-last), end
		}
		if most-least > 1 {
			t.Fatalf("pieces of %d to %d distances", least, most)
		}
	})
}

func TestImbalance(t *testing.T) {
	for _, tt := range []struct {
		docs []int64
		want float64
	}{{nil, 1}, {[]int64{0, 0}, 1}, {[]int64{5, 5}, 1}, {[]int64{9, 1}, 1.8}} {
		var p []Piece
		for _, n := range tt.docs {
			p = append(p, Piece{Documents: n})
		}
		if got := imbalance(p); got != tt.want {
			t.Errorf("%v: got %v, want %v", tt.docs, got, tt.want)
		}
	}
}

// The grouping keeps order, uses at most n groups, and no other grouping has a
// lighter heaviest group.
func TestLightest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.Int64Range(0, 20), 1, 9).Draw(t, "weights")
		n := rapid.IntRange(1, 5).Draw(t, "n")
		heaviest := func(ends []int) int64 {
			most, at := int64(0), 0
			for _, end := range append(ends, len(weights)) {
				sum := int64(0)
				for ; at < end; at++ {
					sum += weights[at]
				}
				most = max(most, sum)
			}
			return most
		}
		got := lightest(weights, n, nil)
		if len(got) != min(n, len(weights))-1 || !slices.IsSorted(got) {
			t.Fatalf("ends %v", got)
		}
		best := int64(1 << 40)
		for mask := range 1 << (len(weights) - 1) { // every way to cut
			var ends []int
			for i := 1; i < len(weights); i++ {
				if mask&(1<<(i-1)) != 0 {
					ends = append(ends, i)
				}
			}
			if len(ends) < n {
				best = min(best, heaviest(ends))
			}
		}
		if h := heaviest(got); h != best {
			t.Fatalf("ends %v: heaviest %d, best %d", got, h, best)
		}
	})
}

func TestJoinEmpty(t *testing.T) {
	for _, tt := range []struct {
		docs []int64
		want string
	}{
		{[]int64{3, 4, 5}, "[[MinKey, 1) 3 [1, 2) 4 [2, MaxKey] 5]"},
		{[]int64{0, 4, 0, 0, 5, 0}, "[[MinKey, 4) 4 [4, MaxKey] 5]"},
		{[]int64{0, 0, 0}, "[[MinKey, MaxKey] 0]"},
		{[]int64{0}, "[[MinKey, MaxKey] 0]"},
	} {
		var points []bson.RawValue
		for i := range len(tt.docs) - 1 {
			points = append(points, raw(int32(i+1)))
		}
		pieces := one("f", points, 0)
		for i := range pieces {
			pieces[i].Documents = tt.docs[i]
		}
		var got []string
		for _, p := range joinEmpty(pieces) {
			got = append(got, fmt.Sprint(p.Range, " ", p.Documents))
		}
		if fmt.Sprint(got) != tt.want {
			t.Errorf("%v: got %v, want %s", tt.docs, got, tt.want)
		}
	}
}
