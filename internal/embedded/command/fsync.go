package command

import (
	"context"

	"mrbench/internal/embedded/mongoerr"
)

// fsync waits until everything acknowledged so far is on stable storage.
func fsync(ctx context.Context, c *call) error {
	lock, err := c.flag("lock", false)
	if err != nil {
		return err
	}
	if lock {
		return mongoerr.New(mongoerr.CommandNotSupported, "fsync with lock is not supported: copy the data directory of a server that is not running instead")
	}
	if err := c.s.db.Sync(ctx); err != nil {
		return err
	}
	c.int32("numFiles", 1)
	return nil
}
