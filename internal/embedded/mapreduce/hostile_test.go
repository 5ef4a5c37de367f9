package mapreduce

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

// small fills test.u with n documents {_id: i, dim0: i mod 10, a: {b: i}}.
func small(t testing.TB, db *store.DB, n int) store.NS {
	t.Helper()
	ns := store.NS{DB: "test", Coll: "u"}
	var docs []bsonx.Doc
	for i := range n {
		docs = append(docs, doc(t, bson.D{{Key: "_id", Value: int32(i)}, {Key: "dim0", Value: int32(i % 10)}, {Key: "a", Value: bson.D{{Key: "b", Value: int32(i)}}}}))
	}
	insert(t, db, ns, docs)
	return ns
}

func command(mapper, reducer string, more ...bson.E) bson.D {
	return append(bson.D{{Key: "mapReduce", Value: "u"}, {Key: "map", Value: code(mapper)}, {Key: "reduce", Value: code(reducer)}}, more...)
}

func out(v any) bson.E { return bson.E{Key: "out", Value: v} }

var inline = out(bson.D{{Key: "inline", Value: 1}})

// TestFailuresLeaveNothing: whatever goes wrong, the old target is as it was and no temporary data remains.
func TestFailuresLeaveNothing(t *testing.T) {
	for _, c := range []struct {
		name, mapper, reducer, finalize string
		code                            mongoerr.Code
	}{
		{"map throws late", "function () { if (this._id == 450) throw 1; emit(this._id, 1); }", reduceSum, "", 139},
		{"reduce throws", mapDim0, "function () { throw 1; }", "", 139},
		{"reduce gives an array", mapDim0, "function (k, v) { return v; }", "", 10075},
		{"finalize throws late", "function () { emit(this._id, 1); }", reduceSum, "function (k, v) { if (k == 499) throw 1; return v; }", 139},
		{"endless map", "function () { for (;;) {} }", reduceSum, "", 50},
		{"endless reduce", mapDim0, "function () { for (;;) {} }", "", 50},
		{"endless finalize", mapDim0, reduceSum, "function () { for (;;) { try { throw 1; } catch (e) {} } }", 50},
		{"endless getter", "function () { emit({get a() { for (;;) {} }}, 1); }", reduceSum, "", 50},
		{"deep recursion", "function f() { f(); }", reduceSum, "", 139},
		{"deep value", "function () { var a = {}; for (var i = 0; i < 1e5; i++) a = {a: a}; emit(1, a); }", reduceSum, "", 17279},
		{"cycle", "function () { var a = []; a[0] = a; emit(a, 1); }", reduceSum, "", 17279},
		{"sparse array", "function () { var a = []; a[4e9] = 1; emit(1, a); }", reduceSum, "", 17260},
		{"array key", "function () { emit([1], 1); }", reduceSum, "", 2},
		{"regex key", "function () { emit(/a/, 1); }", reduceSum, "", 2},
		{"getter throws", "function () { emit(1, {get a() { throw new Error('g'); }}); }", reduceSum, "", 139},
		{"emit with one argument", "function () { emit(1); }", reduceSum, "", 10077},
		{"field name with a null", "function () { var a = {}; a['x\\0y'] = 1; emit(1, a); }", reduceSum, "", 139},
		{"nested source", "function () { return " + strings.Repeat("[", 1e5) + strings.Repeat("]", 1e5) + "; }", reduceSum, "", 139},
		{"nested eval", "function () { eval(new Array(1e6).join('(')); }", reduceSum, "", 139},
		{"nested Function", "function () { Function(new Array(1e6).join('(')); }", reduceSum, "", 139},
		{"nested generator", "function () { Object.getPrototypeOf(function*(){}).constructor(new Array(1e6).join('(')); }", reduceSum, "", 139},
	} {
		for _, target := range []string{"replace", "merge", "reduce"} {
			t.Run(c.name+" "+target, func(t *testing.T) {
				db := openDB(t)
				ns := small(t, db, 500)
				to := store.NS{DB: "test", Coll: "out"}
				insert(t, db, to, []bsonx.Doc{doc(t, bson.D{{Key: "_id", Value: "old"}, {Key: "value", Value: 1.0}})})
				before := contents(t, db, to)
				cmd := command(c.mapper, c.reducer, out(bson.D{{Key: target, Value: "out"}}))
				if c.finalize != "" {
					cmd = append(cmd, bson.E{Key: "finalize", Value: code(c.finalize)})
				}
				ctx, cancel := context.WithCancel(context.Background())
				if c.code == 50 {
					ctx, cancel = context.WithTimeout(ctx, 30*time.Millisecond)
				}
				defer cancel()
				_, err := Run(ctx, db, "test", doc(t, cmd), nil)
				wantCode(t, err, c.code)
				if after := contents(t, db, to); strings.Join(after, "") != strings.Join(before, "") {
					t.Errorf("the target has changed: %v", after)
				}
				noLeftovers(t, db, ns, to)
			})
		}
	}
}

