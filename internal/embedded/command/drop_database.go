package command

import (
	"context"
	"slices"
	"strings"

	"mrbench/internal/embedded/mongoerr"
)

// dropDatabase removes all collections of a database.
func dropDatabase(ctx context.Context, c *call) error {
	if c.db == "admin" {
		return mongoerr.New(mongoerr.IllegalOperation, "Dropping the 'admin' database is prohibited.")
	}
	snap := c.s.db.Snapshot()
	existed := slices.Contains(snap.Databases(), c.db)
	_ = snap.Close()
	if !existed {
		return nil
	}
	if err := c.s.db.DropDatabase(ctx, c.db); err != nil {
		return err
	}
	prefix := c.db + "."
	c.s.cursors.closeWhere(func(cur *cursor) bool { return strings.HasPrefix(cur.ns, prefix) })
	c.str("dropped", c.db)
	return nil
}
