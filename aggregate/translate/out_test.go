package translate_test

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/aggregate/translate"
	"mrbench/internal/parity"
	"mrbench/mr"
	"mrbench/mr/jobfile"
)

// Each out mode leaves the same collection as the mapReduce does, also when there are documents in it already.
func TestOut(t *testing.T) {
	e := newEngine(t)
	ctx := context.Background()
	db := e.target.Client.Database("data")
	halves := []*mongo.Collection{e.fill("one", documents(120, clean, 1)), e.fill("two", documents(120, clean, 9))}
	const (
		m   = "function () { emit(this.cat, {n: 1, lo: this.qty, hi: this.qty, s: this.amount}); }"
		r   = "function (k, vs) { var r = vs[0]; for (var i = 1; i < vs.length; i++) { r.n += vs[i].n; r.lo = Math.min(r.lo, vs[i].lo); r.hi = Math.max(r.hi, vs[i].hi); r.s += vs[i].s; } return r; }"
		num = "function () { emit(this.status, 1); }"
	)
	for _, c := range []struct{ m, r, mode string }{
		{m, r, "replace"},
		{m, r, "merge"},
		{m, r, "reduce"},
		{num, sums, "reduce"},
		{num, sums, "replace"},
		{"function () { emit(this.cat, {l: [this._id]}); }", "function (k, vs) { var l = []; vs.forEach(function (v) { l = l.concat(v.l); }); return {l: l}; }", "reduce"},
		{"function () { emit(this.cat, {l: [this.name]}); }", "function (k, vs) { var l = []; vs.forEach(function (v) { v.l.forEach(function (x) { if (l.indexOf(x) < 0) l.push(x); }); }); return {l: l}; }", "reduce"},
	} {
		j, err := jobfile.Parse("job.js", []byte("db.c.mapReduce(\n"+c.m+",\n"+c.r+",\n{out: {"+c.mode+": 'piped'}})"))
		if err != nil {
			t.Fatal(err)
		}
		res, err := translate.Translate(j, translate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"reduced", "piped"} {
			if err := db.Collection(name).Drop(ctx); err != nil {
				t.Fatal(err)
			}
		}
		for _, coll := range halves {
			err := db.RunCommand(ctx, bson.D{
				{Key: "mapReduce", Value: coll.Name()},
				{Key: "map", Value: primitive.JavaScript(c.m)},
				{Key: "reduce", Value: primitive.JavaScript(c.r)},
				{Key: "out", Value: bson.D{{Key: c.mode, Value: "reduced"}}},
			}).Err()
			if err != nil {
				t.Fatal(err)
			}
			cur, err := coll.Aggregate(ctx, append(res.Pipeline(), res.Out.Stage), options.Aggregate().SetAllowDiskUse(true))
			if err != nil {
				t.Fatalf("%s: %v", c.mode, err)
			}
			if err := cur.Close(ctx); err != nil {
				t.Fatal(err)
			}
		}
		a, b := mr.Answer{Collection: db.Collection("reduced")}, mr.Answer{Collection: db.Collection("piped")}
		g, err := parity.Near{Unordered: res.Unordered, Relative: 1e-12}.Compare(a.Results(ctx, true), b.Results(ctx, true), 3)
		if err != nil || g.Different > 0 || g.Keys == 0 {
			t.Errorf("%s, %s: %v, %+v\n%s", c.mode, c.m, err, g, pretty([]bson.D{res.Out.Stage}))
		}
	}
}
