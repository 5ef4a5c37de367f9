package pipeline

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

// What $merge writes as tables of its own, what it inserts and what it changes come to the same, whatever is in the target and in
// whatever order the documents come.
func TestMergeOfMany(t *testing.T) {
	const many = 3 * mergeBatch / 1000
	pad := strings.Repeat("x", 1000)
	to := store.NS{DB: "d", Coll: "to"}
	source := make([]bsonx.Doc, many)
	for i := range source {
		source[i] = doc(t, fmt.Sprintf(`{"_id": %d, "r": %d, "new": 1, "pad": "%s"}`, i, i*7919%many, pad))
	}
	for name, there := range map[string][]int{
		"nothing": nil, "before and behind": {-1, many}, "the first": {0}, "the last": {many - 1}, "one early": {10}, "one late": {many - 200}, "some": {5, 1500, 1501, 2900},
	} {
		for _, sorted := range []bool{true, false} {
			for _, matched := range []string{"replace", "keepExisting", "merge", "fail"} {
				t.Run(fmt.Sprintf("%s/%v/%s", name, sorted, matched), func(t *testing.T) {
					db := openDB(t)
					insert(t, db, testNS, source...)
					want := map[int32]string{}
					hit := false
					for _, id := range there {
						insert(t, db, to, doc(t, fmt.Sprintf(`{"_id": %d, "old": 1}`, id)))
						want[int32(id)] = "old" //nolint:gosec // small
						hit = hit || id >= 0 && id < many
					}
					for i := range int32(many) {
						switch {
						case want[i] == "" || matched == "replace":
							want[i] = "new"
						case matched == "merge":
							want[i] = "old new"
						}
					}
					stages := fmt.Sprintf(`[{"$merge": {"into": "to", "whenMatched": "%s"}}]`, matched)
					if !sorted {
						stages = `[{"$sort": {"r": 1}}, ` + stages[1:]
					}
					_, err := runAll(array(t, stages), options(db))
					if matched == "fail" && hit {
						if mongoerr.CodeOf(err) != mongoerr.DuplicateKey {
							t.Errorf("%v", err)
						}
						return
					}
					if err != nil {
						t.Fatal(err)
					}
					snap := db.Snapshot()
					defer snap.Close()
					got := map[int32]string{}
					it := snap.Records(snap.Collection(to), nil, false)
					defer it.Close()
					for it.Next() {
						d := it.Doc()
						var fields []string
						for _, f := range []string{"old", "new"} {
							if !d.Get(f).IsMissing() {
								fields = append(fields, f)
							}
						}
						got[d.Get("_id").Int32()] = strings.Join(fields, " ")
					}
					if it.Err() != nil || !maps.Equal(got, want) {
						t.Errorf("%d documents, want %d; %v", len(got), len(want), it.Err())
					}
					if r, err := db.Validate(ctx, to); err != nil || len(r.Errors) > 0 {
						t.Errorf("validate: %v %v", r, err)
					}
				})
			}
		}
	}
}

// Several $merge into one collection at a time, as a job in ranges does it.
func TestMergeTogether(t *testing.T) {
	const many, parts = 4000, 4
	db := openDB(t)
	pad := strings.Repeat("x", 1000)
	rng := rand.New(rand.NewPCG(1, 1))
	docs := make([][]bsonx.Doc, parts)
	for i := range many * parts {
		p := i / many
		if i%500 == 0 {
			p = rng.IntN(parts) // so that parts are not wholly apart
		}
		docs[p] = append(docs[p], doc(t, fmt.Sprintf(`{"_id": %d, "pad": "%s"}`, i, pad)))
	}
	errs := make(chan error, parts)
	for i := range parts {
		ns := store.NS{DB: "d", Coll: fmt.Sprint("part", i)}
		insert(t, db, ns, docs[i]...)
		o := options(db)
		o.NS = ns
		go func() {
			_, err := runAll(array(t, `[{"$merge": {"into": "to", "whenMatched": "fail"}}]`), o)
			errs <- err
		}()
	}
	for range parts {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	r, err := db.Validate(ctx, store.NS{DB: "d", Coll: "to"})
	if err != nil || len(r.Errors) > 0 || r.Documents != many*parts {
		t.Errorf("%+v %v", r, err)
	}
}
