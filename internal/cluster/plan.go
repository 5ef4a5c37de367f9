package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/splitter"
)

// Plan says how Create shards a collection.
type Plan struct {
	NS  string
	Key bson.D // {dim0: 1}, {dim0: 1, _id: 1} or {dim0: "hashed"}
	// Points are the bounds between chunks, ascending, each with all fields of the key; there is a chunk more than points. A
	// hashed key has none.
	Points []bson.D
	Chunks int // wanted for a hashed key, at least; 0 leaves it to the server
	// Shards that get chunks, in this order; each gets as many as the others, one after another, or one more.
	Shards   []string
	Patience time.Duration // how long a step is tried again that a migration, a lock or an election stands in the way of; default two minutes
	// Progress is told of each step that was done, of how many; may be nil.
	Progress func(done, steps int)
}

// Step is a command that Create sends.
type Step struct {
	DB      string
	Command bson.D
}

func (p *Plan) hashed() bool { return hashed(p.Key) }

// edge is the shard key with one value in every field.
func (p *Plan) edge(v any) bson.D {
	d := bson.D{}
	for _, e := range p.Key {
		d = append(d, bson.E{Key: e.Key, Value: v})
	}
	return d
}

// bound is the lower bound of chunk i; that of the chunk behind the last is the upper end.
func (p *Plan) bound(i int) bson.D {
	switch {
	case i == 0:
		return p.edge(primitive.MinKey{})
	case i > len(p.Points):
		return p.edge(primitive.MaxKey{})
	}
	return p.Points[i-1]
}

// owner is the shard of chunk i of n.
func (p *Plan) owner(i, n int) string { return p.Shards[i*len(p.Shards)/n] }

// first are the chunks with which a shard's share begins, the first chunk of all apart.
func (p *Plan) first(i int) bool {
	n := len(p.Points) + 1
	return i > 0 && p.owner(i, n) != p.owner(i-1, n)
}

func (p *Plan) shardCommand() bson.D {
	c := bson.D{{Key: "shardCollection", Value: p.NS}, {Key: "key", Value: p.Key}}
	if p.hashed() && p.Chunks > 0 {
		c = append(c, bson.E{Key: "numInitialChunks", Value: int32(p.Chunks)})
	}
	return c
}

func (p *Plan) splitCommand(i int) bson.D {
	return bson.D{{Key: "split", Value: p.NS}, {Key: "middle", Value: p.bound(i)}}
}

// moveCommand names the chunk by its bounds, which suits every key, and has the server finish the move before it answers.
func (p *Plan) moveCommand(from, to any, shard string) bson.D {
	return bson.D{
		{Key: "moveChunk", Value: p.NS}, {Key: "bounds", Value: bson.A{from, to}}, {Key: "to", Value: shard}, {Key: "_waitForDelete", Value: true},
	}
}

func (p *Plan) database() string {
	for i, r := range p.NS {
		if r == '.' {
			return p.NS[:i]
		}
	}
	return p.NS
}

// Steps are the commands of the plan for a collection that is not sharded yet. A share that lies on its shard already is not moved, and
// the chunks of a hashed key only where the server did not share them out evenly; so Create may send fewer.
func (p *Plan) Steps() []Step {
	admin := func(c bson.D) Step { return Step{"admin", c} }
	list := []Step{admin(bson.D{{Key: "enableSharding", Value: p.database()}}), admin(p.shardCommand())}
	if p.hashed() {
		return list
	}
	n := len(p.Points) + 1
	for i := 1; i < n; i++ {
		if p.first(i) {
			list = append(list, admin(p.splitCommand(i)))
		}
	}
	for i := 0; i < n && len(p.Shards) > 1; {
		next := i + 1
		for next < n && !p.first(next) {
			next++
		}
		list = append(list, admin(p.moveCommand(p.bound(i), p.bound(next), p.owner(i, n))))
		i = next
	}
	for i := 1; i < n; i++ {
		if !p.first(i) {
			list = append(list, admin(p.splitCommand(i)))
		}
	}
	return list
}

// LayoutError says that the chunks are not as they were to be.
type LayoutError struct{ NS, Problem string }

func (e *LayoutError) Error() string { return fmt.Sprintf("chunks of %s: %s", e.NS, e.Problem) }

// compare orders documents of the same fields as a server does.
func compare(a, b bson.Raw) int {
	value := func(r bson.Raw) bson.RawValue { return bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: r} }
	return splitter.Compare(value(a), value(b))
}

// Create shards the collection, which has to exist, to be empty and to be the caller's own, along the plan: the database is made able to hold
// sharded collections, the shares of the shards are split off and moved, then cut into chunks. At the end config has to agree. One
// that is sharded by the same key already is taken on from there. Errors: a server's, with the command; *LayoutError.
func Create(ctx context.Context, client *mongo.Client, p Plan) error {
	if len(p.Shards) == 0 {
		return errors.New("no shards to spread the chunks over")
	}
	if p.Patience == 0 {
		p.Patience = patience
	}
	c := &creator{Plan: p, client: client, steps: len(p.Steps())}
	for i := range len(p.Points) + 2 {
		raw, err := bson.Marshal(p.bound(i))
		if err != nil {
			return fmt.Errorf("split point %v: %w", p.bound(i), err)
		}
		c.bounds = append(c.bounds, raw)
	}
	if !slices.IsSortedFunc(c.bounds, compare) {
		return fmt.Errorf("split points of %s are not in ascending order", p.NS)
	}
	return c.run(ctx)
}
