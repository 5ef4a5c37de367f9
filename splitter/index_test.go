package splitter

import (
	"testing"

	"go.mongodb.org/mongo-driver/bson"
)

func TestReadIndex(t *testing.T) {
	tests := []struct{ spec, unusable string }{
		{`{"key":{"f":1},"name":"x"}`, ""},
		{`{"key":{"f":-1.0,"g":"hashed"},"name":"x"}`, "is of kind hashed"},
		{`{"key":{"f":-1.0,"g":{"$numberLong":"1"}},"name":"x","unique":true,"sparse":false}`, ""},
		{`{"key":{"f":1},"name":"x","sparse":true}`, "is sparse"},
		{`{"key":{"f":1},"name":"x","hidden":true}`, "is hidden"},
		{`{"key":{"f":1},"name":"x","partialFilterExpression":{"f":{"$gt":5}}}`, "is partial"},
		{`{"key":{"f":1},"name":"x","collation":{"locale":"de"}}`, "has a collation"},
		{`{"key":{"f":1},"name":"x","collation":{"locale":"simple"}}`, ""},
		{`{"key":{"f":"2dsphere"},"name":"x"}`, "is of kind 2dsphere"},
		{`{"key":{"g":1,"f":1},"name":"x"}`, "-"},
		{`{"key":{"$**":1},"name":"x"}`, "-"},
		{`{"name":"x"}`, "-"},
	}
	for _, tt := range tests {
		var doc bson.Raw
		if err := bson.UnmarshalExtJSON([]byte(tt.spec), false, &doc); err != nil {
			t.Fatal(err)
		}
		x, ok := readIndex(doc, "f")
		if ok != (tt.unusable != "-") || (ok && x.unusable != tt.unusable) {
			t.Errorf("%s: got %v, %q", tt.spec, ok, x.unusable)
		}
	}
}

func TestBetterIndex(t *testing.T) {
	make := func(name string, dir int32, more ...string) candidate {
		x := candidate{name: name, pattern: bson.D{{Key: "f", Value: raw(dir)}}}
		for _, m := range more {
			x.pattern = append(x.pattern, bson.E{Key: m, Value: raw(int32(1))})
		}
		return x
	}
	order := []candidate{make("z", 1), make("a", -1), make("a", 1, "g"), make("b", 1, "g"), make("a", -1, "g")}
	for i := range order {
		for j := range order {
			if got := order[i].better(order[j]); got != (i < j) {
				t.Errorf("%s better than %s: %v", order[i].name, order[j].name, got)
			}
		}
	}
}
