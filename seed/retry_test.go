package seed_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/mongofake"
	"mrbench/seed"
	"mrbench/seed/source"
)

// faults misbehave at random for the first few inserts: some of the documents are
// stored, and the answer is lost or says that the member steps down.
func faults(rng *rand.Rand, most int) (func(n int) (int, bson.D), *int) {
	count := 0
	unmet := bson.D{{Key: "n", Value: 1}, {Key: "ok", Value: 1.0}, {
		Key:   "writeConcernError",
		Value: bson.D{{Key: "code", Value: 91}, {Key: "errmsg", Value: "shutting down"}},
	}}
	var mu sync.Mutex
	return func(n int) (int, bson.D) {
		mu.Lock()
		defer mu.Unlock()
		if count >= most || rng.IntN(3) == 0 {
			return -1, nil
		}
		count++
		switch rng.IntN(6) {
		case 4: // steps down between documents
			look := rng.IntN(n)
			return look, refusedFrom(look, n, 189)
		case 5: // a router lost the shard, and can't know what it stored
			return rng.IntN(n + 1), refusedFrom(0, n, 6)
		case 0:
			return rng.IntN(n + 1), mongofake.HangUp()
		case 1:
			return -1, unmet
		case 2:
			return rng.IntN(n + 1), mongofake.Error(10107, "not primary")
		default:
			return rng.IntN(n + 1), mongofake.Error(11600, "interrupted at shutdown")
		}
	}, &count
}

// refusedFrom is the reply that documents were stored up to one, and the others refused.
func refusedFrom(first, n int, code int32) bson.D {
	failed := bson.A{}
	for i := first; i < n; i++ {
		failed = append(failed, bson.D{{Key: "index", Value: i}, {Key: "code", Value: code}, {Key: "errmsg", Value: "Not primary while writing to test.c"}})
	}
	return bson.D{{Key: "n", Value: first}, {Key: "writeErrors", Value: failed}, {Key: "ok", Value: 1.0}}
}

// A batch is sent again until it is through, and no document is in the collection twice
// or counted twice, whether its _id is in the file or made here.
func TestRetriesStoreOnce(t *testing.T) {
	for round := range 12 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(uint64(round), 3))
			k := &keeper{}
			var faulty *int
			k.fault, faulty = faults(rng, 5)
			c := k.config(t)
			c.Writers, c.Batch, c.Ordered = 1+rng.IntN(3), 20, round%2 == 0
			var want []string
			if round%3 == 0 {
				c.Generator, c.Documents = seed.GUID(1), 300
			} else {
				c.Source = materials(t, rng)["ndjson"]
				for d, err := range source.Documents(t.Context(), *c.Source) {
					if err != nil {
						t.Fatal(err)
					}
					want = append(want, withoutMadeID(d.Raw))
				}
				slices.Sort(want)
			}
			last := int64(0)
			c.Progress = func(p seed.Progress) { last = p.Retries }
			r, err := seed.Run(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			n := int64(300)
			if c.Source != nil {
				n = int64(len(want))
				if !slices.Equal(k.content(), want) {
					t.Error("the collection differs from the file")
				}
			}
			if r.Documents != n || r.Counted != n || r.Duplicates != 0 || r.Retries < int64(*faulty) || last != r.Retries || r.RetryError == "" {
				t.Errorf("%d faults: %+v", *faulty, r)
			}
		})
	}
}

// What does not pass is told after the attempts that were asked for; what is not
// worth a second attempt gets none.
func TestRetriesEnd(t *testing.T) {
	for _, tt := range []struct {
		retries int
		code    int32
		inserts int
	}{{-1, 189, 1}, {2, 189, 3}, {5, 13, 1}, {5, 2, 1}} {
		k, inserts := &keeper{}, 0
		k.fault = func(int) (int, bson.D) { inserts++; return 0, mongofake.Error(tt.code, "no") }
		c := k.config(t)
		c.Generator, c.Documents, c.Writers, c.Retries = seed.GUID(1), 10, 1, tt.retries
		r, err := seed.Run(t.Context(), c)
		if err == nil || !strings.Contains(err.Error(), "insert of documents 0 to 9") || inserts != tt.inserts || r.Retries != int64(tt.inserts-1) {
			t.Errorf("%+v: %d inserts, %v", tt, inserts, err)
		}
	}
}

// After a lost answer a document that was there before the load, just the same, can't be told
// from one that the load wrote, until the count is known.
func TestRetryMeetsTheSameDocument(t *testing.T) {
	raw, _ := bson.Marshal(bson.D{{Key: "_id", Value: int32(1)}})
	k := &keeper{docs: map[string]bson.Raw{}}
	id := bson.Raw(raw).Lookup("_id")
	k.docs[id.Type.String()+string(id.Value)] = raw
	first := true
	k.fault = func(int) (int, bson.D) {
		if first {
			first = false
			return -1, mongofake.Error(189, "stepped down")
		}
		return -1, nil
	}
	c := k.config(t)
	c.Source = &source.Config{Paths: []string{file(t, "a.ndjson", "{\"_id\":1}\n{\"_id\":2}\n")}}
	c.Append, c.OnDuplicate = true, seed.DuplicateSkip
	r, err := seed.Run(t.Context(), c)
	if err != nil || r.Documents != 1 || r.Duplicates != 1 || r.Counted != 2 {
		t.Errorf("%+v %v", r, err)
	}
}
