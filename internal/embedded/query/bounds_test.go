package query

import (
	"slices"
	"testing"
)

// TestBoundsAndMatch: cases where entries of an index look alike and documents do not.
func TestBoundsAndMatch(t *testing.T) {
	for _, c := range []struct {
		name, index, filter string
		docs                []string
		want                []int32
	}{
		{
			"two elements satisfy a filter that no one does", `{"a.x": 1, "a.y": 1}`, `{"a.x": 1, "a.y": 2}`,
			[]string{`{"_id": 1, "a": [{"x": 1, "y": 9}, {"x": 7, "y": 2}]}`, `{"_id": 2, "a": [{"x": 1, "y": 9}]}`},
			[]int32{1},
		},
		{
			"below null is missing, not null", `{"a": 1}`, `{"$expr": {"$lt": ["$a", null]}}`,
			[]string{`{"_id": 1}`, `{"_id": 2, "a": null}`, `{"_id": 3, "a": {"$minKey": 1}}`},
			[]int32{1, 3},
		},
		{
			"from null on is null, not missing", `{"a": 1}`, `{"$expr": {"$gte": ["$a", null]}}`,
			[]string{`{"_id": 1}`, `{"_id": 2, "a": null}`, `{"_id": 3, "a": 1}`},
			[]int32{2, 3},
		},
		{"the type of null", `{"a": 1}`, `{"a": {"$type": "null"}}`, []string{`{"_id": 1}`, `{"_id": 2, "a": null}`}, []int32{2}},
		{
			"elements without the field", `{"a.b": 1}`, `{"a.b": null}`,
			[]string{`{"_id": 1, "a": [1, 2]}`, `{"_id": 2, "a": [{}]}`, `{"_id": 3, "a": 5}`, `{"_id": 4, "a": [{"b": 1}, {"b": null}]}`},
			[]int32{2, 3, 4},
		},
		{
			"an empty array has the entry of undefined", `{"a": 1}`, `{"a": {"$type": "undefined"}}`,
			[]string{`{"_id": 1, "a": []}`, `{"_id": 2, "a": {"$undefined": true}}`},
			[]int32{2},
		},
		{
			"an array is more than its elements", `{"a": 1}`, `{"a": [1, 2]}`,
			[]string{`{"_id": 1, "a": [1, 2]}`, `{"_id": 2, "a": [1]}`, `{"_id": 3, "a": [[1, 2]]}`, `{"_id": 4, "a": 1}`},
			[]int32{1, 3},
		},
		{"no element is 5", `{"a": 1}`, `{"a": {"$ne": 5}}`, []string{`{"_id": 1, "a": [5, 6]}`, `{"_id": 2, "a": [6, 7]}`, `{"_id": 3}`}, []int32{2, 3}},
		{
			"not null includes not undefined", `{"a": 1}`, `{"a": {"$ne": null}}`,
			[]string{`{"_id": 1, "a": {"$undefined": true}}`, `{"_id": 2, "a": null}`, `{"_id": 3}`, `{"_id": 4, "a": 1}`},
			[]int32{4},
		},
		{"a descending field", `{"a": -1}`, `{"a": {"$gt": 1, "$lte": 3}}`, []string{`{"_id": 1, "a": 1}`, `{"_id": 2, "a": 2.5}`, `{"_id": 3, "a": 3}`, `{"_id": 4, "a": "x"}`}, []int32{2, 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := openDB(t)
			for _, d := range c.docs {
				insert(t, db, testNS, doc(t, d))
			}
			index(t, db, testNS, `{"name": "i", "key": `+c.index+`}`)
			for _, hint := range []string{`"i"`, `{"$natural": 1}`} {
				got, p := read(t, db, testNS, Request{Filter: filter(t, doc(t, c.filter)), Hint: val(t, hint)})
				found := ids(got)
				slices.Sort(found)
				if !slices.Equal(found, c.want) {
					t.Errorf("%s: %v, want %v", summary(p), found, c.want)
				}
			}
		})
	}
}
