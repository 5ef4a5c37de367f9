package parity

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"pgregory.net/rapid"

	"mrbench/splitter"
)

func doc(t testing.TB, key, value any) bson.Raw {
	t.Helper()
	b, err := bson.Marshal(bson.D{{Key: "_id", Value: key}, {Key: "value", Value: value}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func answer(t testing.TB, docs ...bson.Raw) Answer {
	t.Helper()
	var d Digest
	for _, x := range docs {
		if err := d.Add(x); err != nil {
			t.Fatal(err)
		}
	}
	return d.Answer()
}

func dec(t testing.TB, s string) primitive.Decimal128 {
	t.Helper()
	d, err := primitive.ParseDecimal128(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestNumbersCountByValue(t *testing.T) {
	same := [][]any{
		{int32(1), int64(1), 1.0, dec(t, "1"), dec(t, "1.000"), dec(t, "10E-1")},
		{int32(0), 0.0, math.Copysign(0, -1), dec(t, "0"), dec(t, "-0E+3")},
		{0.5, dec(t, "0.5"), dec(t, "5E-1")},
		{dec(t, "0.1"), dec(t, "0.10")},
		{math.NaN(), math.Float64frombits(0x7ff8000000000001), dec(t, "NaN")},
		{math.Inf(1), dec(t, "Infinity")},
		{int64(1) << 53, float64(1 << 53)},
		{int64(math.MinInt64), -9223372036854775808.0},
		{nil, primitive.Undefined{}},
		{primitive.Symbol("a"), "a"},
		{bson.D{{Key: "n", Value: 1}}, bson.D{{Key: "n", Value: 1.0}}},
		{bson.A{1, "x"}, bson.A{1.0, "x"}},
	}
	for _, group := range same {
		for _, v := range group[1:] {
			if a, b := answer(t, doc(t, "k", group[0])), answer(t, doc(t, "k", v)); a != b {
				t.Errorf("values %v and %v: %v and %v", group[0], v, a, b)
			}
			if a, b := answer(t, doc(t, group[0], 1)), answer(t, doc(t, v, 1)); a != b {
				t.Errorf("keys %v and %v: %v and %v", group[0], v, a, b)
			}
		}
	}
	different := [][2]any{
		{1, 2},
		{1, "1"},
		{1, true},
		{0.1, dec(t, "0.1")},
		{1e300, dec(t, "1E300")},
		{int64(1<<53 + 1), float64(1 << 53)},
		{math.NaN(), nil},
		{"a", "b"},
		{"", nil},
		{bson.D{{Key: "a", Value: 1}, {Key: "b", Value: 2}}, bson.D{{Key: "b", Value: 2}, {Key: "a", Value: 1}}},
		{bson.A{1, 2}, bson.A{2, 1}},
		{bson.A{bson.A{1}, 2}, bson.A{bson.A{1, 2}}},
		{primitive.DateTime(1), primitive.DateTime(2)},
		{primitive.DateTime(1), int64(1)},
	}
	for _, p := range different {
		if answer(t, doc(t, "k", p[0])) == answer(t, doc(t, "k", p[1])) {
			t.Errorf("values %v and %v are told to be equal", p[0], p[1])
		}
		if answer(t, doc(t, p[0], 1)) == answer(t, doc(t, p[1], 1)) {
			t.Errorf("keys %v and %v are told to be equal", p[0], p[1])
		}
	}
	// What is in the key does not run over into the value.
	if answer(t, doc(t, "a", "")) == answer(t, doc(t, "", "a")) {
		t.Error("key and value are mixed up")
	}
}

func TestSumIsExact(t *testing.T) {
	for _, c := range []struct {
		values []any
		want   string
	}{
		{nil, "0"},
		{[]any{1, 2.0, int64(3)}, "6"},
		{[]any{int64(math.MaxInt64), int64(math.MaxInt64), 1}, "18446744073709551615"},
		{[]any{int64(math.MinInt64), int64(math.MinInt64)}, "-18446744073709551616"},
		{[]any{-1, 1, -5}, "-5"},
		{[]any{1e16, 1, -1e16}, "1"},
		{[]any{0.5, 0.5}, "1"},
		{[]any{0.25, 1}, "1.25"},
		{[]any{1, "x", nil}, "1"},
		{[]any{math.Inf(1), 1}, "+Inf"},
		{[]any{math.Inf(1), math.Inf(-1)}, "NaN"},
		{[]any{math.NaN()}, "NaN"},
	} {
		var docs []bson.Raw
		for i, v := range c.values {
			docs = append(docs, doc(t, i, v))
		}
		if got := answer(t, docs...).Sum; got != c.want {
			t.Errorf("sum of %v is %s, want %s", c.values, got, c.want)
		}
	}
}

func anyValue() *rapid.Generator[any] {
	return rapid.Deferred(func() *rapid.Generator[any] {
		return rapid.OneOf(
			rapid.Map(rapid.Int32(), func(x int32) any { return x }),
			rapid.Map(rapid.Int64(), func(x int64) any { return x }),
			rapid.Map(rapid.Int64Range(-5, 5), func(x int64) any { return float64(x) / 2 }),
			rapid.Map(rapid.Float64(), func(x float64) any { return x }),
			rapid.Map(rapid.StringN(0, 5, 10), func(x string) any { return x }),
			rapid.Map(rapid.Bool(), func(x bool) any { return x }),
			rapid.Just[any](nil),
			rapid.Map(rapid.Int64Range(-1e12, 1e12), func(x int64) any { return primitive.DateTime(x) }),
			rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 6), func(x []byte) any { return primitive.Binary{Data: x} }),
			rapid.Map(rapid.SliceOfN(rapid.Int32Range(0, 3), 0, 3), func(x []int32) any { return bson.D{{Key: "a", Value: x}} }),
		)
	})
}

// Neither order nor the way an answer comes in parts changes it; losing, doubling or changing a key does.
func TestDigestLaws(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(rt, "n")
		var docs []bson.Raw
		for range n {
			docs = append(docs, doc(t, anyValue().Draw(rt, "key"), anyValue().Draw(rt, "value")))
		}
		want := answer(t, docs...)
		rng := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(rt, "shuffle")))
		mixed := slices.Clone(docs)
		rng.Shuffle(n, func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		parts := make([]Digest, 3)
		for i, d := range mixed {
			if err := parts[i%3].Add(d); err != nil {
				rt.Fatal(err)
			}
		}
		var all Digest
		for i := range parts {
			all.Merge(&parts[i])
		}
		if got := all.Answer(); got != want {
			rt.Fatalf("in parts: %v, whole: %v", got, want)
		}
		i := rapid.IntRange(0, n-1).Draw(rt, "i")
		if answer(t, slices.Delete(slices.Clone(docs), i, i+1)...) == want {
			rt.Fatal("a lost key is not seen")
		}
		if answer(t, append(slices.Clone(docs), docs[i], docs[i])...) == want {
			rt.Fatal("doubled keys are not seen")
		}
	})
}

