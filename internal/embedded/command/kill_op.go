package command

import (
	"context"
	"math"

	"mrbench/internal/embedded/mongoerr"
)

// killOp stops a running command: it answers Interrupted at its next look.
func killOp(_ context.Context, c *call) error {
	v := c.arg("op")
	if v.IsMissing() {
		return missingField("killOp", "op")
	}
	id, ok := v.AsInt64()
	if !ok {
		return wrongType("killOp", "op", v, "number")
	}
	if id < math.MinInt32 || id > math.MaxInt32 {
		return mongoerr.New(mongoerr.BadValue, "invalid op : %d. Op ID cannot be represented with 32 bits", id)
	}
	c.str("info", "attempting to kill op")
	c.s.ops.kill(int32(id))
	return nil
}
