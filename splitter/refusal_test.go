package splitter_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/mongofake"
	"mrbench/splitter"
)

// Each kind of index that can't serve is refused by its kind, with a way out that works beside it.
func TestUnusableIndexes(t *testing.T) {
	tests := []struct {
		kind   splitter.Refusal
		index  bson.D
		wayOut string
	}{
		{splitter.Sparse, bson.D{{Key: "key", Value: bson.D{{Key: "f", Value: 1}}}, {Key: "sparse", Value: true}}, "create one beside it on {f: 1, _id: 1}"},
		{splitter.Partial, bson.D{{Key: "key", Value: bson.D{{Key: "f", Value: 1}}}, {Key: "partialFilterExpression", Value: bson.D{}}}, "create one beside it on {f: 1, _id: 1}"},
		{splitter.Hidden, bson.D{{Key: "key", Value: bson.D{{Key: "f", Value: 1}}}, {Key: "hidden", Value: true}}, "unhide it"},
		{splitter.Hashed, bson.D{{Key: "key", Value: bson.D{{Key: "f", Value: "hashed"}}}}, "create one on {f: 1}"},
		{splitter.Wildcard, bson.D{{Key: "key", Value: bson.D{{Key: "$**", Value: 1}}}}, "create one on {f: 1}"},
		{splitter.Special, bson.D{{Key: "key", Value: bson.D{{Key: "f", Value: "2dsphere"}}}}, "create one on {f: 1}"},
		{splitter.Collation, bson.D{{Key: "key", Value: bson.D{{Key: "f", Value: 1}}}, {Key: "collation", Value: bson.D{{Key: "locale", Value: "fr"}}}}, "create one beside it on {f: 1, _id: 1}"},
	}
	if len(tests) != len(splitter.Refusals()) {
		t.Errorf("%d kinds are tested, there are %d", len(tests), len(splitter.Refusals()))
	}
	for _, tt := range tests {
		t.Run(string(tt.kind), func(t *testing.T) {
			f := &fakeCollection{n: 100, perKey: 2, refuse: map[string]bson.D{
				"listIndexes": mongofake.Cursor("test.x", append(tt.index, bson.E{Key: "name", Value: "x"})),
			}}
			_, err := f.split(t, 4, "")
			var none *splitter.NoIndexError
			if !errors.As(err, &none) || len(none.Unusable) != 1 || none.Unusable[0].Refusal != tt.kind || none.WayOut() != tt.wayOut {
				t.Fatalf("got %v", err)
			}
			if text := err.Error(); !strings.Contains(text, none.Unusable[0].String()) || !strings.HasSuffix(text, tt.wayOut) {
				t.Error(text)
			}
		})
	}
}

// docs/ranges.md says what is refused in the words of the errors, and names every strategy.
func TestRefusalsAreDocumented(t *testing.T) {
	raw, err := os.ReadFile("../docs/ranges.md")
	if err != nil {
		t.Fatal(err)
	}
	docs := strings.Join(strings.Fields(string(raw)), " ")
	for _, r := range splitter.Refusals() {
		if !strings.Contains(docs, r.Reason()) {
			t.Errorf("docs/ranges.md does not say: %s", r.Reason())
		}
	}
	for _, s := range splitter.Strategies() {
		if !strings.Contains(docs, "`"+s+"`") {
			t.Errorf("docs/ranges.md does not name the strategy %s", s)
		}
	}
	for _, err := range []error{
		&splitter.MultikeyError{NS: "NS", Key: "KEY", Index: "INDEX"},
		&splitter.ViewError{NS: "NS", Err: errors.New("…")},
		&splitter.CollationError{NS: "NS", Locale: "de"},
		&splitter.NotCoveredError{NS: "NS", Pieces: 99, Total: 100},
		&splitter.NoCollectionError{NS: "NS"},
	} {
		if text := strings.TrimPrefix(err.Error(), "splitter: "); !strings.Contains(docs, text) {
			t.Errorf("docs/ranges.md does not have: %s", text)
		}
	}
}
