package torture

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"go.mongodb.org/mongo-driver/mongo"
)

const (
	sourceDocs = 300
	sourceKeys = 30
)

// outputs replaces, merges and reduces whole collections: $out and all forms of mapReduce's output, in the
// database of the source and in another one. Each output is of one version from its first document to its last.
type outputs struct {
	source  *cell
	version int64
	out     *cell // $out
	forms   map[string]*cell
}

func newOutputs() *outputs {
	return &outputs{source: newCell(), out: newCell(), forms: map[string]*cell{"replace": newCell(), "merge": newCell(), "reduce": newCell()}}
}

func (o *outputs) owns() []string {
	return []string{"outputs.source", "outputs.out", "outputs_mr.replace", "outputs_mr.merge", "outputs_mr.reduce"}
}

func (o *outputs) step(ctx context.Context, c *mongo.Client, rng *rand.Rand) error {
	db := c.Database("outputs")
	if s, ok := o.source.known(); !ok || s == absent {
		return o.makeSource(ctx, db)
	}
	o.version++
	if rng.IntN(3) == 0 {
		o.out.send(o.version)
		cur, err := db.Collection("source").Aggregate(ctx, bson.A{
			bson.D{{Key: "$addFields", Value: bson.D{{Key: "v", Value: o.version}}}},
			bson.D{{Key: "$sort", Value: bson.D{{Key: "k", Value: rng.IntN(2)*2 - 1}}}}, // not in the order of _id
			bson.D{{Key: "$out", Value: "out"}},
		})
		if err == nil {
			err = cur.Close(ctx)
		}
		if err == nil {
			o.out.settle(o.version)
		}
		return err
	}
	form := []string{"replace", "merge", "reduce"}[rng.IntN(3)]
	target := o.forms[form]
	v := o.version
	reduce := "function (k, vs) { return vs[0]; }"
	emit := "v"
	if form == "reduce" { // counts the documents of all runs so far
		n, _ := target.known()
		v = max(n, 0) + sourceDocs/sourceKeys
		reduce, emit = "function (k, vs) { return Array.sum(vs); }", "1"
	}
	target.send(v)
	err := db.RunCommand(ctx, bson.D{
		{Key: "mapReduce", Value: "source"},
		{Key: "map", Value: primitive.JavaScript(fmt.Sprintf("function () { emit(String(this.k), %s); }", emit))},
		{Key: "reduce", Value: primitive.JavaScript(reduce)},
		{Key: "scope", Value: bson.D{{Key: "v", Value: float64(v)}}},
		{Key: "jsMode", Value: rng.IntN(2) == 0},
		{Key: "out", Value: bson.D{{Key: form, Value: form}, {Key: "db", Value: "outputs_mr"}}},
	}).Err()
	if err == nil {
		target.settle(v)
	}
	return err
}

func (o *outputs) makeSource(ctx context.Context, db *mongo.Database) error {
	if err := db.Collection("source").Drop(ctx); err != nil {
		return err
	}
	docs := make([]any, sourceDocs)
	for i := range docs {
		docs[i] = bson.D{{Key: "_id", Value: i}, {Key: "k", Value: i % sourceKeys}}
	}
	o.source.send(0)
	_, err := db.Collection("source").InsertMany(ctx, docs)
	if err == nil {
		o.source.settle(0)
	}
	return err
}

func (o *outputs) check(ctx context.Context, t testing.TB, c *mongo.Client) {
	t.Helper()
	if s, ok := o.source.known(); ok && s != absent {
		if n, err := c.Database("outputs").Collection("source").CountDocuments(ctx, bson.D{}); n != sourceDocs || err != nil {
			t.Errorf("the source has %d documents, %v", n, err)
		}
	}
	observeUniform(ctx, t, c.Database("outputs").Collection("out"), "v", sourceDocs, o.out)
	for form, state := range o.forms {
		observeUniform(ctx, t, c.Database("outputs_mr").Collection(form), "value", sourceKeys, state)
	}
}

func observeUniform(ctx context.Context, t testing.TB, coll *mongo.Collection, field string, n int, state *cell) {
	t.Helper()
	v, err := uniform(ctx, coll, field, n)
	if err == nil {
		err = state.observe(v)
	}
	if err != nil {
		t.Errorf("%s.%s: %v", coll.Database().Name(), coll.Name(), err)
	}
}
