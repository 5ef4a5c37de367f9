package script

import (
	"context"
	"testing"
	"time"

	"mrbench/internal/embedded/bsonx"
)

// FuzzSource: no text of a function does worse than fail to compile, or fail when it is called: it ends in time, and what it
// returns is well-formed BSON.
func FuzzSource(f *testing.F) {
	for _, src := range []string{
		"function () { emit(this.dim0, 1); }", "function (k, vs) { return Array.sum(vs); }", "x => x * 2", "return 1", "this.a + 1;", "function f(a, {b}, ...c) { return [a, b, c]; }",
		"function () { for (var i = 0; i < 1e9; i++) {} }", "function () { throw {a: 1}; }", "function () { return NumberLong(5) + ObjectId(); }", "function () { return new Date(1e20); }",
		"function () { var a = {}; a.a = a; return a; }", "function () { return eval('1+1'); }", "function () { return /(?=a)b/.exec('b'); }", "((((((((((1))))))))))",
		"function () { return tojson({a: [1, NumberInt(2), BinData(0, 'AAAA'), Timestamp(1, 2), MinKey]}); }", "function () { return this.a['b'].c; } // x", "async () => 1", "function* () { yield 1; }",
		"function () { return `${this.s}` ?? 1; }", "\x00", "function () { 'use strict'; undefined.x }", "function () { return Function('return 1')(); }", "function () { return isNumber(hex_md5('a')); }",
	} {
		f.Add(src)
	}
	d := bsonx.EndDoc(bsonx.AppendElem(bsonx.AppendElem(bsonx.BeginDoc(nil), "a", bsonx.Int32(1)), "s", bsonx.String("text")), 0)
	f.Fuzz(func(t *testing.T, src string) {
		r := New()
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		stop := r.Watch(ctx)
		defer stop()
		fn, err := r.Function("f", src)
		if err != nil {
			return
		}
		v, err := r.Call(fn, bsonx.DocValue(d), bsonx.Int32(1), bsonx.Array(bsonx.Int32(1), bsonx.Int64(2)))
		if err != nil || v.IsMissing() {
			return
		}
		out := bsonx.EndDoc(bsonx.AppendElem(bsonx.BeginDoc(nil), "v", v), 0)
		if err := bsonx.Validate(out, 400); err != nil {
			t.Fatalf("%q gave a malformed value: %v", src, err)
		}
	})
}
