package script

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// value parses the extended JSON of one value.
func value(t testing.TB, text string) bsonx.Value {
	t.Helper()
	var d bson.Raw
	if err := bson.UnmarshalExtJSON([]byte(`{"v":`+text+`}`), true, &d); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return bsonx.Doc(d).Get("v")
}

// text is the canonical extended JSON of a value.
func text(t testing.TB, v bsonx.Value) string {
	t.Helper()
	if v.IsMissing() {
		return "missing"
	}
	d := bson.Raw(build("v", v))
	out, err := bson.MarshalExtJSON(d, true, false)
	if err != nil {
		t.Fatal(err)
	}
	var m struct{ V json.RawMessage }
	if err := json.Unmarshal(out, &m); err != nil {
		t.Fatal(err)
	}
	return string(m.V)
}

func build(name string, v bsonx.Value) bsonx.Doc {
	b := bsonx.AppendElem([]byte{0, 0, 0, 0}, name, v)
	b = append(b, 0)
	b[0], b[1], b[2] = byte(len(b)), byte(len(b)>>8), byte(len(b)>>16)
	return b
}

// eval runs an expression and gives its BSON.
func eval(t testing.TB, r *Runtime, expr string) (bsonx.Value, error) {
	t.Helper()
	f, err := r.Function("f", "function () { return ("+expr+"); }")
	if err != nil {
		return bsonx.Value{}, err
	}
	return r.Call(f, bsonx.Value{})
}

