package lint_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/mr/jobfile"
	"mrbench/mr/jobfile/lint"
)

const (
	counts = "function () { emit(this.a, 1); }"
	sums   = "function (k, v) { return Array.sum(v); }"
)

func docs(t *testing.T) []bson.Raw {
	t.Helper()
	var out []bson.Raw
	for i := range 30 {
		b, err := bson.Marshal(bson.D{{Key: "_id", Value: i}, {Key: "a", Value: i % 3}, {Key: "n", Value: float64(i) / 4}, {Key: "s", Value: string(rune('a' + i))}})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

func TestFindings(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range []struct {
		m, r  string
		data  bool
		place string
		want  []string
	}{
		{counts, sums, false, "", nil},
		{counts, sums, true, "", nil},
		{"function () { emit(this.a, {n: 1, s: this.n}); }", "function (k, vs) { var r = {n: 0, s: 0}; vs.forEach(function (v) { r.n += v.n; r.s += v.s; }); return r; }", true, "", nil},
		{counts, "function (k, v) { for (var i = 0, n = v.length, s = 0; i < n; i++) s += v[i]; return s; }", true, "", nil},
		{counts, "function (k, v) { return v.length; }", false, "2:26", []string{lint.Length, lint.Number}},
		{counts, "function (k, v) { var n = 0; v.forEach(function () { n++; }); return n; }", true, "2:1", []string{lint.Number}},
		{"function () { emit(this.a, this.s); }", "function (k, v) { return v[0]; }", true, "2:1", []string{lint.Order}},
		{"function () { emit(this.a, this.s); }", "function (k, v) { return v.join(); }", true, "2:1", []string{lint.Order}},
		{"function () { emit(this.a, this.n); }", "function (k, v) { return Array.avg(v); }", true, "2:1", []string{lint.Number}},
		{"function () { emit(this.a, this.n); }", "function (k, v) { return {total: Array.sum(v)}; }", false, "2:1", []string{lint.Shape, lint.Number}},
		{"function () { this.a = 5; emit(this.a, 1); }", sums, true, "1:15", []string{lint.This}},
		{"function () { this.n++; emit(this.a, 1); }", sums, false, "1:15", []string{lint.This}},
		{"function () { emit(this.a, Math.random() < 2 ? 1 : 0); }", sums, true, "1:28", []string{lint.Random}},
		{"function () { if (new Date() > 5) emit(this.a, 1); }", sums, true, "1:19", []string{lint.Now}},
		{"function () { emit(this.x.y, 1); }", sums, true, "1:2", []string{lint.Throws}},
		{counts, "function (k, v) { return v.foo.bar; }", true, "2:", []string{lint.Throws}},
		{"function () { emit(this.a, this.n); }", "function (k, v) { while (true) {} }", true, "", nil}, // ends by itself
	} {
		j := &jobfile.Job{
			Map:    jobfile.Function{Text: c.m, File: "j", Line: 1, Column: 1},
			Reduce: jobfile.Function{Text: c.r, File: "j", Line: 2, Column: 1},
		}
		var data []bson.Raw
		if c.data {
			data = docs(t)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
		found, err := lint.Check(ctx, j, data)
		cancel()
		if err != nil {
			t.Errorf("%s %s: %v", c.m, c.r, err)
			continue
		}
		var ids []string
		for _, f := range found {
			ids = append(ids, f.ID)
			seen[f.ID] = true
		}
		for _, id := range c.want {
			if !slices.Contains(ids, id) {
				t.Errorf("%s %s: no %s among %v", c.m, c.r, id, found)
			}
		}
		if len(c.want) == 0 && len(found) > 0 {
			t.Errorf("%s %s: %v", c.m, c.r, found)
		}
		if len(c.want) > 0 && len(found) > 0 {
			if got := found[0].Position.String(); len(got) < len(c.place)+2 || got[2:2+len(c.place)] != c.place {
				t.Errorf("%v, want %s", found[0], c.place)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(lint.Findings())) {
		if !seen[id] {
			t.Errorf("no test for %s", id)
		}
	}
}
