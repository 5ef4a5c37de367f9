package script

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// allowedGlobals is everything that a script finds. A new name here has to be looked at by someone: what can it reach?
const allowedGlobals = `AggregateError Array ArrayBuffer BigInt BigInt64Array BigUint64Array BinData Boolean Code DBPointer DBRef DataView Date
Error EvalError Float32Array Float64Array Function GoError HexData ISODate Infinity Int16Array Int32Array Int8Array JSON MD5 Map Math MaxKey
MinKey NaN Number NumberDecimal NumberInt NumberLong Object ObjectID ObjectId Promise Proxy Random RangeError ReferenceError Reflect RegExp Set
String Symbol SyntaxError Timestamp TypeError URIError UUID Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakSet _rand assert
bsonBinaryEqual bsonWoCompare decodeURI decodeURIComponent doassert encodeURI encodeURIComponent escape eval gc globalThis hex_md5 isFinite
isNaN isNumber isNumberLong isObject isString parseFloat parseInt print printjson printjsononeline sleep tojson tojsonObject tojsononeline
undefined unescape`

func TestGlobals(t *testing.T) {
	v, err := eval(t, New(), "Object.getOwnPropertyNames(globalThis).join(' ')")
	if err != nil {
		t.Fatal(err)
	}
	got, allowed := strings.Fields(v.Str()), strings.Fields(allowedGlobals)
	for _, name := range got {
		if !slices.Contains(allowed, name) {
			t.Errorf("scripts can use %s", name)
		}
	}
	for _, name := range []string{"require", "process", "setTimeout", "setInterval", "queueMicrotask", "fetch", "console", "db", "load", "WebAssembly", "Worker", "SharedArrayBuffer", "Atomics", "importScripts"} {
		if v, err := eval(t, New(), "typeof "+name); err != nil || v.Str() != "undefined" {
			t.Errorf("%s: %v, %v", name, v, err)
		}
	}
	if _, err := eval(t, New(), "import('fs')"); err == nil {
		t.Error("import is understood")
	}
}

// TestNoGoValues: whatever a script can get hold of, starting from the global object, a document, its function's own
// objects and errors of every kind, is a JavaScript value or one of this package's.
func TestNoGoValues(t *testing.T) {
	r := New()
	r.SetNative("boom", func([]Value) (Value, error) {
		return nil, mongoerr.New(mongoerr.BadValue, "boom")
	})
	doc := value(t, `{"a": [{"$oid": "0123456789abcdef01234567"}, {"$numberLong": "5"}, {"$numberDecimal": "1.5"}, {"$date": {"$numberLong": "0"}},
		{"$regularExpression": {"pattern": "a", "options": ""}}, {"$timestamp": {"t": 1, "i": 1}}, {"$binary": {"base64": "AA==", "subType": "00"}}, {"$minKey": 1}, {"b": 1}]}`)
	if err := r.SetGlobal("doc", doc); err != nil {
		t.Fatal(err)
	}
	tries := []string{
		"boom()", "ObjectId('x')", "null.x", "tojson((function () { var a = []; a[0] = a; return a; })())", "new Array(-1)", "BigInt('x')", "JSON.parse('{')",
		"decodeURI('%')", "NumberDecimal('x')", "new Proxy({}, null)", "(function f() { f(); })()", "'x'.repeat(1e10)", "eval('(')", "assert(false)", "hex_md5(Symbol())",
	}
	global := r.vm.GlobalObject()
	roots := []Value{global}
	for _, src := range tries {
		v, err := r.vm.RunString("(function () { try { " + src + "; } catch (e) { return e; } })()")
		if err != nil {
			continue // not for a script to catch
		}
		roots = append(roots, v)
	}
	v, err := r.vm.RunString("[(function () { return arguments; })(1), (function* () {})(), new Map().entries(), [].values(), Promise.resolve(1), new Proxy({}, {}), 'a'.matchAll(/a/g), doc, function () {}, () => 1, class { static x = 1 }]")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[*goja.Object]bool{}
	for _, root := range append(roots, v) {
		walk(t, r, "", root, seen)
	}
	if len(seen) < 500 {
		t.Errorf("only %d objects were seen", len(seen))
	}
}

// walk looks at v and everything that its properties and prototypes lead to.
func walk(t *testing.T, r *Runtime, path string, v Value, seen map[*goja.Object]bool) {
	obj, ok := v.(*goja.Object)
	if !ok || seen[obj] || len(path) > 300 {
		return
	}
	seen[obj] = true
	if err := foreign(obj.ExportType()); err != nil {
		t.Errorf("%s: %v", path, err)
	}
	if p := obj.Prototype(); p != nil {
		walk(t, r, path+".__proto__", p, seen)
	}
	var names []string
	_ = r.vm.Try(func() { names = obj.GetOwnPropertyNames() })
	for _, name := range names {
		var next Value
		_ = r.vm.Try(func() { next = obj.Get(name) })
		if next != nil {
			walk(t, r, path+"."+name, next, seen)
		}
	}
}

