package splitter

import (
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"pgregory.net/rapid"
)

// Every value is in exactly one of the ranges that random points make, in both
// forms and whether or not it is known which types there are.
func TestEveryValueIsInOneRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(anyValue(), 1, 12).Draw(t, "values")
		var points []bson.RawValue
		var present uint32
		for _, v := range values {
			if zero(v) {
				present |= 1 << nullish
				continue
			}
			present |= 1 << bracketOf(v)
			if rapid.Bool().Draw(t, "point") {
				points = append(points, v)
			}
		}
		if rapid.Bool().Draw(t, "types unknown") {
			present = 0
		}
		cut := one("f", points, present)
		for _, v := range values {
			for _, p := range []Predicate{Brackets, Expr} {
				in := 0
				for _, piece := range cut {
					got := matches(piece.Range.Filter(p), map[string]bson.RawValue{"f": v})
					if got != piece.Range.Contains(v) {
						t.Fatalf("range %s, value %s %s, form %d: filter says %v\n%v", piece.Range, TypeName(v), Text(v), p, got, piece.Range.Filter(p))
					}
					if got {
						in++
					}
				}
				if in != 1 {
					t.Fatalf("%s %s is in %d of the ranges %v (form %d)", TypeName(v), Text(v), in, cut, p)
				}
			}
		}
	})
}

// one makes the ranges of one field that values bound.
func one(key string, values []bson.RawValue, present uint32) []Piece {
	l := layout{{key: key, present: present}}
	var points []point
	for _, v := range values {
		points = append(points, point{v})
	}
	return l.pieces(l.tidy(points))
}

func TestFilterText(t *testing.T) {
	numbers := uint32(1 << number)
	mixed := numbers | 1<<text
	tests := []struct {
		name string
		r    Range
		p    Predicate
		want string
	}{
		{"everything", Range{Key: "f"}, Brackets, `{}`},
		{"one bracket", Range{Key: "f", Lo: raw(int32(1)), Hi: raw(int32(9))}, Brackets, `{"f":{"$gte":1,"$lt":9}}`},
		{"one bracket, expr", Range{Key: "f", Lo: raw("a"), Hi: raw("b")}, Expr, `{"f":{"$gte":"a","$lt":"b"}}`},
		{"first of numbers alone", Range{Key: "f", Hi: raw(int32(9)), present: numbers}, Expr, `{"f":{"$lt":9}}`},
		{"last of numbers alone", Range{Key: "f", Lo: raw(int32(9)), present: numbers}, Brackets, `{"f":{"$gte":9}}`},
		{"last of two types", Range{Key: "f", Lo: raw(int32(9)), present: mixed}, Brackets, `{"$or":[{"f":{"$gte":9}},{"f":{"$gte":""}}]}`},
		{"last of two types, expr", Range{Key: "f", Lo: raw(int32(9)), present: mixed}, Expr, `{"$expr":{"$and":[{"$gte":["$f",{"$literal":9}]}]}}`},
		{"nothing there", Range{Key: "f", Lo: raw(true), present: mixed}, Brackets, `{"f":{"$in":[]}}`},
		{"from null, expr", Range{Key: "a.b", Lo: raw(nil), Hi: raw(int32(9))}, Expr, `{"$expr":{"$and":[{"$gt":["$a.b",{"$literal":{"$minKey":1}}]},{"$lt":["$a.b",{"$literal":9}]}]}}`},
		{"below NaN, expr", Range{Key: "f", Hi: raw(decimal("NaN"))}, Expr, `{"$expr":{"$and":[{"$lte":["$f",{"$literal":null}]}]}}`},
		{
			"from null to a number",
			Range{Key: "f", Lo: raw(nil), Hi: raw(int32(9))},
			Brackets,
			`{"$or":[{"f":{"$eq":null}},{"f":{"$type":6}},{"f":{"$in":[{"$numberDouble":"NaN"},{"$numberDecimal":"NaN"}]}},{"f":{"$lt":9}}]}`,
		},
		{
			"regular expressions",
			Range{Key: "f", Lo: raw(primitive.Regex{Pattern: "a"}), Hi: raw(primitive.Regex{Pattern: "b"})},
			Brackets,
			`{"f":{"$type":11},"$expr":{"$and":[{"$gte":["$f",{"$literal":{"$regularExpression":{"pattern":"a","options":""}}}]},{"$lt":["$f",{"$literal":{"$regularExpression":{"pattern":"b","options":""}}}]}]}}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := bson.MarshalExtJSON(tt.r.Filter(tt.p), false, false)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestRangeText(t *testing.T) {
	tests := []struct {
		r    Range
		want string
	}{
		{Range{}, "[MinKey, MaxKey]"},
		{Range{Hi: raw(int64(7))}, "[MinKey, 7)"},
		{Range{Lo: raw(1.5), Hi: raw("x\n")}, `[1.5, "x\n")`},
		{Range{Lo: raw(oid(1))}, `[ObjectId("000000000000000000000001"), MaxKey]`},
		{Range{Lo: raw(primitive.DateTime(1234)), Hi: raw(decimal("1.50"))}, `[ISODate("1970-01-01T00:00:01.234Z"), 1.50)`},
		{Range{Lo: raw(nil), Hi: raw(bson.D{{Key: "a", Value: int32(1)}})}, `[null, {"a": {"$numberInt":"1"}})`},
		{Range{Lo: raw(primitive.Symbol("s")), Hi: raw(true)}, `[Symbol("s"), true)`},
	}
	for _, tt := range tests {
		if got := tt.r.String(); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}
