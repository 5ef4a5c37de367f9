package target

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"

	"mrbench/internal/embedded"
)

// ServeConfig says what to serve, and where.
type ServeConfig struct {
	DataDir string
	Version string
	Network string // "tcp" or "unix"
	Address string // host:port, or the socket's path
	// Ready is called once connections are accepted.
	Ready func(uri string)
}

// ListenError means that the address can't be listened on.
type ListenError struct {
	Address string
	Err     error
}

func (e *ListenError) Error() string { return fmt.Sprintf("listen on %s: %v", e.Address, e.Err) }
func (e *ListenError) Unwrap() error { return e.Err }

// Serve opens the embedded engine and serves it until ctx ends, which is not an error. It fails with *InUseError or
// *ListenError. Access is not restricted: callers must listen where only this machine's users can connect.
func Serve(ctx context.Context, c ServeConfig) (err error) {
	dir, err := filepath.Abs(c.DataDir)
	if err != nil {
		return fmt.Errorf("data directory %s: %w", c.DataDir, err)
	}
	engine, err := embedded.Open(embedded.Config{Dir: dir, Version: c.Version})
	if locked, ok := errors.AsType[*embedded.LockedError](err); ok {
		return &InUseError{Dir: dir, PID: locked.PID}
	}
	if err != nil {
		return fmt.Errorf("embedded engine: %w", err)
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	listener, err := listen(ctx, c.Network, c.Address)
	if err != nil {
		return &ListenError{c.Address, err}
	}
	uri := "mongodb://" + listener.Addr().String()
	if c.Network == "unix" {
		uri = "mongodb://" + url.PathEscape(listener.Addr().String())
	}
	if err := engine.SetAddress(uri); err != nil {
		return errors.Join(err, listener.Close())
	}
	if c.Ready != nil {
		c.Ready(uri)
	}
	if err := engine.Serve(ctx, listener); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve %s: %w", c.Address, err)
	}
	return nil
}

// listen opens the listener. A socket file is replaced when nobody listens on it, and readable by its owner alone.
func listen(ctx context.Context, network, address string) (net.Listener, error) {
	var lc net.ListenConfig
	if network != "unix" {
		return lc.Listen(ctx, network, address)
	}
	if st, err := os.Lstat(address); err == nil {
		if st.Mode()&os.ModeSocket == 0 {
			return nil, errors.New("the file exists and is not a socket")
		}
		if conn, err := net.Dial("unix", address); err == nil {
			_ = conn.Close()
			return nil, errors.New("another process listens there")
		}
		if err := os.Remove(address); err != nil {
			return nil, err
		}
	}
	l, err := lc.Listen(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(address, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}
