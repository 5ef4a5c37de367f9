package script

import (
	"testing"

	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"

	"mrbench/internal/embedded/bsonx"
)

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		New()
	}
}

// BenchmarkMapEmit is one map call with one emit per operation.
func BenchmarkMapEmit(b *testing.B) {
	r := New()
	sum, buf := 0.0, make([]byte, 0, 64)
	r.SetNative("emit", func(args []Value) (Value, error) {
		_, buf = r.ThrowValue(buf[:0], args[0])
		_, buf = r.ThrowValue(buf, args[1])
		sum += args[1].ToFloat()
		return nil, nil
	})
	f, err := r.Function("map", "function () { emit(this.dim0, 1); }")
	if err != nil {
		b.Fatal(err)
	}
	docs := make([]bsonx.Doc, 1000)
	for i := range docs {
		docs[i] = bsonx.Doc(bsoncore.NewDocumentBuilder().AppendInt32("_id", int32(i)).AppendInt32("dim0", int32(i*7919)).Build())
	}
	this := r.NewThis()
	i := 0
	step := func() error {
		_, err := r.Invoke(f, this.Show(docs[i%len(docs)]))
		i++
		return err
	}
	b.Run("each by itself", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := step(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("inside", func(b *testing.B) {
		b.ReportAllocs()
		if err := r.Inside(func() (bool, error) {
			if !b.Loop() {
				return false, nil
			}
			return true, step()
		}); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkReduceTen is one reduce of ten numbers per operation.
func BenchmarkReduceTen(b *testing.B) {
	for name, src := range map[string]string{
		"sum":  "function (k, v) { return Array.sum(v); }",
		"loop": "function (k, v) { var n = 0; for (var i = 0; i < v.length; i++) n += v[i]; return n; }",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			r := New()
			f, err := r.Function("reduce", src)
			if err != nil {
				b.Fatal(err)
			}
			values := r.NewValues()
			key := r.ToJS(bsonx.Double(5))
			for b.Loop() {
				values.Reset()
				for range 10 {
					values.AddNumber(1)
				}
				if _, err := r.Invoke(f, r.Undefined(), key, values.Object()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
