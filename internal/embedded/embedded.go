// Package embedded is a single-process document engine that speaks MongoDB's
// wire protocol.
package embedded

// This file is the agreed interface; it is replaced by the real files.

import (
	"context"
	"net"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Config of an Engine.
type Config struct {
	Dir        string // data directory, created 0700
	FS         vfs.FS // nil: the operating system's
	CacheBytes int64  // 0: a default
	Version    string // mrbench's version, shown in buildInfo.mrbench
	Log        func(format string, args ...any)
}

// Engine is an open data directory with a server in front of it.
type Engine struct{}

// Open opens or creates the data directory. *store.LockedError when another process holds it.
func Open(c Config) (*Engine, error) { panic("todo") }

// DialContext is an in-memory connection to the engine; it satisfies options.ContextDialer, so a driver client
// with SetDialer(engine) and any address reaches the engine without a port.
func (e *Engine) DialContext(ctx context.Context, network, address string) (net.Conn, error) { panic("todo") }

// Serve accepts connections until ctx ends or Close.
func (e *Engine) Serve(ctx context.Context, l net.Listener) error { panic("todo") }

// Close stops running commands, ends connections and closes the store. Idempotent.
func (e *Engine) Close() error { panic("todo") }
