package splitter

import (
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"pgregory.net/rapid"
)

// Every document is in exactly one of the ranges that random points of several
// fields make, whole points or ones that begin with a field's first value, in any mix of directions.
func TestEveryDocumentIsInOneCompoundRange(t *testing.T) {
	names := []string{"a", "b.c", "d"}
	rapid.Check(t, func(t *rapid.T) {
		l := layout{}
		for i, n := range names[:rapid.IntRange(2, 3).Draw(t, "fields")] {
			l = append(l, field{key: n, descending: i > 0 && rapid.Bool().Draw(t, "descending")})
		}
		pool := rapid.SliceOfN(anyValue(), 2, 5).Draw(t, "pool") // few values, so that prefixes are equal
		var docs, points []point
		for range rapid.IntRange(1, 14).Draw(t, "documents") {
			p := make(point, len(l))
			for i := range p {
				p[i] = rapid.SampledFrom(pool).Draw(t, "value")
			}
			docs = append(docs, p)
			if rapid.Bool().Draw(t, "point") {
				q := append(point(nil), p...)
				for i := range q {
					if zero(q[i]) {
						q[i] = raw(nil)
					}
				}
				points = append(points, l.extend(q[:rapid.IntRange(1, len(q)).Draw(t, "depth")]))
			}
		}
		if rapid.Bool().Draw(t, "types known") {
			for i := range l {
				for _, d := range docs {
					b := nullish
					if !zero(d[i]) {
						b = bracketOf(d[i])
					}
					l[i].present |= 1 << b
				}
			}
		}
		cut := l.pieces(l.tidy(points))
		for _, d := range docs {
			doc := map[string]bson.RawValue{}
			for i, f := range l {
				doc[f.key] = d[i]
			}
			in := 0
			for _, piece := range cut {
				got := matches(piece.Range.Filter(Brackets), doc)
				if got != piece.Range.Contains(d...) {
					t.Fatalf("range %s, document %v: filter says %v\n%v", piece.Range, doc, got, piece.Range.Filter(Brackets))
				}
				if got {
					in++
				}
			}
			if in != 1 {
				t.Fatalf("%v is in %d of the ranges %v", doc, in, cut)
			}
		}
	})
}

func TestCompoundFilterText(t *testing.T) {
	ints := uint32(1 << number)
	between := func(lo, hi point, descending bool) string {
		l := layout{{key: "a", present: ints}, {key: "b", present: ints, descending: descending}}
		text, err := bson.MarshalExtJSON(l.between(lo, hi).Filter(Expr), false, false)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	at := func(values ...any) point {
		p := make(point, 2)
		for i, v := range values {
			p[i] = raw(v)
		}
		return p
	}
	tests := []struct {
		lo, hi     point
		descending bool
		want       string
	}{
		{at(1, 5), at(1, 9), false, `{"a":{"$eq":1},"b":{"$gte":5,"$lt":9}}`},
		{at(1, 5), at(2), false, `{"$or":[{"a":{"$eq":1},"b":{"$gte":5}},{"a":{"$gt":1,"$lt":2}}]}`},
		{at(1), at(2, 9), false, `{"$or":[{"a":{"$gte":1,"$lt":2}},{"a":{"$eq":2},"b":{"$lt":9}}]}`},
		{at(1), at(2), false, `{"a":{"$gte":1,"$lt":2}}`},
		{at(1, 9), at(1, 5), true, `{"a":{"$eq":1},"b":{"$gt":5,"$lte":9}}`},
		{at(1, 5), at(), false, `{"$or":[{"a":{"$eq":1},"b":{"$gte":5}},{"a":{"$gt":1}}]}`},
		{at(), at(2, 9), true, `{"$or":[{"a":{"$lt":2}},{"a":{"$eq":2},"b":{"$gt":9}}]}`},
		{at(1, 5), at(1, 5), false, `{"a":{"$in":[]}}`},
	}
	for _, tt := range tests {
		if got := between(tt.lo, tt.hi, tt.descending); got != tt.want {
			t.Errorf("%v to %v:\ngot  %s\nwant %s", tt.lo, tt.hi, got, tt.want)
		}
	}
}

func TestCompoundRangeText(t *testing.T) {
	r := Range{Key: "a", Lo: raw("x"), Hi: raw("y"), Then: []Field{{Key: "b", Lo: raw(primitive.MinKey{})}}}
	if got, want := fmt.Sprint(r), `[("x", MinKey), ("y"))`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