// foreign refuses the types of Go that have methods or fields of their own, other than the interpreter's and this package's.
func foreign(typ reflect.Type) error {
	if typ == nil {
		return nil
	}
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map {
		typ = typ.Elem()
	}
	switch p := typ.PkgPath(); {
	case p == "" || p == "time" || p == "math/big" || strings.HasPrefix(p, "github.com/dop251/goja") || p == reflect.TypeFor[Runtime]().PkgPath():
		return nil
	}
	return errors.New("is a Go " + typ.String())
}

// TestErrorsKeepTheirCode: an error of a Go function has its code when it comes out, also one that was caught and thrown again.
func TestErrorsKeepTheirCode(t *testing.T) {
	r := New()
	r.SetNative("boom", func([]Value) (Value, error) { return nil, mongoerr.New(mongoerr.BSONObjectTooLarge, "boom") })
	for expr, want := range map[string]mongoerr.Code{
		"boom()": mongoerr.BSONObjectTooLarge,
		"(function () { try { boom(); } catch (e) { throw e; } })()":                                                  mongoerr.BSONObjectTooLarge,
		"(function () { try { boom(); } catch (e) { try { boom(); } catch (f) {} throw e; } })()":                     mongoerr.BSONObjectTooLarge,
		"(function () { try { boom(); } catch (e) { throw new Error(e.message); } })()":                               mongoerr.JSInterpreterFailure,
		"(function () { try { boom(); } catch (e) { e.value = {Code: 1}; e.code = 1; throw e; } })()":                 mongoerr.BSONObjectTooLarge,
		"(function () { var e = new GoError('x'); e.value = {Code: 11601}; throw e; })()":                             mongoerr.JSInterpreterFailure,
		"(function () { try { boom(); } catch (e) { if (e.value !== undefined) throw new TypeError(); } boom(); })()": mongoerr.BSONObjectTooLarge,
	} {
		if _, err := eval(t, r, expr); mongoerr.CodeOf(err) != want {
			t.Errorf("%s: %v", expr, err)
		}
	}
}

// TestInterruptInsideBuiltins: loops that go on inside of the interpreter's own functions end as well.
func TestInterruptInsideBuiltins(t *testing.T) {
	for name, src := range map[string]string{
		"sort":       "function () { for (;;) [3, 2, 1].sort(function () { for (;;) {} }); }",
		"replace":    "function () { 'aaa'.replace(/a/g, function () { for (;;) {} }); }",
		"toJSON":     "function () { JSON.stringify({toJSON: function () { for (;;) {} }}); }",
		"reviver":    "function () { JSON.parse('[1]', function () { for (;;) {} }); }",
		"getter":     "function () { return {get x() { for (;;) {} }}.x; }",
		"valueOf":    "function () { return +{valueOf: function () { for (;;) {} }}; }",
		"returned":   "function () { return {get x() { for (;;) {} }}; }",
		"proxy":      "function () { return new Proxy({}, {get: function () { for (;;) {} }}).x; }",
		"iterator":   "function () { var o = {}; o[Symbol.iterator] = function () { return {next: function () { return {done: false}; }}; }; for (var x of o) {} }",
		"spread":     "function () { var o = {}; o[Symbol.iterator] = function () { return {next: function () { for (;;) {} }}; }; return [...o]; }",
		"generator":  "function () { function* g() { for (;;) yield 1; } for (var x of g()) {} }",
		"promise":    "function () { function again() { Promise.resolve().then(again); } again(); for (;;) {} }",
		"eval":       "function () { eval('for (;;) {}'); }",
		"Function":   "function () { new Function('for (;;) {}')(); }",
		"tag":        "function () { (function () { for (;;) {} })`x`; }",
		"class":      "function () { class A { constructor() { for (;;) {} } } new A(); }",
		"toString":   "function () { throw {toString: function () { for (;;) {} }}; for (;;) {} }",
		"reduce":     "function () { [1, 2].reduce(function () { for (;;) {} }); }",
		"defaults":   "function () { (function (a = (function () { for (;;) {} })()) {})(); }",
		"tojson":     "function () { tojson({tojson: function () { for (;;) {} }}); }",
		"finally":    "function () { for (;;) { try { for (;;) {} } finally { continue; } } }",
		"Reflect":    "function () { Reflect.apply(function () { for (;;) {} }, null, []); }",
		"Array.from": "function () { Array.from([1], function () { for (;;) {} }); }",
	} {
		t.Run(name, func(t *testing.T) {
			r := New()
			f, err := r.Function("map", src)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
			defer cancel()
			defer r.Watch(ctx)()
			_, err = r.Call(f, bsonx.Value{})
			if code := mongoerr.CodeOf(err); code != mongoerr.MaxTimeMSExpired && (name != "toString" || code != mongoerr.JSInterpreterFailure) {
				t.Errorf("got %v", err)
			}
		})
	}
}
