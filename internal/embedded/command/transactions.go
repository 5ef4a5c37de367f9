package command

import (
	"context"

	"mrbench/internal/embedded/mongoerr"
)

// noTransactions answers commands that end a transaction.
func noTransactions(context.Context, *call) error { return errTransaction() }

// errTransaction is a standalone's answer to a command of a transaction.
func errTransaction() error {
	return mongoerr.New(mongoerr.IllegalOperation, "Transaction numbers are only allowed on a replica set member or mongos")
}
