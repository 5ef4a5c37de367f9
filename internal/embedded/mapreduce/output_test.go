package mapreduce

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

// TestBadCommands are refused with MongoDB's codes before anything runs.
func TestBadCommands(t *testing.T) {
	db := openDB(t)
	ns := small(t, db, 10)
	if err := db.Create(t.Context(), store.NS{DB: "test", Coll: "view"}, doc(t, bson.D{{Key: "viewOn", Value: "u"}, {Key: "pipeline", Value: bson.A{}}})); err != nil {
		t.Fatal(err)
	}
	e := func(k string, v any) bson.E { return bson.E{Key: k, Value: v} }
	for _, c := range []struct {
		name string
		cmd  bson.D
		code mongoerr.Code
	}{
		{"no name", bson.D{e("mapReduce", 1)}, mongoerr.InvalidNamespace},
		{"no map", bson.D{e("mapReduce", "u"), e("reduce", code(reduceSum)), inline}, 10062},
		{"query", command(mapDim0, reduceSum, inline, e("query", "x")), 13608},
		{"sort", command(mapDim0, reduceSum, inline, e("sort", "x")), 13609},
		{"nonAtomic replace", command(mapDim0, reduceSum, out(bson.D{e("replace", "x"), e("nonAtomic", true)})), 15895},
		{"nonAtomic type", command(mapDim0, reduceSum, out(bson.D{e("merge", "x"), e("nonAtomic", 1)})), 13111},
		{"collation", command(mapDim0, reduceSum, inline, e("collation", bson.D{e("locale", "fr")})), mongoerr.InvalidOptions},
		{"name", command(mapDim0, reduceSum, out("a$b")), mongoerr.InvalidNamespace},
		{"empty name", command(mapDim0, reduceSum, out("")), mongoerr.InvalidNamespace},
		{"database", command(mapDim0, reduceSum, out(bson.D{e("replace", "x"), e("db", "a.b")})), mongoerr.InvalidNamespace},
		{"into a view", command(mapDim0, reduceSum, out("view")), mongoerr.CommandNotSupportedOnView},
		{"filter", command(mapDim0, reduceSum, inline, e("query", bson.D{e("a", bson.D{e("$nope", 1)})})), 17238},
		{"sort direction", command(mapDim0, reduceSum, inline, e("sort", bson.D{e("a", 5)})), 17238},
		{"filter not there", command(mapDim0, reduceSum, inline, e("query", bson.D{e("a", bson.D{e("$geoWithin", 1)})})), mongoerr.CommandNotSupported},
		{"collation type", command(mapDim0, reduceSum, inline, e("collation", 5)), 40082},
		{"outType", command(mapDim0, reduceSum, inline, e("outType", "x")), 13602},
	} {
		_, err := runJob(t, db, c.cmd)
		if mongoerr.CodeOf(err) != c.code {
			t.Errorf("%s: %v (%d), want %d", c.name, err, mongoerr.CodeOf(err), c.code)
		}
	}
	if _, err := runJob(t, db, command(mapDim0, reduceSum, inline, e("collation", bson.D{e("locale", "simple")}))); err != nil {
		t.Error(err)
	}
	noLeftovers(t, db, ns, store.NS{DB: "test", Coll: "view"})
}

// TestMergeAndReduce into a target that has documents, in one step and in several.
func TestMergeAndReduce(t *testing.T) {
	for _, nonAtomic := range []bool{false, true} {
		for _, kind := range []string{"merge", "reduce"} {
			db := openDB(t)
			small(t, db, 100)
			to := store.NS{DB: "test", Coll: "out"}
			insert(t, db, to, []bsonx.Doc{
				doc(t, bson.D{{Key: "_id", Value: int64(3)}, {Key: "value", Value: int32(5)}}),
				doc(t, bson.D{{Key: "_id", Value: "kept"}, {Key: "value", Value: true}}),
			})
			reply, err := runJob(t, db, command(mapDim0, reduceSum, out(bson.D{{Key: kind, Value: "out"}, {Key: "nonAtomic", Value: nonAtomic}}),
				bson.E{Key: "finalize", Value: code("function (k, v) { return v + 0.5; }")}))
			if err != nil {
				t.Fatal(err)
			}
			if _, _, reduces, output := counts(t, reply); reduces != 10 || output != 11 {
				t.Errorf("counts %s", ext(t, reply.Get("counts").Doc()))
			}
			want := `{"_id":{"$numberDouble":"3.0"},"value":{"$numberDouble":"10.5"}}`
			if kind == "reduce" { // finalized, reduced with what was there, finalized again
				want = `{"_id":{"$numberDouble":"3.0"},"value":{"$numberDouble":"16.0"}}`
			}
			got := contents(t, db, to)
			if len(got) != 11 || got[3] != want || got[10] != `{"_id":"kept","value":true}` {
				t.Errorf("%s: %v", kind, got)
			}
		}
	}
}

// TestStoredFunctions of the database are at hand, below the scope.
func TestStoredFunctions(t *testing.T) {
	db := openDB(t)
	small(t, db, 10)
	insert(t, db, store.NS{DB: "test", Coll: "system.js"}, []bsonx.Doc{
		doc(t, bson.D{{Key: "_id", Value: "twice"}, {Key: "value", Value: code("function (x) { return 2 * x; }")}}),
		doc(t, bson.D{{Key: "_id", Value: "base"}, {Key: "value", Value: 1}}),
	})
	reply, err := runJob(t, db, command("function () { emit(0, twice(this.dim0) + base); }", reduceSum, inline, bson.E{Key: "scope", Value: bson.D{{Key: "base", Value: 100}}}))
	if err != nil {
		t.Fatal(err)
	}
	if got := ext(t, reply.Get("results").Doc().Get("0").Doc()); !strings.Contains(got, `"1090.0"`) {
		t.Error(got)
	}
}

// TestBareNumberLong is a 4.0 server's fault that is kept: reduce must not return one by itself.
func TestBareNumberLong(t *testing.T) {
	db := openDB(t)
	small(t, db, 20)
	reply, err := runJob(t, db, command("function () { emit(this.dim0, NumberLong(this._id)); }", "function (k, v) { return v[0]; }", inline))
	if err != nil {
		t.Fatal(err)
	}
	if got := ext(t, reply.Get("results").Doc().Get("0").Doc()); got != `{"_id":{"$numberDouble":"0.0"},"value":{}}` {
		t.Error(got)
	}
}

// TestLargeKeysAreReducedInParts: the values of one key do not fit one call.
func TestLargeKeysAreReducedInParts(t *testing.T) {
	db := openDB(t)
	small(t, db, 50)
	reply, err := runJob(t, db, command("function () { emit(1, {s: new Array(1024 * 1024).join('x'), n: 1}); }",
		"function (k, v) { var n = 0; for (var i = 0; i < v.length; i++) n += v[i].n; return {s: v[0].s, n: n}; }", out("out"),
		bson.E{Key: "finalize", Value: code("function (k, v) { return v.n; }")}))
	if err != nil {
		t.Fatal(err)
	}
	// 15 values of a megabyte fit one call; a part's result takes the place of a value: 50 = 15 + 15 + 15 + (5 + 3).
	if _, _, reduces, _ := counts(t, reply); reduces != 4 {
		t.Errorf("%d reduces", reduces)
	}
	if got := contents(t, db, store.NS{DB: "test", Coll: "out"}); len(got) != 1 || got[0] != `{"_id":{"$numberDouble":"1.0"},"value":{"$numberDouble":"50.0"}}` {
		t.Error(got)
	}
}
