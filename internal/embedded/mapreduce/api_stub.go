// Package mapreduce runs the mapReduce command.
package mapreduce

// This file is the agreed interface; it is replaced by the real files.

import (
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/store"
)

// Progress is called now and then with input documents done (for currentOp). May be nil.
type Progress func(phase string, done, total int64)

// Run runs the command document {mapReduce|mapreduce: "coll", map, reduce, out, …} on database dbName and gives the reply
// (without ok). Errors carry MongoDB's codes.
func Run(ctx context.Context, db *store.DB, dbName string, cmd bsonx.Doc, p Progress) (bsonx.Doc, error) { panic("todo") }
