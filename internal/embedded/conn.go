package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"time"

	"mrbench/internal/embedded/command"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/wire"
)

const (
	// A reply that the client does not read holds up Close no longer than this.
	lastReplyTimeout = time.Second

	// A command that has run this long is watched for its client's leaving.
	watchAfter = 100 * time.Millisecond

	// Reply buffers above this size are not kept. The pool lets go of what is not used anyway.
	keepBuffer = command.MaxDocumentBytes + 1<<20
)

// errTooMany answers a connection above the limit.
var errTooMany = errors.New("too many connections")

// conn serves one connection.
type conn struct {
	e       *Engine
	nc      net.Conn
	in      *peekReader
	reader  *wire.Reader
	packer  wire.Packer // compresses replies
	session *command.Session
	ctx     context.Context
	cancel  context.CancelCauseFunc
	watch   *time.Timer // runs clientGone while a command runs
}

// start begins to serve nc in a goroutine of its own; the engine's Close waits for it.
func (e *Engine) start(nc net.Conn) error {
	in := newPeekReader(nc)
	c := &conn{e: e, nc: nc, in: in, reader: wire.NewReader(in)}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		_ = nc.Close()
		return net.ErrClosed
	}
	if len(e.conns) >= e.maxConns {
		_ = nc.Close()
		return fmt.Errorf("%w: %d are open", errTooMany, len(e.conns))
	}
	c.ctx, c.cancel = context.WithCancelCause(e.commands.Context())
	e.conns[c] = struct{}{}
	e.running.Go(c.run)
	return nil
}

// finish ends the connection: at once when it waits for a request, else after the reply it is making.
func (c *conn) finish() {
	_ = c.nc.SetReadDeadline(time.Unix(1, 0))
	_ = c.nc.SetWriteDeadline(time.Now().Add(lastReplyTimeout))
}

func (c *conn) run() {
	c.session = c.e.commands.NewSession(c.nc.RemoteAddr().String())
	c.watch = time.AfterFunc(time.Hour, c.clientGone)
	c.watch.Stop()
	defer func() {
		if p := recover(); p != nil { // a fault outside of any command: of this connection alone
			c.e.log("panic on the connection from %s: %v\n%s", c.nc.RemoteAddr(), p, debug.Stack())
		}
		c.cancel(net.ErrClosed)
		_ = c.nc.Close()
		c.in.end()
		c.reader.Close()
		c.session.Close()
		c.e.mu.Lock()
		delete(c.e.conns, c)
		c.e.mu.Unlock()
	}()
	for {
		m, err := c.reader.Next()
		if err := c.serve(m, err); err != nil {
			if !expected(err) {
				c.e.log("connection from %s ended: %v", c.nc.RemoteAddr(), err)
			}
			return
		}
		if c.e.commands.Context().Err() != nil {
			return
		}
	}
}

// expected: the ways in which connections end when nothing is wrong.
func expected(err error) bool {
	var timeout net.Error
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe) ||
		errors.As(err, &timeout) && timeout.Timeout()
}

// serve answers one message. An error ends the connection.
func (c *conn) serve(m *wire.Message, err error) error {
	var bad *mongoerr.Error
	if errors.As(err, &bad) && m != nil { // the frame is whole, but a document in it is not BSON
		return c.reply(m, func(dst []byte) []byte { return command.AppendError(dst, bad) })
	}
	if err != nil {
		return err
	}
	return c.reply(m, func(dst []byte) []byte {
		c.watch.Reset(watchAfter)
		defer c.watch.Stop()
		return c.session.Run(c.ctx, m, dst)
	})
}

// reply builds the answer in one buffer and sends it, unless none is wanted.
func (c *conn) reply(m *wire.Message, body func([]byte) []byte) error {
	buf := c.e.buffer()
	defer c.e.release(buf)
	out := wire.BeginReply((*buf)[:0], m, c.e.replies.Add(1), 0)
	out = body(out)
	*buf = out
	if m.MoreToCome() {
		return nil
	}
	out, err := c.packer.EndReply(out, 0, m)
	if err != nil {
		return fmt.Errorf("frame a reply: %w", err)
	}
	*buf = out
	_, err = c.nc.Write(out)
	return err
}

// buffer takes a reply buffer from the pool.
func (e *Engine) buffer() *[]byte {
	if b, ok := e.buffers.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, 0, 4096)
	return &b
}

func (e *Engine) release(b *[]byte) {
	if cap(*b) <= keepBuffer {
		e.buffers.Put(b)
	}
}

// clientGone looks, once a command has run for a while, whether its client is still there, and stops the
// command when it is not.
func (c *conn) clientGone() {
	c.in.peek(func() {
		c.cancel(mongoerr.New(mongoerr.Interrupted, "operation was interrupted because its client disconnected"))
	})
}
