package throwaway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// node is one process, a mongod or a mongos.
type node struct {
	name string // "mongod of shard s1"
	bin  string
	args []string // without port and address
	mark string   // one of args that no other server has: by it the node is told from a stranger on its port

	address string // 127.0.0.1:port
	client  *mongo.Client
	log     *tail
	pid     int
	exited  chan struct{} // closed when the process ended
	ended   *os.ProcessState
}

// Exit code of a mongod or mongos that can't listen on its port.
const exitNetError = 48

// mostPorts is how many ports are tried: another program may take a free one before the server does.
const mostPorts = 8

// pollInterval is how often a server is asked whether it is ready.
const pollInterval = 30 * time.Millisecond

// DiedError means that a server ended that should run.
type DiedError struct{ Text string }

func (e *DiedError) Error() string { return e.Text }

// start starts the node on a free port and waits until it answers.
func (s *Server) start(ctx context.Context, n *node) error {
	for try := 1; ; try++ {
		err := s.startOnce(ctx, n)
		if err == nil || try == mostPorts || ctx.Err() != nil || !n.portTaken() {
			return err
		}
	}
}

func (s *Server) startOnce(ctx context.Context, n *node) error {
	port, err := freePort(ctx)
	if err != nil {
		return err
	}
	n.address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	args := append([]string{"--port", strconv.Itoa(port), "--bind_ip", "127.0.0.1"}, n.args...)
	if runtime.GOOS != "windows" {
		args = append(args, "--nounixsocket")
	}
	if err := s.launch(n, args); err != nil {
		return err
	}
	if n.client != nil { // of an attempt on another port
		_ = n.client.Disconnect(ctx)
	}
	if n.client, err = mongo.Connect(ctx, options.Client().ApplyURI("mongodb://"+n.address+"/?directConnection=true").
		SetServerSelectionTimeout(5*time.Second).SetConnectTimeout(5*time.Second).SetAppName("mrbench")); err != nil {
		return fmt.Errorf("%s: %w", n.name, err)
	}
	return s.until(ctx, n, "it did not answer", func(ctx context.Context) error {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", n.address) // much quicker to say no than a driver
		if err != nil {
			return err
		}
		_ = c.Close()
		var opts struct{ Argv []string }
		if err := n.client.Database("admin").RunCommand(ctx, bson.D{{Key: "getCmdLineOpts", Value: 1}}).Decode(&opts); err != nil {
			return err
		}
		for _, a := range opts.Argv {
			if a == n.mark {
				return nil
			}
		}
		return errors.New("another server answers on its port")
	})
}

// launch starts the process. The thread that does lives as long, because on Linux its end is the process's.
func (s *Server) launch(n *node, args []string) error {
	exited := make(chan struct{})
	n.log, n.exited, n.ended = &tail{}, exited, nil
	cmd := exec.Command(n.bin, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = s.rec.dir, n.log, n.log, 2*time.Second
	apart(cmd)
	started := make(chan error, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return errStopped
	}
	go func() { // ends with the process; Stop waits for exited
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // ProcessState says all
			n.ended = cmd.ProcessState
			close(exited)
			s.notice(n)
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start %s: %w", n.name, err)
	}
	n.pid = cmd.Process.Pid
	s.nodes = append(s.nodes, running{n.pid, exited})
	return s.rec.add(entry{PID: n.pid, Started: identity(n.pid)})
}

var errStopped = errors.New("the server was stopped")

// until asks again and again until the question has no error, the process ends, or there is no time left.
func (s *Server) until(ctx context.Context, n *node, what string, question func(context.Context) error) error {
	last := errors.New("it was not asked yet")
	for {
		asked, cancel := context.WithTimeout(ctx, askTimeout)
		err := question(asked)
		cancel()
		if err == nil {
			return nil
		}
		if ctx.Err() == nil { // else it only says that the time is over
			last = err
		}
		if _, ok := errors.AsType[*finalError](err); ok {
			return fmt.Errorf("%s: %w; %s", n.name, err, n.log.excerpt())
		}
		select {
		case <-n.exited:
			return n.death()
		case <-ctx.Done():
			if cause := context.Cause(ctx); !errors.Is(cause, errLimit) {
				return cause
			}
			return fmt.Errorf("%s: %s within %v: %w; %s", n.name, what, s.limit, last, n.log.excerpt())
		case <-time.After(pollInterval):
		}
	}
}

// askTimeout is how long one question may take.
const askTimeout = 20 * time.Second

// finalError is an answer that asking again does not change.
type finalError struct{ error }

func (e *finalError) Unwrap() error { return e.error }

// death says how the node ended.
func (n *node) death() error {
	return &DiedError{fmt.Sprintf("%s ended, %s; %s", n.name, ending(n.ended), n.log.excerpt())}
}

// portTaken says whether the node ended because it could not have its port.
func (n *node) portTaken() bool {
	select {
	case <-n.exited:
		return n.ended.ExitCode() == exitNetError || n.log.contains("address already in use")
	default:
		return false
	}
}

// run sends a command to the node's database admin.
func (n *node) run(ctx context.Context, cmd bson.D) (bson.Raw, error) {
	return n.client.Database("admin").RunCommand(ctx, cmd).Raw()
}

func freePort(ctx context.Context) (int, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	port := l.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // of a tcp listener
	return port, l.Close()
}

// mongod is a node that keeps data in a directory of its own.
func (s *Server) mongod(name, dir string, cache float64, more ...string) (*node, error) {
	path := filepath.Join(s.rec.dir, dir)
	if err := os.Mkdir(path, 0o700); err != nil {
		return nil, err
	}
	n := &node{name: name, bin: s.mongodBin.path, mark: path, args: append([]string{"--dbpath", path}, more...)}
	if cache > 0 {
		n.args = append(n.args, "--wiredTigerCacheSizeGB", strconv.FormatFloat(cache, 'f', 2, 64))
	}
	return n, nil
}
