package command

import (
	"mrbench/internal/embedded/mongoerr"
)

// writeError is the fault of one statement of a write command.
type writeError struct {
	index int
	err   error
}

// writeErrors appends the writeErrors field, when there are any.
func (c *call) writeErrors(list []writeError) {
	if len(list) == 0 {
		return
	}
	at := c.startArray("writeErrors")
	for i, w := range list {
		e := mongoerr.From(w.err)
		doc := c.startElem(i)
		c.int32("index", int32(w.index))
		c.int32("code", int32(e.Code))
		c.b = append(c.b, e.Info...)
		c.str("errmsg", e.Msg)
		c.end(doc)
	}
	c.end(at)
}

// wholeCommand reports errors that end a write command rather than one of its statements: it was stopped,
// or the store itself failed.
func wholeCommand(err error) bool {
	switch mongoerr.CodeOf(err) {
	case mongoerr.Interrupted, mongoerr.InterruptedAtShutdown, mongoerr.MaxTimeMSExpired, mongoerr.OutOfDiskSpace,
		mongoerr.CommandNotSupportedOnView, mongoerr.InternalError:
		return true
	}
	return false
}
