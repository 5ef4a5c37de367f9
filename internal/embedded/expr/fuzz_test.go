package expr

import (
	"bytes"
	"testing"

	"mrbench/internal/embedded/bsonx"
)

// FuzzCompile: any document is an expression or an error; what compiles evaluates to a well-formed value or fails,
// and folding changes only when: an operator over constants that fails does so at compiling, as on a 4.0 server.
func FuzzCompile(f *testing.F) {
	for _, s := range []string{
		`{"$add": ["$i", 1]}`, `{"$cond": [{"$gt": ["$i", 3]}, "$a", "$$ROOT"]}`, `{"$map": {"input": "$a", "as": "x", "in": {"$pow": ["$$x", 2]}}}`,
		`{"$dateToString": {"date": "$t", "format": "%Y %j %U"}}`, `{"$regexFindAll": {"input": "$s", "regex": "b*"}}`, `{"$zip": {"inputs": ["$a", "$a"]}}`,
		`{"$convert": {"input": "$dec", "to": "string"}}`, `{"$substrCP": ["$u", 1, 2]}`, `{"$let": {"vars": {"x": "$o"}, "in": "$$x.y"}}`,
		`{"$switch": {"branches": [{"case": "$b", "then": 1}], "default": {"$round": ["$d", 1]}}}`, `{"$sortArray": {"input": "$r", "sortBy": {"x": 1}}}`,
		`{"$dateTrunc": {"date": "$t", "unit": "week", "binSize": 3}}`, `{"$slice": ["$a", -2, 9]}`, `{"$range": [0, 5, 2]}`, `{"$setUnion": ["$a", [1]]}`,
	} {
		f.Add([]byte(doc(f, s)))
	}
	root := doc(f, testDoc)
	f.Fuzz(func(t *testing.T, b []byte) {
		if bsonx.Validate(b, 100) != nil {
			return
		}
		e, err := Compile(bsonx.DocValue(b), nil)
		plain, perr := compileWith(bsonx.DocValue(b), nil, false)
		if err == nil && perr != nil {
			t.Fatalf("compiled only with folding: %v", perr)
		}
		if err != nil {
			return
		}
		v, err := e.Eval(root)
		w, perr := plain.Eval(root)
		if (err == nil) != (perr == nil) {
			t.Fatalf("folding decides about failing: %v, %v", err, perr)
		}
		if err != nil || v.IsMissing() {
			return
		}
		d := bsonx.EndDoc(bsonx.AppendElem(bsonx.BeginDoc(nil), "v", v), 0)
		if err := bsonx.Validate(d, 300); err != nil {
			t.Fatalf("%s: %v", bsonx.DocValue(b), err)
		}
		if !bytes.Contains(b, []byte("rand")) && !bytes.Contains(b, []byte("NOW")) && (v.Type != w.Type || !bytes.Equal(v.Data, w.Data)) {
			t.Fatalf("%s: folded %s, not folded %s", bsonx.DocValue(b), v, w)
		}
	})
}
