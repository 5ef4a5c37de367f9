package bsonx

import "testing"

func benchValues() map[string]Value {
	return map[string]Value{
		"int32": Int32(654321), "int64": Int64(1 << 40), "double": Double(1234.5678), "wholeDouble": Double(654321),
		"string": String("Ada Lovelace"), "objectId": ObjectID([12]byte{1, 2, 3}), "decimal": decimal{lo: 1999, exp: -2}.value(),
		"doc": DocValue(EndDoc(AppendElem(AppendElem(BeginDoc(nil), "a", Int32(1)), "b", String("x")), 0)),
	}
}

func BenchmarkAppendKey(b *testing.B) {
	for name, v := range benchValues() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var buf [128]byte
			for b.Loop() {
				AppendKey(buf[:0], v, false)
			}
		})
	}
}

func BenchmarkAppendDecodedElem(b *testing.B) {
	for name, v := range benchValues() {
		key, tb := AppendKey(nil, v, false), TrimTypeBits(AppendTypeBits(nil, v))
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var buf [128]byte
			for b.Loop() {
				if _, _, _, err := AppendDecodedElem(buf[:0], "dim0", key, tb, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSkipKey(b *testing.B) {
	key := AppendKey(nil, Int32(654321), false)
	for b.Loop() {
		if _, err := SkipKey(key, false); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompare(b *testing.B) {
	for name, v := range benchValues() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			w := v.Clone()
			for b.Loop() {
				Compare(v, w)
			}
		})
	}
}

// benchDoc is a document of twelve mixed fields; the wanted one stands last.
func benchDoc() Doc {
	d := AppendElem(BeginDoc(nil), "_id", ObjectID([12]byte{1}))
	for _, n := range []string{"name", "city", "street", "email"} {
		d = AppendElem(d, n, String("some text of "+n))
	}
	for _, n := range []string{"age", "height", "weight", "visits", "score", "level"} {
		d = AppendElem(d, n, Int32(7))
	}
	return EndDoc(AppendElem(d, "dim0", Int32(7)), 0)
}

func BenchmarkGet(b *testing.B) {
	short := Doc(EndDoc(AppendElem(AppendElem(BeginDoc(nil), "_id", ObjectID([12]byte{1})), "dim0", Int32(7)), 0))
	for name, d := range map[string]Doc{"second": short, "last": benchDoc()} {
		b.Run(name+"/get", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d.Get("dim0")
			}
		})
		b.Run(name+"/finder", func(b *testing.B) {
			b.ReportAllocs()
			f := NewFinder("dim0")
			for b.Loop() {
				f.Get(d)
			}
		})
	}
}

func BenchmarkIter(b *testing.B) {
	d := benchDoc()
	b.ReportAllocs()
	for b.Loop() {
		walk(d)
	}
}

//go:noinline
func walk(d Doc) (n int) {
	it := d.Iter()
	for it.Next() {
		v := it.Value()
		n += len(v.Data) + int(v.Type)
	}
	return n
}

func BenchmarkValidate(b *testing.B) {
	d := benchDoc()
	b.SetBytes(int64(len(d)))
	b.ReportAllocs()
	for b.Loop() {
		if err := Validate(d, 200); err != nil {
			b.Fatal(err)
		}
	}
}
