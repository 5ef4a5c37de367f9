package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/internal/bench"
	"mrbench/internal/target"
	"mrbench/mr"
)

func TestHowARunEnds(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	good := bench.Row{ID: "mr", Seconds: bench.Summarize([]float64{1})}
	agrees := bench.Row{ID: "agg", Seconds: good.Seconds, Agrees: &yes}
	differs := bench.Row{ID: "agg-ranges", Seconds: good.Seconds, Agrees: &no}
	failed := bench.Row{ID: "mr-sort", Error: "boom"}
	skipped := bench.Row{ID: "mr-ranges", Skipped: "not here"}
	for _, c := range []struct {
		rows    []bench.Row
		stopped error
		code    int
		want    string
	}{
		{[]bench.Row{good, agrees}, nil, exitOK, ""},
		{[]bench.Row{good, agrees, skipped}, nil, exitOK, ""},
		{[]bench.Row{good, failed}, nil, exitPartial, "row mr-sort failed: boom"},
		{[]bench.Row{good, failed, {ID: "x", Error: "y"}}, nil, exitPartial, "2 rows failed: mr-sort, x"},
		{[]bench.Row{failed}, nil, exitFailed, "no row succeeded: mr-sort: boom"},
		{[]bench.Row{failed, skipped}, nil, exitFailed, "no row succeeded"},
		{[]bench.Row{skipped}, nil, exitFailed, "this server can run none of the rows"},
		{[]bench.Row{good, failed, differs}, nil, exitDiffer, "the answer of agg-ranges is not the answer of mr"},
		{[]bench.Row{good}, errors.New("stopped"), exitFailed, "stopped"},
	} {
		m := &measurement{result: bench.Result{Rows: c.rows}}
		err := m.verdict(c.stopped)
		if got := exitCode(t.Context(), err); got != c.code {
			t.Errorf("%v: exit code %d, want %d", c.want, got, c.code)
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err   error
		cause error
		want  int
	}{
		{nil, nil, 0},
		{errors.New("x"), nil, 1},
		{usageError("x"), nil, 2},
		{&target.URIError{Err: errors.New("x")}, nil, 2},
		{fmt.Errorf("wrapped: %w", &target.UnreachableError{Err: errors.New("x")}), nil, 4},
		{&target.LoginError{}, nil, 4},
		{errors.New("x"), &interruptError{syscall.SIGINT}, 130},
		{errors.New("x"), &interruptError{syscall.SIGTERM}, 143},
		{nil, &interruptError{syscall.SIGTERM}, 0}, // it was done before the signal mattered
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		if c.cause != nil {
			cancel(c.cause)
		}
		if got := exitCode(ctx, c.err); got != c.want {
			t.Errorf("%v after %v: %d, want %d", c.err, c.cause, got, c.want)
		}
		cancel(nil)
	}
}

func TestRefusalsAreSkips(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want string // "" is a failure
	}{
		{mongo.CommandError{Code: 59, Message: "no such command: 'mapReduce'"}, "the server refuses mapReduce: no such command"},
		{fmt.Errorf("mr: %w", mongo.CommandError{Code: 8000, Message: "CMD_NOT_ALLOWED: mapReduce"}), "the server refuses mapReduce"},
		{mongo.CommandError{Code: 13, Message: "not authorized"}, "not authorized"},
		{mongo.CommandError{Code: 2, Message: "no globalScriptEngine in $where parsing"}, "JavaScript is switched off"},
		{mr.ErrAmbiguousKeys, "the emit key has strings beside numbers"},
		{mongo.CommandError{Code: 139, Message: "TypeError"}, ""},
		{errors.New("broken pipe"), ""},
	} {
		if got := bench.Skipped(unsupported(c.err, "mapReduce")); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}

// Another process with the data directory gets its holder's process id.
func TestDataDirectoryInUse(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.client(func(*target.Target) {
		code, _, stderr := s.run("split")
		if code != exitFailed || !strings.Contains(stderr, fmt.Sprintf("is in use by mrbench process %d; wait for it", os.Getpid())) {
			t.Errorf("%d %s", code, stderr)
		}
	})
}

// What was recorded on one server says nothing about another, and the newest line of a thing counts.
func TestRecord(t *testing.T) {
	t.Parallel()
	r := createdIn(filepath.Join(t.TempDir(), "new"))
	add := func(c creation) {
		t.Helper()
		if err := r.add(c); err != nil {
			t.Fatal(err)
		}
	}
	list := func(server string) string {
		t.Helper()
		all, err := r.list(server)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, c := range all {
			names = append(names, c.Name+c.UUID)
		}
		return strings.Join(names, " ")
	}
	if got := list("a"); got != "" {
		t.Errorf("without a file: %s", got)
	}
	add(creation{Kind: kindDatabase, Name: "x", Server: "a"})
	add(creation{Kind: kindDatabase, Name: "y", Server: "b"})
	add(creation{Kind: kindCollection, Name: "x", UUID: "1", Server: "a"})
	add(creation{Kind: kindCollection, Name: "x", UUID: "2", Server: "a"})
	add(creation{Kind: kindDatabase, Name: "x", Server: "b", Dropped: true})
	if got := list("a"); got != "x x2" {
		t.Errorf("a: %s", got)
	}
	add(creation{Kind: kindDatabase, Name: "x", Server: "a", Dropped: true})
	if err := os.WriteFile(r.path, append(must(os.ReadFile(r.path)), `{"kind":"data`...), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := list("a"); got != "x2" {
		t.Errorf("a, after a crash in the middle of a line: %s", got)
	}
	if got := list("b"); got != "y" {
		t.Errorf("b: %s", got)
	}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
