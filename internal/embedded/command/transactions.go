package command

import (
	"context"

	"mrbench/internal/embedded/mongoerr"
)

// noTransactions is a standalone's answer.
func noTransactions(context.Context, *call) error {
	return mongoerr.New(mongoerr.IllegalOperation, "Transaction numbers are only allowed on a replica set member or mongos")
}
