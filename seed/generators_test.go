package seed

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"pgregory.net/rapid"

	"mrbench/seed/extjson"
)

const testTemplate = `{
	"n": {"$gen": "index"},
	"i": {"$gen": "int", "min": 5, "max": 9},
	"l": {"$gen": "int", "min": 0, "max": 3000000000},
	"z": {"$gen": "int", "min": 1, "max": 1000, "zipf": 1.5},
	"d": {"$gen": "double", "min": -1, "max": 1, "decimals": 2},
	"h": {"$gen": "normal", "mean": 170, "deviation": 8},
	"b": {"$gen": "bool", "true": 0.25},
	"c": {"$gen": "choice", "values": ["a", {"k": 1}, null], "weights": [8, 1, 1]},
	"t": {"$gen": "date", "from": {"$date": "2020-01-01T00:00:00Z"}, "to": {"$date": "2021-01-01T00:00:00Z"}},
	"o": {"$gen": "objectId"}, "u": {"$gen": "uuid"}, "s": {"$gen": "string", "min": 3, "max": 5},
	"w": {"$gen": "text", "min": 20, "max": 40}, "name": {"$gen": "name"},
	"sub": {"m": {"$gen": "int", "max": 9, "missing": 0.5}, "city": {"$gen": "city"}, "same": {"$gen": "ref", "field": "sub.city"}},
	"list": {"$gen": "array", "min": 0, "max": 3, "of": {"x": {"$gen": "int", "max": 3}}},
	"r": {"$gen": "ref", "field": "sub.m"}, "c2": {"$gen": "ref", "field": "c"},
	"fixed": [1, {"$numberLong": "2"}]
}`

func generators(t testing.TB, seed uint64) []Generator {
	var list []Generator
	for _, name := range GeneratorNames() {
		g, err := ByName(name, Params{Seed: seed, Field: "f", Keys: 9, Template: []byte(testTemplate)})
		if err != nil {
			t.Fatal(err)
		}
		if g.Name() != name {
			t.Errorf("%s calls itself %s", name, g.Name())
		}
		list = append(list, g)
	}
	return list
}

// Each document is valid, depends on seed and index alone, and has an _id that ascends with the index.
func TestGeneratorLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed, i := rapid.Uint64().Draw(t, "seed"), rapid.Int64Range(0, 1<<41).Draw(t, "i")
		var tb testing.TB = quiet{}
		other := generators(tb, seed+1)
		again := generators(tb, seed)
		for k, g := range generators(tb, seed) {
			doc := bson.Raw(g.Append([]byte("12345"), i)[5:])
			if err := doc.Validate(); err != nil {
				t.Fatalf("%s: %v", g.Name(), err)
			}
			_ = again[k].Append(nil, i+1)
			if !bytes.Equal(doc, again[k].Append(nil, i)) {
				t.Fatalf("%s depends on more", g.Name())
			}
			if bytes.Equal(doc, other[k].Append(nil, i)) {
				t.Fatalf("%s does not depend on the seed", g.Name())
			}
			a, b := doc.Lookup("_id").ObjectID(), bson.Raw(g.Append(nil, i+1)).Lookup("_id").ObjectID()
			if bytes.Compare(a[:], b[:]) >= 0 {
				t.Fatalf("%s: _id does not ascend", g.Name())
			}
		}
	})
}

type quiet struct{ testing.TB }

func TestShapes(t *testing.T) {
	sizes := map[string][2]float64{"guid": {80, 80}, "people": {235, 275}, "reviews": {730, 770}, "uniques": {29, 29}}
	for _, g := range generators(t, 7) {
		total := 0
		var first bson.Raw
		for i := range int64(2000) {
			doc := g.Append(nil, i)
			total += len(doc)
			if first == nil {
				first = doc
			}
		}
		mean := float64(total) / 2000
		t.Logf("%s: %.0f bytes, %s", g.Name(), mean, first)
		if s, ok := sizes[g.Name()]; ok && (mean < s[0] || mean > s[1]) {
			t.Errorf("%s: %.0f bytes on average", g.Name(), mean)
		}
	}
	doc := bson.Raw(GUID(1).Append(nil, 5))
	kind, data := doc.Lookup("Guid").Binary()
	if kind != 4 || len(data) != 16 || data[6]>>4 != 4 || len(doc.Lookup("Data").StringValue()) != 20 {
		t.Error(doc)
	}
}

