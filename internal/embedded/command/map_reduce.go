package command

import (
	"context"

	"mrbench/internal/embedded/mapreduce"
)

// mapReduce runs the mapreduce package's engine on the command as it came.
func mapReduce(ctx context.Context, c *call) error {
	ns, err := c.readNS()
	if err != nil {
		return err
	}
	snap := c.s.db.Snapshot()
	coll := snap.Collection(ns)
	_ = snap.Close()
	if err := requireCollection(ns, coll); err != nil {
		return err
	}
	reply, err := mapreduce.Run(ctx, c.s.db, c.db, c.body, c.op.progress)
	if err != nil {
		return err
	}
	c.appendFields(reply)
	return nil
}