func TestExpressions(t *testing.T) {
	for _, c := range []struct{ expr, want string }{
		{`1`, `{"$numberDouble":"1.0"}`},
		{`-0`, `{"$numberDouble":"-0.0"}`},
		{`NaN`, `{"$numberDouble":"NaN"}`},
		{`"é€"`, `"é€"`},
		{`null`, `null`},
		{`undefined`, `missing`},
		{`true`, `true`},
		{`NumberLong(5)`, `{"$numberLong":"5"}`},
		{`new NumberLong("9007199254740993")`, `{"$numberLong":"9007199254740993"}`},
		{`NumberLong(5) + 1`, `{"$numberDouble":"6.0"}`},
		{`typeof NumberLong(5)`, `"object"`},
		{`NumberLong(0) ? 1 : 2`, `{"$numberDouble":"1.0"}`},
		{`"" + NumberLong(5).toString()`, `"NumberLong(5)"`},
		{`NumberLong("9007199254740993").toString()`, `"NumberLong(\"9007199254740993\")"`},
		{`NumberLong(7).toNumber()`, `{"$numberDouble":"7.0"}`},
		{`NumberLong("4294967298").top`, `{"$numberDouble":"1.0"}`},
		{`NumberLong("4294967298").bottom`, `{"$numberDouble":"2.0"}`},
		{`NumberLong("4294967298").floatApprox`, `{"$numberDouble":"4.294967298E+09"}`},
		{`NumberLong(3) instanceof NumberLong`, `true`},
		{`NumberInt(7)`, `{"$numberInt":"7"}`},
		{`NumberInt(7) * 2`, `{"$numberDouble":"14.0"}`},
		{`NumberDecimal("1.50")`, `{"$numberDecimal":"1.50"}`},
		{`ObjectId("0123456789abcdef01234567")`, `{"$oid":"0123456789abcdef01234567"}`},
		{`ObjectId("0123456789abcdef01234567").str`, `"0123456789abcdef01234567"`},
		{`ObjectId("000000010000000000000000").getTimestamp()`, `{"$date":{"$numberLong":"1000"}}`},
		{`ObjectId("000000010000000000000000").equals(ObjectId("000000010000000000000000"))`, `true`},
		{`new Date(1234)`, `{"$date":{"$numberLong":"1234"}}`},
		{`ISODate("2020-02-03T04:05:06Z")`, `{"$date":{"$numberLong":"1580702706000"}}`},
		{`ISODate("2020-02-03")`, `{"$date":{"$numberLong":"1580688000000"}}`},
		{`Timestamp(1, 2)`, `{"$timestamp":{"t":1,"i":2}}`},
		{`Timestamp(1, 2).t + Timestamp(1, 2).i`, `{"$numberDouble":"3.0"}`},
		{`BinData(0, "AAEC")`, `{"$binary":{"base64":"AAEC","subType":"00"}}`},
		{`UUID("00112233-4455-6677-8899-aabbccddeeff").toString()`, `"UUID(\"00112233-4455-6677-8899-aabbccddeeff\")"`},
		{`/ab/i`, `{"$regularExpression":{"pattern":"ab","options":"i"}}`},
		{`MinKey`, `{"$minKey":1}`},
		{`MaxKey()`, `{"$maxKey":1}`},
		{`[1, "x", [2], {a: 3}]`, `[{"$numberDouble":"1.0"},"x",[{"$numberDouble":"2.0"}],{"a":{"$numberDouble":"3.0"}}]`},
		{`({z: 1, a: {y: undefined}})`, `{"z":{"$numberDouble":"1.0"},"a":{"y":{"$undefined":true}}}`},
		{`({a: 1, _id: 2})`, `{"_id":{"$numberDouble":"2.0"},"a":{"$numberDouble":"1.0"}}`},
		{`({f: function () { return 1; }})`, `{"f":{"$code":"function () { return 1; }"}}`},
		{`new Number(3)`, `{"$numberDouble":"3.0"}`},
		{`new Boolean(false)`, `false`},
		{`new String("s")`, `"s"`},
		{`DBRef("c", 1)`, `{"$ref":"c","$id":{"$numberDouble":"1.0"}}`},
		{`Array.sum([1, 2, 3.5])`, `{"$numberDouble":"6.5"}`},
		{`Array.sum([])`, `null`},
		{`Array.sum([NumberLong(5)])`, `{"$numberLong":"5"}`},
		{`Array.sum(["a", "b"])`, `"ab"`},
		{`Array.sum([1, 2, "b", 3])`, `"3b3"`},
		{`Array.sum([1, "b"])`, `"1b"`},
		{`Array.sum([NumberLong(5), 1])`, `{"$numberDouble":"6.0"}`},
		{`Array.sum([1, null, 2])`, `{"$numberDouble":"3.0"}`},
		{`Array.sum([1, undefined])`, `{"$numberDouble":"NaN"}`},
		{`Array.avg([1, 2, 6])`, `{"$numberDouble":"3.0"}`},
		{`Array.stdDev([1, 2, 3, 4])`, `{"$numberDouble":"1.118033988749895"}`},
		{`Array.contains([1, 2], 2)`, `true`},
		{`Array.unique([1, 1, 2])`, `[{"$numberDouble":"1.0"},{"$numberDouble":"2.0"}]`},
		{`Array.shuffle([3, 3, 3])`, `[{"$numberDouble":"3.0"},{"$numberDouble":"3.0"},{"$numberDouble":"3.0"}]`},
		{`Object.keySet({x: 1, y: 2}).length`, `{"$numberDouble":"2.0"}`},
		{`Object.extend({a: 1}, {b: {c: 2}}, true)`, `{"a":{"$numberDouble":"1.0"},"b":{"c":{"$numberDouble":"2.0"}}}`},
		{`hex_md5("a")`, `"0cc175b9c0f1b6a831c399e269772661"`},
		{`tojson({a: 1, b: 'x'})`, `"{ \"a\" : 1, \"b\" : \"x\" }"`},
		{
			`tojson([1, 'x', null, true, {a: NumberLong(3), d: new Date(0), o: ObjectId('000000000000000000000001')}])`,
			`"[\n\t1,\n\t\"x\",\n\tnull,\n\ttrue,\n\t{\n\t\t\"a\" : NumberLong(3),\n\t\t\"d\" : ISODate(\"1970-01-01T00:00:00Z\"),\n\t\t\"o\" : ObjectId(\"000000000000000000000001\")\n\t}\n]"`,
		},
		{`tojsononeline({a: 1, b: [1, 2]})`, `"{  \"a\" : 1,  \"b\" : [ 1, 2 ] }"`},
		{`tojson({})`, `"{ }"`},
		{`tojson("q\"\n")`, `"\"q\\\"\\n\""`},
		{`isNumber(5) && isString("x") && isObject({})`, `true`},
		{`JSON.stringify({n: NumberLong(5), o: ObjectId("000000010000000000000000")})`, `"{\"n\":{\"$numberLong\":\"5\"},\"o\":{\"$oid\":\"000000010000000000000000\"}}"`},
		{`bsonWoCompare({a: 1}, {a: NumberLong(2)})`, `{"$numberDouble":"-1.0"}`},
		{`eval("1 + 1")`, `{"$numberDouble":"2.0"}`},
		{`new Function("a", "return a + 1")(2)`, `{"$numberDouble":"3.0"}`},
		{`typeof require + typeof process + typeof console`, `"undefinedundefinedundefined"`},
		{`"x".pad(3)`, `"  x"`},
		{`new Uint8Array([1, 2])[1] + Uint8Array.from([5])[0] + Uint8Array.BYTES_PER_ELEMENT`, `{"$numberDouble":"8.0"}`},
		{`new Uint8Array(2) instanceof Uint8Array`, `true`},
		{`[3, 1, 2].sort().map(function (x) { return x * 2; }).indexOf(4)`, `{"$numberDouble":"1.0"}`},
		{`(function () {}) instanceof Function && Function.prototype === Object.getPrototypeOf(function () {})`, `true`},
		{`Function.prototype.constructor === Function`, `true`},
	} {
		r := New()
		got, err := eval(t, r, c.expr)
		if err != nil {
			t.Errorf("%s: %v", c.expr, err)
			continue
		}
		want := c.want
		var a, b any
		gotText := text(t, got)
		if gotText != want && (json.Unmarshal([]byte(gotText), &a) != nil || json.Unmarshal([]byte(want), &b) != nil || !sameJSON(a, b)) {
			t.Errorf("%s = %s, want %s", c.expr, gotText, want)
		}
	}
}

