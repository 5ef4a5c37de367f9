package command

import (
	"context"

	"mrbench/internal/embedded/mongoerr"
)

// profile reads the profiler's level. There is no profiler to turn on.
func profile(_ context.Context, c *call) error {
	level, err := whole("profile", "profile", c.target(), -1)
	if err != nil {
		return err
	}
	if level > 0 {
		return mongoerr.New(mongoerr.CommandNotSupported, "profile level %d is not supported: there is no profiler", level)
	}
	c.int32("was", 0)
	c.int32("slowms", 100)
	c.double("sampleRate", 1)
	return nil
}
