package expr

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// doc reads extended JSON.
func doc(t testing.TB, s string) bsonx.Doc {
	t.Helper()
	var d bson.D
	if err := bson.UnmarshalExtJSON([]byte(s), false, &d); err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	b, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func value(t testing.TB, s string) bsonx.Value {
	t.Helper()
	return doc(t, `{"v": `+s+`}`).Get("v")
}

// text shows a value with its types.
func text(v bsonx.Value) string {
	if v.IsMissing() {
		return "missing"
	}
	b := bsonx.AppendElem([]byte{0, 0, 0, 0}, "v", v)
	b = bsonx.EndDoc(b, 0)
	j, err := bson.MarshalExtJSON(bson.Raw(b), true, false)
	if err != nil {
		return err.Error()
	}
	s := strings.TrimSuffix(strings.TrimPrefix(string(j), `{"v":`), "}")
	return s
}

func canonical(t testing.TB, s string) string {
	if s == "missing" {
		return s
	}
	return text(value(t, s))
}

type exprCase struct {
	expr string
	want string // extended JSON, or "missing"
	code mongoerr.Code
}

const testDoc = `{"_id": 1, "i": 5, "l": {"$numberLong": "7"}, "d": {"$numberDouble": "2.5"}, "s": "abc", "a": [1, 2, 3],
 "o": {"x": 1, "y": 2}, "b": false, "n": null, "t": {"$date": {"$numberLong": "1580702706123"}},
 "r": [{"x": 1}, {"x": [2, 3]}, {"y": 1}, 4, [{"x": 9}]], "u": "héllo wörld", "dec": {"$numberDecimal": "1.1"}}`

func run(t *testing.T, cases []exprCase) {
	t.Helper()
	root := doc(t, testDoc)
	for _, c := range cases {
		t.Run(c.expr, func(t *testing.T) {
			got, err := eval(t, c.expr, root, true)
			plain, perr := eval(t, c.expr, root, false)
			if mongoerr.CodeOf(err) != mongoerr.CodeOf(perr) || got != plain {
				t.Errorf("folding changes the result: %s (%v) and %s (%v)", got, err, plain, perr)
			}
			if c.code != 0 || err != nil {
				if mongoerr.CodeOf(err) != c.code {
					t.Fatalf("code %d (%v), result %s, want code %d", mongoerr.CodeOf(err), err, got, c.code)
				}
				return
			}
			if want := canonical(t, c.want); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func eval(t testing.TB, e string, root bsonx.Doc, fold bool) (string, error) {
	x, err := compileWith(value(t, e), nil, fold)
	if err != nil {
		return "", err
	}
	v, err := x.Eval(root)
	if err != nil {
		return "", err
	}
	return text(v), nil
}
