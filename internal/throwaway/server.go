package throwaway

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// DefaultLimit is how long a server or cluster may take to be ready.
const DefaultLimit = 90 * time.Second

// Config says what to start.
type Config struct {
	Mongod   string // the program, a directory with it, or Auto
	Topology Topology
	StateDir string // of the records
	Memory   int64  // bytes of this machine; 0: not known
	Limit    time.Duration
	// Tell gets lines for a person. May be nil.
	Tell func(format string, args ...any)
	// Died is called once, from any goroutine, when a server ends that should run. May be nil.
	Died func(*DiedError)
}

// Server is a running server or cluster.
type Server struct {
	URI     string
	Version string // of mongod, as it says

	c         Config
	limit     time.Duration
	rec       *record
	mongodBin binary
	mongosBin binary

	mu       sync.Mutex
	nodes    []running
	ready    bool
	stopping bool
}

// running is a process that was started.
type running struct {
	pid    int
	exited <-chan struct{}
}

var errLimit = errors.New("it takes too long")

// Start sweeps what dead processes left, then starts a server and waits until it can be used. When it fails nothing is left; with
// a *BinaryError the program is at fault, with a *DiedError it ended. Call Stop in the end.
func Start(ctx context.Context, c Config) (*Server, error) {
	if c.Tell == nil {
		c.Tell = func(string, ...any) {}
	}
	if c.Limit <= 0 {
		c.Limit = DefaultLimit
	}
	swept, err := Sweep(c.StateDir)
	if err != nil {
		c.Tell("not all that an earlier mrbench left could be removed: %v", err)
	}
	if swept > 0 {
		c.Tell("stopped and removed %d throw-away %s that an earlier mrbench left", swept, map[bool]string{true: "server", false: "servers"}[swept == 1])
	}
	s := &Server{c: c, limit: c.Limit}
	if s.mongodBin, err = findMongod(ctx, c.Mongod); err != nil {
		return nil, err
	}
	if c.Topology.Kind == Sharded {
		if s.mongosBin, err = findMongos(ctx, s.mongodBin); err != nil {
			return nil, err
		}
	}
	s.Version = s.mongodBin.version
	c.Tell("starting mongod %s (%s)…", s.Version, c.Topology.text())
	if s.rec, err = newRecord(c.StateDir, os.TempDir()); err != nil {
		return nil, fmt.Errorf("temporary directory of a throw-away server: %w", err)
	}
	began := time.Now()
	limited, cancel := context.WithTimeoutCause(ctx, c.Limit, errLimit)
	defer cancel()
	if err := s.startAll(limited); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, errors.Join(err, s.Stop())
	}
	s.mu.Lock()
	s.ready = true
	s.mu.Unlock()
	c.Tell("ready after %.1f s; it is stopped and removed in the end", time.Since(began).Seconds())
	return s, nil
}

// Name is the name of the temporary directory, which no other server has.
func (s *Server) Name() string { return filepath.Base(s.rec.dir) }

// notice tells that a node ended that should run.
func (s *Server) notice(n *node) {
	s.mu.Lock()
	unexpected := s.ready && !s.stopping
	s.mu.Unlock()
	if unexpected && s.c.Died != nil {
		err := &DiedError{}
		errors.As(n.death(), &err)
		s.c.Died(err)
	}
}

// Stop ends all processes and removes their directory. It may be called more than once.
func (s *Server) Stop() error {
	s.mu.Lock()
	again := s.stopping
	s.stopping = true
	nodes := s.nodes
	s.mu.Unlock()
	if again {
		return nil
	}
	// What they hold is thrown away: there is nothing to flush, and members of a set would wait for each other.
	for _, n := range nodes {
		select {
		case <-n.exited: // its number may be another's by now
		default:
			kill(n.pid)
		}
	}
	for _, n := range nodes {
		<-n.exited
	}
	if err := s.rec.close(); err != nil {
		return fmt.Errorf("remove the throw-away server: %w", err)
	}
	return nil
}
