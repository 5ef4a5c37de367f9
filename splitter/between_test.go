package splitter

import (
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"pgregory.net/rapid"
)

// What lies between two values lies between them, in order.
func TestBetweenIsBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := span{anyValue().Draw(t, "lo"), anyValue().Draw(t, "hi")}
		if zero(s.lo) || zero(s.hi) || bracketOf(s.lo) != bracketOf(s.hi) {
			return
		}
		last := s.lo
		for _, v := range between(s, rapid.IntRange(2, 9).Draw(t, "parts")) {
			if Compare(last, v) >= 0 || Compare(v, s.hi) >= 0 {
				t.Fatalf("%s is not between %s and %s", Text(v), Text(last), Text(s.hi))
			}
			last = v
		}
	})
}

func TestBetween(t *testing.T) {
	tests := []struct {
		lo, hi any
		want   string
	}{
		{int32(0), int64(100), "[25 50 75]"},
		{-1.0, decimal("1"), "[-0.5 0 0.5]"},
		{primitive.DateTime(0), primitive.DateTime(4000), `[ISODate("1970-01-01T00:00:01Z") ISODate("1970-01-01T00:00:02Z") ISODate("1970-01-01T00:00:03Z")]`},
		{"user10", "user87", `["user3" "user5" "user7"]`},
		{"é", "ü", "[]"},
		{true, false, "[]"},
		{int32(5), int32(5), "[]"},
		{primitive.ObjectID{0: 1}, primitive.ObjectID{0: 5}, `[ObjectId("020000000000000000000000") ObjectId("030000000000000000000000") ObjectId("040000000000000000000000")]`},
	}
	for _, tt := range tests {
		var got []string
		for _, v := range between(span{raw(tt.lo), raw(tt.hi)}, 4) {
			got = append(got, Text(v))
		}
		if fmt.Sprint(got) != tt.want {
			t.Errorf("%v to %v: got %v, want %s", tt.lo, tt.hi, got, tt.want)
		}
	}
	if got := between(span{raw(bson.D{}), raw(bson.D{})}, 4); got != nil {
		t.Error(got)
	}
}
