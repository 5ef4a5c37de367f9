package splitter

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

// IndexFor finds the index that starts with key and holds every document once
// in plain order: not sparse, partial, hidden, hashed or special, and without a
// collation. Of several it takes the shortest, an ascending one first. Errors:
// *NoCollectionError, *NoIndexError, *CollationError, *ViewError, server errors with the command.
func IndexFor(ctx context.Context, c *mongo.Collection, key string) (name string, pattern bson.D, err error) {
	return indexFor(ctx, c, []string{key})
}

func indexFor(ctx context.Context, c *mongo.Collection, keys []string) (name string, pattern bson.D, err error) {
	ns := c.Database().Name() + "." + c.Name()
	// Not the driver's List: it gives an empty list for a collection that does not exist.
	cur, err := c.Database().RunCommandCursor(ctx, bson.D{{Key: "listIndexes", Value: c.Name()}})
	switch code(err) {
	case codeNamespaceNotFound:
		return "", nil, &NoCollectionError{NS: ns}
	case codeOnView:
		return "", nil, &ViewError{NS: ns, Err: err}
	}
	if err != nil {
		return "", nil, fmt.Errorf("splitter: %s: listIndexes: %w", ns, err)
	}
	defer cur.Close(ctx)
	missing := &NoIndexError{NS: ns, Key: keys[0], Then: keys[1:]}
	var best candidate
	for cur.Next(ctx) {
		// The index on _id has the collection's collation, which filters compare by.
		if locale := collation(cur.Current); locale != "" && isID(cur.Current) {
			return "", nil, &CollationError{NS: ns, Locale: locale}
		}
		x, ok := readIndex(cur.Current, keys)
		switch {
		case !ok:
		case x.unusable != "":
			missing.Unusable = append(missing.Unusable, Unusable{Index: x.name, Refusal: x.unusable, Kind: x.kind})
		case best.name == "" || x.better(best):
			best = x
		}
	}
	if err := cur.Err(); err != nil {
		return "", nil, fmt.Errorf("splitter: %s: listIndexes: %w", ns, err)
	}
	if best.name == "" {
		return "", nil, missing
	}
	return best.name, best.pattern, nil
}

// candidate is an index that starts with the key.
type candidate struct {
	name     string
	pattern  bson.D
	unusable Refusal // empty: usable
	kind     string
}

func (x candidate) descending() bool { return descending(x.pattern[0]) }

func (x candidate) better(y candidate) bool {
	return cmp.Or(cmp.Compare(len(x.pattern), len(y.pattern)), boolCompare(x.descending(), y.descending()),
		strings.Compare(x.name, y.name)) < 0
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// descending says that a field of a pattern is.
func descending(field bson.E) bool {
	v, ok := field.Value.(bson.RawValue)
	return ok && number64(v) < 0
}

func number64(v bson.RawValue) float64 {
	n, _ := v.AsInt64OK()
	if v.Type == bson.TypeDouble {
		return v.Double()
	}
	return float64(n)
}

func isID(index bson.Raw) bool {
	name, _ := index.Lookup("name").StringValueOK()
	return name == "_id_"
}

// collation is the locale that an index compares strings by; empty when it compares bytes.
func collation(index bson.Raw) string {
	locale, _ := index.Lookup("collation", "locale").StringValueOK()
	if locale == "simple" {
		return ""
	}
	return locale
}

// readIndex reads an index's description; false when it does not start with the keys.
func readIndex(d bson.Raw, keys []string) (candidate, bool) {
	var x candidate
	x.name, _ = d.Lookup("name").StringValueOK()
	fields, ok := d.Lookup("key").DocumentOK()
	if !ok {
		return x, false
	}
	elements, _ := fields.Elements()
	if len(elements) == 0 {
		return x, false
	}
	if wildcard(elements[0].Key(), keys[0]) {
		x.unusable = Wildcard
		return x, true
	}
	for i, e := range elements {
		v := e.Value()
		if i < len(keys) && e.Key() != keys[i] {
			return x, false
		}
		if s, ok := v.StringValueOK(); ok {
			x.unusable, x.kind = Special, s
			if s == "hashed" {
				x.unusable = Hashed
			}
		}
		x.pattern = append(x.pattern, bson.E{Key: e.Key(), Value: v})
	}
	if len(elements) < len(keys) {
		return x, false
	}
	truth := func(name string) bool { b, ok := d.Lookup(name).BooleanOK(); return ok && b }
	switch {
	case x.unusable != "":
	case truth("sparse"):
		x.unusable = Sparse
	case truth("hidden"):
		x.unusable = Hidden
	case d.Lookup("partialFilterExpression").Type != 0:
		x.unusable = Partial
	case collation(d) != "":
		x.unusable = Collation
	}
	return x, true
}

// wildcard says that a field of an index stands for a key among others: $**, or a.$** for a.b.
func wildcard(field, key string) bool {
	parent, ok := strings.CutSuffix(field, "$**")
	return ok && strings.HasPrefix(key+".", parent)
}
