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
// *NoCollectionError, *NoIndexError, server errors with the command.
func IndexFor(ctx context.Context, c *mongo.Collection, key string) (name string, pattern bson.D, err error) {
	ns := c.Database().Name() + "." + c.Name()
	// Not the driver's List: it gives an empty list for a collection that does not exist.
	cur, err := c.Database().RunCommandCursor(ctx, bson.D{{Key: "listIndexes", Value: c.Name()}})
	switch code(err) {
	case codeNamespaceNotFound:
		return "", nil, &NoCollectionError{NS: ns}
	case codeOnView:
		return "", nil, fmt.Errorf("splitter: %s is a view, which has no indexes: name the collection behind it: %w", ns, err)
	}
	if err != nil {
		return "", nil, fmt.Errorf("splitter: %s: listIndexes: %w", ns, err)
	}
	defer cur.Close(ctx)
	missing := &NoIndexError{NS: ns, Key: key}
	var best candidate
	for cur.Next(ctx) {
		x, ok := readIndex(cur.Current, key)
		switch {
		case !ok:
		case x.unusable != "":
			missing.Unusable = append(missing.Unusable, x.name+" "+x.unusable)
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
	unusable string
}

func (x candidate) descending() bool { return descending(x.pattern) }

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

// descending says that the pattern's first field is.
func descending(pattern bson.D) bool {
	v, ok := pattern[0].Value.(bson.RawValue)
	return ok && number64(v) < 0
}

func number64(v bson.RawValue) float64 {
	n, _ := v.AsInt64OK()
	if v.Type == bson.TypeDouble {
		return v.Double()
	}
	return float64(n)
}

// readIndex reads an index's description; false when it does not start with the key.
func readIndex(d bson.Raw, key string) (candidate, bool) {
	var x candidate
	x.name, _ = d.Lookup("name").StringValueOK()
	keys, ok := d.Lookup("key").DocumentOK()
	if !ok {
		return x, false
	}
	elements, _ := keys.Elements()
	if len(elements) == 0 || elements[0].Key() != key {
		return x, false
	}
	for _, e := range elements {
		v := e.Value()
		if s, ok := v.StringValueOK(); ok {
			x.unusable = "is of kind " + s
		}
		x.pattern = append(x.pattern, bson.E{Key: e.Key(), Value: v})
	}
	truth := func(name string) bool { b, ok := d.Lookup(name).BooleanOK(); return ok && b }
	locale, _ := d.Lookup("collation", "locale").StringValueOK()
	switch {
	case x.unusable != "":
	case truth("sparse"):
		x.unusable = "is sparse"
	case truth("hidden"):
		x.unusable = "is hidden"
	case d.Lookup("partialFilterExpression").Type != 0:
		x.unusable = "is partial"
	case locale != "" && locale != "simple":
		x.unusable = "has a collation"
	}
	return x, true
}
