package torture

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// workDir holds the program and the data of all tests; its path is short, because a socket's has to be.
var workDir string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "torture")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	workDir = dir
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// build makes the program, once in a test run.
var build = sync.OnceValues(func() (string, error) {
	name := filepath.Join(workDir, "mrbench")
	cmd := exec.Command("go", "build", "-o", name, "mrbench/cmd/mrbench")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return name, nil
})

// command prepares the program with arguments, in an environment without the user's settings.
func command(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	name, err := build()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(name, args...)
	cmd.Dir = workDir
	cmd.Env = []string{"HOME=" + workDir, "PATH=" + os.Getenv("PATH"), "GOTRACEBACK=all"}
	return cmd
}

func newDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(workDir, "d")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// seedOf gives the seed of a test's random choices and logs how to repeat it.
func seedOf(t testing.TB) uint64 {
	t.Helper()
	seed := rand.Uint64() >> 32
	if s := os.Getenv("MRBENCH_TORTURE_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("MRBENCH_TORTURE_SEED=%q: %v", s, err)
		}
		seed = n
	}
	t.Logf("repeat the choices with MRBENCH_TORTURE_SEED=%d", seed)
	return seed
}

// roundsOf is how many rounds a test makes.
func roundsOf(t testing.TB, short, normal int) int {
	t.Helper()
	if s := os.Getenv("MRBENCH_TORTURE_ROUNDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			t.Fatalf("MRBENCH_TORTURE_ROUNDS=%q: want a number of rounds", s)
		}
		return n
	}
	if testing.Short() {
		return short
	}
	return normal
}

func newRand(seed uint64, stream int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(stream))) }

// server is a running `mrbench serve`.
type server struct {
	cmd     *exec.Cmd
	uri     string
	stderr  bytes.Buffer
	started time.Duration // from exec until connections are accepted
}

// spawn starts the program on dir and does not wait for it to be ready.
func spawn(t testing.TB, dir, socket string) (*server, io.Reader) {
	t.Helper()
	args := []string{"serve", "--data-dir", dir, "-o", "json"}
	if socket != "" {
		args = append(args, "--socket", socket)
	} else {
		args = append(args, "--port", "0")
	}
	s := &server{cmd: command(t, args...)}
	s.cmd.Stderr = &s.stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return s, out
}

// serve starts the program on dir, listening on a socket if one is named, and waits until it accepts connections.
func serve(t testing.TB, dir, socket string) *server {
	t.Helper()
	if _, err := build(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	s, out := spawn(t, dir, socket)
	hang := time.AfterFunc(2*time.Minute, s.kill) // it ends the wait below
	defer hang.Stop()
	line, err := bufio.NewReader(out).ReadString('\n')
	var ready struct{ URI string }
	if err == nil {
		err = json.Unmarshal([]byte(line), &ready)
	}
	if err != nil {
		s.kill()
		_ = s.cmd.Wait()
		t.Fatalf("the program did not start: %v\n%s", err, &s.stderr)
	}
	s.started = time.Since(began)
	s.uri = ready.URI
	return s
}

func (s *server) kill() { _ = s.cmd.Process.Kill() }

// killed kills the program and waits for its end. A program that ended by itself is an error.
func (s *server) killed(t testing.TB) {
	t.Helper()
	s.kill()
	err := s.cmd.Wait()
	if status, ok := s.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
		t.Fatalf("the program ended before it was killed: %v\n%s", err, &s.stderr)
	}
}

// stopped ends the program as a person does.
func (s *server) stopped(t testing.TB) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	hang := time.AfterFunc(2*time.Minute, s.kill)
	defer hang.Stop()
	_ = s.cmd.Wait() // an interrupted program says so by its code
	if status, ok := s.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signaled() {
		t.Fatalf("the program did not end when asked to: %v\n%s", s.cmd.ProcessState, &s.stderr)
	}
}

// dial connects a driver to uri with one connection, on which what is sent arrives in order.
func dial(t testing.TB, uri string, more ...*options.ClientOptions) *mongo.Client {
	t.Helper()
	o := options.Client().ApplyURI(uri).SetDirect(true).SetMaxPoolSize(1).SetRetryWrites(false).SetRetryReads(false).
		SetServerSelectionTimeout(time.Minute).SetHeartbeatInterval(time.Minute)
	c, err := mongo.Connect(context.Background(), append([]*options.ClientOptions{o}, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// hangUp closes a client. It does not wait long, for the server may be gone.
func hangUp(c *mongo.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_ = c.Disconnect(ctx)
}
