package torture

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

// indexer builds and drops an index of the collection that the writers write to meanwhile.
type indexer struct{ extra *cell }

func newIndexer() *indexer { return &indexer{newCell()} }

func (x *indexer) owns() []string { return nil }

func (x *indexer) step(ctx context.Context, c *mongo.Client, rng *rand.Rand) error {
	db := c.Database("torture")
	state := int64(0)
	var cmd bson.D
	if s, ok := x.extra.known(); ok && s == absent || rng.IntN(2) == 0 {
		cmd = bson.D{{Key: "createIndexes", Value: "docs"}, {Key: "indexes", Value: bson.A{
			bson.D{{Key: "key", Value: bson.D{{Key: "v", Value: -1}, {Key: "tags", Value: 1}}}, {Key: "name", Value: "extra"}},
		}}}
	} else {
		state = absent
		cmd = bson.D{{Key: "dropIndexes", Value: "docs"}, {Key: "index", Value: "extra"}}
	}
	x.extra.send(state)
	err := db.RunCommand(ctx, cmd).Err()
	if err == nil {
		x.extra.settle(state)
	}
	return err
}

func (x *indexer) check(ctx context.Context, t testing.TB, c *mongo.Client) {
	t.Helper()
	specs, err := c.Database("torture").Collection("docs").Indexes().ListSpecifications(ctx)
	if err != nil {
		t.Error(err)
		return
	}
	var names []string
	for _, s := range specs {
		names = append(names, s.Name)
	}
	state := absent
	if slices.Contains(names, "extra") {
		state = 0
	}
	if err := x.extra.observe(state); err != nil {
		t.Errorf("index extra %v", err)
	}
	for _, want := range docIndexes {
		if !slices.Contains(names, want) {
			t.Errorf("index %s of the writers' collection is gone, there are %v", want, names)
		}
	}
}

const movedDocs = 50

// mover makes, renames and drops collections, and drops a whole database.
type mover struct {
	version  int64
	at       [3]*cell // the version in moved.m0 …
	renaming int64    // the version that a rename in flight carries
	passing  *cell    // the database "passing" with its one collection
}

func newMover() *mover {
	return &mover{at: [3]*cell{newCell(), newCell(), newCell()}, renaming: absent, passing: newCell()}
}

func (m *mover) owns() []string {
	return []string{"moved.m0", "moved.m1", "moved.m2", "passing.made"}
}

// fill makes a collection of the version by one insert: in flight, there may be none of it, the
// collection that the insert created and nothing in it, or all.
func (m *mover) fill(ctx context.Context, coll *mongo.Collection, state *cell) error {
	m.version++
	docs := make([]any, movedDocs)
	for i := range docs {
		docs[i] = bson.D{{Key: "_id", Value: i}, {Key: "v", Value: m.version}}
	}
	state.send(empty)
	state.send(m.version)
	_, err := coll.InsertMany(ctx, docs)
	if err == nil {
		state.settle(m.version)
	}
	return err
}

func (m *mover) drop(ctx context.Context, drop func(context.Context) error, state *cell) error {
	state.send(absent)
	err := drop(ctx)
	if err == nil {
		state.settle(absent)
	}
	return err
}

func (m *mover) step(ctx context.Context, c *mongo.Client, rng *rand.Rand) error {
	if rng.IntN(4) == 0 {
		if s, _ := m.passing.known(); s < 0 {
			return m.fill(ctx, c.Database("passing").Collection("made"), m.passing)
		}
		return m.drop(ctx, c.Database("passing").Drop, m.passing)
	}
	from, to := rng.IntN(3), rng.IntN(3)
	coll := c.Database("moved").Collection(fmt.Sprint("m", from))
	v, _ := m.at[from].known()
	switch {
	case v < 0:
		return m.fill(ctx, coll, m.at[from])
	case from == to:
		return m.drop(ctx, coll.Drop, m.at[from])
	}
	m.renaming = v
	m.at[from].send(absent)
	m.at[to].send(v)
	err := c.Database("admin").RunCommand(ctx, bson.D{
		{Key: "renameCollection", Value: fmt.Sprint("moved.m", from)}, {Key: "to", Value: fmt.Sprint("moved.m", to)}, {Key: "dropTarget", Value: true},
	}).Err()
	if err == nil {
		m.at[from].settle(absent)
		m.at[to].settle(v)
		m.renaming = absent
	}
	return err
}

func (m *mover) check(ctx context.Context, t testing.TB, c *mongo.Client) {
	t.Helper()
	var before, after []int64 // versions that must be somewhere
	for _, s := range m.at {
		if v, ok := s.known(); ok && v >= 0 {
			before = append(before, v)
		}
	}
	if m.renaming != absent {
		before = append(before, m.renaming)
		m.renaming = absent
	}
	for i, s := range m.at {
		observeUniform(ctx, t, c.Database("moved").Collection(fmt.Sprint("m", i)), "v", movedDocs, s)
		if v, _ := s.known(); v >= 0 {
			if slices.Contains(after, v) {
				t.Errorf("version %d is under two names: a rename was carried out in part", v)
			}
			after = append(after, v)
		}
	}
	for _, v := range before {
		if !slices.Contains(after, v) {
			t.Errorf("version %d is gone", v)
		}
	}
	observeUniform(ctx, t, c.Database("passing").Collection("made"), "v", movedDocs, m.passing)
}
