package command

import (
	"context"
	"sync/atomic"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/wire"
)

// Session is one connection's state. One goroutine at a time.
type Session struct {
	s      *Server
	id     int64
	remote string

	appName  atomic.Pointer[string] // from hello's client metadata; read by currentOp
	driver   atomic.Pointer[string]
	requests int64

	guest  bool      // has to log in
	local  bool      // comes from this machine
	user   *account  // who has logged in; nil: nobody. Ask who, which knows whether it is still there.
	login  *exchange // under way; nil: none
	logins int32     // begun

	// scratch that is reused from request to request
	call call
	docs []bsonx.Doc
}

// NewSession is for a new connection from remote (an address, for currentOp and whatsmyip).
// It may do everything.
func (s *Server) NewSession(remote string) *Session {
	s.counters.opened()
	return &Session{s: s, id: s.lastSession.Add(1), remote: remote, local: true}
}

// NewGuest is for a new connection that has to log in, and may then do what its user may. local: it comes from this machine,
// where the first user may be made without a login.
func (s *Server) NewGuest(remote string, local bool) *Session {
	c := s.NewSession(remote)
	c.guest, c.local = true, local
	return c
}

// Close tells that the connection has ended. Cursors outlive it, as MongoDB's do: they end by
// killCursors, with their logical session, or when idle.
func (c *Session) Close() { c.s.counters.closed() }

// ID is the connection's number, as hello reports it.
func (c *Session) ID() int64 { return c.id }

// Run executes the command of m and appends the reply document to dst. There is always a reply; whether it
// is sent is the caller's business (moreToCome means that it is not).
func (c *Session) Run(ctx context.Context, m *wire.Message, dst []byte) []byte {
	c.requests++
	c.s.counters.received(int(m.Length))
	n := len(dst)
	dst = c.dispatch(ctx, m, dst)
	c.s.counters.sent(len(dst) - n)
	return dst
}
