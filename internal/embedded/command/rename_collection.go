package command

import (
	"context"

	"mrbench/internal/embedded/mongoerr"
)

// renameCollection gives a collection another name, in this database or another one.
func renameCollection(ctx context.Context, c *call) error {
	from, err := c.fullNS()
	if err != nil {
		return err
	}
	text, err := c.text("to")
	if err != nil {
		return err
	}
	to, err := parseNS(text)
	if err == nil {
		err = checkWritable(to)
	}
	if err == nil {
		err = checkWritable(from)
	}
	if err != nil {
		return err
	}
	dropTarget, err := c.flag("dropTarget", false)
	if err != nil {
		return err
	}
	if from == to {
		return mongoerr.New(mongoerr.IllegalOperation, "Can't rename a collection to itself")
	}
	if err := c.s.db.Rename(ctx, from, to, dropTarget); err != nil {
		return err
	}
	c.s.endCursors(from)
	c.s.endCursors(to)
	return nil
}