func sameJSON(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

func TestRoundTrip(t *testing.T) {
	r := New()
	id, err := r.Function("f", "function (x) { return x; }")
	if err != nil {
		t.Fatal(err)
	}
	touched, err := r.Function("f", "function (x) { for (var k in x) x[k]; return x; }")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ in, plain, touched string }{
		{`{"$numberInt":"1"}`, `{"$numberDouble":"1.0"}`, ""},
		{`{"$numberLong":"2"}`, `{"$numberLong":"2"}`, ""},
		{`{"$numberDecimal":"1.50"}`, `{"$numberDecimal":"1.50"}`, ""},
		{`{"$timestamp":{"t":1,"i":2}}`, `{"$timestamp":{"t":1,"i":2}}`, ""},
		{`{"$binary":{"base64":"AAEC","subType":"00"}}`, `{"$binary":{"base64":"AAEC","subType":"00"}}`, ""},
		{`{"$minKey":1}`, `{"$minKey":1}`, ""},
		{`{"$maxKey":1}`, `{"$maxKey":1}`, ""},
		{`{"$symbol":"s"}`, `"s"`, ""},
		{`{"$regularExpression":{"pattern":"a.b","options":"im"}}`, `{"$regularExpression":{"pattern":"a.b","options":"im"}}`, ""},
		{`{"$regularExpression":{"pattern":"(?P<x>a)","options":"sx"}}`, `{"$regularExpression":{"pattern":"(?P<x>a)","options":"sx"}}`, ""},
		{`{"$code":"function () { return 1; }"}`, `{"$code":"function () { return 1; }"}`, ""},
		{`{"$dbPointer":{"$ref":"a.b","$id":{"$oid":"0123456789abcdef01234567"}}}`, `{"$dbPointer":{"$ref":"a.b","$id":{"$oid":"0123456789abcdef01234567"}}}`, ""},
		{
			`{"a":{"$numberInt":"1"},"b":{"c":{"$numberInt":"2"}},"d":[{"$numberInt":"3"}]}`,
			`{"a":{"$numberInt":"1"},"b":{"c":{"$numberInt":"2"}},"d":[{"$numberInt":"3"}]}`,
			`{"a":{"$numberInt":"1"},"b":{"c":{"$numberInt":"2"}},"d":[{"$numberDouble":"3.0"}]}`,
		},
		{`[{"$numberInt":"1"},{"a":{"$numberInt":"2"}}]`, `[{"$numberDouble":"1.0"},{"a":{"$numberInt":"2"}}]`, ""},
	} {
		got, err := r.Call(id, bsonx.Value{}, value(t, c.in))
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if text(t, got) != c.plain {
			t.Errorf("%s came back as %s, want %s", c.in, text(t, got), c.plain)
		}
		if c.touched == "" {
			continue
		}
		if got, err = r.Call(touched, bsonx.Value{}, value(t, c.in)); err != nil || text(t, got) != c.touched {
			t.Errorf("%s touched came back as %s (%v), want %s", c.in, text(t, got), err, c.touched)
		}
	}
}

