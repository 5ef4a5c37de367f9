package query

import (
	"context"
	"slices"
	"testing"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

func TestSortKeys(t *testing.T) {
	for _, c := range []struct{ sort, less, more string }{
		{`{"a": 1}`, `{"a": 1}`, `{"a": 2}`},
		{`{"a": -1}`, `{"a": 2}`, `{"a": 1}`},
		{`{"a": 1}`, `{"a": []}`, `{}`},
		{`{"a": 1}`, `{"a": [9, 1]}`, `{"a": [2, 3]}`},
		{`{"a": -1}`, `{"a": [1, 9]}`, `{"a": [8, 2]}`},
		{`{"a.b": 1}`, `{"a": [{"b": 5}, {"b": 1}]}`, `{"a": {"b": 2}}`},
		{`{"a.b": 1}`, `{"a": [{"b": 5}, {}]}`, `{"a": {"b": 2}}`},
		{`{"a.0": 1}`, `{"a": [1, 9]}`, `{"a": [2, 0]}`},
		{`{"a.0.b": 1}`, `{"a": [{"b": 1}]}`, `{"a": [{"b": 2}, {"b": 0}]}`},
		// fields of one array take their values from one element
		{`{"a.x": 1, "a.y": 1}`, `{"a": [{"x": 1, "y": 5}, {"x": 2, "y": 0}]}`, `{"a": [{"x": 1, "y": 6}]}`},
		{`{"a.x": 1, "b": 1}`, `{"a": {"x": 1}, "b": 1}`, `{"a": {"x": 1}, "b": [2, 3]}`},
		{`{"a": 1}`, `{"a": [[1], 5]}`, `{"a": [[1]]}`},
	} {
		s, err := ParseSort(doc(t, c.sort))
		if err != nil {
			t.Fatal(err)
		}
		less, more := s.AppendKey(nil, doc(t, c.less)), s.AppendKey([]byte{1}, doc(t, c.more))[1:]
		if string(less) >= string(more) {
			t.Errorf("%s: %s is not before %s", c.sort, c.less, c.more)
		}
	}
}

func TestSortErrors(t *testing.T) {
	for _, c := range []struct {
		sort string
		code mongoerr.Code
	}{
		{`{"a": 2}`, 2}, {`{"a": 0}`, 2}, {`{"a": "x"}`, 2}, {`{"a": {"b": 1}}`, 2}, {`{"a": {"$meta": "textScore"}}`, 115}, {`{"": 1}`, 2}, {`{"a..b": 1}`, 2}, {`{"$a": 1}`, 16410},
	} {
		_, err := ParseSort(doc(t, c.sort))
		if got := mongoerr.CodeOf(err); got != c.code {
			t.Errorf("%s: code %d (%v), want %d", c.sort, got, err, c.code)
		}
	}
	if s, err := ParseSort(bsonx.Empty); s != nil || err != nil {
		t.Errorf("an empty sort is none: %v, %v", s, err)
	}
}

// listSource gives documents in blocks of three.
type listSource struct {
	docs   []bsonx.Doc
	closed bool
}

func (s *listSource) Next(context.Context) ([]bsonx.Doc, error) {
	n := min(3, len(s.docs))
	out := s.docs[:n]
	s.docs = s.docs[n:]
	return out, nil
}

func (s *listSource) Close() error { s.closed = true; return nil }

// TestSortInMemoryAndSpilled: a small memory limit changes nothing but where the documents wait.
func TestSortInMemoryAndSpilled(t *testing.T) {
	db := openDB(t)
	spec, err := ParseSort(doc(t, `{"a": 1}`))
	if err != nil {
		t.Fatal(err)
	}
	var docs, want []bsonx.Doc
	for i := range 3000 {
		docs = append(docs, newDoc().set("_id", bsonx.Int32(int32(i))).set("a", bsonx.Int32(int32(i*7919%1000))).doc())
	}
	want = slices.Clone(docs)
	slices.SortStableFunc(want, func(a, b bsonx.Doc) int { return int(a.Get("a").Int32() - b.Get("a").Int32()) })
	for _, memory := range []int64{1 << 12, 1 << 30} {
		for _, limit := range []int64{0, 1, 500, 5000, maxTop + 1} {
			src := &listSource{docs: docs}
			s := NewSort(src, spec, limit, db.SpillOptions(memory))
			var got []bsonx.Doc
			for {
				block, err := s.Next(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				if len(block) == 0 {
					break
				}
				for _, d := range block {
					got = append(got, slices.Clone(d))
				}
			}
			n := len(want)
			if limit > 0 {
				n = min(n, int(limit))
			}
			if !same(got, want[:n]) {
				t.Errorf("memory %d limit %d: %d documents in another order", memory, limit, len(got))
			}
			if err := s.Close(); err != nil || !src.closed {
				t.Errorf("close: %v, source closed %v", err, src.closed)
			}
		}
	}
}
