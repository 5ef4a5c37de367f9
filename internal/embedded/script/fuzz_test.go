package script

import (
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/embedded/bsonx"
)

// FuzzBridge: a document passes through JavaScript unchanged when it is not touched, and as a
// document of the same fields, valid and stable, when every field was.
func FuzzBridge(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"a":1,"b":[1,{"c":{"$numberLong":"5"}}],"d":{"e":{"f":null}}}`,
		`{"a":{"$date":{"$numberLong":"9223372036854775807"}},"b":{"$numberDecimal":"NaN"},"c":{"$undefined":true}}`,
		`{"a":{"$regularExpression":{"pattern":"(","options":"zx"}},"b":{"$code":"function ("},"c":{"$code":"1","$scope":{"x":1}}}`,
		`{"10":1,"2":2,"__proto__":{"a":1},"constructor":"x","toString":3,"":4,"length":5}`,
		`{"a":{"$binary":{"base64":"AAEC","subType":"02"}},"b":{"$timestamp":{"t":1,"i":2}},"c":{"$minKey":1},"d":{"$maxKey":1},"e":{"$symbol":"s"}}`,
		`{"a":{"$dbPointer":{"$ref":"a.b","$id":{"$oid":"0123456789abcdef01234567"}}},"b":{"$numberInt":"-2147483648"},"c":{"$numberDouble":"-0.0"}}`,
	} {
		var d bson.Raw
		if err := bson.UnmarshalExtJSON([]byte(text), false, &d); err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(d))
	}
	r := New()
	same, err := r.Function("same", "function (x) { return x; }")
	if err != nil {
		f.Fatal(err)
	}
	touch, err := r.Function("touch", `function (x) {
		function walk(v) { if (v && typeof v === 'object') for (var k in v) { if (!(v instanceof Code)) v[k] = v[k]; walk(v[k]); } }
		walk(x); tojson(x); return x; }`)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if bsonx.Validate(b, 60) != nil {
			return
		}
		d := bsonx.DocValue(b)
		got, err := r.Call(same, bsonx.Value{}, d)
		if err != nil || string(got.Data) != string(b) {
			t.Fatalf("%x came back as %x (%v)", b, got.Data, err)
		}
		got, err = r.Call(touch, bsonx.Value{}, d)
		if err != nil {
			return
		}
		if err := bsonx.Validate(got.Data, 200); err != nil {
			t.Fatalf("%x touched came back as %x: %v", b, got.Data, err)
		}
		again, err := r.Call(touch, bsonx.Value{}, got)
		if err != nil || bsonx.Validate(again.Data, 200) != nil {
			t.Fatalf("%x can't pass again: %v", got.Data, err)
		}
	})
}
