package command

import (
	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/store"
	"mrbench/internal/embedded/wire"
)

// call is one command being run: its request, its reply under construction, and who asked.
type call struct {
	builder // the reply's fields so far; dispatch adds ok or replaces them by an error

	s    *Server
	sess *Session
	cmd  *command

	name string // as the client wrote it (an alias, perhaps)
	db   string
	body bsonx.Doc
	msg  *wire.Message
	g    generic
	op   *op

	again   *numbered // of a write with a number; else nil
	retried []int32   // its statements that had been carried out before
}

// arg is a field of the command document.
func (c *call) arg(name string) bsonx.Value { return c.body.Get(name) }

// target is the first field's value: the collection of most commands.
func (c *call) target() bsonx.Value {
	it := c.body.Iter()
	it.Next()
	return it.Value()
}

func (c *call) writeOptions(create bool) store.WriteOptions {
	return store.WriteOptions{Sync: c.g.journal, Create: create}
}
