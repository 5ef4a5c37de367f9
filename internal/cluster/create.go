package cluster

import (
	"context"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

type creator struct {
	Plan
	client      *mongo.Client
	bounds      []bson.Raw // of the chunks, both ends included
	done, steps int
}

func (c *creator) run(ctx context.Context) error {
	coll, err := c.shard(ctx)
	if err != nil {
		return err
	}
	if !c.hashed() {
		if err := c.foreign(coll); err != nil {
			return err
		}
	}
	// What a balancer moved in the meantime is moved back once.
	for try := 0; ; try++ {
		if err := c.arrange(ctx); err != nil {
			return err
		}
		coll, err := c.now(ctx)
		if err != nil {
			return err
		}
		err = c.verify(coll)
		if err == nil || try > 0 {
			return err
		}
	}
}

func (c *creator) send(ctx context.Context, command bson.D, done func(context.Context) (bool, error)) error {
	err := persist(ctx, c.Patience, func(ctx context.Context) error {
		if err := c.client.Database("admin").RunCommand(ctx, command).Err(); err != nil {
			return fmt.Errorf("%s %v: %w", command[0].Key, command[0].Value, err)
		}
		return nil
	}, done)
	if err == nil {
		c.step()
	}
	return err
}

// now is what config says, tried again while it has no primary.
func (c *creator) now(ctx context.Context) (coll *Collection, err error) {
	err = persist(ctx, c.Patience, func(ctx context.Context) (err error) {
		coll, err = Of(ctx, c.client, c.NS)
		return err
	}, nil)
	return coll, err
}

func (c *creator) step() {
	c.done = min(c.done+1, c.steps)
	if c.Progress != nil {
		c.Progress(c.done, c.steps)
	}
}

// shard makes the collection sharded, unless it is.
func (c *creator) shard(ctx context.Context) (*Collection, error) {
	if err := c.send(ctx, bson.D{{Key: "enableSharding", Value: c.database()}}, nil); err != nil {
		if e, is := commandError(err); !is || e.Code != 23 { // sharding is enabled already, says 3.6
			return nil, err
		}
	}
	coll, err := c.now(ctx)
	if err != nil {
		return nil, err
	}
	if coll == nil {
		err = c.send(ctx, c.shardCommand(), func(ctx context.Context) (bool, error) {
			made, err := Of(ctx, c.client, c.NS)
			return made != nil, err
		})
		if err != nil {
			return nil, err
		}
		coll, err = c.now(ctx)
	} else {
		c.step()
	}
	if err == nil && (coll == nil || !SameKey(coll.Key, c.Key)) {
		text := "not sharded"
		if coll != nil {
			text = "sharded by " + KeyText(coll.Key)
		}
		err = &LayoutError{c.NS, fmt.Sprintf("config says that it is %s, not sharded by %s", text, KeyText(c.Key))}
	}
	return coll, err
}

// foreign finds chunks of another plan, which can't be made those of this one.
func (c *creator) foreign(coll *Collection) error {
	for _, x := range coll.Chunks {
		if _, found := c.find(x.Min); !found {
			return &LayoutError{c.NS, fmt.Sprintf("it was split before at other points, such as %v", x.Min)}
		}
	}
	return nil
}

// find returns the number of the planned chunk that a bound is in, and whether it is the chunk's lower bound.
func (c *creator) find(bound bson.Raw) (i int, found bool) {
	i, found = slices.BinarySearchFunc(c.bounds, bound, compare)
	if !found {
		i--
	}
	return i, found
}

// arrange splits off each shard's share and moves it, then cuts the shares into chunks: so there is one move a shard, not one a chunk.
func (c *creator) arrange(ctx context.Context) error {
	if err := c.split(ctx, c.first); err != nil {
		return err
	}
	if err := c.move(ctx); err != nil {
		return err
	}
	return c.split(ctx, func(i int) bool { return !c.first(i) })
}

// split cuts at the lower bounds of the chunks that are wanted.
func (c *creator) split(ctx context.Context, wanted func(int) bool) error {
	there, err := c.there(ctx)
	for i := 1; i < len(c.bounds)-1 && err == nil; i++ {
		if !wanted(i) || there[i] {
			continue
		}
		err = c.send(ctx, c.splitCommand(i), func(ctx context.Context) (bool, error) {
			there, err := c.there(ctx)
			return there[i], err
		})
	}
	return err
}

// there says which planned bounds are bounds of chunks.
func (c *creator) there(ctx context.Context) (map[int]bool, error) {
	coll, err := c.now(ctx)
	if err != nil || coll == nil {
		return nil, err
	}
	m := map[int]bool{}
	for _, x := range coll.Chunks {
		if i, found := c.find(x.Min); found {
			m[i] = true
		}
	}
	return m, nil
}

// wanted is the shard of chunk i of those that there are.
func (c *creator) wanted(coll *Collection, i int) string {
	if c.hashed() {
		return c.owner(i, len(coll.Chunks))
	}
	planned, _ := c.find(coll.Chunks[i].Min)
	return c.owner(planned, len(c.bounds)-1)
}

func (c *creator) move(ctx context.Context) error {
	coll, err := c.now(ctx)
	if err != nil || coll == nil {
		return err
	}
	for i, x := range coll.Chunks {
		to := c.wanted(coll, i)
		if x.Shard == to {
			continue
		}
		err := c.send(ctx, c.moveCommand(x.Min, x.Max, to), func(ctx context.Context) (bool, error) {
			now, err := Of(ctx, c.client, c.NS)
			if err != nil || now == nil {
				return false, err
			}
			at := slices.IndexFunc(now.Chunks, func(y Chunk) bool { return compare(y.Min, x.Min) == 0 })
			return at >= 0 && now.Chunks[at].Shard == to, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// verify compares what config says with the plan.
func (c *creator) verify(coll *Collection) error {
	if coll == nil {
		return &LayoutError{c.NS, "it is not sharded any more"}
	}
	n := len(coll.Chunks)
	if planned := len(c.bounds) - 1; !c.hashed() && n != planned {
		return &LayoutError{c.NS, fmt.Sprintf("there are %d, not %d", n, planned)}
	}
	if n < c.Chunks {
		return &LayoutError{c.NS, fmt.Sprintf("there are %d, not %d", n, c.Chunks)}
	}
	for i, x := range coll.Chunks {
		if _, found := c.find(x.Min); !found && !c.hashed() {
			return &LayoutError{c.NS, fmt.Sprintf("one begins at %v, where none was to begin", x.Min)}
		}
		if to := c.wanted(coll, i); x.Shard != to {
			return &LayoutError{c.NS, fmt.Sprintf("the one from %v is on %s, not on %s: did the balancer move it?", x.Min, x.Shard, to)}
		}
	}
	return nil
}
