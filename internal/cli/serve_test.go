package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// serving is a serve command that runs.
type serving struct {
	out, errs *watcher
	stop      func() (code int)
}

// serve starts the command and waits until it has printed its address.
func (s *session) serve(args ...string) *serving {
	s.t.Helper()
	ready, signals, ended := make(chan struct{}), make(chan os.Signal, 1), make(chan int, 1)
	v := &serving{out: &watcher{text: "\n", seen: func() { close(ready) }}, errs: &watcher{}}
	env := s.environ(append([]string{"serve"}, args...), nil, nil)
	env.Stdout, env.Stderr, env.Signals = v.out, v.errs, signals
	go func() { ended <- Run(context.WithoutCancel(s.t.Context()), env) }()
	select {
	case <-ready:
	case code := <-ended:
		s.t.Fatalf("ended with %d: %s", code, v.errs)
	}
	v.stop = func() int { signals <- syscall.SIGINT; return <-ended }
	return v
}

// withLogin puts a login into a connection string.
func withLogin(uri, login string) string {
	return strings.Replace(uri, "mongodb://", "mongodb://"+login+"@", 1) + "/?authSource=admin"
}

// The first serve --auth makes a user and tells its password once; commands on the data directory join without one.
func TestServeWithLogin(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	v := s.serve("--port", "0", "--auth", "-o", "json")
	var said struct{ URI, User, Password string }
	if err := json.Unmarshal([]byte(v.out.String()), &said); err != nil || said.User != "admin" || len(said.Password) < 20 {
		t.Fatalf("%s: %v", v.out, err)
	}
	if strings.Contains(v.errs.String(), said.Password) {
		t.Errorf("said twice: %s", v.errs)
	}
	if code, _, stderr := s.run("seed", "--docs", "1000"); code != 0 || !strings.Contains(stderr, "served by process") {
		t.Errorf("seed joined: %d %s", code, stderr)
	}
	for _, c := range []struct {
		login string
		code  int
	}{{"admin:" + said.Password, 0}, {"admin:wrong", exitUnreachable}, {"nobody:x", exitUnreachable}} {
		if code, _, stderr := s.run("split", "--ranges", "2", "--uri", withLogin(said.URI, c.login)); code != c.code {
			t.Errorf("split as %s: %d %s", c.login, code, stderr)
		}
	}
	if code, _, stderr := s.run("split", "--ranges", "2", "--uri", said.URI); code == 0 || !strings.Contains(stderr, "requires authentication") {
		t.Errorf("split without a login: %d %s", code, stderr)
	}
	if code := v.stop(); code != 0 {
		t.Errorf("ended with %d: %s", code, v.errs)
	}
	if log := v.errs.String(); !strings.Contains(log, "as \"nobody\" failed") || strings.Contains(log, said.Password) {
		t.Errorf("log: %s", log)
	}
	if left, _ := filepath.Glob(filepath.Join(s.dir, ".local/share/mrbench/engine/*.token")); len(left) > 0 {
		t.Errorf("left %v", left)
	}

	// There is a user now, so none is made; --user with a password makes or changes one.
	v = s.serve("--port", "0", "--auth")
	if strings.Contains(v.errs.String(), "password") || strings.Contains(v.out.String(), "password") {
		t.Errorf("a second user was made: %s %s", v.out, v.errs)
	}
	if code, _, stderr := s.run("split", "--ranges", "2", "--uri", withLogin(strings.TrimSpace(v.out.String()), "admin:"+said.Password)); code != 0 {
		t.Errorf("the user after a restart: %d %s", code, stderr)
	}
	v.stop()
	for _, password := range []string{"one two", "three"} {
		if err := os.WriteFile(filepath.Join(s.dir, "secret"), []byte(password+"\r\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		v = s.serve("--bind", "0.0.0.0", "--port", "0", "--auth", "--user", "ann", "--password-file", "secret")
		if !strings.Contains(v.errs.String(), "not encrypted") || strings.Contains(v.errs.String(), password) {
			t.Errorf("said %s", v.errs)
		}
		uri := strings.TrimSpace(v.out.String())
		if code, _, stderr := s.run("split", "--ranges", "2", "--uri", withLogin(uri, "ann:"+strings.ReplaceAll(password, " ", "%20"))); code != 0 {
			t.Errorf("split as ann with %q: %d %s", password, code, stderr)
		}
		v.stop()
	}
}