func TestCompareIsMongoDBsOrder(t *testing.T) {
	// Ascending; entries of one slice are equal.
	order := [][]any{
		{primitive.MinKey{}},
		{nil, primitive.Undefined{}},
		{math.NaN(), dec(t, "NaN")},
		{math.Inf(-1)},
		{int64(math.MinInt64), -9223372036854775808.0},
		{-1.5},
		{0, math.Copysign(0, -1)},
		{dec(t, "0.1")},
		{0.1}, // the double is a little above
		{1, 1.0, int64(1), dec(t, "1.0")},
		{float64(1 << 53)},
		{int64(1<<53 + 1)},
		{math.MaxFloat64},
		{math.Inf(1)},
		{""},
		{"a", primitive.Symbol("a")},
		{"ab"},
		{"b"},
		{bson.D{}},
		{bson.D{{Key: "a", Value: 1}}},
		{bson.D{{Key: "a", Value: 1}, {Key: "b", Value: 1}}},
		{bson.D{{Key: "a", Value: 2}}},
		{bson.D{{Key: "b", Value: 0}}},
		{bson.D{{Key: "a", Value: "x"}}},
		{bson.A{}},
		{bson.A{1}},
		{bson.A{1, 0}},
		{bson.A{2}},
		{primitive.Binary{Data: []byte{9}}},
		{primitive.Binary{Data: []byte{0, 0}}},
		{primitive.Binary{Subtype: 4, Data: []byte{0, 0}}},
		{primitive.ObjectID{1}},
		{primitive.ObjectID{2}},
		{false},
		{true},
		{primitive.DateTime(-1)},
		{primitive.NewDateTimeFromTime(time.UnixMilli(0))},
		{primitive.Timestamp{T: 1, I: 2}},
		{primitive.Timestamp{T: 2, I: 1}},
		{primitive.Regex{Pattern: "a"}},
		{primitive.Regex{Pattern: "a", Options: "i"}},
		{primitive.MaxKey{}},
	}
	var values []bson.RawValue
	var group []int
	for g, vs := range order {
		for _, v := range vs {
			values = append(values, doc(t, 0, v).Lookup("value"))
			group = append(group, g)
		}
	}
	for i := range values {
		for j := range values {
			if got, want := sign(splitter.Compare(values[i], values[j])), sign(group[i]-group[j]); got != want {
				t.Errorf("compare %v with %v: %d, want %d", values[i], values[j], got, want)
			}
		}
	}
}

