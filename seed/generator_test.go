package seed

import (
	"bytes"
	"math"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"pgregory.net/rapid"
)

func TestUniquesDocument(t *testing.T) {
	g := Uniques(1, "dim0", 1000, 100)
	if g.Name() != "uniques" {
		t.Error(g.Name())
	}
	doc := bson.Raw(g.Append([]byte("before"), 7)[len("before"):])
	if err := doc.Validate(); err != nil {
		t.Fatal(err)
	}
	// The content is a promise: results of different days are compared.
	want := `{"_id": {"$oid":"` + doc.Lookup("_id").ObjectID().Hex() + `"},"dim0": {"$numberInt":"`
	if got := doc.String(); len(got) < len(want) || got[:len(want)] != want {
		t.Errorf("got %s", got)
	}
	if n, _ := doc.Elements(); len(n) != 2 {
		t.Errorf("%d fields", len(n))
	}
}

func TestUniquesLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		keys := rapid.Int64Range(1, 1<<40).Draw(t, "keys")
		g := Uniques(seed, "f", 1, keys)
		i := rapid.Int64Range(0, 1<<41).Draw(t, "i")
		j := rapid.Int64Range(0, 1<<41).Draw(t, "j")
		a, b := bson.Raw(g.Append(nil, i)), bson.Raw(g.Append(nil, j))
		if err := a.Validate(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, Uniques(seed, "f", 99, keys).Append(make([]byte, 0, 100), i)) {
			t.Fatal("a document depends on more than seed and index")
		}
		v, ok := a.Lookup("f").AsInt64OK()
		if !ok || v < 0 || v >= keys {
			t.Fatalf("value %d is outside [0, %d)", v, keys)
		}
		if long := a.Lookup("f").Type == bson.TypeInt64; long != (keys-1 > math.MaxInt32) {
			t.Fatalf("%d keys: type %s", keys, a.Lookup("f").Type)
		}
		x, y := a.Lookup("_id").ObjectID(), b.Lookup("_id").ObjectID()
		if c := bytes.Compare(x[:], y[:]); (i < j && c >= 0) || (i > j && c <= 0) || (i == j && c != 0) {
			t.Fatalf("index %d has %s and %d has %s", i, x, j, y)
		}
	})
}

func TestUniquesIsUniform(t *testing.T) {
	const docs, keys = 200_000, 100
	for seed := range uint64(3) {
		g := Uniques(seed, "f", docs, keys)
		var counts [keys]float64
		var buf []byte
		for i := range int64(docs) {
			buf = g.Append(buf[:0], i)
			counts[bson.Raw(buf).Lookup("f").Int32()]++
		}
		chi := 0.0
		for _, n := range counts {
			d := n - docs/keys
			chi += d * d / (docs / keys)
		}
		// 99 degrees of freedom: mean 99, deviation 14.
		if chi < 99-6*14 || chi > 99+6*14 {
			t.Errorf("seed %d: chi-square %.0f", seed, chi)
		}
	}
}

func TestUniquesDefaultKeys(t *testing.T) {
	for docs, want := range map[int64]uint64{0: 1, 5: 1, 1000: 100} {
		if got := Uniques(1, "f", docs, 0).(*uniques).keys; got != want {
			t.Errorf("%d documents: %d keys, want %d", docs, got, want)
		}
	}
}

func BenchmarkUniques(b *testing.B) {
	g := Uniques(1, "dim0", 10_000_000, 0)
	buf := make([]byte, 0, 64)
	b.ReportAllocs()
	i := int64(0)
	for b.Loop() {
		buf = g.Append(buf[:0], i)
		i++
	}
	b.SetBytes(int64(len(buf)))
}
