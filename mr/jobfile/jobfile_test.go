package jobfile_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"mrbench/mr/jobfile"
)

const (
	mapText    = "function () { emit(this.a, 1); }"
	reduceText = "function (k, v) { return Array.sum(v); }"
)

func text(t *testing.T, got jobfile.Function, want string, line, column int) {
	t.Helper()
	if got.Text != want || got.Line != line || got.Column != column {
		t.Errorf("got %d:%d %q, want %d:%d %q", got.Line, got.Column, got.Text, line, column, want)
	}
}

func date(s string) primitive.DateTime {
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return primitive.NewDateTimeFromTime(at)
}

func TestYAML(t *testing.T) {
	j, err := jobfile.Parse("job.yaml", []byte(`namespace: shop.orders
map: |

  function () {
    emit(this.a, 1);
  }
reduce: "function (k, v) { return Array.sum(v); };"
query: {status: A, at: {$gte: {$date: "2024-01-01T00:00:00Z"}}, day: 2024-01-02}
sort: {b: -1, a: 1}
scope: {rate: 1.5, big: {$numberLong: "9007199254740993"}, id: {$oid: 0123456789abcdef01234567}}
limit: 100
out: {reduce: totals, db: stats, nonAtomic: true}
jsMode: true
splitKey: customer.id
pipeline: [{$group: {_id: $a, value: {$sum: 1}}}]
`))
	if err != nil {
		t.Fatal(err)
	}
	text(t, j.Map, "\nfunction () {\n  emit(this.a, 1);\n}", 3, 3)
	text(t, j.Reduce, reduceText, 7, 10)
	id, _ := primitive.ObjectIDFromHex("0123456789abcdef01234567")
	want := &jobfile.Job{
		File: "job.yaml", Database: "shop", Collection: "orders", Map: j.Map, Reduce: j.Reduce,
		Query: bson.D{{Key: "status", Value: "A"}, {Key: "at", Value: bson.D{{Key: "$gte", Value: date("2024-01-01T00:00:00Z")}}}, {Key: "day", Value: date("2024-01-02T00:00:00Z")}},
		Sort:  bson.D{{Key: "b", Value: int32(-1)}, {Key: "a", Value: int32(1)}},
		Scope: bson.D{{Key: "rate", Value: 1.5}, {Key: "big", Value: int64(9007199254740993)}, {Key: "id", Value: id}},
		Limit: 100, Out: jobfile.Out{Mode: jobfile.Reduce, Collection: "totals", Database: "stats", NonAtomic: true}, JSMode: true, SplitKey: "customer.id",
		Pipeline: []bson.D{{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$a"}, {Key: "value", Value: bson.D{{Key: "$sum", Value: int32(1)}}}}}}},
	}
	if d := cmp.Diff(want, j); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	p, err := j.Map.Parse()
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Position(p.Body[0]).String(); got != "job.yaml:5:5" {
		t.Errorf("the emit is at %s", got)
	}
	m := j.MR()
	if m.Map != j.Map.Text || m.Limit != 100 || len(m.Sort) != 2 {
		t.Errorf("%+v", m)
	}
}

func TestJSONWithTabs(t *testing.T) {
	j, err := jobfile.Parse("job.json", []byte("{\n\t\"ns\": \"a.b\",\n\t\"map\": \""+mapText+"\",\n\t\"reduce\": {\"$code\": \""+reduceText+"\"},\n\t\"out\": {\"inline\": 1}\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	text(t, j.Map, mapText, 3, 10)
	text(t, j.Reduce, reduceText, 4, 23)
	if j.Out != (jobfile.Out{}) || j.Namespace() != "a.b" {
		t.Errorf("%+v", j)
	}
}

func TestFolder(t *testing.T) {
	fsys := fstest.MapFS{
		"jobs/x/map.js":        {Data: []byte("// counts\nfunction () {\n  emit(this.a, 1);\n}\n")},
		"jobs/x/reduce.js":     {Data: []byte("var helper = 1;\nvar reduce = " + reduceText + ";\n")},
		"jobs/x/finalize.js":   {Data: []byte("function finalize(k, v) { return v; }")},
		"jobs/x/pipeline.json": {Data: []byte(`[{"$limit": 1}]`)},
		"jobs/x/job.yaml":      {Data: []byte("ns: orders\nlimit: 3")},
		"jobs/y.yaml":          {Data: []byte("ns: a.b\nmap: x/map.js\nreduce: x/reduce.js\n")},
		"jobs/bad/reduce.js":   {Data: []byte(reduceText)},
		"jobs/bad2/map.js":     {Data: []byte("\nfunction () { emit(1, }")},
	}
	j, err := jobfile.Read(fsys, "jobs/x", "")
	if err != nil {
		t.Fatal(err)
	}
	text(t, j.Reduce, reduceText, 2, 14)
	if j.Limit != 3 || len(j.Pipeline) != 1 || j.Database != "" || j.Collection != "orders" || j.Finalize.Text == "" {
		t.Errorf("%+v", j)
	}
	p, err := j.Map.Parse()
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Position(p.Body[0]).String(); got != "jobs/x/map.js:3:3" {
		t.Errorf("the emit is at %s", got)
	}
	if j, err = jobfile.Read(fsys, "jobs/y.yaml", ""); err != nil || j.Map.File != "jobs/x/map.js" {
		t.Errorf("%v, %+v", err, j)
	}
	for name, want := range map[string]string{
		"jobs/bad": "no map.js", "jobs/bad2": "jobs/bad2/map.js:2:", "jobs/none": "job jobs/none: file does not exist",
	} {
		if _, err := jobfile.Read(fsys, name, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

func TestShell(t *testing.T) {
	j, err := jobfile.Parse("job.js", []byte(`use shop
// totals
var opts = {
  query: { at: { $gte: new Date("2024-01-01"), $lt: ISODate("2024-02-01T00:00:00Z") }, n: NumberLong("5"), name: /^a/i },
  out: { merge: "totals" },
  scope: { limit: -5, list: [1, 2.5, null, true], oid: ObjectId("0123456789abcdef01234567"), lo: MinKey, f: function (x) { return x; } },
  finalize: fin, verbose: true
};
function fin(k, v) { return v; }
var m = function () { emit(this.a, 1); };
db.totals.drop();
printjson(db.getCollection("or.ders").mapReduce(m, function (k, v) { return Array.sum(v); }, opts));
db.totals.find().forEach(printjson);
`))
	if err != nil {
		t.Fatal(err)
	}
	text(t, j.Map, mapText, 10, 9)
	if j.Namespace() != "shop.or.ders" || j.Out != (jobfile.Out{Mode: jobfile.Merge, Collection: "totals"}) || !strings.HasPrefix(j.Finalize.Text, "function fin") {
		t.Errorf("%+v", j)
	}
	id, _ := primitive.ObjectIDFromHex("0123456789abcdef01234567")
	if d := cmp.Diff(bson.D{
		{Key: "limit", Value: int32(-5)},
		{Key: "list", Value: bson.A{int32(1), 2.5, nil, true}},
		{Key: "oid", Value: id},
		{Key: "lo", Value: primitive.MinKey{}},
		{Key: "f", Value: primitive.JavaScript("function (x) { return x; }")},
	}, j.Scope); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(bson.D{
		{Key: "at", Value: bson.D{{Key: "$gte", Value: date("2024-01-01T00:00:00Z")}, {Key: "$lt", Value: date("2024-02-01T00:00:00Z")}}},
		{Key: "n", Value: int64(5)},
		{Key: "name", Value: primitive.Regex{Pattern: "^a", Options: "i"}},
	}, j.Query); d != "" {
		t.Error(d)
	}
}

func TestShellForms(t *testing.T) {
	for _, c := range []struct{ text, ns string }{
		{`db.orders.mapReduce(` + mapText + `, ` + reduceText + `, "out")`, "orders"},
		{`db["or-ders"].mapReduce(() => { emit(1, 1) }, (k, v) => Array.sum(v), {out: "x"}).find()`, "or-ders"},
		{`var res = db.getSiblingDB("s").a.b.mapReduce(` + mapText + `, ` + reduceText + `)`, "s.a.b"},
		{`db = db.getSiblingDB("s"); db.runCommand({mapreduce: "c", map: ` + mapText + `, reduce: "` + reduceText + `", out: {inline: 1}})`, "s.c"},
		{`map = ` + mapText + `; reduce = ` + reduceText + `; const c = db.c; c.mapReduce(map, reduce, {out: {inline: 1}})`, "c"},
	} {
		j, err := jobfile.Parse("x.js", []byte(c.text))
		if err != nil || j.Namespace() != c.ns || j.Map.Text == "" || j.Reduce.Text == "" {
			t.Errorf("%s: %v, %+v", c.text, err, j)
		}
	}
}

func TestErrors(t *testing.T) {
	call := "db.c.mapReduce(" + mapText + ", " + reduceText + ", "
	for _, c := range []struct{ name, text, want string }{
		{"a.js", "print(1)", "a.js:1:1: no mapReduce call"},
		{"a.js", "var x = 1;\nfor (;;) {}", "a.js:2:1: a job file is read and not run"},
		{"a.js", call + "{limit: 2 * 5})", ":1:100: this value would have to be computed"},
		{"a.js", call + "{scope: {a: [1, , 2]}})", "would have to be computed"},
		{"a.js", call + "{limit: n})", "n is not defined in this file"},
		{"a.js", call + "{query: {d: new Date()}})", "Date: write it as"},
		{"a.js", call + "{query: {d: ObjectId('1')}})", "24 hexadecimal digits"},
		{"a.js", call + "{frobnicate: 1})", "option frobnicate is not known"},
		{"a.js", call + "{sort: 5})", "sort is a document"},
		{"a.js", call + "{limit: -1})", "limit is a whole number"},
		{"a.js", call + "{out: {}})", "out says neither inline nor"},
		{"a.js", call + "{})\n" + call + "{})", "a.js:2:1: a second mapReduce"},
		{"a.js", "var a = a;\n" + call + "{scope: {x: a}})", "a is defined by itself"},
		{"a.js", "var a = b, b = a;\na.mapReduce(1, 2)", "which collection is this"},
		{"a.js", "db.c.mapReduce(m, r)", "map function m is not defined"},
		{"a.js", "db.c.mapReduce(5, 6)", "map has to be a function"},
		{"a.js", "db.c.mapReduce(function () {", "JavaScript syntax"},
		{"a.js", "db.runCommand({ping: 1})", "this command is no mapReduce"},
		{"a.js", "f().c.mapReduce(1, 2)", "which collection is this"},
		{"a.js", "db.c.insert({a: 1})", "take this call out"},
		{"a.yaml", "", "the file is empty"},
		{"a.yaml", "- 1", "a job is a mapping"},
		{"a.yaml", "ns: a.b\nmapp: x", `a.yaml:2:1: "mapp" is no part of a job`},
		{"a.yaml", "ns: a.b\nmap: [1]", "a.yaml:2:6: map is a JavaScript function"},
		{"a.yaml", "ns: a.b\nns: c.d", "a.yaml:2:1: namespace is given twice"},
		{"a.yaml", "ns: a.b\nmap: '" + mapText + "'", "no reduce function"},
		{"a.yaml", "ns: a.b\nreduce: '" + mapText + "'", "no map function"},
		{"a.yaml", "map: function () { emit(1 }", "a.yaml:1:"},
		{"a.yaml", "query: {a: {$date: x}}", "not Extended JSON"},
		{"a.yaml", "query: {a: 123456789012345678901234567890}", "does not fit into 64 bits"},
		{"a.yaml", "query: {a: !!binary abc}", "nothing that BSON has"},
		{"a.yaml", "pipeline: [{a: 1}]", "stage 1 is no document"},
		{"a.yaml", "out: {copy: x}", "out has no option copy"},
		{"a.yaml", "out: 5", "out is a collection's name"},
		{"a.yaml", "a: b: c", "a.yaml:1:1:"},
		{"a.yaml", "map: other.js", "it refers to another file"},
		{"a.yaml", "map: 5 + 5", "there is no function here"},
		{"a.yaml", "map: 'var a = function () {}; var b = function () {}'", "none is called map"},
	} {
		_, err := jobfile.Parse(c.name, []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n got %v\nwant %s", c.text, err, c.want)
		}
		if e, ok := errors.AsType[*jobfile.Error](err); ok && e.File != c.name {
			t.Errorf("%v: file %q", err, e.File)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("a.js", "use x\nvar o = {out: 'x'}; db.c.mapReduce("+mapText+", "+reduceText+", o)")
	f.Add("a.yaml", "ns: a.b\nmap: |\n  "+mapText+"\nreduce: "+reduceText+"\nquery: {a: {$oid: 0123456789abcdef01234567}}")
	f.Fuzz(func(t *testing.T, name, text string) {
		if len(text) > 4096 {
			t.Skip()
		}
		j, err := jobfile.Parse(name, []byte(text))
		if err == nil && (j.Map.Text == "" || j.Map.Line < 1 || j.Map.Column < 1) {
			t.Errorf("%+v", j.Map)
		}
	})
}
