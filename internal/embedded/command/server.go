package command

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

// Limits that hello announces and the commands hold to.
const (
	MaxDocumentBytes = 16 * 1024 * 1024 // of one document a client may store
	MaxMessageBytes  = 48_000_000
	MaxWriteBatch    = 100_000 // statements in one insert, update or delete

	// A reply or an intermediate document may exceed a document's limit by this much.
	internalSlack = 16 * 1024

	// 21 is MongoDB 7.0: high enough for the drivers of today (which ask for 8 or 9
	// at least), low enough that they ask for nothing of replica sets.
	minWireVersion = 0
	maxWireVersion = 21

	// ServerVersion belongs to maxWireVersion; drivers and shells derive features from it.
	ServerVersion = "7.0.0"

	logicalSessionTimeout = 30 * time.Minute
	cursorIdleTimeout     = 10 * time.Minute
	cursorSweepEvery      = time.Minute
)

// Config of a Server.
type Config struct {
	DB      *store.DB
	Version string // mrbench's own, shown in buildInfo.mrbench
	Log     func(format string, args ...any)
	Argv    []string // shown by getCmdLineOpts; may be nil
	// Token is the password of the user __system of the database local, who may do all and is not stored; "": no such user.
	Token string
}

// Server is what all connections share. Safe for concurrent use.
type Server struct {
	db      *store.DB
	version string
	argv    []string
	log     func(format string, args ...any)
	started time.Time
	id      [12]byte // of this process, in hello's and whatsmyip's replies

	table    *table
	cursors  *cursors
	ops      *ops
	counters counters
	idle     sessions
	users    *users

	lastSession atomic.Int64

	// before, when set by a test, runs inside the panic guard ahead of each handler.
	before func(name string)

	stop    context.CancelCauseFunc
	ctx     context.Context
	sweeper sync.WaitGroup
}

// NewServer starts a Server; Close ends it. The caller keeps owning c.DB.
func NewServer(c Config) *Server {
	s := &Server{
		db: c.DB, version: c.Version, argv: c.Argv, log: c.Log,
		started: time.Now(), table: newTable(), cursors: newCursors(), ops: newOps(), id: newObjectID(),
	}
	if s.log == nil {
		s.log = func(string, ...any) {}
	}
	s.users = loadUsers(c.DB, c.Token, s.log)
	s.idle.seen = map[string]*logical{}
	s.ctx, s.stop = context.WithCancelCause(context.Background())
	s.sweeper.Go(s.sweep)
	return s
}

// Context is the parent of every context given to Session.Run: Interrupt ends it.
func (s *Server) Context() context.Context { return s.ctx }

// Interrupt stops running commands: they answer InterruptedAtShutdown. New ones do too.
func (s *Server) Interrupt() {
	s.stop(mongoerr.New(mongoerr.InterruptedAtShutdown, "interrupted at shutdown"))
}

// Close interrupts and ends all cursors. Call it when no Session is in use any more.
func (s *Server) Close() {
	s.Interrupt()
	s.sweeper.Wait()
	s.cursors.closeAll()
}

// sweep ends idle cursors and forgets idle sessions until the Server closes.
func (s *Server) sweep() {
	tick := time.NewTicker(cursorSweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case now := <-tick.C:
			s.expire(now)
		}
	}
}

func (s *Server) expire(now time.Time) {
	if n := s.cursors.closeIdle(now.Add(-cursorIdleTimeout)); n > 0 {
		s.log("closed %d cursors idle for %v", n, cursorIdleTimeout)
	}
	for _, id := range s.idle.expire(now.Add(-logicalSessionTimeout)) {
		s.cursors.closeSession([]byte(id))
	}
}
