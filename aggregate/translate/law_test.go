package translate_test

import (
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/mongo"
	"pgregory.net/rapid"

	"mrbench/aggregate/translate"
	"mrbench/mr/jobfile"
)

// grammar composes jobs of what is understood.
type grammar struct{ t *rapid.T }

func (g grammar) pick(list ...string) string { return rapid.SampledFrom(list).Draw(g.t, "pick") }
func (g grammar) coin() bool                 { return rapid.Bool().Draw(g.t, "coin") }

// field is something to read; item is the name of a loop's element, "" outside.
func (g grammar) field(item string) string {
	if item != "" && g.coin() {
		return item
	}
	return g.pick("this.amount", "this.qty", "this.name", "this.cat", "this.status", "this.flag", "this.at", "this.ts", "this.user")
}

func (g grammar) num(depth int, item string) string {
	if depth == 0 {
		return g.pick("1", "2", "0.5", "-3", "0", g.field(item), "(this.amount || 0)", "Number(this.qty)", "+this.amount")
	}
	a, b := g.num(depth-1, item), g.num(depth-1, item)
	return g.pick(
		"("+a+" - "+b+")", "("+a+" * "+b+")", "("+a+" / 2)", "("+a+" % 7)", "("+a+" / "+b+")", "Math.floor("+a+")", "Math.round("+a+")", "Math.abs("+a+")",
		"Math.max("+a+", "+b+")", "Math.min("+a+", "+b+")", "("+g.cond(0, item)+" ? "+a+" : "+b+")", "("+a+" || "+b+")", "parseFloat("+g.field(item)+")",
		"(-("+a+"))", "("+a+" + "+b+")", "(typeof this.amount === 'number' ? this.amount : "+b+")", "parseInt("+g.field(item)+", 10)", "Math.sqrt("+a+")",
	)
}

func (g grammar) cond(depth int, item string) string {
	if depth == 0 {
		f := g.field(item)
		n := g.pick("0", "5", "10", "1.5")
		return g.pick(
			f, "!"+f, f+" > "+n, f+" < "+n, f+" <= "+n, f+" >= this.qty", f+" == null", f+" != null", f+" === null", f+" === undefined", f+" == 'A'", f+" === 'B'",
			f+" !== 'a'", f+" == "+n, f+" === "+n, f+" === true", f+" == true", "typeof "+f+" === 'number'", "typeof "+f+" == 'string'", "typeof "+f+" !== 'undefined'",
			"typeof "+f+" == 'object'", "isNaN("+f+")", f+" instanceof Date", "Array.isArray(this.tags)", f+" == ''", f+" == '12'", f+" === this.name", "!!"+f, f+" != 0",
		)
	}
	a, b := g.cond(depth-1, item), g.cond(depth-1, item)
	return g.pick("("+a+" && "+b+")", "("+a+" || "+b+")", "!("+a+")", a)
}

func (g grammar) text(item string) string {
	return g.pick(
		"String(this.name)", "'x' + this.status", "(typeof this.name == 'string' ? this.name.toUpperCase() : 'none')", "this.qty + '-' + this.status",
		"(this.at instanceof Date ? this.at.toISOString().substring(0, 7) : '')", "`${this.qty}/${this.flag}`",
		"(typeof this.text === 'string' ? this.text.split(' ')[0] : null)", "(typeof this.text === 'string' ? this.text.replace(/[aeiou]/g, '_') : 0)",
		"(typeof this.name === 'string' && this.name.indexOf('e') >= 0 ? this.name.charAt(0) : 'no')", "(this.address || {}).city", "this.stats && this.stats.red",
	)
}

func (g grammar) key(item string) string {
	if item != "" && g.coin() {
		return item
	}
	return g.pick("this.cat", "this.status", "this.user", "1", "null", "{a: typeof this.cat, b: 1}", g.text(item), g.cond(0, item), "Math.floor((this.qty || 0) / 2)",
		"(this.at instanceof Date ? this.at.getUTCMonth() : -1)", "typeof "+g.field(item), "("+g.cond(1, item)+" ? 'yes' : 'no')")
}

