package translate_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"mrbench/aggregate/translate"
	"mrbench/mr/jobfile"
)

const (
	counts = "function () { emit(this.a, 1); }"
	sums   = "function (k, v) { return Array.sum(v); }"
)

// Every refusal names its place and says why.
func TestRefusals(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range []struct{ id, place, m, r, f, options string }{
		{"syntax", "1:15", "function () { while (this.a) { emit(1, 1); } }", sums, "", ""},
		{"syntax", "1:19", "function () { var [a] = this.a; emit(a, 1); }", sums, "", ""},
		{"syntax", "1:20", "function () { emit(this.a & 3, 1); }", sums, "", ""},
		{"syntax", "1:15", "function () { emit(1, this); }", sums, "", ""},
		{"call", "1:20", "function () { emit(this.a.normalize(), 1); }", sums, "", ""},
		{"call", "1:20", "function () { emit(encode(this.a), 1); var encode = JSON; }", sums, "", ""},
		{"call", "2:19", counts, "function (k, v) { emit(k, 1); return 1; }", "", ""},
		{"name", "1:20", "function () { emit(foo, 1); }", sums, "", ""},
		{"name", "1:50", "function () { this.a.forEach(function (x) { emit(this.b, 1); }); }", sums, "", ""},
		{"random", "1:20", "function () { emit(Math.random(), 1); }", sums, "", ""},
		{"now", "1:20", "function () { emit(new Date(), 1); }", sums, "", ""},
		{"now", "1:20", "function () { emit(Date.now(), 1); }", sums, "", ""},
		{"this-changed", "1:15", "function () { this.b = 1; emit(this.a, 1); }", sums, "", ""},
		{"this-changed", "1:15", "function () { this.tags.push('x'); emit(this.a, 1); }", sums, "", ""},
		{"dynamic-field", "1:20", "function () { emit(this[this.name], 1); }", sums, "", ""},
		{"field-name", "1:20", "function () { emit(this['a.b'], 1); }", sums, "", ""},
		{"loop", "1:15", "function () { for (var i = 5; i > 0; i--) emit(i, 1); }", sums, "", ""},
		{"loop", "1:57", "function () { for (var i = 0; i < this.a.length; i++) { break; } emit(1, 1); }", sums, "", ""},
		{"loop", "1:69", "function () { for (var i = 0; i < this.a.length; i++) { emit(1, 1); return; } }", sums, "", ""},
		{"loop-carried", "1:79", "function () { var last = 0; for (var i = 0; i < this.a.length; i++) { emit(1, last); last = this.a[i]; } }", sums, "", ""},
		{"regex", "1:20", "function () { emit(/a/g.test(this.a), 1); }", sums, "", ""},
		{"regex", "1:20", "function () { emit(/\\u0041/.test(this.a), 1); }", sums, "", ""},
		{"regex", "1:20", "function () { emit(this.a.split(/(,)/).length, 1); }", sums, "", ""},
		{"date", "1:20", "function () { emit(this.a.getTimezoneOffset(), 1); }", sums, "", ""},
		{"date", "1:20", "function () { emit(new Date('yesterday'), 1); }", sums, "", ""},
		{"no-emit", "1:1", "function () { var a = this.a; }", sums, "", ""},
		{"reduce-shape", "2:62", "function () { emit(this.a, {n: 1}); }", "function (k, vs) { var n = 0; vs.forEach(function (v) { n += v.m; }); return {n: n}; }", "", ""},
		{"reduce-shape", "2:", "function () { emit(this.a, {n: 1}); }", "function (k, vs) { var n = 0; vs.forEach(function (v) { n += v.n; }); return n; }", "", ""},
		{"reduce-shape", "2:", "function () { emit(this.a, {n: 1}); }", "function (k, vs) { var n = 0; vs.forEach(function (v) { n += v.n; }); return {n: n, x: 1}; }", "", ""},
		{"reduce-shape", "1:", "function () { emit(this.a, {n: 1}); emit(this.b, {m: 1}); }", sums, "", ""},
		{"reduce-counts-values", "2:", counts, "function (k, v) { return v.length; }", "", ""},
		{"reduce-order", "2:", counts, "function (k, v) { return v[0]; }", "", ""},
		{"reduce-order", "2:", counts, "function (k, v) { return v.sort()[0]; }", "", ""},
		{"reduce-order", "2:", "function () { emit(this.a, 'x'); }", "function (k, v) { var s = ''; v.forEach(function (x) { s += x; }); return s; }", "", ""},
		{"reduce-not-a-fold", "2:", counts, "function (k, v) { var s = 1; v.forEach(function (x) { s *= x; }); return s; }", "", ""},
		{"reduce-not-a-fold", "2:", counts, "function (k, v) { var s = 10; v.forEach(function (x) { s += x; }); return s; }", "", ""},
		{"reduce-not-a-fold", "2:", counts, "function (k, v) { var s = 0; v.forEach(function (x) { s += x * 2; }); return s; }", "", ""},
		{"reduce-not-a-fold", "2:", counts, "function (k, v) { return Array.sum(v) + 1 + v[0]; }", "", ""},
		{"reduce-array", "2:", "function () { emit(this.a, [1]); }", "function (k, v) { var a = []; v.forEach(function (x) { a = a.concat(x); }); return a; }", "", ""},
		{"finalize", "3:", counts, sums, "function (k, v) { return Math; }", ""},
		{"query", "job.js", counts, sums, "", "query: {$where: 'this.a'}"},
		{"out", "2:", counts, sums, "function (k, v) { return v + 1; }", "out: {reduce: 'x'}"},
	} {
		text := "db.c.mapReduce(\n" + c.m + ",\n" + c.r + ",\n{" + c.options
		if c.f != "" {
			if c.options != "" {
				text += ", "
			}
			text = strings.Replace(text, ",\n{", ", {", 1) + "finalize:\n" + c.f
		}
		text = strings.Replace(text, "(\n", "(", 1)
		j, err := jobfile.Parse("job.js", []byte(text+"})"))
		if err != nil {
			t.Errorf("%v\n%s", err, text)
			continue
		}
		_, err = translate.Translate(j, translate.Options{})
		r, ok := errors.AsType[*translate.Refusal](err)
		if !ok || r.ID != c.id {
			t.Errorf("%s\n got %v\nwant %s", text, err, c.id)
			continue
		}
		seen[r.ID] = true
		place := r.Position
		if place.Line == 1 {
			place.Column -= len("db.c.mapReduce(")
		}
		if got := strings.TrimPrefix(place.String(), "job.js:"); !strings.HasPrefix(got, c.place) || r.Message == "" {
			t.Errorf("%s\n%v is at %s, want %s", text, err, got, c.place)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(translate.Refusals())) {
		if !seen[id] {
			t.Errorf("no test for %s", id)
		}
	}
}

// Every caveat is said of a job, with its line.
func TestCaveats(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range []struct {
		id, m, r, options string
		o                 translate.Options
	}{
		{"time-zone", "function () { emit(this.at.getHours(), 1); }", sums, "", translate.Options{}},
		{"order", "function () { emit(this.a, {l: [1]}); }", "function (k, v) { var l = []; v.forEach(function (x) { l = l.concat(x.l); }); return {l: l}; }", "", translate.Options{}},
		{"order", "function () { emit(this.a, this.b); }", "function (k, v) { return v[0]; }", "sort: {b: 1}", translate.Options{}},
		{"set-order", "function () { emit(this.a, {l: ['x']}); }", "function (k, v) { var l = []; v.forEach(function (x) { x.l.forEach(function (y) { if (l.indexOf(y) < 0) l.push(y); }); }); return {l: l}; }", "", translate.Options{}},
		{"memory", "function () { emit(this.a, {l: [1]}); }", "function (k, v) { var l = []; v.forEach(function (x) { l = l.concat(x.l); }); return {l: l}; }", "", translate.Options{}},
		{"rounding", "function () { emit(this.a, Number(this.b)); }", sums, "", translate.Options{}},
		{"int", counts, sums, "", translate.Options{}},
		{"zero", "function () { emit(1 / Number(this.a), 1); }", sums, "", translate.Options{}},
		{"characters", "function () { if (typeof this.a === 'string') emit(this.a.length, 1); }", sums, "", translate.Options{}},
		{"spaces", "function () { if (typeof this.a === 'string') emit(/\\s/.test(this.a), 1); }", sums, "", translate.Options{}},
		{"number-text", "function () { if (typeof this.a === 'number') emit('' + this.a, 1); }", sums, "", translate.Options{}},
		{"array-key", counts, sums, "", translate.Options{}},
		{"undefined-key", "function () { emit({a: this.a}, 1); }", sums, "", translate.Options{}},
		{"guard", "function () { emit(this.a.b, 1); }", sums, "", translate.Options{}},
		{"taken-for-number", "function () { emit(this.a - 1, 1); }", sums, "", translate.Options{Plain: true}},
		{"taken-for-string", "function () { emit(this.a.trim(), 1); }", sums, "", translate.Options{Plain: true}},
		{"taken-for-object", "function () { emit(this.a.b, 1); }", sums, "", translate.Options{Plain: true}},
		{"taken-for-array", "function () { this.a.forEach(function (x) { emit(x, 1); }); }", sums, "", translate.Options{Plain: true}},
		{"taken-for-type", "function () { emit(this.a.getUTCHours(), 1); }", sums, "", translate.Options{Plain: true}},
		{"single-value", "function () { emit(this.a, this.b); }", sums, "", translate.Options{Plain: true}},
		{"script", "function () { emit(Math.random(), 1); }", sums, "", translate.Options{AllowJS: true}},
		{"merge", counts, sums, "out: {reduce: 'x'}", translate.Options{}},
	} {
		j, err := jobfile.Parse("job.js", []byte("db.c.mapReduce(\n"+c.m+",\n"+c.r+",\n{"+c.options+"})"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := translate.Translate(j, c.o)
		if err != nil {
			t.Errorf("%s: %v", c.id, err)
			continue
		}
		i := slices.IndexFunc(r.Caveats, func(x translate.Caveat) bool { return x.ID == c.id })
		if i < 0 {
			t.Errorf("%s is not said of %s: %v", c.id, c.m, r.Caveats)
			continue
		}
		if x := r.Caveats[i]; x.Line < 2 || x.Message == "" {
			t.Errorf("%+v", x)
		}
		seen[c.id] = true
	}
	for _, id := range slices.Sorted(maps.Keys(translate.Caveats())) {
		if !seen[id] {
			t.Errorf("no test for %s", id)
		}
	}
}
