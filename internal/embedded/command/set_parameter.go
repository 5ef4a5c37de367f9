package command

import (
	"context"

	"mrbench/internal/embedded/mongoerr"
)

// setParameter refuses: nothing here is changed while it runs.
func setParameter(_ context.Context, c *call) error {
	return mongoerr.New(mongoerr.CommandNotSupported, "setParameter is not supported: this server has no parameters that can be changed")
}