// reducer is a reduce with the values that it takes.
type reducer struct{ value, reduce, finalize string }

func (g grammar) reducer(item string) reducer {
	n := g.num(1, item)
	sum := g.pick("function (k, v) { return Array.sum(v); }", "function (k, v) { var s = 0; for (var i = 0; i < v.length; i++) { s += v[i]; } return s; }",
		"function (k, v) { return v.reduce(function (a, b) { return a + b; }); }", "(k, v) => v.reduce((a, b) => a + b, 0)",
		"function (k, v) { var s = 0; v.forEach(function (x) { s = x + s; }); return s; }", "function (k, v) { var s = 0; for (var i in v) s += v[i] || 0; return s; }")
	switch rapid.IntRange(0, 7).Draw(g.t, "reducer") {
	case 0:
		return reducer{"1", sum, g.pick("", "", "function (k, v) { return v * 2; }", "function (k, v) { if (v > 3) { return 'many'; } return v; }")}
	case 1:
		return reducer{n, sum, g.pick("", "function (k, v) { return v > 0 ? v : null; }")}
	case 2:
		return reducer{
			"{n: 1, s: " + n + "}",
			"function (k, vs) { var r = {n: 0, s: 0}; vs.forEach(function (v) { r.n += v.n; r.s += v.s; }); return r; }",
			g.pick("", "function (k, v) { v.avg = v.s / v.n; return v; }", "function (k, v) { return {n: v.n, mean: Math.round(v.s / v.n)}; }"),
		}
	case 3:
		return reducer{
			"{lo: " + n + ", hi: " + n + "}",
			"function (k, vs) { var r = vs[0]; for (var i = 1; i < vs.length; i++) { r.lo = Math.min(r.lo, vs[i].lo); r.hi = Math.max(r.hi, vs[i].hi); } return r; }",
			g.pick("", "function (k, v) { return v.hi - v.lo; }"),
		}
	case 4:
		f := g.pick("this.amount", "this.at", "this.name", n)
		return reducer{f, g.pick(
			"function (k, vs) { var m = vs[0]; for (var i = 1; i < vs.length; i++) if (vs[i] > m) m = vs[i]; return m; }",
			"function (k, vs) { var m = null; vs.forEach(function (v) { if (m === null || v < m) { m = v; } }); return m; }",
			"function (k, vs) { return vs.reduce(function (a, b) { return a < b ? b : a; }); }",
			"function (k, vs) { return Math.max.apply(Math, vs); }", "function (k, vs) { return Math.min.apply(null, vs); }"), ""}
	case 5:
		return reducer{
			"{list: [" + g.pick("this._id", "this.qty", "this.name", n) + "]}",
			"function (k, vs) { var out = []; vs.forEach(function (v) { out = out.concat(v.list); }); return {list: out}; }", g.pick("", "function (k, v) { return v.list.length; }"),
		}
	case 6:
		return reducer{
			"{set: [" + g.pick("this.name", "this.status", "this.user") + "]}",
			"function (k, vs) { var out = []; vs.forEach(function (v) { v.set.forEach(function (x) { if (out.indexOf(x) < 0) out.push(x); }); }); return {set: out}; }", "",
		}
	}
	return reducer{
		"{n: 1, s: " + n + ", avg: " + n + "}",
		"function (k, vs) { var n = 0, s = 0; for (var v of vs) { n += v.n; s += v.s; } return {n: n, s: s, avg: s / n}; }", "",
	}
}

