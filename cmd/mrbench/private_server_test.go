//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mrbench/internal/throwaway/fakemongod"
)

// said is a process's stderr, which can be waited for.
type said struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func (s *said) wait(t *testing.T, text string) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); !strings.Contains(s.String(), text); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("no %q in %q", text, s)
		}
	}
}

// processes are those whose command line holds a word.
func processes(t *testing.T, word string) string {
	t.Helper()
	out, err := exec.Command("ps", "-A", "-o", "pid=,args=").Output()
	if err != nil {
		t.Fatal(err)
	}
	var found strings.Builder
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, word) {
			found.WriteString(line)
		}
	}
	return found.String()
}

// A real process with a cluster of its own is interrupted, terminated and killed. The servers are gone with it, and the
// directory with it or with the next start; that of another living process stays.
func TestPrivateServerIsRemoved(t *testing.T) {
	dir, temp := t.TempDir(), t.TempDir()
	mongod := fakemongod.Install(t, t.TempDir(), "4.0.3")
	start := func() (*exec.Cmd, *said) {
		t.Helper()
		// Many runs: it ends by a signal alone.
		c := mrbench(t, dir, "run", "--docs", "300", "--rows", "agg", "--runs", "1000", "--mongod", mongod, "--topology", "sharded:2")
		c.Env = append(c.Env, "TMPDIR="+temp)
		errs := &said{}
		c.Stderr = errs
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Process.Kill() })
		return c, errs
	}
	left := func() int {
		t.Helper()
		dirs, err := filepath.Glob(filepath.Join(temp, "mrbench-mongod-*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(dirs)
	}
	killed, said := start()
	said.wait(t, "seeded test.uniques")
	if n := strings.Count(processes(t, temp), "\n"); n != 3 { // the mongos has no data
		t.Errorf("%d mongods run", n)
	}
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait()
	if left() != 1 {
		t.Errorf("%d directories after a kill", left())
	}
	interrupted, said := start()
	said.wait(t, "stopped and removed 1 throw-away server that an earlier mrbench left")
	said.wait(t, "seeded test.uniques")
	terminated, other := start()
	other.wait(t, "seeded test.uniques")
	if strings.Contains(other.String(), "an earlier mrbench left") || left() != 2 {
		t.Errorf("%d directories of two processes: %s", left(), other)
	}
	for _, c := range []struct {
		process *exec.Cmd
		signal  os.Signal
		code    int
	}{{interrupted, os.Interrupt, 130}, {terminated, syscall.SIGTERM, 143}} {
		if err := c.process.Process.Signal(c.signal); err != nil {
			t.Fatal(err)
		}
		_ = c.process.Wait()
		if got := c.process.ProcessState.ExitCode(); got != c.code {
			t.Errorf("exit code %d, want %d", got, c.code)
		}
	}
	if left() != 0 {
		t.Errorf("%d directories are left", left())
	}
	if p := processes(t, temp); p != "" {
		t.Errorf("processes are left:\n%s", p)
	}
}
