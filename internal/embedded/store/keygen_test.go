package store

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// Each test of testdata/keygen gives an index specification in its arguments and documents as input; the output is
// the entries of each document and the fields that it makes multikey.
func TestKeyGen(t *testing.T) {
	if _, err := os.Stat("testdata/keygen"); err != nil {
		t.Fatal(err)
	}
	db := &DB{o: Options{CompileFilter: hasFields}}
	datadriven.RunTest(t, "testdata/keygen", func(t *testing.T, d *datadriven.TestData) string {
		lines := strings.Split(strings.TrimSpace(d.Input), "\n")
		ix, err := db.parseIndex(testNS, jdoc(t, `{"name":"ix","key":%s}`, lines[0]))
		if err != nil {
			return err.Error() + "\n"
		}
		for _, a := range d.CmdArgs {
			switch a.Key {
			case "sparse":
				ix.Sparse = true
			case "partial":
				ix.pred, _ = hasFields(jdoc(t, `{%q:1}`, a.Vals[0]))
			}
		}
		var out strings.Builder
		g := newKeyGen(ix)
		for _, line := range lines[1:] {
			if err := g.make(jdoc(t, "%s", line)); err != nil {
				fmt.Fprintf(&out, "error %d: %v\n", mongoerr.CodeOf(err), err)
				continue
			}
			var keys []string
			for k := range g.keys {
				keys = append(keys, keyText(t, ix, g.key(k), g.bits(k)))
			}
			text := strings.Join(keys, " ")
			if text == "" {
				text = "none"
			}
			if g.mask != 0 {
				text += fmt.Sprintf(" multikey=%0*b", len(ix.Fields), g.mask)
			}
			fmt.Fprintln(&out, text)
		}
		return out.String()
	})
}

// hasFields compiles a filter {a: anything, …} to "has these fields".
func hasFields(f bsonx.Doc) (func(bsonx.Doc) bool, error) {
	return func(d bsonx.Doc) bool {
		it := f.Iter()
		for it.Next() {
			if d.Get(string(it.Name())).IsMissing() {
				return false
			}
		}
		return true
	}, nil
}

func keyText(t testing.TB, ix *Index, key, bits []byte) string {
	t.Helper()
	var fields []string
	for _, f := range ix.Fields {
		v, k, b, err := bsonx.DecodeKey(key, bits, f.Desc)
		if err != nil {
			t.Fatal(err)
		}
		text := v.String()
		if v.IsMissing() {
			text = "missing"
		}
		fields = append(fields, text)
		key, bits = k, b
	}
	if len(key) > 0 {
		t.Fatalf("bytes left: %x", key)
	}
	return "(" + strings.Join(fields, ", ") + ")"
}
