package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A run whose output nobody reads any more (mrbench run | head -1) drops its output databases all the same, and ends
// like a process that SIGPIPE ended, without a message.
func TestRunNobodyReads(t *testing.T) {
	dir := t.TempDir()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	c := mrbench(t, dir, "run", "--docs", "3000", "--rows", "mr,mr-ranges-dbs", "--threads", "2")
	var errs strings.Builder
	c.Stdout, c.Stderr = w, &errs
	err = c.Run()
	_ = w.Close() // only the process wrote to it
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != 141 {
		t.Errorf("%v, exit status 141 was expected: %s", err, errs.String())
	}
	if strings.Contains(errs.String(), "mrbench:") {
		t.Errorf("a message for nobody: %s", errs.String())
	}
	out, err := mrbench(t, dir, "clean", "--dry-run", "--quiet").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "nothing of mrbench's is left") {
		t.Errorf("left behind: %v %s", err, out)
	}
}
