package compat

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Starting takes well under a second; a machine with much else to do is given time.
const startTimeout = time.Minute

// build compiles the program once for all tests.
var build = sync.OnceValues(func() (program, error) {
	dir, err := os.MkdirTemp("", "mrbench-compat-")
	if err != nil {
		return program{}, err
	}
	p := program{dir: dir, path: filepath.Join(dir, "mrbench")}
	cmd := exec.Command("go", "build", "-o", p.path, "../../cmd/mrbench")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return p, errors.Join(err, errors.New(string(out)))
	}
	return p, nil
})

type program struct{ dir, path string }

func TestMain(m *testing.M) {
	code := m.Run()
	if !testing.Short() {
		if p, _ := build(); p.dir != "" {
			_ = os.RemoveAll(p.dir)
		}
	}
	os.Exit(code)
}

// serve starts the program and gives its connection string. At the test's end it is interrupted, and must end in
// order, without a fault in its log.
func serve(t *testing.T, options ...string) (uri string) {
	t.Helper()
	p, err := build()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(p.path, append([]string{"serve", "--port", "0", "--data-dir", t.TempDir()}, options...)...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	cmd.Dir = t.TempDir() // no settings file of whoever runs the test
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		line, _ := bufio.NewReader(out).ReadString('\n')
		lines <- strings.TrimSpace(line)
		_, _ = io.Copy(io.Discard, out)
		ended <- cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(startTimeout):
			_ = cmd.Process.Kill()
			<-ended
			t.Error("the server did not end when it was interrupted")
		}
		if code := cmd.ProcessState.ExitCode(); code != 0 {
			t.Errorf("the interrupted server ended with %d", code)
		}
		if text := log.String(); t.Failed() || strings.Contains(text, "panic") || strings.Contains(text, "internal fault") {
			t.Errorf("the server's log:\n%s", text)
		}
	})
	select {
	case uri = <-lines:
	case <-time.After(startTimeout):
	}
	if !strings.HasPrefix(uri, "mongodb://127.0.0.1:") {
		t.Fatalf("the server's first line is %q, not a connection string", uri)
	}
	return uri
}

// serveLogins is serve for a server that asks for a login; the connection string has one that may do everything.
func serveLogins(t *testing.T) (uri string) {
	t.Helper()
	const password = "p@ss/w:rd€"
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(password), 0o600); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(serve(t, "--auth", "--user", "ann", "--password-file", file))
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("ann", password)
	return u.String()
}
