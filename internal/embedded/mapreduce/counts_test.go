package mapreduce

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"pgregory.net/rapid"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/store"
)

// modelReduces is how often a 4.0 server calls reduce for emits of number keys and number values, one a document:
// the rules, written down as simply as they can be.
func modelReduces(keys []int, onDisk bool) (reduces int) {
	const perEmit = 27 + 16
	now := map[int]int{} // values in memory by key
	written := map[int]int{}
	dups := 0
	size := func() (n int) {
		for _, c := range now {
			n += c * perEmit
		}
		return n
	}
	dump := func() {
		for k, c := range now {
			written[k] += c
		}
		now = map[int]int{}
	}
	reduce := func() {
		dups = 0
		for k, c := range maps.Clone(now) {
			switch {
			case c > 1:
				reduces++
				now[k] = 1
			case onDisk:
				written[k]++
				delete(now, k)
			}
		}
	}
	for i, k := range keys {
		if now[k]++; now[k] > 1 {
			dups++
		}
		if (i+1)%100 == 0 {
			if was := size(); was > 500*1024 || dups > 10*len(now) {
				reduce()
				if s := size(); onDisk && (s > 500*1024 || s > was/2) {
					dump()
				}
			}
		}
	}
	reduce()
	if onDisk {
		dump()
		for _, c := range written {
			if c > 1 {
				reduces++
			}
		}
	}
	return reduces
}

// TestReduceCounts: counts.reduce is the model's, whatever the order and number of keys.
func TestReduceCounts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.SampledFrom([]int{0, 99, 100, 101, 250, 300, 999, 1500, 1501, 2000, 2500, 30_000}).Draw(rt, "docs")
		distinct := rapid.SampledFrom([]int{1, 3, 10, 300, 3000, 40_000}).Draw(rt, "keys")
		seed := rapid.IntRange(1, 1<<20).Draw(rt, "seed")
		order := rapid.SampledFrom([]string{"random", "sorted", "descending"}).Draw(rt, "order")
		keys := make([]int, n)
		x := uint64(seed)
		for i := range keys {
			x = x*6364136223846793005 + 1442695040888963407
			keys[i] = int(x>>33) % distinct
		}
		switch order {
		case "sorted":
			slices.Sort(keys)
		case "descending":
			slices.SortFunc(keys, func(a, b int) int { return b - a })
		}
		db := openDB(t)
		ns := store.NS{DB: "test", Coll: "u"}
		docs := make([]bsonx.Doc, n)
		for i, k := range keys {
			docs[i] = doc(t, bson.D{{Key: "_id", Value: int32(i)}, {Key: "dim0", Value: int32(k)}})
		}
		if n == 0 {
			if err := db.Create(context.Background(), ns, bsonx.Empty); err != nil {
				rt.Fatal(err)
			}
		} else {
			insert(t, db, ns, docs)
		}
		for _, onDisk := range []bool{true, false} {
			to := out("out")
			if !onDisk {
				to = inline
			}
			reply, err := runJob(t, db, command(mapDim0, reduceSum, to))
			if err != nil {
				rt.Fatal(err)
			}
			if _, _, got, _ := counts(t, reply); got != int64(modelReduces(keys, onDisk)) {
				rt.Errorf("to disk %v: %d reduces, want %d", onDisk, got, modelReduces(keys, onDisk))
			}
		}
	})
}

// TestTooManyKeysForJSMode: beyond 500,000 keys the job goes on in mixed mode, with string keys.
func TestTooManyKeysForJSMode(t *testing.T) {
	if testing.Short() {
		t.Skip("emits 510,000 keys")
	}
	db := openDB(t)
	small(t, db, 600)
	reply, err := runJob(t, db, command("function () { for (var i = 0; i < 850; i++) emit(this._id * 850 + i, 1); emit('all', 1); }", reduceSum, out("out"),
		bson.E{Key: "jsMode", Value: true}, bson.E{Key: "verbose", Value: true}))
	if err != nil {
		t.Fatal(err)
	}
	if mode := reply.Get("timing").Doc().Get("mode").Str(); mode != "mixed" {
		t.Errorf("mode %s", mode)
	}
	in, emit, _, output := counts(t, reply)
	if in != 600 || emit != 600*851 || output != 600*850+1 {
		t.Errorf("counts %s", ext(t, reply.Get("counts").Doc()))
	}
	snap := db.Snapshot()
	defer snap.Close()
	it := snap.Records(snap.Collection(store.NS{DB: "test", Coll: "out"}), nil, true)
	defer it.Close()
	if !it.Next() || ext(t, it.Doc()) != `{"_id":"all","value":{"$numberDouble":"600.0"}}` {
		t.Errorf("the last document is %v", it.Doc())
	}
}

// TestObjectsInJSMode: values that are objects, more than are kept alive at once.
func TestObjectsInJSMode(t *testing.T) {
	db := openDB(t)
	small(t, db, 1200)
	reply, err := runJob(t, db, command(
		"function () { for (var i = 0; i < 100; i++) emit('k' + this._id + '.' + i, {n: 1, s: 'x', d: new Date(i)}); }", reduceSum, out("out"),
		bson.E{Key: "jsMode", Value: true}, bson.E{Key: "verbose", Value: true},
		bson.E{Key: "finalize", Value: code("function (k, v) { return v.n + v.s + v.d.getTime(); }")}))
	if err != nil {
		t.Fatal(err)
	}
	if mode := reply.Get("timing").Doc().Get("mode").Str(); mode != "js" {
		t.Errorf("mode %s", mode)
	}
	got := contents(t, db, store.NS{DB: "test", Coll: "out"})
	if len(got) != 120_000 {
		t.Fatalf("%d documents", len(got))
	}
	for i, text := range got[:5] {
		var d struct {
			ID    string `bson:"_id"`
			Value string
		}
		if err := bson.UnmarshalExtJSON([]byte(text), true, &d); err != nil {
			t.Fatal(err)
		}
		var doc, n int
		if _, err := fmt.Sscanf(d.ID, "k%d.%d", &doc, &n); err != nil || d.Value != fmt.Sprintf("1x%d", n) {
			t.Errorf("%d: %s", i, text)
		}
	}
}
