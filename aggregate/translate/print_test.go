package translate_test

import (
	"go/parser"
	"go/token"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"mrbench/aggregate/translate"
	"mrbench/mr/jobfile"
)

func translated(t *testing.T, text string, o translate.Options) *translate.Result {
	t.Helper()
	j, err := jobfile.Parse("job.js", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r, err := translate.Translate(j, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const averages = `db.getCollection("web-orders").mapReduce(
  function () { if (this.status === "A") emit(this.customer, { n: 1, sum: this.total }); },
  function (key, values) {
    var r = { n: 0, sum: 0 };
    values.forEach(function (v) { r.n += v.n; r.sum += v.sum; });
    return r;
  },
  { query: { at: { $gte: ISODate("2024-01-01") } }, out: { merge: "averages", db: "stats" },
    finalize: function (key, v) { return v.sum / v.n; } });
`

func TestShellText(t *testing.T) {
	want := `// Needs MongoDB 4.2 or later.
// job.js:2:42: sum is added up in another order: if there are fractions, the last digits may differ
//   [rounding]
`
	got := translated(t, averages, translate.Options{Plain: true}).MongoDBShell("web-orders")
	needs, caveat, _ := strings.Cut(want, "\n")
	if !strings.Contains(got, caveat) || !strings.HasPrefix(got, needs) {
		t.Errorf("%s", got)
	}
	_, code, _ := strings.Cut(got, "db.getCollection")
	want = `("web-orders").aggregate([
  // query, job.js
  { $match: { at: { $gte: ISODate("2024-01-01T00:00:00.000Z") } } },
  // map, job.js:2:42: emit(this.customer, { n: 1, sum: this.t…
  { $match: { $expr: { $eq: ["$status", "A"] } } },
  // map, job.js:2:42: emit(this.customer, { n: 1, sum: this.t…
  // reduce, job.js:6:5: return r
  { $group: { _id: "$customer", n: { $sum: 1 }, sum: { $sum: "$total" } } },
  // finalize, job.js:9:35: return v.sum / v.n
  { $project: { value: { $divide: ["$sum", "$n"] } } },
  // out, job.js
  { $merge: { into: { db: "stats", coll: "averages" }, whenMatched: "replace" } }
], { allowDiskUse: true });
`
	if d := cmp.Diff(want, code); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// Every job's pipeline comes back from JSON as it is, and its Go is Go.
func TestJSONAndGo(t *testing.T) {
	for _, name := range jobNames(t) {
		if strings.HasPrefix(name, "refused") {
			continue
		}
		j, err := jobfile.Read(os.DirFS(jobsDir), name, name)
		if err != nil {
			t.Fatal(err)
		}
		j.Out = jobfile.Out{}
		r, err := translate.Translate(j, translate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var back struct {
			P []bson.D `bson:"p"`
		}
		if err := bson.UnmarshalExtJSON([]byte(`{"p": `+r.JSON()+`}`), false, &back); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if a, b := pretty(r.Pipeline()), pretty(back.P); a != b {
			t.Errorf("%s:\n%s\n%s", name, a, b)
		}
		text, err := r.Go()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), name, text, 0); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for line := range strings.Lines(r.MongoDBShell("c")) {
			if strings.Contains(line, "%!") {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}

// All kinds of values can be written in all languages.
func TestScalars(t *testing.T) {
	dec, _ := primitive.ParseDecimal128("1.5")
	j, err := jobfile.Parse("job.js", []byte("db.c.mapReduce("+counts+", "+sums+")"))
	if err != nil {
		t.Fatal(err)
	}
	j.Query = bson.D{
		{Key: "a-b", Value: bson.A{nil, true, int32(1), int64(2), 1.5, math.NaN(), math.Inf(1), math.Inf(-1), `"x"`, dec}},
		{Key: "d", Value: primitive.NewDateTimeFromTime(time.UnixMilli(0))},
		{Key: "o", Value: primitive.ObjectID{1}},
		{Key: "r", Value: primitive.Regex{Pattern: "a/b", Options: "i"}},
		{Key: "b", Value: primitive.Binary{Subtype: 4, Data: make([]byte, 16)}},
		{Key: "t", Value: primitive.Timestamp{T: 1, I: 2}},
		{Key: "lo", Value: primitive.MinKey{}},
		{Key: "hi", Value: primitive.MaxKey{}},
		{Key: "e", Value: bson.D{}},
	}
	r, err := translate.Translate(j, translate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := r.MongoDBShell("c")
	for _, want := range []string{
		`"a-b": [`, `null, true, 1, NumberLong("2"), 1.5, NaN, Infinity, -Infinity, "\"x\"", NumberDecimal("1.5")`, `ISODate("1970-01-01T00:00:00.000Z")`,
		`ObjectId("010000000000000000000000")`, `/a\/b/i`, `BinData(4, "AAAAAAAAAAAAAAAAAAAAAA==")`, `Timestamp(1, 2)`, `MinKey()`, `MaxKey()`, `e: {}`,
	} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	var back struct {
		P []bson.D `bson:"p"`
	}
	if err := bson.UnmarshalExtJSON([]byte(`{"p": `+r.JSON()+`}`), false, &back); err != nil || pretty(back.P) != pretty(r.Pipeline()) {
		t.Errorf("%v: %s", err, r.JSON())
	}
	if text, err := r.Go(); err != nil || !strings.Contains(text, `"math"`) || !strings.Contains(text, "bson/primitive") {
		t.Errorf("%v: %s", err, text)
	}
}

// What is left to JavaScript gives the answer of the job.
func TestScriptFallback(t *testing.T) {
	e := newEngine(t)
	c := e.fill("orders", documents(200, clean, 5))
	for _, text := range []string{
		`var limit = 3;
db.c.mapReduce(function () {
  var previous = null;
  for (var i = 0; i < this.tags.length; i++) {
    if (previous) emit(previous + suffix(this.tags[i]), 1);
    previous = this.tags[i];
  }
}, function (k, v) { return Array.sum(v); }, {scope: {suffix: function (s) { return "-" + s; }, least: limit}, finalize: function (k, n) { return n > least ? n : null; }})`,
		`db.c.mapReduce(function () { emit(this.cat, [this.qty].reverse().length); }, function (k, v) { return Array.sum(v); }, {query: {qty: {$gt: 1}}})`,
	} {
		j, err := jobfile.Parse("job.js", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := translate.Translate(j, translate.Options{}); refusal(err) == "" {
			t.Errorf("%s\nis no job for this test: %v", text, err)
		}
		r, err := translate.Translate(j, translate.Options{AllowJS: true})
		if err != nil {
			t.Fatal(err)
		}
		if !r.JavaScript || r.Refusal == nil || r.MinVersion != "4.4" {
			t.Errorf("%+v", r)
		}
		if o := e.both(c, j, r); o.same() != nil || o.mapReduce != nil || o.Keys == 0 {
			t.Errorf("%v %v\n%s", o.same(), o.mapReduce, r.MongoDBShell("c"))
		}
	}
}
