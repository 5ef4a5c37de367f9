package bsonx

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
)

// recorded is a file of commands and the replies a 4.0 server gave.
type recorded struct {
	Cases []struct {
		Name  string
		Steps []struct{ Cmd, Reply json.RawMessage }
	}
}

func readRecorded(t *testing.T, name string) recorded {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "testdata", "golden", name))
	if err != nil {
		t.Fatal(err)
	}
	var r recorded
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func extJSON(t *testing.T, b []byte) Doc {
	t.Helper()
	var d bson.Raw
	if err := bson.UnmarshalExtJSON(b, true, &d); err != nil {
		t.Fatal(err)
	}
	return Doc(d)
}

// ids lists the _ids of an array of documents.
func ids(docs Value) (out []string) {
	it := docs.Elems()
	for it.Next() {
		out = append(out, it.Value().Doc().Get("_id").String())
	}
	return out
}

// sortValue is what a sort compares of a document's v: an array stands for its
// smallest or largest element, an empty one for undefined.
func sortValue(d Doc, desc bool) Value {
	v := d.Get("v")
	if v.Type != TypeArray {
		return v
	}
	best := Undefined()
	it := v.Elems()
	for n := 0; it.Next(); n++ {
		if e := it.Value(); n == 0 || (Compare(e, best) < 0) != desc {
			best = e.Clone()
		}
	}
	return best
}

func TestSortOrderOfAServer(t *testing.T) {
	sorts := 0
	for _, c := range readRecorded(t, "order.json").Cases {
		var docs []Doc
		for _, s := range c.Steps {
			cmd, reply := extJSON(t, s.Cmd), extJSON(t, s.Reply)
			it := cmd.Get("documents")
			if it.Type == TypeArray {
				docs = docs[:0]
				e := it.Elems()
				for e.Next() {
					docs = append(docs, e.Value().Doc())
				}
			}
			sort := cmd.Get("sort")
			if sort.IsMissing() {
				continue
			}
			sorts++
			dir, _ := sort.Doc().Get("v").AsInt64()
			idDir, _ := sort.Doc().Get("_id").AsInt64()
			desc, idDesc := dir < 0, idDir < 0
			found := slices.Clone(docs)
			if f := cmd.Get("filter").Doc(); f.Len() > 0 { // {v: {$exists: true}}
				found = slices.DeleteFunc(found, func(d Doc) bool { return d.Get("v").IsMissing() })
			}
			slices.SortFunc(found, func(a, b Doc) int {
				ka := AppendKey(AppendKey(nil, sortValue(a, desc), desc), a.Get("_id"), idDesc)
				kb := AppendKey(AppendKey(nil, sortValue(b, desc), desc), b.Get("_id"), idDesc)
				return bytes.Compare(ka, kb)
			})
			var got []string
			for _, d := range found {
				got = append(got, d.Get("_id").String())
			}
			if want := ids(reply.Get("cursor").Doc().Get("firstBatch")); !slices.Equal(got, want) {
				t.Errorf("%s, sort %v:\n got %v\nwant %v", c.Name, sort, got, want)
			}
		}
	}
	if sorts == 0 {
		t.Error("no sort was compared")
	}
}

func TestExpressionRangesOfAServer(t *testing.T) {
	finds := 0
	for _, c := range readRecorded(t, "expr.json").Cases {
		var docs []Doc
		for _, s := range c.Steps {
			cmd, reply := extJSON(t, s.Cmd), extJSON(t, s.Reply)
			if v := cmd.Get("documents"); v.Type == TypeArray {
				docs = docs[:0]
				e := v.Elems()
				for e.Next() {
					docs = append(docs, e.Value().Doc())
				}
			}
			filter := cmd.Get("filter")
			if filter.IsMissing() {
				continue
			}
			and := filter.Doc().Get("$expr").Doc().Get("$and").Doc()
			bound := func(i, op string) Value { return and.Get(i).Doc().Get(op).Doc().Get("1").Doc().Get("$literal") }
			lo, hi := bound("0", "$gte"), bound("1", "$lt")
			var got []string
			for _, d := range docs {
				if v := d.Get("v"); CompareAgg(v, lo) >= 0 && CompareAgg(v, hi) < 0 {
					got = append(got, d.Get("_id").String())
				}
			}
			finds++
			if want := ids(reply.Get("cursor").Doc().Get("firstBatch")); !slices.Equal(got, want) {
				t.Errorf("%s [%v, %v):\n got %v\nwant %v", c.Name, lo, hi, got, want)
			}
		}
	}
	if finds == 0 {
		t.Error("no range was compared")
	}
}

func TestEverySampleSortsIntoItsBracket(t *testing.T) {
	// In the order of the brackets, each with members that do not decrease.
	order := []Value{
		MinKey(), Undefined(), Null(), Double(nan()), Double(-1e300), Int64(-1 << 62), Int32(-1), Double(-0.5), Int32(0), Double(0.5),
		decimal{lo: 5, exp: -1}.value(), Int32(1), Int64(1 << 53), Double(1 << 53), Int64(1<<53 + 1), decimal{lo: 1, exp: 40}.value(),
		Double(1e41), decimal{kind: decInf}.value(),
		String(""), String("A"), Symbol("A"), String("a"), String("a\x00"), String("aa"), DocValue(Empty), DocValue(samples()[18].Doc()),
		Array(), Array(Int32(1)), Array(Int32(1), Int32(2)), Binary(0, nil), Binary(0, []byte{1}), Binary(5, []byte{0}),
		ObjectID([12]byte{}), ObjectID([12]byte{1}), Bool(false), Bool(true), Date(-5), Date(0), Timestamp(0, 1), Timestamp(1, 0),
		Timestamp(1<<31, 0), Regex("a", ""), Regex("a", "i"), Regex("b", ""), DBPointer("a.b", [12]byte{}), JavaScript("a"),
		CodeWithScope("a", Empty), MaxKey(),
	}
	for i, a := range order {
		for j, b := range order {
			if got := Compare(a, b); (i < j && got > 0) || (i > j && got < 0) {
				t.Errorf("Compare(%v, %v) = %d", a, b, got)
			}
			if (i < j) && Canon(a.Type) != Canon(b.Type) && Compare(a, b) == 0 {
				t.Errorf("%v equals %v", a, b)
			}
		}
	}
	if Compare(Value{}, Null()) != 0 || CompareAgg(Value{}, Null()) >= 0 || CompareAgg(Value{}, Undefined()) != 0 || CompareAgg(Value{}, MinKey()) <= 0 {
		t.Error("a missing value is not where it belongs")
	}
}

func TestDocsCompareTypeNameValue(t *testing.T) {
	doc := func(pairs ...any) Doc {
		d := BeginDoc(nil)
		for i := 0; i < len(pairs); i += 2 {
			d = AppendElem(d, pairs[i].(string), pairs[i+1].(Value))
		}
		return EndDoc(d, 0)
	}
	ascending := []Doc{
		doc(), doc("b", Int32(1)), doc("a", String("x")), doc("a", String("x"), "b", Int32(1)), doc("a", String("y")), doc("b", String("a")),
	}
	for i, a := range ascending {
		for j, b := range ascending {
			if got := sign(CompareDocs(a, b)); got != sign(i-j) {
				t.Errorf("CompareDocs(%v, %v) = %d, want %d", a, b, got, sign(i-j))
			}
		}
	}
	if fmt.Sprint(doc("a", Int32(1), "b", Array(Double(1), String("x")))) != `{ a: 1, b: [ 1.0, "x" ] }` {
		t.Error("text of a document:", doc("a", Int32(1), "b", Array(Double(1), String("x"))))
	}
}
