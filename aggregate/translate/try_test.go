package translate_test

import (
	"testing"

	"mrbench/aggregate/translate"
)

const sumReduce = "function (k, v) { return Array.sum(v); }"

func TestTry(t *testing.T) {
	e := newEngine(t)
	clean, dirty := e.fill("clean", documents(300, clean, 1)), e.fill("dirty", documents(600, wild, 2))
	for _, c := range []struct{ m, r, f string }{
		{"function () { emit(this.cat, 1); }", sumReduce, ""},
		{"function () { emit(this.cat, this.amount); }", sumReduce, ""},
		{"function () { emit(this.cat, this.amount || 0); }", sumReduce, ""},
		{"function () { if (typeof this.amount === 'number') emit(this.cat, this.amount); }", sumReduce, ""},
		{"function () { if (this.status == 'A' && this.amount > 10) emit(this.cat, {count: 1, sum: Number(this.amount)}); }",
			"function (k, vs) { var r = {count: 0, sum: 0}; vs.forEach(function (v) { r.count += v.count; r.sum += v.sum; }); return r; }",
			"function (k, v) { v.avg = v.sum / v.count; return v; }"},
		{"function () { this.tags.forEach(function (t) { emit(t, 1); }); }", sumReduce, ""},
		{"function () { if (!this.tags) return; for (var i = 0; i < this.tags.length; i++) { emit(this.tags[i], 1); } }", sumReduce, ""},
		{"function () { if (Array.isArray(this.tags)) this.tags.forEach(function (t) { if (typeof t == 'string') emit(t.length, 1); }); }", sumReduce, ""},
		{"function () { for (var i in this.tags) { emit(this.tags[i], {n: 1}); } }", "function (k, vs) { var n = 0; for (var i = 0; i < vs.length; i++) n += vs[i].n; return {n: n}; }", ""},
		{"function () { emit(this.cat, 1); emit(this.status, 2); }", "function (k, vs) { return vs.reduce(function (a, b) { return a + b; }, 0); }", ""},
		{"function () { var total = 0; if (Array.isArray(this.items)) { for (var i = 0; i < this.items.length; i++) { var it = this.items[i]; if (it && typeof it.qty == 'number') total += it.qty; } } emit(this.cat, total); }", sumReduce, ""},
		{"function () { emit(this.cat, {min: this.amount, max: this.amount}); }", "function (k, vs) { var r = vs[0]; for (var i = 1; i < vs.length; i++) { if (vs[i].min < r.min) r.min = vs[i].min; if (vs[i].max > r.max) r.max = vs[i].max; } return r; }", ""},
		{"function () { emit(this.at.getFullYear() + '-' + (this.at.getMonth() + 1), 1); }", sumReduce, ""},
		{"function () { for (var k in this.stats) emit(k, 1); }", sumReduce, ""},
	} {
		j := job(t, c.m, c.r, c.f)
		r, err := translate.Translate(j, translate.Options{})
		if err != nil {
			t.Errorf("%s\n%v", c.m, err)
			continue
		}
		t.Logf("%s\n%s%v", c.m, pretty(r.Pipeline()), r.Caveats)
		if err := e.both(clean, j, r).same(); err != nil {
			t.Errorf("clean: %s\n%v", c.m, err)
		}
		o := e.both(dirty, j, r)
		if err := o.same(); err != nil {
			if o.guarded() {
				t.Logf("dirty: guard: %v", o.pipeline)
			} else {
				t.Errorf("dirty: %s\n%v", c.m, err)
			}
		} else {
			t.Logf("dirty: %d keys, %v", o.Keys, o.mapReduce)
		}
		p, err := translate.Translate(j, translate.Options{Plain: true})
		if err != nil {
			t.Errorf("plain: %v", err)
			continue
		}
		t.Logf("plain:\n%s", pretty(p.Pipeline()))
		if err := e.both(clean, j, p).same(); err != nil {
			t.Errorf("plain, clean: %s\n%v", c.m, err)
		}
	}
}
