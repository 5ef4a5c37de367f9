package splitter

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/bson"
)

// Histogram is how many documents have each BSON type of the key.
type Histogram struct {
	Counts  []TypeCount // in sort order, without types that have no documents
	Read    int64       // documents looked at, beyond counting index entries
	Seconds float64
}

// TypeCount is the documents of one type, or of a group of types that an index holds in one
// order: an index does not tell an int from a double.
type TypeCount struct {
	// Group is "numbers", "strings" or "null or missing" when the documents were
	// not read, for there are too many: Types are then those of its lowest and highest keys. Else empty, with one type.
	Group     string
	Types     []string // as $type calls them; "missing" and "NaN" besides
	Documents int64
}

var groupNames = map[bracket]string{nullish: "null or missing", number: "numbers", text: "strings"}

// ReadTypesUpTo is how many documents of types that share one order are read to tell these types apart.
const ReadTypesUpTo = 100_000

// histogram counts index entries between the bounds of each group of types that
// share an order. Small groups are read to tell their types apart.
func (r *reader) histogram(ctx context.Context, s *seen, all int64) (*Histogram, error) {
	start := time.Now()
	h := &Histogram{}
	for b := minKey; b < brackets; b++ {
		if s.present&(1<<b) == 0 {
			continue
		}
		n := all
		if s.present != 1<<b {
			var err error
			if n, err = r.count(ctx, r.bracketFilter(b, bson.RawValue{}, bson.RawValue{})); err != nil {
				return nil, err
			}
		}
		names := s.of(b)
		if len(typeNames[b]) == 1 || b == nan {
			h.add(n, "", names...)
			continue
		}
		if n > ReadTypesUpTo {
			h.add(n, groupNames[b], names...)
			continue
		}
		h.Read += n
		if err := r.countTypes(ctx, b, h); err != nil {
			return nil, err
		}
	}
	h.Seconds = time.Since(start).Seconds()
	return h, nil
}

func (h *Histogram) add(n int64, group string, types ...string) {
	if n > 0 {
		h.Counts = append(h.Counts, TypeCount{Group: group, Types: types, Documents: n})
	}
}

// of are the types seen in a bracket.
func (s *seen) of(b bracket) []string {
	if b == nan {
		return []string{"NaN"}
	}
	var names []string
	for _, name := range typeNames[b] {
		if s.types[name] {
			names = append(names, name)
		}
	}
	return names
}

// countTypes reads the documents of a bracket and counts each of its types.
func (r *reader) countTypes(ctx context.Context, b bracket, h *Histogram) error {
	cur, err := r.coll.Aggregate(ctx, bson.A{
		bson.D{{Key: "$match", Value: r.bracketFilter(b, bson.RawValue{}, bson.RawValue{})}},
		bson.D{{Key: "$group", Value: bson.D{
			{Key: "_id", Value: bson.D{{Key: "$type", Value: "$" + r.key}}},
			{Key: "n", Value: bson.D{{Key: "$sum", Value: 1}}},
		}}},
	})
	if err != nil {
		return fmt.Errorf("splitter: %s: aggregate types of %s: %w", r.ns, r.key, err)
	}
	defer cur.Close(ctx)
	counts := map[string]int64{}
	for cur.Next(ctx) {
		name, _ := cur.Current.Lookup("_id").StringValueOK()
		counts[name], _ = cur.Current.Lookup("n").AsInt64OK()
	}
	if err := cur.Err(); err != nil {
		return fmt.Errorf("splitter: %s: aggregate types of %s: %w", r.ns, r.key, err)
	}
	for _, name := range typeNames[b] {
		h.add(counts[name], "", name)
	}
	return nil
}
