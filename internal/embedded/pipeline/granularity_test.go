package pipeline

import (
	"fmt"
	"math"
	"testing"

	"mrbench/internal/embedded/bsonx"
)

// TestGranularity: the next number up is larger, the next one down smaller, and nothing of the series lies between.
func TestGranularity(t *testing.T) {
	for _, name := range []string{"POWERSOF2", "1-2-5", "R5", "R10", "R20", "R40", "R80", "E6", "E12", "E24", "E48", "E96", "E192"} {
		s := granularity(name)
		if s == nil {
			t.Fatalf("%s is unknown", name)
		}
		for _, x := range []float64{1e-9, 0.0003, 0.8, 0.99, 1, 1.01, 2, 9.9, 10, 64, 99.9, 100, 105, 920, 987, 999, 1024, 5e15} {
			up, down := s.up(bsonx.Double(x)).Double(), s.down(bsonx.Double(x)).Double()
			if !(down < x && x < up) {
				t.Errorf("%s: %v is not between %v and %v", name, x, down, up)
			}
			if between := s.up(bsonx.Double(down)).Double(); between != up && math.Abs(between-x) > 1e-9*x {
				t.Errorf("%s: %v lies between %v and %v", name, between, down, up)
			}
		}
		for _, x := range []float64{5e-324, 1e-320, math.MaxFloat64} { // where doubles end
			if up, down := s.up(bsonx.Double(x)).Double(), s.down(bsonx.Double(x)).Double(); !(down < x && x < up) {
				t.Errorf("%s: %v is not between %v and %v", name, x, down, up)
			}
		}
		if v := s.up(bsonx.Int32(0)); v.Type != tInt32 {
			t.Errorf("%s: 0 becomes %s", name, v)
		}
	}
	for name, n := range map[string]int{"E48": 48, "E96": 96, "E192": 192} {
		s := granularity(name).(preferred)
		if len(s) != n || s[0] != 100 || s[len(s)-1] >= 1000 {
			t.Errorf("%s: %d numbers, %v to %v", name, len(s), s[0], s[len(s)-1])
		}
	}
	if s := granularity("E192").(preferred); s[185] != 920 || s[97] != 320 || s[11] != 114 {
		t.Errorf("E192: %v", s)
	}
}

func TestBucketAutoGranularity(t *testing.T) {
	var docs []string
	for i := range 100 {
		docs = append(docs, fmt.Sprintf(`{"_id": %d, "z": 0}`, i))
	}
	overDocs(t, docs, []stageCase{
		{stages: `[{"$bucketAuto": {"groupBy": "$_id", "buckets": 5, "granularity": "R20"}}]`, want: []string{
			`{"_id": {"min": 0, "max": 20.0}, "count": 20}`, `{"_id": {"min": 20.0, "max": 40.0}, "count": 20}`, `{"_id": {"min": 40.0, "max": 63.0}, "count": 23}`,
			`{"_id": {"min": 63.0, "max": 90.0}, "count": 27}`, `{"_id": {"min": 90.0, "max": 100.0}, "count": 10}`,
		}},
		{stages: `[{"$bucketAuto": {"groupBy": "$_id", "buckets": 5, "granularity": "POWERSOF2"}}]`, want: []string{
			`{"_id": {"min": 0, "max": 32.0}, "count": 32}`, `{"_id": {"min": 32.0, "max": 64.0}, "count": 32}`, `{"_id": {"min": 64.0, "max": 128.0}, "count": 36}`,
		}},
		{stages: `[{"$bucketAuto": {"groupBy": "$_id", "buckets": 5, "granularity": "1-2-5"}}]`, want: []string{
			`{"_id": {"min": 0, "max": 20.0}, "count": 20}`, `{"_id": {"min": 20.0, "max": 50.0}, "count": 30}`, `{"_id": {"min": 50.0, "max": 100.0}, "count": 50}`,
		}},
		{stages: `[{"$bucketAuto": {"groupBy": "$z", "buckets": 2, "granularity": "E6"}}]`, want: []string{`{"_id": {"min": 0, "max": 0}, "count": 100}`}},
		{stages: `[{"$bucketAuto": {"groupBy": "$_id", "buckets": 5, "granularity": "R7"}}]`, code: 40257},
		{stages: `[{"$bucketAuto": {"groupBy": "$none", "buckets": 5, "granularity": "R5"}}]`, code: 40258},
		{stages: `[{"$bucketAuto": {"groupBy": {"$subtract": ["$_id", 5]}, "buckets": 5, "granularity": "R5"}}]`, code: 40260},
	})
}
