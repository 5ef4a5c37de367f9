package command

import (
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// getLog answers shells that show the start-up warnings. No lines are kept, so there are none to give.
func getLog(_ context.Context, c *call) error {
	v := c.target()
	if v.Type != bsonx.TypeString {
		return mongoerr.New(mongoerr.TypeMismatch, "Argument to getLog must be of type String; found %s", v)
	}
	switch v.Str() {
	case "*":
		c.strings("names", []string{"global", "startupWarnings"})
	case "global", "startupWarnings":
		c.int32("totalLinesWritten", 0)
		c.strings("log", nil)
	default:
		return mongoerr.New(mongoerr.OperationFailed, "no RamLog named: %s", v.Str())
	}
	return nil
}