func sign(x int) int { return min(1, max(-1, x)) }

func seq(docs ...bson.Raw) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		for _, d := range docs {
			if !yield(d, nil) {
				return
			}
		}
	}
}

func TestDifferences(t *testing.T) {
	a := seq(doc(t, nil, 1), doc(t, 1, 1.0), doc(t, 2, 7), doc(t, 3, 1), doc(t, "z", bson.D{{Key: "n", Value: 2}}))
	b := seq(doc(t, nil, 1.0), doc(t, 1, 1), doc(t, 2.0, 8), doc(t, "y", 1), doc(t, "z", bson.D{{Key: "n", Value: 2.0}}), doc(t, true, 1))
	want := []Difference{{"2", "7", "8"}, {"3", "1", ""}, {`"y"`, "", "1"}, {"true", "", "1"}}
	got, err := Differences(a, b, 10)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	got, err = Differences(a, b, 2)
	if err != nil || len(got) != 2 {
		t.Errorf("limit of 2: %v, %v", got, err)
	}
	got, err = Differences(a, a, 10)
	if err != nil || len(got) != 0 {
		t.Errorf("an answer differs from itself: %v, %v", got, err)
	}
}

func TestAddRefusesBrokenDocuments(t *testing.T) {
	good := doc(t, "key", bson.D{{Key: "a", Value: bson.A{1, "x"}}})
	for n := range len(good) {
		var d Digest
		if err := d.Add(good[:n]); err == nil {
			t.Errorf("%d of %d bytes were taken", n, len(good))
		}
	}
	noID, err := bson.Marshal(bson.D{{Key: "value", Value: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if err := new(Digest).Add(noID); err == nil {
		t.Error("a document without _id was taken")
	}
}

func FuzzAdd(f *testing.F) {
	b, _ := bson.Marshal(bson.D{{Key: "_id", Value: 1}, {Key: "value", Value: bson.D{{Key: "a", Value: bson.A{1, "x"}}}}})
	f.Add(b)
	f.Fuzz(func(_ *testing.T, b []byte) {
		_ = new(Digest).Add(b) // must not panic
	})
}

func BenchmarkDigestAdd(b *testing.B) {
	d := doc(b, int32(123456), 12.0)
	var dig Digest
	b.ReportAllocs()
	for b.Loop() {
		if err := dig.Add(d); err != nil {
			b.Fatal(err)
		}
	}
}

func TestNear(t *testing.T) {
	list := func(v ...any) bson.D { return bson.D{{Key: "l", Value: bson.A(v)}, {Key: "n", Value: 1}} }
	a := seq(doc(t, 1, 0.30000000000000004), doc(t, 2, list("a", "b")), doc(t, 3, bson.D{{Key: "x", Value: 1}, {Key: "y", Value: 2}}), doc(t, 4, 1), doc(t, 5, math.NaN()), doc(t, 6, 7))
	b := seq(doc(t, 1, 0.3), doc(t, 2, list("b", "a")), doc(t, 3, bson.D{{Key: "y", Value: 2}, {Key: "x", Value: 1}}), doc(t, 4, 1.0), doc(t, 5, 0), doc(t, 7, 7))
	got, err := Near{Unordered: []string{"l"}, Relative: 1e-9}.Compare(a, b, 3)
	if err != nil {
		t.Fatal(err)
	}
	if got.Keys != 5 || got.Rounded != 1 || got.Reordered != 1 || got.Different != 4 || len(got.First) != 3 || got.First[0].Key != "3" || got.Largest == 0 {
		t.Errorf("%+v", got)
	}
	// The value itself may be what is unordered; nothing else is.
	got, err = Near{Unordered: []string{""}}.Compare(a, b, 10)
	if err != nil {
		t.Fatal(err)
	}
	if got.Different != 5 || got.Reordered != 1 || got.Rounded != 0 {
		t.Errorf("%+v", got)
	}
	for _, pair := range [][2]any{{1, 1 + 1e-6}, {1, "1"}, {bson.A{1}, bson.A{1, 1}}, {math.Inf(1), math.MaxFloat64}, {nil, 0}} {
		got, err := Near{Unordered: []string{""}, Relative: 1e-9}.Compare(seq(doc(t, 1, pair[0])), seq(doc(t, 1, pair[1])), 1)
		if err != nil || got.Different != 1 {
			t.Errorf("%v and %v: %+v, %v", pair[0], pair[1], got, err)
		}
	}
}
