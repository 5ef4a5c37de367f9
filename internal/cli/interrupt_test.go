package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/bench"
	"mrbench/internal/target"
)

// watcher is a stream that calls back when a text has gone through.
type watcher struct {
	mu   sync.Mutex
	b    bytes.Buffer
	text string
	seen func()
}

func (w *watcher) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.b.Write(p)
	if w.seen != nil && strings.Contains(w.b.String(), w.text) {
		w.seen()
		w.seen = nil
	}
	return len(p), nil
}

// wait returns when a text has gone through. The limit is for a test that would never end.
func (w *watcher) wait(t *testing.T, text string) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); !strings.Contains(w.String(), text); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("no %q in %q", text, w.String())
		}
	}
}

func (w *watcher) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// An interrupt stops the run, removes its databases, prints and saves what is finished.
func TestInterruptedRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		signal syscall.Signal
		code   int
		word   string
	}{{syscall.SIGINT, 130, "interrupted"}, {syscall.SIGTERM, 143, "terminated"}} {
		t.Run(c.word, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			if code, _, stderr := s.run("seed", "--docs", "2000"); code != 0 {
				t.Fatal(stderr)
			}
			signals := make(chan os.Signal, 1)
			released := false
			stderr := &watcher{text: "run 3 of", seen: func() { signals <- c.signal }}
			var out bytes.Buffer
			env := s.environ([]string{"run", "--ladder", "--threads", "2", "--runs", "11", "--save", "r.ndjson"}, &out, nil)
			env.Stderr, env.Signals, env.ReleaseSignals = stderr, signals, func() { released = true }
			if code := Run(t.Context(), env); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			if !released {
				t.Error("a second signal would not end the process")
			}
			if !strings.HasSuffix(stderr.String(), "mrbench: "+c.word+"\n") {
				t.Errorf("stderr: %s", stderr)
			}
			if !strings.Contains(out.String(), "agg-covered-ranges") || !strings.Contains(out.String(), "runs each") {
				t.Errorf("finished rows are not printed:\n%s", out.String())
			}
			rs, err := bench.Load(filepath.Join(s.dir, "r.ndjson"))
			if err != nil {
				t.Fatal(err)
			}
			if r := rs[0]; r.ExitCode != c.code || len(r.Rows) != 9 || r.Rows[0].Seconds == nil || len(r.Rows[0].Seconds.All) < 2 {
				t.Errorf("saved: %+v", r)
			}
			if _, out, _ := s.run("clean", "--dry-run"); !strings.Contains(out, "nothing of mrbench's is left") {
				t.Errorf("left behind: %s", out)
			}
		})
	}
}

// serve prints its address; other commands join it, and it ends well when interrupted.
func TestServeAndJoin(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"serve", "--port", "0"}, {"serve", "--socket", "s.sock"}} {
		t.Run(args[1], func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			// Paths of sockets must be short.
			dir, err := os.MkdirTemp("", "mrb")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			s.dir = dir
			ready, signals, ended := make(chan struct{}), make(chan os.Signal, 1), make(chan int, 1)
			out := &watcher{text: "\n", seen: func() { close(ready) }}
			var errs watcher
			env := s.environ(args, nil, nil)
			env.Stdout, env.Stderr, env.Signals = out, &errs, signals
			go func() { ended <- Run(context.WithoutCancel(t.Context()), env) }()
			select {
			case <-ready:
			case code := <-ended:
				t.Fatalf("ended with %d: %s", code, &errs)
			}
			uri := strings.TrimSpace(out.String())
			if !strings.HasPrefix(uri, "mongodb://") {
				t.Errorf("printed %q", uri)
			}
			if code, _, stderr := s.run("seed", "--docs", "1000"); code != 0 || !strings.Contains(stderr, "served by process") {
				t.Errorf("seed joined: %d %s", code, stderr)
			}
			if code, stdout, stderr := s.run("run", "--uri", uri, "--rows", "mr,agg", "-o", "json"); code != 0 || !strings.Contains(stdout, `"kind": "embedded"`) {
				t.Errorf("run by address: %d %s %s", code, stdout, stderr)
			}
			if code, _, stderr := s.run("serve", "--port", "0"); code != exitFailed || !strings.Contains(stderr, "is in use by mrbench process") {
				t.Errorf("second serve: %d %s", code, stderr)
			}
			signals <- syscall.SIGINT
			if code := <-ended; code != 0 {
				t.Errorf("ended with %d: %s", code, &errs)
			}
			if code, stdout, stderr := s.run("split", "--ranges", "2"); code != 0 || !strings.Contains(stdout, "1,000 of 1,000") {
				t.Errorf("afterwards: %d %s %s", code, stdout, stderr)
			}
		})
	}
}

