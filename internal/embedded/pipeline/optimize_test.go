package pipeline

import (
	"slices"
	"strings"
	"testing"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/store"
)

// winning gives the plan's stages from the top, the index name with them, and the stages behind.
func winning(t *testing.T, db *store.DB, stages string, hint bsonx.Value) (plan, rest string) {
	t.Helper()
	o := options(db)
	o.Hint = hint
	p, err := Parse(array(t, stages), o)
	if err != nil {
		t.Fatal(err)
	}
	snap := db.Snapshot()
	defer snap.Close()
	d, err := p.Explain(snap)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for it := d.Get("stages").Elems(); it.Next(); {
		st := it.Value().Doc().Iter()
		st.Next()
		if string(st.Name()) != "$cursor" {
			names = append(names, string(st.Name()))
			continue
		}
		var parts []string
		for v := st.Value().Doc().Get("queryPlanner").Doc().Get("winningPlan"); v.Type == tDoc; v = v.Doc().Get("inputStage") {
			s := v.Doc().Get("stage").Str()
			if n := v.Doc().Get("indexName"); n.Type == tString {
				s += "(" + n.Str() + ")"
			}
			parts = append(parts, s)
		}
		plan = strings.Join(parts, " ")
	}
	return plan, strings.Join(names, " ")
}

func TestOptimize(t *testing.T) {
	db := openDB(t)
	insertJSON(t, db, testNS, `{"_id": 1, "a": 1, "b": 2}`)
	index(t, db, testNS, `{"key": {"a": 1}, "name": "a_1"}`)
	hint := doc(t, `{"h": {"a": 1}}`).Get("h")
	for _, c := range []struct {
		stages     string
		hint       bool
		plan, rest string
	}{
		{stages: `[{"$match": {"a": 1}}, {"$match": {"b": 2}}]`, plan: "FETCH IXSCAN(a_1)"},
		{stages: `[{"$sort": {"b": 1}}, {"$match": {"a": 1}}]`, plan: "SORT FETCH IXSCAN(a_1)"},
		{stages: `[{"$addFields": {"c": 1}}, {"$match": {"a": 1, "b": 2}}]`, plan: "FETCH IXSCAN(a_1)", rest: "$addFields"},
		{stages: `[{"$addFields": {"a": 1}}, {"$match": {"a": 1}}]`, plan: "COLLSCAN", rest: "$addFields $match"},
		{stages: `[{"$project": {"a": 1}}, {"$match": {"a": 1}}]`, plan: "PROJECTION_COVERED IXSCAN(a_1)", rest: "$project"},
		{stages: `[{"$project": {"a": "$b"}}, {"$match": {"a": 1}}]`, plan: "COLLSCAN", rest: "$project $match"},
		{stages: `[{"$project": {"b": 1}}, {"$match": {"a": 1}}]`, plan: "COLLSCAN", rest: "$project $match"},
		{stages: `[{"$unwind": "$b"}, {"$match": {"a": 1}}]`, plan: "FETCH IXSCAN(a_1)", rest: "$unwind"},
		{stages: `[{"$unwind": "$a"}, {"$match": {"a": 1}}]`, plan: "COLLSCAN", rest: "$unwind $match"},
		{stages: `[{"$sort": {"a": 1}}, {"$group": {"_id": "$a", "n": {"$sum": 1}}}]`, plan: "PROJECTION_COVERED IXSCAN(a_1)", rest: "$group"},
		{stages: `[{"$group": {"_id": "$a", "n": {"$sum": 1}}}]`, hint: true, plan: "PROJECTION_COVERED IXSCAN(a_1)", rest: "$group"},
		{stages: `[{"$group": {"_id": "$a", "n": {"$sum": 1}}}]`, plan: "COLLSCAN", rest: "$group"},
		{stages: `[{"$sort": {"a": 1}}, {"$group": {"_id": "$a", "n": {"$sum": "$b"}}}]`, plan: "FETCH IXSCAN(a_1)", rest: "$group"},
		{stages: `[{"$sort": {"b": 1}}, {"$group": {"_id": "$a", "n": {"$sum": 1}}}]`, plan: "COLLSCAN", rest: "$group"},
		{stages: `[{"$sort": {"b": 1}}, {"$group": {"_id": "$a", "n": {"$push": "$b"}}}]`, plan: "SORT COLLSCAN", rest: "$group"},
		{stages: `[{"$match": {"a": {"$gt": 3}}}, {"$count": "n"}]`, plan: "PROJECTION_COVERED IXSCAN(a_1)", rest: "$group $project"},
		{stages: `[{"$limit": 3}, {"$match": {"a": 1}}]`, plan: "LIMIT COLLSCAN", rest: "$match"},
	} {
		t.Run(c.stages, func(t *testing.T) {
			h := bsonx.Value{}
			if c.hint {
				h = hint
			}
			plan, rest := winning(t, db, c.stages, h)
			if plan != c.plan || rest != c.rest {
				t.Errorf("plan %q rest %q, want %q %q", plan, rest, c.plan, c.rest)
			}
		})
	}
}

func TestNeeds(t *testing.T) {
	for stages, want := range map[string][]string{
		`[{"$group": {"_id": "$a.b", "s": {"$sum": {"$add": ["$c", "$a.b.d"]}}}}]`:                                          {"a.b", "c"},
		`[{"$project": {"x": "$y.z", "k": 1}}]`:                                                                             {"_id", "k", "y.z"},
		`[{"$addFields": {"x": "$y"}}, {"$group": {"_id": "$x.q", "n": {"$sum": "$w"}}}]`:                                   {"w", "y"},
		`[{"$unwind": {"path": "$a", "includeArrayIndex": "i"}}, {"$group": {"_id": "$i"}}]`:                                {"a"},
		`[{"$sort": {"q": 1}}, {"$limit": 3}, {"$group": {"_id": null, "n": {"$push": "$$ROOT.z"}}}]`:                       {"q", "z"},
		`[{"$lookup": {"from": "o", "localField": "l", "foreignField": "f", "as": "j"}}, {"$project": {"j": 1, "_id": 0}}]`: {"l"},
		`[{"$facet": {"a": [{"$count": "n"}], "b": [{"$group": {"_id": "$x"}}]}}]`:                                          {"x"},
		`[{"$facet": {"a": [{"$limit": 1}]}}]`:                                                                              nil,
		`[{"$group": {"_id": null, "r": {"$push": "$$ROOT"}}}]`:                                                             nil,
		`[{"$addFields": {"x": 1}}]`:                                                                                        nil,
		`[{"$count": "n"}]`:                                                                                                 {},
	} {
		p, err := Parse(array(t, stages), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := needs(p.stages); !slices.Equal(got, want) || (got == nil) != (want == nil) {
			t.Errorf("%s: %#v, want %#v", stages, got, want)
		}
	}
}
