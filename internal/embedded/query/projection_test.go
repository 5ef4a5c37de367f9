package query

import (
	"strings"
	"testing"

	"mrbench/internal/embedded/mongoerr"
)

func TestProjection(t *testing.T) {
	const d = `{"_id":1,"a":1,"b":{"c":2,"d":[1,2,3]},"t":[{"k":"x","n":1},{"k":"y","n":2},5,[{"k":"z"}]]}`
	for _, c := range []struct{ proj, filter, want string }{
		{`{}`, ``, d},
		{`{"a": 1}`, ``, `{"_id":1,"a":1}`},
		{`{"a": true, "_id": 0}`, ``, `{"a":1}`},
		{`{"t": 1, "a": 1}`, ``, `{"_id":1,"a":1,"t":[{"k":"x","n":1},{"k":"y","n":2},5,[{"k":"z"}]]}`},
		{`{"_id": 1}`, ``, `{"_id":1}`},
		{`{"_id": 0}`, ``, `{"a":1,"b":{"c":2,"d":[1,2,3]},"t":[{"k":"x","n":1},{"k":"y","n":2},5,[{"k":"z"}]]}`},
		{`{"zz": 1}`, ``, `{"_id":1}`},
		{`{"b.c": 1}`, ``, `{"_id":1,"b":{"c":2}}`},
		{`{"b": {"c": 1}}`, ``, `{"_id":1,"b":{"c":2}}`},
		{`{"b.zz": 1}`, ``, `{"_id":1,"b":{}}`},
		{`{"a.x": 1}`, ``, `{"_id":1}`},
		{`{"t.k": 1}`, ``, `{"_id":1,"t":[{"k":"x"},{"k":"y"},[{"k":"z"}]]}`},
		{`{"a": 0, "t": 0}`, ``, `{"_id":1,"b":{"c":2,"d":[1,2,3]}}`},
		{`{"t.k": 0, "b": 0}`, ``, `{"_id":1,"a":1,"t":[{"n":1},{"n":2},5,[{}]]}`},
		{`{"a.x": 0, "b": 0, "t": 0}`, ``, `{"_id":1,"a":1}`},
		{`{"b.d": {"$slice": 2}, "t": 0}`, ``, `{"_id":1,"a":1,"b":{"c":2,"d":[1,2]}}`},
		{`{"b.d": {"$slice": -2}, "a": 1}`, ``, `{"_id":1,"a":1,"b":{"d":[2,3]}}`},
		{`{"b.d": {"$slice": [1, 1]}, "a": 1}`, ``, `{"_id":1,"a":1,"b":{"d":[2]}}`},
		{`{"b.d": {"$slice": [-2, 1]}, "a": 1}`, ``, `{"_id":1,"a":1,"b":{"d":[2]}}`},
		{`{"b.d": {"$slice": [9, 1]}, "a": 1}`, ``, `{"_id":1,"a":1,"b":{"d":[]}}`},
		{`{"t": {"$elemMatch": {"n": 2}}}`, ``, `{"_id":1,"t":[{"k":"y","n":2}]}`},
		{`{"t": {"$elemMatch": {"$gt": 3}}, "a": 1}`, ``, `{"_id":1,"a":1,"t":[5]}`},
		{`{"t": {"$elemMatch": {"n": 9}}}`, ``, `{"_id":1}`},
		{`{"t.$": 1}`, `{"t.n": 2}`, `{"_id":1,"t":[{"k":"y","n":2}]}`},
		{`{"t.$": 1}`, `{"t": {"$elemMatch": {"k": "x"}}}`, `{"_id":1,"t":[{"k":"x","n":1}]}`},
		{`{"b.d.$": 1}`, `{"b.d": {"$gte": 2}}`, `{"_id":1,"b":{"d":[2]}}`},
		{`{"a": {"$add": ["$a", 1]}, "z": "$b.c", "q.r": {"$literal": 1}}`, ``, `{"_id":1,"a":2,"z":2,"q":{"r":1}}`},
	} {
		p, err := ParseProjection(doc(t, c.proj), nil)
		if err != nil {
			t.Errorf("%s: %v", c.proj, err)
			continue
		}
		if p.Positional() {
			p.SetFilter(filter(t, doc(t, c.filter)))
		}
		got, err := p.Apply([]byte("before"), doc(t, d))
		if err != nil || text(got[6:]) != c.want {
			t.Errorf("%s:\n got %s (%v)\nwant %s", c.proj, text(got[6:]), err, c.want)
		}
	}
}

func TestProjectionErrors(t *testing.T) {
	for _, c := range []struct {
		proj string
		code mongoerr.Code
	}{
		{`{"a": 1, "b": 0}`, 2},
		{`{"a": 0, "b": 1}`, 2},
		{`{"": 1}`, 2},
		{`{"a.": 1}`, 2},
		{`{"a": {}}`, 2},
		{`{"a": {"$nope": 1}}`, 2},
		{`{"a": {"$slice": "x"}}`, 2},
		{`{"a": {"$slice": [1, 0]}}`, 2},
		{`{"a": {"$slice": [1]}}`, 2},
		{`{"a": {"$elemMatch": 1}}`, 2},
		{`{"a.b": {"$elemMatch": {}}}`, 2},
		{`{"a.$": 0}`, 2},
		{`{"a.$": 1, "b.$": 1}`, 2},
		{`{"a.$.b": 1}`, 2},
		{`{"a": 1, "a.b": 1}`, 31249},
		{`{"a": {"$meta": "textScore"}}`, 115},
		{`{"a": 0, "b": "$c"}`, 2},
	} {
		_, err := ParseProjection(doc(t, c.proj), nil)
		if got := mongoerr.CodeOf(err); got != c.code {
			t.Errorf("%s: code %d (%v), want %d", c.proj, got, err, c.code)
		}
	}
	p, err := ParseProjection(doc(t, `{"a.$": 1}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	p.SetFilter(filter(t, doc(t, `{"b": 1}`)))
	if _, err := p.Apply(nil, doc(t, `{"a": [1], "b": 1}`)); mongoerr.CodeOf(err) != 2 {
		t.Errorf("a filter that walked no array: %v", err)
	}
}

func TestProjectionDeps(t *testing.T) {
	for _, c := range []struct{ proj, want string }{
		{`{"a": 1, "b.c": 1}`, "_id a b.c"},
		{`{"a": 1, "_id": 0}`, "a"},
		{`{"a": {"$add": ["$x.y", 1]}}`, "_id x.y"},
		{`{"a": 0}`, "whole"},
		{`{}`, "whole"},
		{`{"a": "$$ROOT"}`, "whole"},
		{`{"_id": 1}`, "_id"},
	} {
		p, err := ParseProjection(doc(t, c.proj), nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if p.Deps(func(s string) { got = append(got, s) }) {
			got = []string{"whole"}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.proj, got, c.want)
		}
	}
}
