package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"mrbench/internal/bench"
)

// processEnv tells the test binary to be mrbench, with the arguments in it, one a line.
const processEnv = "MRBENCH_TEST_PROCESS"

func TestProcess(t *testing.T) {
	args, ok := os.LookupEnv(processEnv)
	if !ok {
		t.Skip("only as a child of other tests")
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	os.Exit(Run(t.Context(), Env{
		Args: strings.Split(args, "\n"), Dir: dir, Home: dir, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Now: time.Now,
	}))
}

// A process that is really killed in row 7 leaves rows 1 to 6.
func TestKilledRunKeepsRows(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("kill is a command of other systems")
	}
	s := newSession(t)
	if code, _, stderr := s.run("seed", "--docs", "2000"); code != 0 {
		t.Fatal(stderr)
	}
	killer := `[ "$MRBENCH_TURN_ROW" != agg-ranges ] || kill -9 $PPID`
	args := []string{"run", "--ladder", "--threads", "2", "--shuffle-seed", "off", "--save", "r.ndjson", "--prepare", killer}
	c := exec.Command(os.Args[0], "-test.run=^TestProcess$")
	c.Dir, c.Env = s.dir, append(os.Environ(), processEnv+"="+strings.Join(args, "\n"))
	out, err := c.CombinedOutput()
	if e, ok := errors.AsType[*exec.ExitError](err); !ok || e.ExitCode() != -1 || !strings.Contains(e.Error(), "killed") {
		t.Fatalf("%v, not killed:\n%s", err, out)
	}
	rs, err := bench.Load(filepath.Join(s.dir, "r.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	r := rs[0]
	if len(rs) != 1 || r.ExitCode != -1 || len(r.Rows) != 9 || len(r.Samples) != 6 {
		t.Fatalf("%d results, exit code %d, %d rows, %d samples", len(rs), r.ExitCode, len(r.Rows), len(r.Samples))
	}
	for i, row := range r.Rows {
		switch {
		case i < 6 && (row.Seconds == nil || row.Answer == nil || row.Answer.Keys != 200 || row.Speedup == nil || i > 0 && !*row.Agrees):
			t.Errorf("row %d, %s, is not kept: %+v", i+1, row.ID, row)
		case i >= 6 && row.Seconds != nil:
			t.Errorf("row %d, %s: %+v", i+1, row.ID, row)
		}
	}
	// The file is of use: it can be compared, and appended to.
	if code, stdout, stderr := s.run("run", "--rows", "mr,agg", "--save", "r.ndjson"); code != 0 {
		t.Fatal(stdout, stderr)
	}
	code, stdout, stderr := s.run("compare", "r.ndjson~1", "r.ndjson")
	if code != 0 || !strings.Contains(stdout, "warning: old did not come to its end") || !strings.Contains(stdout, "not measured in new: mr-sort, mr-ranges") {
		t.Errorf("%d %s %s", code, stdout, stderr)
	}
	if code, stdout, _ := s.run("clean"); code != 0 || !strings.Contains(stdout, "dropped") {
		t.Errorf("what the killed run left: %d %s", code, stdout)
	}
}

// Whatever the order of the rows, the first one listed that has an answer is what the others are compared with, and the
// differing keys are found.
func TestReferenceInAnyOrder(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.client(arraysOfDocuments(t))
	for _, seed := range []string{"off", "1", "2", "3", "4", "5"} {
		code, stdout, stderr := s.run("run", "--ns", "test.arrays", "--key", "a.b", "--rows", "mr,agg", "--shuffle-seed", seed)
		if code != exitDiffer || !strings.Contains(stderr, "the answer of agg is not the answer of mr") {
			t.Errorf("seed %s: exit code %d, %s", seed, code, stderr)
		}
		for _, want := range []string{"the first keys on which mr and agg differ", "[2,3]", "(no such key)"} {
			if !strings.Contains(stdout, want) {
				t.Errorf("seed %s: no %q in\n%s", seed, want, stdout)
			}
		}
	}
}
