package mr

import (
	"strconv"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"pgregory.net/rapid"
)

func TestKeysGetTheirTypeBack(t *testing.T) {
	tests := []struct {
		name  string
		types []string
		in    string
		want  string
	}{
		{"number", []string{"int"}, `{"_id":"12","value":1.0}`, `{"_id":12.0,"value":1.0}`},
		{"fraction", []string{"double"}, `{"_id":"-2.5","value":{"a":1}}`, `{"_id":-2.5,"value":{"a":1}}`},
		{"large", []string{"double"}, `{"_id":"1e+21","value":1}`, `{"_id":1E+21,"value":1}`},
		{"small", []string{"double"}, `{"_id":"1e-7","value":1}`, `{"_id":1E-07,"value":1}`},
		{"NaN", []string{"double"}, `{"_id":"NaN","value":1}`, `{"_id":{"$numberDouble":"NaN"},"value":1}`},
		{"infinity", []string{"double"}, `{"_id":"-Infinity","value":1}`, `{"_id":{"$numberDouble":"-Infinity"},"value":1}`},
		{"zero", []string{"double"}, `{"_id":"0","value":1}`, `{"_id":0.0,"value":1}`},
		{"boolean", []string{"bool"}, `{"_id":"true","value":1}`, `{"_id":true,"value":1}`},
		{"boolean beside numbers", []string{"int", "bool"}, `{"_id":"false","value":1}`, `{"_id":false,"value":1}`},
		{"missing", []string{"int", "missing"}, `{"_id":"undefined","value":1}`, `{"_id":null,"value":1}`},
		{"string stays", []string{"string"}, `{"_id":"12","value":1}`, `{"_id":"12","value":1}`},
		{"other text stays", []string{"int"}, `{"_id":"x","value":1}`, `{"_id":"x","value":1}`},
		{"other key stays", []string{"int", "date"}, `{"_id":{"$date":{"$numberLong":"5"}},"value":1}`, `{"_id":{"$date":"1970-01-01T00:00:00.005Z"},"value":1}`},
		{"types unknown", nil, `{"_id":"12","value":1}`, `{"_id":"12","value":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := bson.Raw(newKeyRule(tt.types).appendResult([]byte("before"), doc(t, tt.in), "_id")[len("before"):])
			if err := got.Validate(); err != nil {
				t.Fatal(err)
			}
			if s := text(t, got); s != tt.want {
				t.Errorf("got %s, want %s", s, tt.want)
			}
		})
	}
}

func TestRenamedKey(t *testing.T) {
	got := bson.Raw(newKeyRule([]string{"int"}).appendResult(nil, doc(t, `{"_id":"7","value":[1]}`), "key"))
	if s := text(t, got); s != `{"key":7.0,"value":[1]}` {
		t.Error(s)
	}
}

func TestAmbiguousKeys(t *testing.T) {
	for _, tt := range []struct {
		types []string
		want  bool
	}{
		{nil, false},
		{[]string{"int", "double", "bool", "null"}, false},
		{[]string{"string", "objectId", "null"}, false},
		{[]string{"string", "int"}, true},
		{[]string{"bool", "symbol"}, true},
		{[]string{"string", "missing"}, true},
	} {
		if got := newKeyRule(tt.types).ambiguous; got != tt.want {
			t.Errorf("%v: got %v", tt.types, got)
		}
	}
}

// A number's text, as JavaScript and Go both write it, gives the number back.
func TestNumbersRoundTrip(t *testing.T) {
	k := newKeyRule([]string{"double"})
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "f")
		in, err := bson.Marshal(bson.D{{Key: "_id", Value: strconv.FormatFloat(f, 'g', -1, 64)}, {Key: "value", Value: rapid.String().Draw(t, "value")}})
		if err != nil {
			t.Fatal(err)
		}
		out := bson.Raw(k.appendResult(nil, in, "_id"))
		if err := out.Validate(); err != nil {
			t.Fatal(err)
		}
		if got := out.Lookup("_id").Double(); got != f {
			t.Fatalf("%v became %v", f, got)
		}
		if string(out.Lookup("value").Value) != string(bson.Raw(in).Lookup("value").Value) {
			t.Fatal("the value changed")
		}
	})
}

func BenchmarkRestoreKey(b *testing.B) {
	in := doc(b, `{"_id":"123456","value":10.0}`)
	k := newKeyRule([]string{"int"})
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = k.appendResult(buf[:0], in, "_id")
	}
}
