package target

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"mrbench/internal/embedded"
)

// ServeConfig says what to serve, and where.
type ServeConfig struct {
	DataDir string
	Version string
	Network string // "tcp" or "unix"
	Address string // host:port, or the socket's path
	// Auth: clients have to log in. Then there is a user: Login, whose password is set when it is given, or one that is
	// made when there is none.
	Auth  bool
	Login Login
	// Log gets a line for what an administrator should know: a panic in a command, a full disk, a refused login. It is
	// called from many goroutines. May be nil.
	Log func(format string, args ...any)
	// Ready is called once connections are accepted.
	Ready func(Serving)
}

// Serving is what clients have to know.
type Serving struct {
	URI  string // without a login
	Made *Login // a user that was made with a password that nobody knows yet; nil: none was
}

// ListenError means that the address can't be listened on.
type ListenError struct {
	Address string
	Err     error
}

func (e *ListenError) Error() string { return fmt.Sprintf("listen on %s: %v", e.Address, e.Err) }
func (e *ListenError) Unwrap() error { return e.Err }

// Serve opens the embedded engine and serves it until ctx ends, which is not an error. It fails with *InUseError or
// *ListenError. Without Auth access is not restricted: callers must listen where only this machine's users can connect.
func Serve(ctx context.Context, c ServeConfig) (err error) {
	dir, err := filepath.Abs(c.DataDir)
	if err != nil {
		return fmt.Errorf("data directory %s: %w", c.DataDir, err)
	}
	engine, err := embedded.Open(embedded.Config{Dir: dir, Version: c.Version, Auth: c.Auth, Log: c.Log})
	if locked, ok := errors.AsType[*embedded.LockedError](err); ok {
		return &InUseError{Dir: dir, PID: locked.PID}
	}
	if err != nil {
		return fmt.Errorf("embedded engine: %w", err)
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	var made *Login
	if c.Auth {
		if made, err = ensureUser(ctx, engine, c.Login); err != nil {
			return fmt.Errorf("embedded engine: %w", err)
		}
	}
	listener, err := listen(ctx, c.Network, c.Address)
	if err != nil {
		return &ListenError{c.Address, err}
	}
	uri := address(listener.Addr())
	if err := engine.SetAddress(uri); err != nil {
		return errors.Join(err, listener.Close())
	}
	if c.Ready != nil {
		c.Ready(Serving{URI: uri, Made: made})
	}
	if err := engine.Serve(ctx, listener); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve %s: %w", c.Address, err)
	}
	return nil
}

// address is how a client on this machine finds the listener.
func address(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return "mongodb://" + url.PathEscape(a.String())
	}
	host := tcp.IP.String()
	if tcp.IP.IsUnspecified() { // all addresses of this machine
		host = "127.0.0.1"
	}
	return "mongodb://" + net.JoinHostPort(host, strconv.Itoa(tcp.Port))
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
