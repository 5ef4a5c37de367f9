package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"

	"mrbench/internal/embedded/command"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/store"
)

// LockedError is what Open returns when another process holds the data directory.
type LockedError = store.LockedError

// Config of an Engine.
type Config struct {
	Dir        string // data directory, created 0700
	FS         vfs.FS // nil: the operating system's
	CacheBytes int64  // 0: a default
	Version    string // mrbench's version, shown in buildInfo.mrbench
	Argv       []string
	// Auth: connections that Serve accepts have to log in. Those of DialContext never have to.
	Auth bool
	// MaxConnections is how many may be open at once; one more is closed at once. 0: DefaultMaxConnections.
	MaxConnections int
	Log            func(format string, args ...any)

	limits limits // zero: those of every day; tests make them short
}

// DefaultMaxConnections is far above what a workbench's clients open, and below what would exhaust file descriptors.
const DefaultMaxConnections = 1000

// Engine is an open data directory with a server in front of it. Safe for concurrent use.
type Engine struct {
	db       *store.DB
	commands *command.Server
	log      func(format string, args ...any)
	maxConns int
	auth     bool
	limits   limits
	token    *tokenFile // nil: there is none

	mu     sync.Mutex
	closed bool
	conns  map[*conn]struct{}
	done   chan struct{} // closed when Close has finished
	err    error         // of Close

	running sync.WaitGroup // one for each connection and each Serve
	replies atomic.Int32   // request ids of replies
	buffers sync.Pool      // *[]byte, for replies
}

// Open opens or creates the data directory. *LockedError when another process holds it.
func Open(c Config) (*Engine, error) {
	db, err := store.Open(store.Options{
		Dir: c.Dir, FS: c.FS, CacheBytes: c.CacheBytes, Log: c.Log, CompileFilter: query.CompileFilter,
	})
	if err != nil {
		return nil, err
	}
	token, err := newToken(c)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	e := &Engine{
		db: db, log: c.Log, maxConns: c.MaxConnections, conns: map[*conn]struct{}{}, done: make(chan struct{}),
		auth: c.Auth, token: token, limits: c.limits,
		commands: command.NewServer(command.Config{DB: db, Version: c.Version, Argv: c.Argv, Log: c.Log, Token: token.secret()}),
	}
	if e.log == nil {
		e.log = func(string, ...any) {}
	}
	if e.limits == (limits{}) {
		e.limits = limits{strangerIdle, strangerPace}
	}
	if e.maxConns == 0 {
		e.maxConns = DefaultMaxConnections
	}
	return e, nil
}

// SetAddress writes where this process serves into the data directory's lock, for a process that finds it taken.
func (e *Engine) SetAddress(address string) error { return e.db.SetAddress(address) }

// DialContext is an in-memory connection to the engine; it satisfies options.ContextDialer, so a driver
// client with SetDialer(engine) reaches the engine without a port, whatever the address. The error is
// net.ErrClosed after Close.
func (e *Engine) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	client, server := newPipe()
	if err := e.start(server, nil); err != nil {
		_ = client.Close()
		return nil, fmt.Errorf("connect to the embedded engine: %w", err)
	}
	return client, nil
}

// Close stops running commands, ends connections and closes the store. Idempotent; every call waits for the end
// and returns the same error.
func (e *Engine) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		<-e.done
		return e.err
	}
	e.closed = true
	e.commands.Interrupt()
	for c := range e.conns {
		c.finish()
	}
	e.mu.Unlock()

	e.running.Wait()
	e.commands.Close()
	e.token.remove()
	e.err = e.db.Close()
	close(e.done)
	return e.err
}
