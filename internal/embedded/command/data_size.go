package command

import (
	"context"
	"time"

	"mrbench/internal/embedded/mongoerr"
)

// dataSize tells the bytes of a whole collection's documents from its counters.
func dataSize(_ context.Context, c *call) error {
	started := time.Now()
	ns, err := c.fullNS()
	if err != nil {
		return err
	}
	for _, field := range []string{"min", "max", "keyPattern"} {
		if !c.arg(field).IsNullish() {
			return mongoerr.New(mongoerr.CommandNotSupported, "dataSize of a range is not supported: leave out %s", field)
		}
	}
	snap := c.s.db.Snapshot()
	defer func() { _ = snap.Close() }()
	var size, n int64
	if coll := snap.Collection(ns); coll != nil {
		if err := requireCollection(ns, coll); err != nil {
			return err
		}
		st := snap.Stats(coll)
		size, n = st.Bytes, st.Documents
	}
	c.int64("size", size)
	c.int64("numObjects", n)
	c.int64("millis", time.Since(started).Milliseconds())
	return nil
}
