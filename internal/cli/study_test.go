package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mrbench/internal/bench"
	"mrbench/internal/study"
)

// An interrupt prints the steps that are finished and leaves nothing behind.
func TestInterruptedStudy(t *testing.T) {
	s := newSession(t)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	signals := make(chan os.Signal, 1)
	stderr := &watcher{text: "counting a folder tree", seen: func() { signals <- syscall.SIGINT }}
	var out bytes.Buffer
	env := s.environ([]string{"study", "bulk-insert", "--scale", "0.0001", "--runs", "1000"}, &out, nil)
	env.Stderr, env.Signals = stderr, signals
	if code := Run(t.Context(), env); code != 130 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if !strings.Contains(out.String(), "streamed, one insert at a time") || !strings.Contains(out.String(), "Five inserts at a time instead of one: published") {
		t.Errorf("finished steps are not printed:\n%s", out.String())
	}
	if left, err := filepath.Glob(filepath.Join(tmp, "*")); err != nil || len(left) > 0 {
		t.Errorf("files are left behind: %v %v", left, err)
	}
	if _, out, _ := s.run("clean", "--dry-run"); !strings.Contains(out, "nothing of mrbench's is left") {
		t.Errorf("left behind: %s", out)
	}
}

// A step that fails is told; those before and after it are kept, and it is not tried again.
func TestStudyGoesOnWhenAStepFails(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	var out, errs bytes.Buffer
	a := &app{env: s.environ(nil, &out, &errs), v: newViper()}
	a.common.output = formatTable
	e := study.Find("guid-500k")
	dir := t.TempDir()
	f, err := bench.Create(filepath.Join(dir, "r.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	st := &studying{app: a, e: e, o: studyOptions{runs: 2}, file: f, result: studyResult{Result: e.Start(0.1, 2)}}
	calls := 0
	step := func(id string, err error) studyStep {
		return studyStep{id, func(context.Context) (int64, time.Duration, string, error) {
			calls++
			return 10, time.Second, "", err
		}}
	}
	stopped := st.measure(t.Context(), []studyStep{
		step(study.GUIDSingle, nil), step(study.GUIDBatches, errors.New("boom")), step(study.GUIDFast, nil),
		step(study.GUIDBest, &bench.SkipError{Reason: "not here"}),
	})
	err = st.finish(t.Context(), stopped)
	if code := exitCode(t.Context(), err); code != exitPartial {
		t.Errorf("exit code %d: %v", code, err)
	}
	if calls != 6 {
		t.Errorf("%d calls: what failed or was skipped must not be tried again", calls)
	}
	for _, want := range []string{"batches of 1,000 failed: boom", "batches of 600 was skipped: not here", "batches of 1,000 5.0 3.74×", "not measured here"} {
		if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if f.Close() != nil {
		t.Error("the result file is not closed")
	}
}