func TestDocumentChanges(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{`x.n = 5; return x;`, `{"a":{"$numberInt":"1"},"s":"t","o":{"p":{"$numberInt":"2"}},"n":{"$numberDouble":"5.0"}}`},
		{`x.a = 1; return x;`, `{"a":{"$numberInt":"1"},"s":"t","o":{"p":{"$numberInt":"2"}}}`},
		{`x.a = 1.5; return x;`, `{"a":{"$numberDouble":"1.5"},"s":"t","o":{"p":{"$numberInt":"2"}}}`},
		{`delete x.a; return x;`, `{"s":"t","o":{"p":{"$numberInt":"2"}}}`},
		{`delete x.a; x.a = "b"; return x;`, `{"a":"b","s":"t","o":{"p":{"$numberInt":"2"}}}`},
		{`x.o.p = "q"; return x;`, `{"a":{"$numberInt":"1"},"s":"t","o":{"p":"q"}}`},
		{`x.q = 1; delete x.q; return x;`, `{"a":{"$numberInt":"1"},"s":"t","o":{"p":{"$numberInt":"2"}}}`},
		{`return Object.keys(x).join();`, `"a,s,o"`},
		{`return "a" in x && !("b" in x) && x.hasOwnProperty("s");`, `true`},
		{`return x.o === x.o;`, `true`},
		{`return JSON.stringify(x);`, `"{\"a\":1,\"s\":\"t\",\"o\":{\"p\":2}}"`},
		{`return tojson(x);`, `"{ \"a\" : 1, \"s\" : \"t\", \"o\" : { \"p\" : 2 } }"`},
	} {
		r := New()
		f, err := r.Function("f", "function (x) {"+c.body+"}")
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Call(f, bsonx.Value{}, value(t, `{"a":{"$numberInt":"1"},"s":"t","o":{"p":{"$numberInt":"2"}}}`))
		if err != nil || text(t, got) != c.want {
			t.Errorf("%s gives %s (%v), want %s", c.body, text(t, got), err, c.want)
		}
	}
}

