package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"sync"
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

	// What a stranger, who has not logged in, may cost. A login takes some hundred bytes; drivers keep a connection
	// without a login, on which they say hello every ten seconds, at most every minute.
	strangerMessage = 64 << 10 // bytes
	strangerIdle    = 2 * time.Minute
	strangerPace    = 10 * time.Second // for a whole message, and for taking a whole reply
)

// limits are the times a stranger has.
type limits struct{ idle, pace time.Duration }

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
	served  *serving    // that accepted it; nil for a connection in memory
	limited bool        // as a stranger

	deadlines sync.Mutex
	finishing bool // deadlines stay as finish set them
}

// start begins to serve nc in a goroutine of its own; the engine's Close waits for it.
func (e *Engine) start(nc net.Conn, by *serving) error {
	in := newPeekReader(nc)
	c := &conn{e: e, nc: nc, in: in, reader: wire.NewReader(in), served: by}
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
	c.deadlines.Lock()
	defer c.deadlines.Unlock()
	c.finishing = true
	_ = c.nc.SetReadDeadline(time.Unix(1, 0))
	_ = c.nc.SetWriteDeadline(time.Now().Add(lastReplyTimeout))
}

// patience gives the client time for what comes next; 0: all the time it wants.
func (c *conn) patience(read, write time.Duration) {
	c.deadlines.Lock()
	defer c.deadlines.Unlock()
	if c.finishing {
		return
	}
	until := func(d time.Duration) (t time.Time) {
		if d > 0 {
			t = time.Now().Add(d)
		}
		return t
	}
	_ = c.nc.SetReadDeadline(until(read))
	_ = c.nc.SetWriteDeadline(until(write))
}

// next reads the next message. A stranger's must be small, and come in time.
func (c *conn) next() (*wire.Message, error) {
	if !c.session.Stranger() {
		if c.limited {
			c.limited = false
			c.reader.Limit = 0
			c.patience(0, 0)
		}
		return c.reader.Next()
	}
	c.limited = true
	c.reader.Limit = strangerMessage
	c.patience(c.e.limits.idle, 0)
	if err := c.reader.Wait(); err != nil {
		return nil, err
	}
	c.patience(c.e.limits.pace, c.e.limits.pace)
	return c.reader.Next()
}

func (c *conn) newSession() *command.Session {
	remote := c.nc.RemoteAddr()
	if c.served == nil || !c.e.auth {
		return c.e.commands.NewSession(remote.String())
	}
	return c.e.commands.NewGuest(remote.String(), isLocal(remote))
}

// isLocal: the other end is on this machine.
func isLocal(a net.Addr) bool {
	switch a := a.(type) {
	case *net.UnixAddr:
		return true
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	}
	return false
}

func (c *conn) run() {
	c.session = c.newSession()
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
		m, err := c.next()
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
