package splitter

import (
	"testing"

	"go.mongodb.org/mongo-driver/bson"
)

func TestReadIndex(t *testing.T) {
	tests := []struct {
		spec     string
		unusable Refusal
	}{
		{`{"key":{"f":1},"name":"x"}`, ""},
		{`{"key":{"f":"hashed"},"name":"x"}`, Hashed},
		{`{"key":{"f":-1.0,"g":"hashed"},"name":"x"}`, Hashed},
		{`{"key":{"f":-1.0,"g":{"$numberLong":"1"}},"name":"x","unique":true,"sparse":false}`, ""},
		{`{"key":{"f":1},"name":"x","sparse":true}`, Sparse},
		{`{"key":{"f":1},"name":"x","hidden":true}`, Hidden},
		{`{"key":{"f":1},"name":"x","expireAfterSeconds":60}`, ""},
		{`{"key":{"f":1},"name":"x","partialFilterExpression":{"f":{"$gt":5}}}`, Partial},
		{`{"key":{"f":1},"name":"x","collation":{"locale":"de"}}`, Collation},
		{`{"key":{"f":1},"name":"x","collation":{"locale":"simple"}}`, ""},
		{`{"key":{"f":"2dsphere"},"name":"x"}`, Special},
		{`{"key":{"g":1,"f":1},"name":"x"}`, "-"},
		{`{"key":{"$**":1},"name":"x"}`, Wildcard},
		{`{"key":{"g.$**":1},"name":"x"}`, "-"},
		{`{"key":{"f.$**":1},"name":"x"}`, Wildcard},
		{`{"name":"x"}`, "-"},
	}
	for _, tt := range tests {
		x, ok := readIndex(parse(t, tt.spec), []string{"f"})
		if ok != (tt.unusable != "-") || (ok && x.unusable != tt.unusable) {
			t.Errorf("%s: got %v, %q", tt.spec, ok, x.unusable)
		}
	}
}

func TestReadIndexOfSeveralFields(t *testing.T) {
	for spec, want := range map[string]bool{
		`{"key":{"f":1},"name":"x"}`:              false,
		`{"key":{"f":1,"g":-1},"name":"x"}`:       true,
		`{"key":{"f":1,"g":-1,"h":1},"name":"x"}`: true,
		`{"key":{"f":1,"h":1,"g":1},"name":"x"}`:  false,
		`{"key":{"g":1,"f":1},"name":"x"}`:        false,
	} {
		if _, ok := readIndex(parse(t, spec), []string{"f", "g"}); ok != want {
			t.Errorf("%s: %v", spec, ok)
		}
	}
}

func parse(t *testing.T, text string) (doc bson.Raw) {
	t.Helper()
	if err := bson.UnmarshalExtJSON([]byte(text), false, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
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
