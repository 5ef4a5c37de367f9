package bsonx

import (
	"bytes"
	"testing"
)

// FuzzKeyOrder: the keys of the first two values of any document order as the values do.
func FuzzKeyOrder(f *testing.F) {
	for _, pair := range [][2]Value{
		{Int32(1), Double(1)},
		{Int64(1<<53 + 1), Double(1 << 53)},
		{String("a"), String("a\x00b")},
		{Null(), Undefined()},
		{Array(Int32(1)), Array(Int32(1), Null())},
		{DocValue(Empty), ArrayValue(Empty)},
		{Binary(0, []byte("a")), Binary(5, nil)},
		{Double(0.1), decimal{lo: 1, exp: -1}.value()},
		{MinKey(), MaxKey()},
		{Regex("a", "i"), Regex("ai", "")},
		{Timestamp(1, 2), Date(1)},
	} {
		f.Add(EndDoc(AppendElem(AppendElem(BeginDoc(nil), "a", pair[0]), "b", pair[1]), 0))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if Validate(b, 50) != nil {
			return
		}
		it := Doc(b).Iter()
		if !it.Next() {
			return
		}
		x := it.Value()
		if !it.Next() {
			return
		}
		y := it.Value()
		kx, ky := AppendKey(nil, x, false), AppendKey(nil, y, false)
		want := sign(Compare(x, y))
		if got := bytes.Compare(kx, ky); got != want || Compare(y, x) != -Compare(x, y) {
			t.Fatalf("keys of %v and %v order %d, values %d\n%x\n%x", x, y, got, want, kx, ky)
		}
		if got := bytes.Compare(AppendKey(nil, x, true), AppendKey(nil, y, true)); got != -want {
			t.Fatalf("descending keys of %v and %v order %d", x, y, got)
		}
		if n, err := SkipKey(kx, false); err != nil || n != len(kx) {
			t.Fatalf("SkipKey of %v: %d of %d, %v", x, n, len(kx), err)
		}
	})
}
