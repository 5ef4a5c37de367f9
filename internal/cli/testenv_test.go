package cli

import (
	"bytes"
	"testing"
	"time"
)

// session is a fake process.
type session struct {
	t       *testing.T
	dir     string
	env     map[string]string
	columns int
}

func newSession(t *testing.T) *session {
	t.Helper()
	return &session{t: t, dir: t.TempDir(), env: map[string]string{}, columns: 100}
}

func (s *session) environ(args []string, out, errs *bytes.Buffer) Env {
	return Env{
		Args: args, Dir: s.dir, Home: s.dir, Stdin: &bytes.Buffer{}, Stdout: out, Stderr: errs, Now: time.Now,
		LookupEnv: func(k string) (string, bool) { v, ok := s.env[k]; return v, ok },
		Columns:   func() int { return s.columns },
	}
}

func (s *session) run(args ...string) (code int, stdout, stderr string) {
	s.t.Helper()
	var out, errs bytes.Buffer
	code = Run(s.t.Context(), s.environ(args, &out, &errs))
	return code, out.String(), errs.String()
}
