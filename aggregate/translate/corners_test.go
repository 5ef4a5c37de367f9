package translate_test

import (
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/aggregate/translate"
	"mrbench/mr/jobfile"
)

// Places where a translation goes wrong easily.
func TestCorners(t *testing.T) {
	const (
		first = "function (k, v) { return Array.sum(v); }"
		obj   = "function (k, vs) { var r = {n: 0, s: 0}; vs.forEach(function (v) { r.n += v.n; r.s += v.s; }); return r; }"
		safe  = "if (!Array.isArray(this.tags)) return; "
		items = "if (!Array.isArray(this.items)) return; "
	)
	e := newEngine(t)
	data := map[kind]*mongo.Collection{}
	for k := range wild + 1 {
		data[k] = e.fill(fmt.Sprint("d", k), documents(80, k, uint64(k)+70))
	}
	for name, c := range map[string]struct{ m, r, f string }{
		"the array within its loop":         {safe + "for (var i = 0; i < this.tags.length; i++) emit(this.tags[i], this.tags.length);", first, ""},
		"the array's length kept":           {safe + "var n = this.tags.length; for (var i = 0; i < this.tags.length; i++) emit(this.tags[i], n);", first, ""},
		"length in the loop's head":         {safe + "for (var i = 0, n = this.tags.length; i < n; ++i) { emit(this.tags[i], 1); }", first, ""},
		"index as value":                    {safe + "this.tags.forEach(function (t, i) { if (t) emit(t, 1); });", first, ""},
		"pairs":                             {safe + "for (var i = 0; i < this.tags.length; i++) for (var j = 0; j < this.tags.length; j++) if (this.tags[i] < this.tags[j]) emit({a: this.tags[i], b: this.tags[j]}, 1);", first, ""},
		"outer element in the inner loop":   {items + "for (var i = 0; i < this.items.length; i++) { var it = this.items[i]; if (it && Array.isArray(it.tags)) for (var j = 0; j < it.tags.length; j++) emit(it.tags[j], it.tags.length + this.items.length); }", first, ""},
		"emit within &&":                    {"this.flag && emit(this.status, 1); this.qty > 2 ? emit(this.user, 2) : emit('few', 1);", first, ""},
		"emit in a function":                {"var self = this; function out(k, n) { if (k) emit(k, n); } out(self.status, 1); out(self.user, 2);", first, ""},
		"emits before and after a loop":     {"emit('all', 1); if (Array.isArray(this.tags)) this.tags.forEach(function (t) { emit(t, 2); }); emit('end', 3);", first, ""},
		"an early return":                   {"if (this.qty == null) { emit('none', 1); return; } if (this.qty > 2) { emit('many', 1); if (this.flag) return; } emit('any', 1);", first, ""},
		"a variable set in branches":        {"var k; if (this.flag) { k = 'f'; } else if (this.qty > 1) { k = 'q'; } emit(k, 1);", first, ""},
		"var in a loop":                     {items + "for (var i = 0; i < this.items.length; i++) { var it = this.items[i]; var q = it && it.qty; if (typeof q !== 'number') continue; emit(it.sku, {n: 1, s: q}); }", obj, "function (k, v) { return {n: v.n, avg: v.s / v.n, c: 1, t: true, z: null, s: 'x'}; }"},
		"constants in finalize":             {"emit(this.status, 1);", first, "function (k, v) { return {one: 1, zero: 0, yes: true, no: false, nothing: null, deep: {two: 2}, n: v}; }"},
		"a constant from finalize":          {"emit(this.status, 1);", first, "function (k, v) { return 1; }"},
		"finalize by key":                   {"emit(this.status, 1);", first, "function (k, v) { if (k === 'A') return v; if (k == null) return 'null'; return -v; }"},
		"finalize returns nothing for some": {"emit(this.status, 1);", first, "function (k, v) { if (v > 5) return v; }"},
		"undefined is kept for finalize":    {"emit(this._id, this.amount);", first, "function (k, v) { return v === undefined ? 'undefined' : v === null ? 'null' : typeof v; }"},
		"no value":                          {"emit(this.status, undefined);", first, ""},
		"constant key":                      {"emit('$x', {n: 1, s: 2});", obj, ""},
		"dollar texts":                      {"emit(this.status + '$', 1); if (this.status === '$a') emit('$a', 1);", first, ""},
		"nested values":                     {"if (typeof this.qty === 'number') emit(this.status, {a: {n: 1, q: this.qty}, b: 2});", "function (k, vs) { var r = {a: {n: 0, q: 0}, b: 0}; vs.forEach(function (v) { r.a.n += v.a.n; r.a.q += v.a.q; r.b += v.b; }); return r; }", ""},
		"switch with default":               {"switch (typeof this.amount) { case 'number': emit('n', 1); break; case 'string': emit('s', 1); break; default: emit('other', 1); }", first, ""},
		"or-ed objects":                     {"var a = this.address || {}; emit(a.city || 'none', 1);", first, ""},
		"reduce over items":                 {items + "emit(this.status, this.items.reduce(function (s, it) { return s + (it && typeof it.qty === 'number' ? it.qty : 0); }, 0));", first, ""},
		"map and filter":                    {safe + "this.tags.filter(function (t) { return typeof t === 'string'; }).map(function (t) { return t.substr(0, 2); }).forEach(function (t) { emit(t, 1); });", first, ""},
		"for of":                            {safe + "for (const t of this.tags) { let u = t; emit(u, 1); }", first, ""},
		"keys of an object":                 {"if (this.address && this.address.constructor !== 5 && typeof this.address === 'object' && !Array.isArray(this.address)) Object.keys(this.address).forEach(function (k) { emit(k, 1); });", first, ""},
		"max of dates":                      {"if (this.at instanceof Date) emit(this.status, this.at);", "function (k, v) { var m = v[0]; for (var i = 1; i < v.length; i++) { m = v[i] > m ? v[i] : m; } return m; }", ""},
		"max from a number":                 {"if (typeof this.amount === 'number') emit(this.status, this.amount);", "function (k, v) { var m = 5; v.forEach(function (x) { if (x > m) m = x; }); return m; }", ""},
		"date arithmetic":                   {"if (this.at instanceof Date) emit(Math.floor((this.at - new Date('2023-01-01')) / 86400000), 1);", first, ""},
		"dates from parts":                  {"if (this.at instanceof Date) emit(new Date(this.at.getFullYear(), this.at.getMonth(), this.at.getDate()), 1);", first, ""},
		"UTC of parts":                      {"if (this.at instanceof Date) emit(Date.UTC(this.at.getUTCFullYear(), this.at.getUTCMonth(), 1), 1);", first, ""},
		"or and zero":                       {"emit(this.status, (this.qty | 0) + ~~this.amount);", first, ""},
		"join of words":                     {"if (typeof this.text === 'string') emit(this.text.split(' ').join('_').toUpperCase(), 1);", first, ""},
		"count by two":                      {"var n = 0; n++; ++n; n += 2; emit(this.status, n);", first, ""},
		"array within an array":             {"emit(this.address.city.name, 1);", first, ""},
		"parents that are arrays":           {"emit(this.items && this.items.sku, 1);", first, ""},
		"an element by number":              {"if (this.tags) emit(this.tags[0], 1);", first, ""},
		"a field of an element":             {items + "if (this.items[0]) emit(this.items[0].sku, 1);", first, ""},
		"length of anything":                {"if (this.tags) emit(this.tags.length, 1);", first, ""},
		"comparison of two fields":          {"emit(this.amount < this.qty, 1);", first, ""},
		"equality of two fields":            {"emit(this.name === this.status, 1);", first, ""},
		"sums of nothing but text":          {"if (typeof this.name === 'string') emit(this.status, this.name);", first, ""},
	} {
		t.Run(name, func(t *testing.T) {
			text := "db.c.mapReduce(\nfunction () { " + c.m + " },\n" + c.r + ", {out: {inline: 1}"
			if c.f != "" {
				text += ", finalize: " + c.f
			}
			j, err := jobfile.Parse("job.js", []byte(text+"})"))
			if err != nil {
				t.Fatal(err)
			}
			r, err := translate.Translate(j, translate.Options{})
			if err != nil {
				t.Fatal(err)
			}
			same := 0
			for k, coll := range data {
				o := e.both(coll, j, r)
				switch err := o.same(); {
				case err == nil:
					same++
				case o.guarded(), o.arrayKey():
				default:
					t.Errorf("data %d: %v\n%s\n%s", k, err, c.m, pretty(r.Pipeline()))
				}
			}
			if same == 0 && name != "sums of nothing but text" {
				t.Errorf("no data gives an answer\n%s", pretty(r.Pipeline()))
			}
		})
	}
}
