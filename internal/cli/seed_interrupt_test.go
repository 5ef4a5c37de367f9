package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mrbench/seed"
)

// Ctrl-C ends a load with what is loaded so far and with a command, which loads the rest.
func TestInterruptedLoadGoesOn(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	const docs = 100_000
	var text bytes.Buffer
	for i := range docs {
		fmt.Fprintf(&text, "{\"dim0\":%d}\n", i)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "d.ndjson"), text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	signals := make(chan os.Signal, 1)
	stop := make(chan struct{})
	defer close(stop)
	go func() { // when a checkpoint says that something is loaded
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
			files, _ := filepath.Glob(filepath.Join(s.dir, "data", "loads", "*.json"))
			for _, f := range files {
				var p seed.Checkpoint
				if b, err := os.ReadFile(f); err == nil && json.Unmarshal(b, &p) == nil && p.Documents > 0 {
					signals <- syscall.SIGINT
					return
				}
			}
		}
	}()
	var out, errs bytes.Buffer
	env := s.environ([]string{"seed", "--from", "d.ndjson", "--batch", "5", "--writers", "2", "--data-dir", "data", "--quiet"}, &out, &errs)
	env.Signals, env.ReleaseSignals = signals, func() {}
	if code := Run(t.Context(), env); code != exitInterrupted {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	if !strings.Contains(out.String(), "from 1 file, NOT FINISHED") {
		t.Errorf("printed:\n%s", &out)
	}
	_, command, ok := strings.Cut(errs.String(), "go on with:\n  mrbench ")
	if !ok {
		t.Fatalf("no command: %s", &errs)
	}
	command, _, _ = strings.Cut(command, "\n")
	code, stdout, stderr := s.run(append(strings.Fields(command), "-o", "json")...)
	var r struct {
		Documents, Earlier, Counted int64
		Complete                    bool
	}
	if err := json.Unmarshal([]byte(stdout), &r); code != 0 || err != nil {
		t.Fatalf("%s: exit code %d, %v: %s", command, code, err, stderr)
	}
	if !r.Complete || r.Earlier == 0 || r.Documents == 0 || r.Documents+r.Earlier != docs || r.Counted != docs {
		t.Errorf("%s: %+v", command, r)
	}
	if files, _ := filepath.Glob(filepath.Join(s.dir, "data", "loads", "*")); len(files) > 0 {
		t.Errorf("left behind: %v", files)
	}
}
