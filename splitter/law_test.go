package splitter_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
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
	keys   [][]bson.RawValue // of each document, by _id
	chunks []lawChunk
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
	l.chunks = []lawChunk{{lo: same(primitive.MinKey{}, len(fields))}}
	for range 1 + r.IntN(40) {
		var least []bson.RawValue
		for i := range fields {
			v := l.keys[r.IntN(len(l.keys))][i]
			if r.IntN(4) == 0 {
				v = value([]any{primitive.MinKey{}, nil, int32(7), math.NaN(), "x", primitive.MaxKey{}}[r.IntN(6)])
			}
			if v.Type == 0 || v.Type == bson.TypeUndefined {
				v = value(nil)
			}
			least = append(least, v)
		}
		l.chunks = append(l.chunks, lawChunk{lo: least})
	}
	slices.SortFunc(l.chunks, func(a, b lawChunk) int { return compareKeys(a.lo, b.lo) })
	l.chunks = slices.CompactFunc(l.chunks, func(a, b lawChunk) bool { return compareKeys(a.lo, b.lo) == 0 })
	l.chunks = slices.DeleteFunc(l.chunks, func(c lawChunk) bool { return compareKeys(c.lo, same(primitive.MaxKey{}, len(fields))) == 0 })
	shards, changes := 1+r.IntN(3), r.IntN(4)
	var docs []any
	for i := range l.chunks {
		c := &l.chunks[i]
		c.shard = fmt.Sprint("s", r.IntN(shards))
		if i > 0 && r.IntN(4) > changes { // long stretches of one shard and short ones
			c.shard = l.chunks[i-1].shard
		}
		most := same(primitive.MaxKey{}, len(fields))
		if i+1 < len(l.chunks) {
			most = l.chunks[i+1].lo
		}
		docs = append(docs, bson.D{{Key: "uuid", Value: id}, {Key: "min", Value: bound(fields, c.lo)}, {Key: "max", Value: bound(fields, most)}, {Key: "shard", Value: c.shard}})
	}
	if _, err := config.Collection("chunks").InsertMany(ctx, docs); err != nil {
		t.Fatal(err)
	}
}

// lawChunk is a chunk from lo to the next one's.
type lawChunk struct {
	lo    []bson.RawValue
	shard string
}

func same(v any, n int) []bson.RawValue { return slices.Repeat([]bson.RawValue{value(v)}, n) }

func bound(fields []string, values []bson.RawValue) bson.D {
	d := bson.D{}
	for i, f := range fields {
		d = append(d, bson.E{Key: f, Value: values[i]})
	}
	return d
}

// compareKeys compares field by field; a missing one is null.
func compareKeys(a, b []bson.RawValue) int {
	for i := range min(len(a), len(b)) {
		x, y := a[i], b[i]
		for _, v := range []*bson.RawValue{&x, &y} {
			if v.Type == 0 || v.Type == bson.TypeUndefined {
				*v = value(nil)
			}
		}
		if n := splitter.Compare(x, y); n != 0 {
			return n
		}
	}
	return 0
}

// checkOwners holds the shards of the pieces against those of the documents in them.
func (l *law) checkOwners(rep *splitter.Report, found []int) error {
	owned := 0
	for id, n := range found {
		p := rep.Pieces[n-1]
		if p.Shard == "" {
			continue
		}
		owned++
		at := len(l.chunks) - 1
		for compareKeys(l.chunks[at].lo, l.keys[id]) > 0 {
			at--
		}
		if l.chunks[at].shard != p.Shard {
			return fmt.Errorf("document %d with %v is on %s, its range %s on %s", id, l.keys[id], l.chunks[at].shard, p.Range, p.Shard)
		}
	}
	spanning := 0
	for _, p := range rep.Pieces {
		if p.Shard == "" {
			spanning++
		}
		for _, c := range l.chunks {
			if p.Shard != "" && c.shard != p.Shard && len(c.lo) == len(l.fields) && p.Range.Contains(c.lo...) {
				return fmt.Errorf("a chunk of %s begins at %v, in range %s on %s", c.shard, c.lo, p.Range, p.Shard)
			}
		}
	}
	if x := rep.Sharding; x != nil && (x.Spanning != spanning || (spanning > 0) != (len(x.Notes) > 0) && spanning > 0) {
		return fmt.Errorf("%d pieces span shards: %+v", spanning, x)
	}
	oneShard := !slices.ContainsFunc(l.chunks, func(c lawChunk) bool { return c.shard != l.chunks[0].shard })
	if rep.Sharding != nil && oneShard && owned < len(found) {
		return fmt.Errorf("all chunks are on one shard, and %d documents are in pieces of none", len(found)-owned)
	}
	return nil
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
	if strategy == splitter.Chunks {
		if err := l.checkOwners(rep, found); err != nil {
			return err
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
