package pipeline

import (
	"slices"
	"testing"

	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

func TestOut(t *testing.T) {
	db := stageData(t)
	if got := aggregate(t, db, `[{"$project": {"a": 1}}, {"$out": {"db": "e", "coll": "to"}}]`); len(got) != 0 {
		t.Errorf("$out gives %v", texts(got))
	}
	to := store.NS{DB: "e", Coll: "to"}
	all, err := find(db, to, nil)
	if err != nil || len(all) != 4 {
		t.Errorf("%v %v", texts(all), err)
	}
	p, err := Parse(array(t, `[{"$out": "x"}]`), options(db))
	if err != nil {
		t.Fatal(err)
	}
	if ns, ok := p.Writes(); !ok || ns != (store.NS{DB: "d", Coll: "x"}) {
		t.Errorf("target %v %v", ns, ok)
	}
	for stages, code := range map[string]mongoerr.Code{
		`[{"$out": 5}]`: 16990, `[{"$out": ""}]`: 73, `[{"$out": {"db": "x"}}]`: 16994, `[{"$out": "system.x"}]`: 17385,
		`[{"$project": {"_id": {"$literal": 1}}}, {"$out": {"db": "e", "coll": "to"}}]`:   16996,
		`[{"$project": {"_id": {"$literal": [1]}}}, {"$out": {"db": "e", "coll": "to"}}]`: 2, `[{"$project": {"_id": {"$literal": [1]}}}, {"$merge": {"into": "m", "whenNotMatched": "insert"}}]`: 51132,
		`[{"$addFields": {"_id": {"$literal": {"$regularExpression": {"pattern": "x", "options": ""}}}}}, {"$merge": "m"}]`: 2,
	} {
		if _, err := runAll(array(t, stages), options(db)); mongoerr.CodeOf(err) != code {
			t.Errorf("%s: %v, want code %d", stages, err, code)
		}
	}
	if all, _ := find(db, to, nil); len(all) != 4 {
		t.Errorf("a failed $out changed the target: %v", texts(all))
	}
}

func TestMerge(t *testing.T) {
	const source = `{"$documents": [{"_id": 1, "k": "a", "n": 10}, {"_id": 5, "k": "e", "n": 50}]}`
	old := []string{`{"_id": 1, "k": "a", "n": 1, "o": true}`, `{"_id": 2, "k": "b", "n": 2}`}
	for _, c := range []struct {
		merge string
		want  []string
		code  mongoerr.Code
	}{
		{merge: `"m"`, want: []string{`{"_id": 1, "k": "a", "n": 10, "o": true}`, `{"_id": 2, "k": "b", "n": 2}`, `{"_id": 5, "k": "e", "n": 50}`}},
		{merge: `{"into": "m", "whenMatched": "replace"}`, want: []string{`{"_id": 1, "k": "a", "n": 10}`, `{"_id": 2, "k": "b", "n": 2}`, `{"_id": 5, "k": "e", "n": 50}`}},
		{merge: `{"into": "m", "whenMatched": "keepExisting"}`, want: []string{`{"_id": 1, "k": "a", "n": 1, "o": true}`, `{"_id": 2, "k": "b", "n": 2}`, `{"_id": 5, "k": "e", "n": 50}`}},
		{merge: `{"into": "m", "whenMatched": "fail"}`, code: 11000},
		{merge: `{"into": "m", "whenNotMatched": "discard"}`, want: []string{`{"_id": 1, "k": "a", "n": 10, "o": true}`, `{"_id": 2, "k": "b", "n": 2}`}},
		{merge: `{"into": "m", "whenNotMatched": "fail"}`, code: 13113},
		{
			merge: `{"into": "m", "whenMatched": [{"$set": {"n": {"$add": ["$n", "$$new.n"]}}}]}`,
			want:  []string{`{"_id": 1, "k": "a", "n": 11, "o": true}`, `{"_id": 2, "k": "b", "n": 2}`, `{"_id": 5, "k": "e", "n": 50}`},
		},
		{
			merge: `{"into": "m", "let": {"x": "$n"}, "whenMatched": [{"$project": {"n": "$$x", "k": 1}}], "whenNotMatched": "discard"}`,
			want:  []string{`{"_id": 1, "k": "a", "n": 10}`, `{"_id": 2, "k": "b", "n": 2}`},
		},
		{merge: `{"into": "m", "on": "k", "whenMatched": "replace"}`, want: []string{`{"_id": 1, "k": "a", "n": 10}`, `{"_id": 2, "k": "b", "n": 2}`, `{"_id": 5, "k": "e", "n": 50}`}},
		{merge: `{"into": "m", "on": "n"}`, code: 51183},
		{merge: `{"into": "m", "whenMatched": "x"}`, code: 2},
		{merge: `{"into": "m", "whenMatched": [{"$match": {}}]}`, code: 72},
		{merge: `{"on": "_id"}`, code: 40414},
		{merge: `5`, code: 51182},
	} {
		t.Run(c.merge, func(t *testing.T) {
			db := openDB(t)
			m := store.NS{DB: "d", Coll: "m"}
			insertJSON(t, db, m, old...)
			index(t, db, m, `{"key": {"k": 1}, "name": "k_1", "unique": true}`)
			_, err := runAll(array(t, `[`+source+`, {"$merge": `+c.merge+`}]`), options(db))
			if mongoerr.CodeOf(err) != c.code {
				t.Fatalf("%v, want code %d", err, c.code)
			}
			if c.code != 0 {
				return
			}
			all, err := find(db, m, nil)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, w := range c.want {
				want = append(want, text(doc(t, w)))
			}
			if have := texts(all); !slices.Equal(have, want) {
				t.Errorf("\n got %v\nwant %v", have, want)
			}
		})
	}
}

func TestRunOn(t *testing.T) {
	p, err := Parse(array(t, `[{"$set": {"n": {"$add": ["$n", 1]}}}, {"$unset": "x"}]`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, err := p.RunOn(ctx, doc(t, `{"_id": 1, "n": 1, "x": 2}`))
		if err != nil || text(got) != text(doc(t, `{"_id": 1, "n": 2}`)) {
			t.Errorf("%s %v", text(got), err)
		}
	}
}

func TestView(t *testing.T) {
	db := stageData(t)
	if err := db.Create(ctx, store.NS{DB: "d", Coll: "v"}, doc(t, `{"viewOn": "c", "pipeline": [{"$match": {"a": {"$gte": 2}}}]}`)); err != nil {
		t.Fatal(err)
	}
	o := options(db)
	o.NS.Coll = "v"
	got, err := runAll(array(t, `[{"$sort": {"a": 1}}, {"$project": {"a": 1}}]`), o)
	if err != nil || !slices.Equal(texts(got), []string{text(doc(t, `{"_id": 3, "a": 2}`)), text(doc(t, `{"_id": 1, "a": 3}`))}) {
		t.Errorf("%v %v", texts(got), err)
	}
}