func TestFunctionForms(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{`function () { return 1; }`, `{"$numberDouble":"1.0"}`},
		{`function () { return 1; };  `, `{"$numberDouble":"1.0"}`},
		{"function () { return 1; } // done", `{"$numberDouble":"1.0"}`},
		{"/* first */ function () { return 1; }", `{"$numberDouble":"1.0"}`},
		{"  \n function named(a) { return typeof named; }", `"function"`},
		{`() => 1`, `{"$numberDouble":"1.0"}`},
		{`(() => { return 1; })`, `{"$numberDouble":"1.0"}`},
		{`17`, `{"$numberDouble":"17.0"}`},
		{`return 3`, `{"$numberDouble":"3.0"}`},
		{`var a = 2; a + 1`, `{"$numberDouble":"3.0"}`},
		{`if (true) return 4; return 5;`, `{"$numberDouble":"4.0"}`},
	} {
		r := New()
		f, err := r.Function("map", c.src)
		if err != nil {
			t.Errorf("%q: %v", c.src, err)
			continue
		}
		got, err := r.Call(f, bsonx.Value{})
		if err != nil || text(t, got) != c.want {
			t.Errorf("%q gives %s (%v), want %s", c.src, text(t, got), err, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		src, want string
		code      mongoerr.Code
	}{
		{"function () { throw 'x'; }", "uncaught exception: x :\nmap@:1:", 139},
		{"function () { throw new Error('no'); }", "Error: no :\nmap@:1:", 139},
		{"function () {\n  null.x; }", "TypeError: ", 139},
		{"function () {\n  null.x; }", "map@:2:", 139},
		{"function () { nope(); }", "ReferenceError: nope is not defined :\nmap@:1:19", 139},
		{"function () { var a = {}; a.a = a; return a; }", "depth", 17279},
		{"function () { return f(); function f() { return f(); } }", "too much recursion", 139},
		{"function () { throw {get message() { throw 1; }}; }", "uncaught exception", 139},
		{"function () { throw Object.create(Error.prototype, {message: {get: function () { throw 1; }}}); }", "uncaught exception", 139},
	} {
		r := New()
		f, err := r.Function("map", c.src)
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Call(f, bsonx.Value{})
		if mongoerr.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q (%d), want %q (%d)", c.src, err, mongoerr.CodeOf(err), c.want, c.code)
		}
	}
	for _, src := range []string{"function () { emit(this.dim0, 1", "function () { } }", "var", strings.Repeat("(", 1<<19), strings.Repeat("!", 1<<19) + "1"} {
		if _, err := New().Function("map", src); mongoerr.CodeOf(err) != 139 {
			t.Errorf("%.30q: %v", src, err)
		}
	}
}