func TestTemplateValues(t *testing.T) {
	g, err := Template(3, []byte(testTemplate))
	if err != nil {
		t.Fatal(err)
	}
	const docs = 20_000
	counts := map[string]float64{}
	var sum, squares float64
	for i := range int64(docs) {
		d := bson.Raw(g.Append(nil, i))
		check := func(ok bool, what string) {
			if !ok {
				t.Fatalf("%s: %s", what, d)
			}
		}
		check(d.Index(0).Key() == "_id", "_id first")
		check(d.Lookup("n").Int64() == i, "index")
		n := d.Lookup("i").Int32()
		check(n >= 5 && n <= 9, "int")
		counts["i"+string('0'+n)]++
		check(d.Lookup("l").Type == bson.TypeInt64, "wide int")
		z := d.Lookup("z").Int32()
		check(z >= 1 && z <= 1000, "zipf")
		if z <= 2 {
			counts["z"+string('0'+z)]++
		}
		f := d.Lookup("d").Double()
		check(f >= -1 && f <= 1 && math.Abs(f*100-math.Round(f*100)) < 1e-9, "double")
		h := d.Lookup("h").Double()
		sum, squares = sum+h, squares+h*h
		if d.Lookup("b").Boolean() {
			counts["true"]++
		}
		if d.Lookup("c").Type == bson.TypeString {
			counts["a"]++
		}
		check(d.Lookup("c").Equal(d.Lookup("c2")), "reference")
		check(d.Lookup("t").Time().UTC().Year() == 2020, "date")
		l := len(d.Lookup("s").StringValue())
		check(l >= 3 && l <= 5, "string")
		check(d.Lookup("sub", "city").Equal(d.Lookup("sub", "same")), "reference in the same document")
		check(d.Lookup("sub", "m").Equal(d.Lookup("r")), "reference to what may be missing")
		if d.Lookup("r").Type != 0 {
			counts["m"]++
		}
		list, _ := d.Lookup("list").Array().Values()
		check(len(list) <= 3, "array")
		counts["list"] += float64(len(list))
		check(d.Lookup("fixed", "1").Int64() == 2, "constant")
	}
	zeta := 0.0
	for k := 1.0; k <= 1000; k++ {
		zeta += math.Pow(k, -1.5)
	}
	for name, share := range map[string]float64{
		"i5": 0.2, "i9": 0.2, "true": 0.25, "a": 0.8, "m": 0.5, "list": 1.5, "z1": 1 / zeta, "z2": math.Pow(2, -1.5) / zeta,
	} {
		if got := counts[name] / docs; math.Abs(got-share) > 0.02 {
			t.Errorf("%s: %.3f, want %.3f", name, got, share)
		}
	}
	mean := sum / docs
	if dev := math.Sqrt(squares/docs - mean*mean); math.Abs(mean-170) > 0.4 || math.Abs(dev-8) > 0.3 {
		t.Errorf("normal: mean %.2f, deviation %.2f", mean, dev)
	}
}

func TestTemplateRefusals(t *testing.T) {
	for text, want := range map[string]string{
		"{\n\"a\": }":                                               "line 2, byte 7",
		`{"a": {"$gen": "nope"}}`:                                   `unknown generator "nope": use one of array, bool`,
		`{"a": {"$gen": 5}}`:                                        "must name a generator",
		`{"a": {"b": {"$gen": "int", "mn": 5}}}`:                    "a.b (int): unknown option mn",
		`{"a": {"$gen": "int", "min": 5, "max": 4}}`:                "min must not be above max",
		`{"a": {"$gen": "int", "min": 1.5}}`:                        "min must be an integer",
		`{"a": {"$gen": "int", "zipf": 1}}`:                         "zipf must be above 1",
		`{"a": {"$gen": "choice", "values": []}}`:                   "at least one",
		`{"a": {"$gen": "choice", "values": [1], "weights": [-1]}}`: "weights",
		`{"a": {"$gen": "date", "from": 1}}`:                        "must be dates",
		`{"a": {"$gen": "ref", "field": "b"}, "b": 1}`:              "stands earlier",
		`{"a": {"$gen": "string", "min": -1}}`:                      "min and max",
		`{"a": {"$gen": "array"}}`:                                  "of must say",
		`{"a": {"$gen": "bool", "missing": 2}}`:                     "missing must be",
	} {
		if _, err := Template(1, []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := ByName("x", Params{}); err == nil || !strings.Contains(err.Error(), "guid, people") {
		t.Error(err)
	}
	if _, err := ByName("uniques", Params{}); err == nil {
		t.Error("uniques without a field")
	}
}

// What is written as NDJSON is read back as the same bytes.
func TestNDJSONRoundTrip(t *testing.T) {
	for _, canonical := range []bool{false, true} {
		for _, g := range generators(t, 5) {
			var out bytes.Buffer
			docs, n, err := WriteNDJSON(t.Context(), &out, g, 3, 500, canonical)
			if err != nil || docs != 500 || n != int64(out.Len()) {
				t.Fatal(docs, n, err)
			}
			var p extjson.Parser
			for i, line := range strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n") {
				got, err := p.Append(nil, []byte(line))
				if want := g.Append(nil, int64(3+i)); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("%s %d: %s gives %s %v, want %s", g.Name(), i, line, bson.Raw(got), err, bson.Raw(want))
				}
			}
		}
	}
}

func BenchmarkGenerators(b *testing.B) {
	for _, g := range generators(b, 1) {
		b.Run(g.Name(), func(b *testing.B) {
			b.ReportAllocs()
			var buf []byte
			i, total := int64(0), int64(0)
			for b.Loop() {
				buf = g.Append(buf[:0], i)
				total += int64(len(buf))
				i++
			}
			b.SetBytes(total / i)
		})
	}
}
