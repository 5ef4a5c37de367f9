package command

import (
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mapreduce"
	"mrbench/internal/embedded/mongoerr"
)

// mapReduce runs the mapreduce package's engine on the command as it came.
func mapReduce(ctx context.Context, c *call) error {
	if v := c.target(); v.Type != bsonx.TypeString {
		return mongoerr.New(mongoerr.TypeMismatch, "'mapReduce' must be of type String, not %s", bsonx.TypeName(v.Type))
	}
	ns, err := c.readNS()
	if err != nil {
		return err
	}
	if err := mapreduce.Check(c.db, c.body); err != nil {
		return err
	}
	snap := c.s.db.Snapshot()
	coll := snap.Collection(ns)
	_ = snap.Close()
	if err := requireCollection(ns, coll); err != nil {
		return err
	}
	if coll == nil {
		return mongoerr.New(mongoerr.NamespaceNotFound, "namespace does not exist: %s", ns)
	}
	reply, err := mapreduce.Run(ctx, c.s.db, c.db, c.body, c.op.progress)
	if err != nil {
		return err
	}
	c.appendFields(reply)
	return nil
}
