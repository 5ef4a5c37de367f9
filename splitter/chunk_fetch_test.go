package splitter

import (
	"math"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
)

// bound is a value, of which nil is none.
func bound(v any) bson.RawValue {
	if v == nil {
		return bson.RawValue{}
	}
	return raw(v)
}

// What {$gte: lo, $lt: hi} of every chunk finds and what none does are told apart, and together they are the range.
func TestFetched(t *testing.T) {
	t.Parallel()
	values := []any{
		primitive.MinKey{}, primitive.Null{}, math.NaN(), math.Inf(-1), -3, 0, 4.5, int64(5), 7, math.Inf(1), "", "a", "m", "z",
		bson.D{}, bson.D{{Key: "a", Value: 1}}, primitive.ObjectID{1}, false, true, primitive.DateTime(5), primitive.Timestamp{T: 1}, primitive.MaxKey{},
	}
	for _, c := range []struct {
		name   string
		lo, hi any
		bounds []any // of chunks, from MinKey to MaxKey
		found  bracket
	}{
		{"one chunk, everything", nil, nil, nil, number},
		{"numbers, from the beginning", nil, 5, []any{5}, number},
		{"numbers", -3, 5, []any{-3, 5}, number},
		{"numbers, to the end", 5, nil, []any{5}, number},
		{"everything, cut at numbers", nil, nil, []any{0, 5}, number},
		{"everything, cut at strings", nil, nil, []any{"a", "m"}, text},
		{"a chunk between types", 5, "m", []any{5, "m"}, brackets},
		{"numbers, in chunks of strings", nil, 5, []any{"a"}, brackets},
		{"cut at NaN", nil, 5, []any{math.NaN(), 5}, brackets},
		{"cut at null", nil, 5, []any{primitive.Null{}, 5}, brackets},
		{"other chunks do not matter", nil, 5, []any{5, "m"}, number},
		{"dates", nil, primitive.DateTime(9), []any{primitive.DateTime(9)}, date},
	} {
		r := Range{Key: "k", Lo: bound(c.lo), Hi: bound(c.hi)}
		var chunks []Bounds
		at := append(append([]any{primitive.MinKey{}}, c.bounds...), primitive.MaxKey{})
		for i := range len(at) - 1 {
			chunks = append(chunks, Bounds{raw(at[i]), raw(at[i+1])})
		}
		found, rest := r.Fetched(chunks)
		if (found == nil) != (c.found == brackets) {
			t.Errorf("%s: found %v", c.name, found)
		}
		for _, v := range values {
			x := raw(v)
			in := r.Contains(x)
			want := in && bracketOf(x) == c.found
			if got := found != nil && matches(found, map[string]bson.RawValue{"k": x}); got != want {
				t.Errorf("%s: %v is found: %v", c.name, v, got)
			}
			if got := rest != nil && matches(rest, map[string]bson.RawValue{"k": x}); got != (in && !want) {
				t.Errorf("%s: %v is lost: %v", c.name, v, got)
			}
			fetched := len(c.bounds) == 0
			for _, ch := range chunks {
				fetched = fetched || (bracketOf(ch.Lo) == minKey || bracketOf(ch.Lo) == bracketOf(x) && Compare(ch.Lo, x) <= 0) &&
					(bracketOf(ch.Hi) == maxKey || bracketOf(ch.Hi) == bracketOf(x) && Compare(x, ch.Hi) < 0)
			}
			if want && !fetched {
				t.Errorf("%s: %v is said to be found, and no chunk fetches it", c.name, v)
			}
		}
	}
	// What the collection is known not to hold is not asked for.
	r := Range{Key: "k", Hi: raw(5), present: 1 << number}
	if found, rest := r.Fetched([]Bounds{{Hi: raw(5)}, {Lo: raw(5)}}); found == nil || rest != nil {
		t.Errorf("%v, %v", found, rest)
	}
	r.present = 1<<number | 1<<nullish
	if found, rest := r.Fetched([]Bounds{{Hi: raw(5)}, {Lo: raw(5)}}); found == nil || rest == nil {
		t.Errorf("%v, %v", found, rest)
	}
}
