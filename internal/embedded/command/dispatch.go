package command

import (
	"context"
	"errors"
	"runtime/debug"

	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/wire"
)

// dispatch runs one request from its name to the finished reply document.
func (c *Session) dispatch(ctx context.Context, m *wire.Message, dst []byte) []byte {
	k := &c.call
	*k = call{builder: builder{b: dst}, s: c.s, sess: c, msg: m, body: m.Body}
	at := k.startTop()
	fields := len(k.b)

	err := k.prepare()
	if err == nil {
		err = k.execute(ctx)
	}
	if err == nil && len(k.b)-int(at) > MaxDocumentBytes+internalSlack {
		err = mongoerr.New(mongoerr.BSONObjectTooLarge,
			"the reply of %s is %d bytes, more than a reply may have (%d): ask for less, or use a cursor",
			k.name, len(k.b)-int(at), MaxDocumentBytes)
	}
	if err != nil {
		k.b = k.b[:fields]
		k.fail(err)
	} else {
		k.double("ok", 1)
	}
	k.end(at)
	out := k.b
	*k = call{} // keep nothing of the request alive
	return out
}

// prepare finds the command and checks everything that is not its own business.
func (c *call) prepare() error {
	it := c.body.Iter()
	if !it.Next() {
		return mongoerr.New(mongoerr.FailedToParse, "empty command document")
	}
	name := it.Name()
	if c.cmd = c.s.table.find(name); c.cmd == nil {
		c.name = string(name)
		return mongoerr.New(mongoerr.CommandNotFound, "no such command: '%s'", c.name)
	}
	c.name = string(name)
	if err := c.admit(); err != nil {
		return err
	}
	if c.msg.OpCode == wire.OpQuery {
		if !c.cmd.legacy {
			return mongoerr.New(mongoerr.UnsupportedOpQueryCommand, "Unsupported OP_QUERY command: %s. The client driver may require an upgrade.", c.name)
		}
		c.db = c.msg.DB
		return nil
	}
	if err := c.parseGeneric(); err != nil {
		return err
	}
	if c.cmd.admin && c.db != "admin" {
		return mongoerr.New(mongoerr.Unauthorized, "%s may only be run against the admin database.", c.name)
	}
	return nil
}

// execute runs the handler as an operation that can be seen and stopped.
func (c *call) execute(ctx context.Context) error {
	ctx, done := c.s.ops.begin(ctx, c)
	defer done()
	if err := c.s.ctx.Err(); err != nil {
		return context.Cause(c.s.ctx)
	}
	if err := c.authorize(); err != nil {
		return err
	}
	if c.g.maxTime > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.g.maxTime,
			mongoerr.New(mongoerr.MaxTimeMSExpired, "operation exceeded time limit"))
		defer cancel()
	}
	if c.g.numbered {
		done, err := c.beginNumbered(ctx)
		if err != nil {
			return err
		}
		defer done()
	}
	c.s.counters.count(c.cmd)
	err := c.guard(ctx)
	if err != nil && ctx.Err() != nil {
		return stopReason(ctx, err)
	}
	return err
}

// guard keeps a fault in one command from ending the process.
func (c *call) guard(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			c.s.log("panic in command %s on %s from %s: %v\n%s", c.name, c.db, c.sess.remote, p, debug.Stack())
			err = mongoerr.New(mongoerr.InternalError,
				"internal fault in %s: %v; the connection and the data are unharmed, please report it with the server's log", c.name, p)
		}
	}()
	if c.s.before != nil {
		c.s.before(c.cmd.name)
	}
	return c.cmd.run(ctx, c)
}

// stopReason is why a stopped command failed: the reason it was stopped, whatever its last call made of that.
// An error with a code of its own that has nothing to do with stopping is kept.
func stopReason(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	var stopped *mongoerr.Error
	if !errors.As(cause, &stopped) {
		stopped = mongoerr.New(mongoerr.Interrupted, "operation was interrupted: %v", cause)
	}
	switch mongoerr.CodeOf(err) {
	case mongoerr.InternalError, mongoerr.JSInterpreterFailure, mongoerr.Interrupted, mongoerr.MaxTimeMSExpired:
		return stopped
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return stopped
	}
	return err
}

// fail appends the fields of a failed reply.
func (c *call) fail(err error) {
	e := mongoerr.From(err)
	c.double("ok", 0)
	c.str("errmsg", e.Msg)
	c.int32("code", int32(e.Code))
	c.str("codeName", e.Code.Name())
	c.b = append(c.b, e.Info...)
}

// AppendError appends the reply document of a request that could not even be read.
func AppendError(dst []byte, err error) []byte {
	k := call{builder: builder{b: dst}}
	at := k.startTop()
	k.fail(err)
	k.end(at)
	return k.b
}
