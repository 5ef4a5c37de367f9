package splitter_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/splitter"
)

// lawDocuments is how many random documents the law is tested on in all.
const lawDocuments = 100_000

var strategies = []string{splitter.Auto, splitter.SplitVector, splitter.Chunks, splitter.BucketAuto, splitter.Sample, splitter.Walk}

// shape is an index and the fields that ranges are of.
type shape struct {
	index  bson.D
	fields []string // of the ranges
}

var shapes = []shape{
	{bson.D{{Key: "f", Value: 1}}, []string{"f"}},
	{bson.D{{Key: "f", Value: -1}}, []string{"f"}},
	{bson.D{{Key: "a.b", Value: 1}}, []string{"a.b"}},
	{bson.D{{Key: "a.b.c", Value: -1}, {Key: "g", Value: 1}}, []string{"a.b.c"}},
	{bson.D{{Key: "f", Value: 1}, {Key: "g", Value: 1}}, []string{"f", "g"}},
	{bson.D{{Key: "f", Value: 1}, {Key: "g", Value: -1}, {Key: "_id", Value: 1}}, []string{"f", "g"}},
	{bson.D{{Key: "f", Value: -1}, {Key: "a.b", Value: 1}}, []string{"f", "a.b"}},
	{bson.D{{Key: "a.b", Value: -1}, {Key: "f", Value: -1}, {Key: "g", Value: 1}}, []string{"a.b", "f", "g"}},
}

// Whatever the strategy, the form of the filters, the index and the data, each document is
// found by the filter of exactly one piece, the one whose bounds contain its key, and a piece holds as many as it says.
func TestEveryDocumentIsInOnePiece(t *testing.T) {
	const collections = 10
	documents := lawDocuments / collections / len(shapes)
	if testing.Short() {
		documents /= 10
	}
	seed := rand.Uint64()
	client := engine(t)
	for i, s := range shapes {
		for n := range collections {
			t.Run(fmt.Sprintf("%v/%d", names(s), n), func(t *testing.T) {
				t.Parallel()
				t.Logf("seed %d", seed)
				r := rand.New(rand.NewPCG(seed, uint64(i*collections+n)))
				l := &law{coll: client.Database("law").Collection(fmt.Sprintf("c%d-%d", i, n)), shape: s}
				l.fill(t, r, documents, n)
				for k := range 2 { // each strategy meets each shape three times or more
					strategy := strategies[(n+k*3+i)%len(strategies)]
					form := splitter.Predicate(r.IntN(2))
					if strategy == splitter.Chunks {
						l.shard(t, r)
					}
					if err := l.check(strategy, form, 2+r.IntN(9)); err != nil {
						t.Errorf("%s, form %d: %v", strategy, form, err)
					}
				}
			})
		}
	}
}

func names(s shape) string {
	var parts []string
	for _, f := range s.index {
		parts = append(parts, fmt.Sprint(f.Key, f.Value))
	}
	return strings.Join(parts, ",") + " by " + strings.Join(s.fields, ",")
}

// law is a collection of random documents.
type law struct {
	coll *mongo.Collection
	shape
	keys [][]bson.RawValue // of each document, by _id
}

// fill draws the first field from the nth kind of values and the others from any, fewer ones.
func (l *law) fill(t *testing.T, r *rand.Rand, documents, n int) {
	t.Helper()
	ctx := context.Background()
	if _, err := l.coll.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: l.index}); err != nil {
		t.Fatal(err)
	}
	first := randoms[n%len(randoms)]
	few := make([]any, 12)
	for i := range few {
		few[i] = randomValue(r)
	}
	var docs []any
	for id := range documents {
		d := bson.D{{Key: "_id", Value: int32(id)}}
		var key []bson.RawValue
		for i, f := range l.fields {
			v := few[r.IntN(len(few))]
			switch {
			case i == 0 && len(l.fields) > 1 && r.IntN(2) == 0: // prefixes that are worth cutting within
			case i == 0 || r.IntN(2) == 0:
				v = first(r)
			}
			if v == missing {
				key = append(key, bson.RawValue{})
			} else {
				key = append(key, value(v))
			}
			if v = nest(r, f, v); v != missing {
				d = append(d, bson.E{Key: strings.Split(f, ".")[0], Value: v})
			}
		}
		l.keys = append(l.keys, key)
		docs = append(docs, d)
	}
	if _, err := l.coll.InsertMany(ctx, docs); err != nil {
		t.Fatal(err)
	}
}

// nest makes the value of a path's first part. A missing field can end at any part: at one that is
// not there, has no such field, or is no document.
func nest(r *rand.Rand, path string, v any) any {
	parts := strings.Split(path, ".")
	for i := len(parts) - 1; i > 0; i-- {
		if v != missing {
			v = bson.D{{Key: parts[i], Value: v}}
			continue
		}
		v = []any{missing, missing, bson.D{}, bson.D{{Key: "other", Value: 1}}, "scalar", nil, int32(5)}[r.IntN(7)]
	}
	return v
}