func TestScopeFunctionsAndState(t *testing.T) {
	r := New()
	if err := r.SetGlobal("twice", value(t, `{"$code":"function (x) { return 2 * x; }"}`)); err != nil {
		t.Fatal(err)
	}
	if err := r.SetGlobal("cfg", value(t, `{"names":["even","odd"]}`)); err != nil {
		t.Fatal(err)
	}
	f, err := r.Function("f", "function () { if (typeof n === 'undefined') n = 0; n++; return cfg.names[n % 2] + twice(n); }")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"odd2"`, `"even4"`} {
		got, err := r.Call(f, bsonx.Value{})
		if err != nil || text(t, got) != want {
			t.Errorf("%s (%v), want %s", text(t, got), err, want)
		}
	}
}

func TestInterrupt(t *testing.T) {
	for name, src := range map[string]string{
		"loop":      "function () { for (;;) {} }",
		"caught":    "function () { for (;;) { try { for (;;) {} } catch (e) {} } }",
		"finally":   "function () { try { for (;;) {} } finally { for (;;) {} } }",
		"helper":    "function () { Array.sum({length: 2e9}); }",
		"sleep":     "function () { sleep(1e9); }",
		"callbacks": "function () { [1].forEach(function g() { for (;;) [1].forEach(function () {}); }); }",
	} {
		t.Run(name, func(t *testing.T) {
			r := New()
			f, err := r.Function("map", src)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
			defer cancel()
			stop := r.Watch(ctx)
			_, err = r.Call(f, bsonx.Value{})
			if mongoerr.CodeOf(err) != mongoerr.MaxTimeMSExpired {
				t.Errorf("got %v", err)
			}
			stop()
			if v, err := eval(t, r, "1"); err != nil || text(t, v) != `{"$numberDouble":"1.0"}` {
				t.Errorf("the runtime is of no use afterwards: %v", err)
			}
		})
	}
}

func TestThisShowsOneDocumentAfterTheOther(t *testing.T) {
	r := New()
	f, err := r.Function("map", "function () { var s = this.a + ',' + this.b; this.a = 7; this.c = 8; delete this.b; return s + ',' + this.c + (typeof keep); }")
	if err != nil {
		t.Fatal(err)
	}
	this := r.NewThis()
	for i, doc := range []string{`{"a":1,"b":2}`, `{"a":3}`, `{"b":4,"c":5}`} {
		want := []string{"1,2,8undefined", "3,undefined,8undefined", "undefined,4,8undefined"}[i]
		v, err := r.Invoke(f, this.Show(value(t, doc).Doc()))
		if err != nil || v.String() != want {
			t.Errorf("%s gives %v (%v), want %s", doc, v, err, want)
		}
	}
}

func TestUses(t *testing.T) {
	for _, c := range []struct {
		src    string
		this   bool
		fields string
		param0 bool
	}{
		{"function () { emit(this.a, 1); }", false, "a", true},
		{"function () { emit(this['a b'], this.c.d); }", false, "a b,c", true},
		{"function () { emit(this, 1); }", true, "", true},
		{"function () { var x = this; }", true, "", true},
		{"function () { for (var k in this) emit(k, 1); }", true, "", true},
		{"function () { emit(this[k], 1); }", true, "", true},
		{"function () { this.f(); }", true, "", true},
		{"function () { this.a.f(); }", false, "a", true},
		{"function () { this.a.forEach(function (x) { emit(x, this.b); }); }", false, "a", true},
		{"function () { this.a.forEach(x => emit(x, this.b)); }", false, "a,b", true},
		{"function () { this.a.forEach(x => emit(x, this)); }", true, "a", true},
		{"function () { with (this) { emit(a, 1); } }", true, "", true},
		{"() => emit(1, 1)", false, "", true},
		{"function () { delete this.a; this.b += 1; }", false, "a,b", true},
		{"function (v) { return Array.sum(v); }", false, "", false},
		{"function (v) { return v; }", false, "", true},
		{"function (v) { var n = 0; for (var i = 0; i < v.length; i++) n += v[i]; return n; }", false, "", false},
		{"function (v) { var n = 0; v.forEach(function (x) { n += x.q; }); return n; }", false, "", false},
		{"function (v) { v.forEach(function (x, i, all) { keep = all; }); }", false, "", true},
		{"function (v) { v.forEach(function () { keep = arguments; }); }", false, "", true},
		{"function (v) { keep = v.sort(); }", false, "", true},
		{"function (v) { keep = {a: v}; }", false, "", true},
		{"function (v) { keep = arguments; }", false, "", true},
		{"function (v) { return function () { return v; }; }", false, "", true},
		{"function (v) { return v.join(','); }", false, "", false},
	} {
		r := New()
		f, err := r.Function("f", c.src)
		if err != nil {
			t.Errorf("%s: %v", c.src, err)
			continue
		}
		u := f.Uses
		if u.ThisEscapes != c.this || (!c.this && strings.Join(u.Fields, ",") != c.fields) || u.Escapes(0) != c.param0 {
			t.Errorf("%s: %+v", c.src, u)
		}
	}
}

func TestRunawayMemory(t *testing.T) {
	for name, src := range map[string]string{
		"text":  "function () { var s = 'x'; for (;;) s += s; }",
		"array": "function () { var a = []; for (;;) a.push({}); }",
	} {
		t.Run(name, func(t *testing.T) {
			r := New()
			r.watch.growth = 64 << 20
			defer r.Watch(context.Background())()
			f, err := r.Function("map", src)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = r.Call(f, bsonx.Value{}); mongoerr.CodeOf(err) != mongoerr.ExceededMemoryLimit {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestLongTexts(t *testing.T) {
	for _, expr := range []string{
		"'x'.repeat(1e10)", "'x'.padEnd(1e10)", "Array.prototype.fill.call({length: 1e15}, 0)", "new Array(4e9).forEach(function () {})", "Array.from({length: 1e12})",
		"new Uint8Array(1e11)", "new ArrayBuffer(1e12)", "new Float64Array({length: 1e10})", "new Array(1e9).join('abc')",
	} {
		if _, err := eval(t, New(), expr); err == nil || !strings.Contains(err.Error(), "RangeError") {
			t.Errorf("%s: %v", expr, err)
		}
	}
	for expr, want := range map[string]string{
		"new Array(3000).join('ab').length": `{"$numberDouble":"5998.0"}`,
		"[1, 2, 3].join()":                  `"1,2,3"`,
		"(function () { var a = new Array(2000); a[7] = 'q'; return a.join(''); })()": `"q"`,
		"[1, [2, 3]].join(null)": `"1null2,3"`,
	} {
		if v, err := eval(t, New(), expr); err != nil || text(t, v) != want {
			t.Errorf("%s = %s (%v), want %s", expr, text(t, v), err, want)
		}
	}
}
