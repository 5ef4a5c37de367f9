package command

import (
	"context"

	"mrbench/internal/embedded/mongoerr"
)

// replSetGetStatus is how tools tell a standalone from a replica set.
func replSetGetStatus(context.Context, *call) error {
	return mongoerr.New(mongoerr.NoReplicationEnabled, "not running with --replSet")
}