// shard writes what a config server would have of a collection that is cut into chunks at random
// keys, some of which lie where there are no documents.
func (l *law) shard(t *testing.T, r *rand.Rand) {
	t.Helper()
	ctx, config := context.Background(), l.coll.Database().Client().Database("config")
	ns := l.coll.Database().Name() + "." + l.coll.Name()
	fields := l.fields[:1+r.IntN(len(l.fields))]
	key := bson.D{}
	for _, f := range fields {
		key = append(key, bson.E{Key: f, Value: 1})
	}
	id := primitive.Binary{Subtype: 4, Data: fmt.Appendf(nil, "%-16s", l.coll.Name())}
	if _, err := config.Collection("collections").InsertOne(ctx, bson.D{{Key: "_id", Value: ns}, {Key: "key", Value: key}, {Key: "uuid", Value: id}}); err != nil {
		t.Fatal(err)
	}
	var chunks []any
	for n := range 40 {
		least := bson.D{}
		for i, f := range fields {
			v := any(l.keys[r.IntN(len(l.keys))][i])
			if n == 0 || v.(bson.RawValue).Type == 0 {
				v = primitive.MinKey{}
			} else if r.IntN(4) == 0 {
				v = []any{primitive.MinKey{}, nil, int32(7), math.NaN(), "x", primitive.MaxKey{}}[r.IntN(6)]
			}
			least = append(least, bson.E{Key: f, Value: v})
		}
		chunks = append(chunks, bson.D{{Key: "uuid", Value: id}, {Key: "min", Value: least}})
	}
	if _, err := config.Collection("chunks").InsertMany(ctx, chunks); err != nil {
		t.Fatal(err)
	}
}

func (l *law) check(strategy string, form splitter.Predicate, ranges int) error {
	ctx := context.Background()
	split := splitter.Split
	if strategy == splitter.Chunks {
		split = splitter.SplitAsOnRouter
	}
	rep, err := split(ctx, splitter.Config{
		Collection: l.coll, Key: l.fields[0], Then: l.fields[1:], Ranges: ranges, Strategy: strategy, Predicate: form, Histogram: true,
	})
	if err != nil {
		return err
	}
	if len(rep.Pieces) > ranges || rep.Total != int64(len(l.keys)) || (rep.Fewer == "") != (len(rep.Pieces) == ranges) {
		return fmt.Errorf("%d of %d pieces (%q), %d documents", len(rep.Pieces), ranges, rep.Fewer, rep.Total)
	}
	found := make([]int, len(l.keys))
	for i, p := range rep.Pieces {
		cur, err := l.coll.Find(ctx, p.Range.Filter(form), options.Find().SetProjection(bson.D{{Key: "_id", Value: 1}}).SetBatchSize(10_000))
		if err != nil {
			return fmt.Errorf("piece %s: %w", p.Range, err)
		}
		n := int64(0)
		for cur.Next(ctx) {
			id := cur.Current.Lookup("_id").Int32()
			if n++; found[id] != 0 {
				return fmt.Errorf("document %d is in %s and %s", id, rep.Pieces[found[id]-1].Range, p.Range)
			}
			if found[id] = i + 1; !p.Range.Contains(l.keys[id]...) {
				return fmt.Errorf("document %d with %v is found in %s", id, l.keys[id], p.Range)
			}
		}
		if err := cur.Err(); err != nil {
			return fmt.Errorf("piece %s: %w", p.Range, err)
		}
		if n != p.Documents {
			return fmt.Errorf("%s holds %d documents, said were %d", p.Range, n, p.Documents)
		}
	}
	for id, n := range found {
		if n == 0 {
			return fmt.Errorf("document %d with %v is in no piece", id, l.keys[id])
		}
	}
	return l.checkHistogram(rep.Histogram)
}

// checkHistogram compares with a count of the keys by their types.
func (l *law) checkHistogram(h *splitter.Histogram) error {
	want := map[string]int64{}
	for _, k := range l.keys {
		name := splitter.TypeName(k[0])
		if isNaN(k[0]) {
			name = "NaN"
		}
		want[name]++
	}
	for _, c := range h.Counts {
		if len(c.Types) != 1 || want[c.Types[0]] != c.Documents {
			return fmt.Errorf("histogram: %v has %d, want %v", c.Types, c.Documents, want)
		}
		delete(want, c.Types[0])
	}
	if len(want) > 0 {
		return fmt.Errorf("histogram: %v are not in it", want)
	}
	return nil
}

func isNaN(v bson.RawValue) bool {
	if v.Type == bson.TypeDecimal128 {
		return v.Decimal128().IsNaN()
	}
	return v.Type == bson.TypeDouble && v.Double() != v.Double()
}
