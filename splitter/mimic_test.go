package splitter_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/internal/mimic"
	"mrbench/splitter"
)

// Through a mongos, with chunks split and moved at random: each document is in one range, ranges with a shard hold documents of
// it alone, there are as many ranges as asked for, each on one shard when they are enough, and even ones when they are not.
func TestRangesOfRandomChunks(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	for i, version := range []string{"4.0.3", "4.4.29", "5.0.3", "8.0.4"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			t.Logf("seed %d", seed)
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			m := mimic.Start(t, mimic.Config{Version: version, Topology: mimic.Mongos})
			for n := range 3 {
				l := &layout{name: fmt.Sprint("c", n), keys: 500 + r.IntN(500)}
				l.fill(t, m, r)
				for range 2 {
					l.check(t, m, 2+r.IntN(10))
				}
			}
		})
	}
}

// layout is a sharded collection and where its chunks are.
type layout struct {
	name   string
	keys   int
	at     []int    // lower bounds of the chunks but the first
	shards []string // that have the chunks
	docs   map[int]int64
}

func (l *layout) fill(t *testing.T, m *mimic.Server, r *rand.Rand) {
	t.Helper()
	ns, key := "test."+l.name, func(v any) bson.D { return bson.D{{Key: "f", Value: v}} }
	admin := m.Client(t).Database("admin")
	do := func(cmd bson.D) {
		t.Helper()
		if err := admin.RunCommand(t.Context(), cmd).Err(); err != nil {
			t.Fatalf("%v: %v", cmd, err)
		}
	}
	var docs []any
	l.docs = map[int]int64{}
	for range 2000 {
		k := r.IntN(l.keys)
		if r.IntN(3) > 0 { // two thirds are in a tenth of the keys
			k = k/10 + l.keys/3
		}
		l.docs[k]++
		docs = append(docs, bson.D{{Key: "f", Value: k}})
	}
	if _, err := m.Inside().Database("test").Collection(l.name).InsertMany(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	do(bson.D{{Key: "enableSharding", Value: "test"}})
	if _, err := m.Client(t).Database("test").Collection(l.name).Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: key(1)}); err != nil {
		t.Fatal(err)
	}
	do(bson.D{{Key: "shardCollection", Value: ns}, {Key: "key", Value: key(1)}})
	for range r.IntN(20) {
		if at := r.IntN(l.keys + 100); !slices.Contains(l.at, at) { // some lie behind all keys
			l.at = append(l.at, at)
			do(bson.D{{Key: "split", Value: ns}, {Key: "middle", Value: key(at)}})
		}
	}
	slices.Sort(l.at)
	l.shards = []string{"s1"}
	for i := range l.at {
		l.shards = append(l.shards, l.shards[i])
		if r.IntN(3) == 0 {
			l.shards[i+1] = []string{"s1", "s2"}[r.IntN(2)]
		}
	}
	for i, shard := range l.shards {
		find := any(primitive.MinKey{})
		if i > 0 {
			find = l.at[i-1]
		}
		do(bson.D{{Key: "moveChunk", Value: ns}, {Key: "find", Value: key(find)}, {Key: "to", Value: shard}})
	}
}

// stretches are the runs of chunks of one shard that have documents.
func (l *layout) stretches() (n int) {
	last := ""
	for _, k := range slices.Sorted(func(yield func(int) bool) {
		for k := range l.docs {
			if !yield(k) {
				return
			}
		}
	}) {
		if shard := l.shardOf(k); shard != last {
			n, last = n+1, shard
		}
	}
	return n
}

func (l *layout) shardOf(k int) string {
	i, found := slices.BinarySearchFunc(l.at, k, cmp.Compare[int])
	if found {
		i++
	}
	return l.shards[i]
}

func (l *layout) check(t *testing.T, m *mimic.Server, ranges int) {
	t.Helper()
	rep, err := splitter.Split(t.Context(), splitter.Config{Collection: m.Client(t).Database("test").Collection(l.name), Key: "f", Ranges: ranges})
	if err != nil {
		t.Fatal(err)
	}
	stretches := l.stretches()
	about := fmt.Sprintf("%d ranges, chunks at %v on %v, %d stretches: %s, %+v", ranges, l.at, l.shards, stretches, shardsOf(rep), rep.Sharding)
	if rep.Strategy != splitter.Chunks || len(rep.Pieces) != ranges || rep.Total != 2000 {
		t.Errorf("%s gives %d ranges of %d documents: %s", rep.Strategy, len(rep.Pieces), rep.Total, about)
	}
	held := make([]int64, len(rep.Pieces))
	for k, n := range l.docs {
		in := -1
		for i, p := range rep.Pieces {
			if !p.Range.Contains(value(int32(k))) {
				continue
			}
			if in >= 0 {
				t.Fatalf("key %d is in two ranges: %s", k, about)
			}
			in = i
		}
		if in < 0 {
			t.Fatalf("key %d is in no range: %s", k, about)
		}
		held[in] += n
		if shard := rep.Pieces[in].Shard; shard != "" && shard != l.shardOf(k) {
			t.Errorf("key %d of %s is in a range on %s: %s", k, l.shardOf(k), shard, about)
		}
	}
	for i, p := range rep.Pieces {
		if held[i] != p.Documents {
			t.Errorf("range %d holds %d documents: %s", i+1, held[i], about)
		}
	}
	several := 0
	for i := range rep.Pieces {
		seen := map[string]bool{}
		for k := range l.docs {
			if rep.Pieces[i].Range.Contains(value(int32(k))) {
				seen[l.shardOf(k)] = true
			}
		}
		if len(seen) > 1 {
			several++
		}
	}
	switch {
	case stretches <= ranges && several > 0:
		t.Errorf("%d ranges have documents of two shards: %s", several, about)
	case stretches > ranges && rep.Imbalance > 1.6, stretches == 1 && rep.Imbalance > 1.5:
		t.Errorf("uneven by %.2f: %s", rep.Imbalance, about)
	}
}