// client opens a session's embedded engine for a test's own reads and writes.
func (s *session) client(work func(t *target.Target)) {
	s.t.Helper()
	tg, err := target.Open(s.t.Context(), target.Config{DataDir: engineDir(filepath.Join(s.dir, ".local", "share", "mrbench"))})
	if err != nil {
		s.t.Fatal(err)
	}
	work(tg)
	if err := tg.Close(); err != nil {
		s.t.Fatal(err)
	}
}

// arraysOfDocuments makes a collection whose answers differ.
func arraysOfDocuments(t *testing.T) func(tg *target.Target) {
	return func(tg *target.Target) {
		docs := []any{
			bson.D{{Key: "a", Value: bson.D{{Key: "b", Value: 1}}}},
			bson.D{{Key: "a", Value: bson.A{bson.D{{Key: "b", Value: 2}}, bson.D{{Key: "b", Value: 3}}}}},
		}
		if _, err := tg.Client.Database("test").Collection("arrays").InsertMany(t.Context(), docs); err != nil {
			t.Fatal(err)
		}
	}
}

// mapReduce sees undefined where a pipeline sees an array of the elements' fields: the answers really differ.
func TestDifferentAnswers(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.client(arraysOfDocuments(t))
	code, stdout, stderr := s.run("run", "--ns", "test.arrays", "--key", "a.b", "--rows", "mr,agg")
	if code != exitDiffer || !strings.Contains(stderr, "the answer of agg is not the answer of mr") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	for _, want := range []string{"the first keys on which mr and agg differ", "[2,3]", "(no such key)", "×  NO"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
}

// clean drops what carries the mark of mrbench, and nothing that only looks like it.
func TestCleanLeavesWhatIsNotOurs(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	if code, _, stderr := s.run("seed", "--docs", "1000"); code != 0 {
		t.Fatal(stderr)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	const run = "20260102t030405678abcd"
	s.client(func(tg *target.Target) {
		insert := func(db, coll string, doc any) {
			t.Helper()
			if _, err := tg.Client.Database(db).Collection(coll).InsertOne(t.Context(), doc); err != nil {
				t.Fatal(err)
			}
		}
		insert("mrbench_"+run+"_1", ownerCollection, owner{Run: run, Program: program, Host: host, PID: 1 << 30})
		insert("mrbench_"+run+"_2", "answer", bson.D{})                                                                          // no mark
		insert("mrbench_"+run+"_3", ownerCollection, owner{Run: "another", Program: program, Host: host, PID: 1 << 30})          // a copy
		insert("mrbench_"+run+"_4", ownerCollection, owner{Run: run, Program: program, Host: host, PID: os.Getppid()})           // still runs
		insert("mrbench_"+run+"_5", ownerCollection, owner{Run: run, Program: program, Host: "elsewhere.example", PID: 1 << 30}) // elsewhere
		insert("mrbench_notes", ownerCollection, owner{Run: "notes", Program: program, Host: host})                              // no name of ours
		insert("mrbench", "answer", bson.D{})
		// The seeded collection was replaced by somebody's own.
		c := tg.Client.Database("test").Collection("uniques")
		if err := c.Drop(t.Context()); err != nil {
			t.Fatal(err)
		}
		insert("test", "uniques", bson.D{})
	})
	code, stdout, stderr := s.run("clean", "--data")
	if code != 0 {
		t.Fatal(stderr)
	}
	for _, want := range []string{
		"1 of 6 dropped", "_1  dropped ", "no mark of mrbench in it, and not recorded", "it carries another run's mark",
		"its run still goes on: process", "made on elsewhere.example: --other-hosts drops it", "not the seeded one: it has another UUID",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	s.client(func(tg *target.Target) {
		names, err := tg.Client.ListDatabaseNames(t.Context(), bson.D{})
		if err != nil {
			t.Fatal(err)
		}
		want := "mrbench mrbench_" + run + "_2 mrbench_" + run + "_3 mrbench_" + run + "_4 mrbench_" + run + "_5 mrbench_notes test"
		if got := strings.Join(names, " "); got != want {
			t.Errorf("databases %s\nwant %s", got, want)
		}
	})
	if _, stdout, _ = s.run("clean", "--other-hosts"); !strings.Contains(stdout, "_5  dropped ") {
		t.Errorf("--other-hosts:\n%s", stdout)
	}
}