func (g grammar) job() string {
	loop := g.pick("", "", "", "tags", "forEach", "in", "items", "nested", "keys", "total")
	item := map[string]string{"tags": "this.tags[i]", "forEach": "t", "in": "this.tags[i]", "items": "it.qty", "nested": "tag", "keys": "k"}[loop]
	outer := item
	if loop == "forEach" || loop == "nested" {
		outer = "" // this is another one in callbacks
	}
	r := g.reducer(outer)
	key := g.key(outer)
	if item != "" && outer == "" {
		key = g.pick(item, "typeof "+item, "1", "self.cat", "self.status")
		for _, s := range []*string{&r.value} {
			*s = strings.ReplaceAll(*s, "this.", "self.")
		}
	}
	emit := "emit(" + key + ", " + r.value + ");"
	if g.coin() {
		c := g.cond(1, outer)
		if item != "" && outer == "" {
			c = strings.ReplaceAll(c, "this.", "self.")
		}
		emit = "if (" + c + ") { " + emit + " }"
	}
	if g.coin() && outer == "" && item == "" {
		emit += " if (" + g.cond(0, "") + ") emit(" + g.key("") + ", " + r.value + ");"
	}
	body := map[string]string{
		"":        emit,
		"tags":    "if (!Array.isArray(this.tags)) return; for (var i = 0; i < this.tags.length; i++) { " + emit + " }",
		"forEach": "var self = this; if (Array.isArray(this.tags)) this.tags.forEach(function (t) { " + emit + " });",
		"in":      "if (Array.isArray(this.tags)) for (var i in this.tags) { " + emit + " }",
		"items":   "if (!Array.isArray(this.items)) return; for (var i = 0; i < this.items.length; i++) { var it = this.items[i]; if (!it) continue; " + emit + " }",
		"nested":  "var self = this; if (this.items instanceof Array) this.items.forEach(function (it) { if (it && Array.isArray(it.tags)) it.tags.forEach(function (tag) { " + emit + " }); });",
		"keys":    "if (this.stats && typeof this.stats === 'object' && !Array.isArray(this.stats)) for (var k in this.stats) { " + emit + " }",
		"total":   "var total = 0; if (Array.isArray(this.items)) this.items.forEach(function (x) { if (x) total += x.qty || 0; }); " + strings.Replace(emit, "this.qty", "total", 1),
	}[loop]
	if g.coin() {
		body = "if (" + g.cond(1, "") + ") return; " + body
	}
	m := "function () { " + body + " }"
	if r.finalize != "" {
		return "db.c.mapReduce(\n" + m + ",\n" + r.reduce + ",\n{finalize: " + r.finalize + ", out: {inline: 1}})"
	}
	return "db.c.mapReduce(\n" + m + ",\n" + r.reduce + ",\n{out: {inline: 1}})"
}

// TestRandomJobs: what is translated gives the same answer on any data, or ends with a message. On clean data it does so without guards, too.
func TestRandomJobs(t *testing.T) {
	e := newEngine(t)
	data := map[kind]*mongo.Collection{}
	for k := range wild + 1 {
		data[k] = e.fill(fmt.Sprint("d", k), documents(70, k, uint64(k)+40))
	}
	counts := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		text := grammar{rt}.job()
		j, err := jobfile.Parse("job.js", []byte(text))
		if err != nil {
			rt.Fatalf("%v\n%s", err, text)
		}
		r, err := translate.Translate(j, translate.Options{})
		if id := refusal(err); id != "" {
			counts["refused "+id]++
			return
		}
		if err != nil {
			rt.Fatal(err)
		}
		for k := range wild + 1 {
			o := e.both(data[k], j, r)
			switch err := o.same(); {
			case err == nil && o.mapReduce == nil:
				counts["same"]++
			case err == nil:
				counts["both fail"]++
			case o.guarded():
				counts["guard"]++
			case o.arrayKey():
				counts["array key"]++
			default:
				rt.Fatalf("data %d: %v\n%s\n%s", k, err, text, pretty(r.Pipeline()))
			}
		}
	})
	t.Log(counts)
	if counts["same"] == 0 {
		t.Error("nothing was compared")
	}
}