// TestOddScripts work, whatever they do to their world.
func TestOddScripts(t *testing.T) {
	const ten = `[{"_id":{"$numberDouble":"0.0"},"value":{"$numberDouble":"10.0"}}`
	for _, c := range []struct{ name, mapper, reducer, want string }{
		{"push overwritten", "function () { Array.prototype.push = function () { throw 1; }; emit(this.dim0, 1); }", reduceSum, ten},
		{"map changes this", "function () { if (this.seen || this.dim0 === undefined) throw 'kept'; emit(this.dim0, 1); this.seen = 1; delete this.dim0; this.a.b = 'x'; }", reduceSum, ten},
		{"map keeps this", "function () { if (typeof last !== 'undefined' && last._id != this._id - 1) throw 'lost'; last = this; emit(this.dim0, 1); }", reduceSum, ten},
		{"map keeps a part of this", "function () { if (typeof last !== 'undefined' && last.b != this._id - 1) throw 'lost ' + last.b; last = this.a; emit(this.dim0, 1); }", reduceSum, ten},
		{"reduce keeps its values", mapDim0, "function (k, v) { if (typeof kept !== 'undefined' && kept.length != 10) throw 'lost'; kept = v; return Array.sum(v); }", ten},
		{"reduce changes its values", mapDim0, "function (k, v) { var s = 0; while (v.length) s += v.pop(); v.push(1); v.length = 0; return s; }", ten},
		{"emit kept under another name", "function () { if (typeof e === 'undefined') e = emit; e(this.dim0, 1); }", reduceSum, ten},
		{
			"a getter that emits", "function () { var me = this; emit(me.dim0, {get n() { emit(100, 1); return 1; }}); }",
			"function (k, v) { return k == 100 ? 1 : v.reduce(function (a, b) { return a + (b.n || b); }, 0); }", `[{"_id":{"$numberDouble":"0.0"},"value":{"$numberDouble":"10.0"}}`,
		},
		{"reduce emits", mapDim0, "function (k, v) { emit('no', 1); return Array.sum(v); }", ten},
		{"valueOf on the prototype", "function () { Object.prototype.extra = 5; emit(this.dim0, 1); }", reduceSum, ten},
		{"strict", "function () { 'use strict'; emit(this.dim0, 1); }", reduceSum, ten},
		{"arrow reduce", mapDim0, "(k, v) => v.reduce((a, b) => a + b)", ten},
	} {
		for _, js := range []bool{false, true} {
			name := c.name
			want := c.want
			if js {
				name += " jsMode"
				want = strings.Replace(want, `{"$numberDouble":"0.0"}`, `"0"`, 1)
			}
			t.Run(name, func(t *testing.T) {
				if js && c.name == "a getter that emits" {
					t.Skip("jsMode reads the value when it reduces")
				}
				db := openDB(t)
				small(t, db, 100)
				reply, err := runJob(t, db, command(c.mapper, c.reducer, inline, bson.E{Key: "jsMode", Value: js}, bson.E{Key: "sort", Value: bson.D{{Key: "_id", Value: 1}}}))
				if err != nil {
					t.Fatal(err)
				}
				var text []string
				for it := reply.Get("results").Elems(); it.Next(); {
					text = append(text, ext(t, it.Value().Doc()))
				}
				if got := "[" + strings.Join(text, ","); !strings.HasPrefix(got, want) {
					t.Errorf("got %s, want %s…", got, want)
				}
			})
		}
	}
}

func TestScriptsReachNothing(t *testing.T) {
	db := openDB(t)
	small(t, db, 1)
	for _, name := range []string{"require", "process", "load", "run", "runProgram", "cat", "ls", "writeFile", "fetch", "XMLHttpRequest", "db", "Mongo", "console", "Deno", "globalThis.os"} {
		reply, err := runJob(t, db, command("function () { emit(1, typeof "+name+"); }", reduceSum, inline))
		if err != nil {
			t.Fatal(err)
		}
		if got := reply.Get("results").Doc().Get("0").Doc().Get("value").Str(); got != "undefined" {
			t.Errorf("%s is a %s", name, got)
		}
	}
}

// TestStopsWhenCancelled: the caller's own reason is the error.
func TestStopsWhenCancelled(t *testing.T) {
	db := openDB(t)
	ns := small(t, db, 2000)
	for _, js := range []bool{false, true} {
		ctx, cancel := context.WithCancelCause(context.Background())
		calls := 0
		_, err := Run(ctx, db, "test", doc(t, command(mapDim0, reduceSum, out("out"), bson.E{Key: "jsMode", Value: js})), func(string, int64, int64) {
			if calls++; calls == 3 {
				cancel(mongoerr.New(mongoerr.InterruptedAtShutdown, "interrupted at shutdown"))
			}
		})
		wantCode(t, err, mongoerr.InterruptedAtShutdown)
		cancel(nil)
	}
	noLeftovers(t, db, ns)
}
