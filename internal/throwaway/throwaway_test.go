package throwaway

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/internal/throwaway/fakemongod"
)

func TestMain(m *testing.M) {
	fakemongod.Main()
	os.Exit(m.Run())
}

// place is where a test's programs, records and temporary directories are.
type place struct {
	t     *testing.T
	state string

	mu   sync.Mutex
	said []string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	return &place{t: t, state: filepath.Join(t.TempDir(), "state")}
}

func (p *place) tell(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said = append(p.said, format)
	p.t.Logf(format, args...)
}

func (p *place) config(topology string, fails ...string) Config {
	p.t.Helper()
	what, err := ParseTopology(topology)
	if err != nil {
		p.t.Fatal(err)
	}
	return Config{Mongod: fakemongod.Install(p.t, p.t.TempDir(), "4.0.3", fails...), Topology: what, StateDir: p.state, Tell: p.tell, Memory: 4 << 30}
}

// records are what the state directory holds besides its lock.
func (p *place) records() (all [][]entry) {
	p.t.Helper()
	names, err := filepath.Glob(filepath.Join(p.state, "*"+recordExt))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			p.t.Fatal(err)
		}
		var r []entry
		for line := range strings.Lines(string(b)) {
			var e entry
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				p.t.Fatal(err)
			}
			r = append(r, e)
		}
		all = append(all, r)
	}
	return all
}

// gone checks that nothing of a record is left.
func gone(t *testing.T, r []entry) {
	t.Helper()
	for _, e := range r {
		if e.Dir != "" {
			if _, err := os.Lstat(e.Dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is left: %v", e.Dir, err)
			}
		}
		if e.PID != 0 && identity(e.PID) == e.Started {
			t.Errorf("process %d is left", e.PID)
		}
	}
}

func connect(t *testing.T, uri string) *mongo.Client {
	t.Helper()
	c, err := mongo.Connect(t.Context(), options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Disconnect(context.Background()) })
	return c
}

// Each topology can be written to, and is gone after Stop.
func TestTopologies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		topology  string
		processes int
		failures  []string
	}{
		{"standalone", 1, []string{fakemongod.Stubborn}},
		{"replset", 1, []string{fakemongod.PortTaken}},
		{"replset:3", 3, nil},
		{"sharded:2", 4, []string{"mongos:" + fakemongod.Stranger, "s2:" + fakemongod.PortTaken}},
	} {
		t.Run(c.topology, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			s, err := Start(t.Context(), p.config(c.topology, c.failures...))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Stop() }()
			client := connect(t, s.URI)
			if _, err := client.Database("test").Collection("c").InsertOne(t.Context(), bson.D{{Key: "a", Value: 1}}); err != nil {
				t.Error(err)
			}
			if c.topology == "sharded:2" {
				n, err := client.Database("config").Collection("shards").CountDocuments(t.Context(), bson.D{})
				if err != nil || n != 2 {
					t.Errorf("%d shards, %v", n, err)
				}
			}
			rs := p.records()
			if len(rs) != 1 {
				t.Fatalf("records %v", rs)
			}
			if st, err := os.Stat(rs[0][0].Dir); err != nil || st.Mode().Perm() != 0o700 || filepath.Base(rs[0][0].Dir) != s.Name() {
				t.Errorf("directory %v, %v", st, err)
			}
			running := 0
			for _, e := range rs[0] {
				if e.PID != 0 && identity(e.PID) == e.Started {
					running++
				}
			}
			if running != c.processes {
				t.Errorf("%d processes run, want %d", running, c.processes)
			}
			if swept, err := Sweep(p.state); swept != 0 || err != nil {
				t.Errorf("swept %d of a living process, %v", swept, err)
			}
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
			gone(t, rs[0])
			if rs := p.records(); len(rs) > 0 {
				t.Errorf("records are left: %v", rs)
			}
		})
	}
}

// A start that fails says what failed and leaves nothing.
func TestFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, topology, failure string
		limit                   time.Duration
		want                    []string
	}{
		{"ends at once", "standalone", fakemongod.Exit, 0, []string{"mongod ended, exit code 1", "exception in initAndListen: Location28596: told to fail"}},
		{"one shard ends", "sharded:2", "s2:" + fakemongod.Exit, 0, []string{"mongod of shard s2 ended, exit code 1"}},
		{"never listens", "sharded:1", "cfg:" + fakemongod.Silent, 700 * time.Millisecond, []string{"mongod of the config server: it did not answer within LIMIT", "connection refused"}},
		{"no primary", "replset", fakemongod.NoVote, time.Second, []string{"mongod: the replica set was not ready within LIMIT", "neither primary nor secondary"}},
		{"configuration refused", "replset", fakemongod.BadConfig, 0, []string{"told to refuse the configuration", "its log ends"}},
		{"shard refused", "sharded:1", fakemongod.NoShard, 3 * time.Second, []string{"mongos: shard s1 could not be added within LIMIT", "told to refuse the shard"}},
		{"library", "standalone", fakemongod.Library, 0, []string{"--version failed, exit code 127", "libcrypto.so.1.0.0"}},
		{"another program", "standalone", fakemongod.Another, 0, []string{"is not mongod", "psql (PostgreSQL) 15.1"}},
		{"another mongos", "sharded:1", "mongos:" + fakemongod.Another, 0, []string{"is not mongos", "psql (PostgreSQL) 15.1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			config := p.config(c.topology, c.failure)
			config.Limit = c.limit
			for {
				s, err := Start(t.Context(), config)
				if err == nil {
					t.Fatal("it started", s.Stop())
				}
				if rs := p.records(); len(rs) > 0 {
					t.Errorf("records are left: %v", rs)
				}
				missing := ""
				for _, want := range c.want {
					if want = strings.ReplaceAll(want, "LIMIT", config.Limit.String()); !strings.Contains(err.Error(), want) {
						missing = want
					}
				}
				if missing == "" {
					return
				}
				if config.Limit *= 4; config.Limit == 0 || config.Limit > time.Minute {
					t.Fatalf("no %q in %v", missing, err)
				}
				// On a busy machine the limit may end another step than the one meant.
			}
		})
	}
}

// A program that is no mongod of a known version is refused before anything is made.
func TestBinaries(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("no program"), 0o644); err != nil {
		t.Fatal(err)
	}
	alone := t.TempDir()
	if err := os.Rename(fakemongod.Install(t, dir, "4.0.3"), filepath.Join(alone, "mongod")); err != nil {
		t.Fatal(err)
	}
	mixed := filepath.Dir(fakemongod.Install(t, t.TempDir(), "5.0.3"))
	if err := os.Rename(filepath.Join(dir, "mongos"), filepath.Join(mixed, "mongos")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, want string }{
		{filepath.Join(dir, "none"), "no such file"},
		{text, "permission denied"},
		{alone, ""},
		{fakemongod.Install(t, t.TempDir(), "3.4.24"), "3.6 and later"},
		{fakemongod.Install(t, t.TempDir(), "8.0.4-rc1"), ""},
		{filepath.Join(mixed, "mongos"), `is not mongod: its --version says "mongos version v4.0.3"`},
	} {
		b, err := findMongod(t.Context(), c.path)
		if _, ok := errors.AsType[*BinaryError](err); ok != (c.want != "") || ok && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v; want %q", c.path, b, err, c.want)
		}
	}
	for dir, want := range map[string]string{alone: "", mixed: "a cluster needs both of one release"} {
		b, err := findMongod(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		_, err = findMongos(t.Context(), b)
		if _, onPath := exec.LookPath("mongos"); want == "" && onPath != nil {
			want = "neither beside"
		}
		if err == nil && want != "" || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", dir, err, want)
		}
	}
}

// What a dead owner left is removed by the next start, a process that has only the same number is not killed.
func TestSweep(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	config := p.config("replset")
	s, err := Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	rs := p.records()
	bystander := exec.Command("sleep", "60")
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = bystander.Process.Kill(), bystander.Wait() }()
	if err := s.rec.add(entry{PID: bystander.Process.Pid, Started: "another boot/1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.rec.f.WriteString(`{"pid": 1`); err != nil { // cut off
		t.Fatal(err)
	}
	if err := s.rec.f.Close(); err != nil { // the lock goes, as with its owner
		t.Fatal(err)
	}
	next, err := Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	gone(t, rs[0])
	if identity(bystander.Process.Pid) == "" {
		t.Error("a process with a recycled number was killed")
	}
	if !strings.Contains(strings.Join(p.said, "\n"), "that an earlier mrbench left") {
		t.Errorf("not said: %q", p.said)
	}
	if left := p.records(); len(left) != 1 {
		t.Errorf("records %v", left)
	}
	if err := next.Stop(); err != nil {
		t.Error(err)
	}
}

// A record can't have a directory removed that was not made for it.
func TestSweepForeignDirectory(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	foreign := t.TempDir()
	if err := os.Mkdir(p.state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.state, "abc"+recordExt), []byte(`{"dir": "`+foreign+`"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := Sweep(p.state); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Error(err)
	}
	if n, err := Sweep(filepath.Join(p.state, "none")); n != 0 || err != nil {
		t.Errorf("no directory: %d, %v", n, err)
	}
}

// A context that ends during the start is the reason, and nothing is left.
func TestInterruptedStart(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	reason := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	config := p.config("sharded:1", "s1:"+fakemongod.Silent)
	config.Tell = func(string, ...any) { time.AfterFunc(100*time.Millisecond, func() { cancel(reason) }) }
	if _, err := Start(ctx, config); !errors.Is(err, reason) {
		t.Errorf("%v", err)
	}
	if rs := p.records(); len(rs) > 0 {
		t.Errorf("records are left: %v", rs)
	}
}

// The end of a server that should run is told, with its reason; one that is stopped is not.
func TestDied(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	died := make(chan *DiedError, 2)
	config := p.config("standalone", fakemongod.DieLater)
	config.Died = func(err *DiedError) { died <- err }
	s, err := Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	_ = connect(t, s.URI).Database("test").RunCommand(t.Context(), bson.D{{Key: "mapReduce", Value: "c"}}).Err()
	if err := <-died; !strings.Contains(err.Error(), "mongod ended, exit code 14; its log ends: ") || !strings.Contains(err.Error(), "told to die") {
		t.Error(err)
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	other := p.config("standalone")
	other.Died = config.Died
	if s, err = Start(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	if len(died) > 0 {
		t.Errorf("a stopped server was told: %v", <-died)
	}
}

func TestParseTopology(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"standalone": "standalone", "replset": "replset", "REPLSET:3": "replset:3", "replset:1": "replset", "sharded": "sharded:2", "sharded:8": "sharded:8",
		"standalone:1": "", "replset:8": "", "sharded:0": "", "sharded:9": "", "sharded:": "", "cluster": "", "": "",
	} {
		got, err := ParseTopology(text)
		if (err != nil) != (want == "") || err == nil && got.String() != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, log, want string }{
		{"nothing", " \n", "it said nothing"},
		{"4.0", `2026-12-01T10:00:00.000+0000 I CONTROL  [main] Automatically disabling TLS 1.0
2026-12-01T10:00:00.100+0000 I STORAGE  [initandlisten] exception in initAndListen: NonExistentPath: Data directory /x not found., terminating
2026-12-01T10:00:00.200+0000 I CONTROL  [initandlisten] now exiting
`, "its log ends: I STORAGE exception in initAndListen: NonExistentPath: Data directory /x not found., terminating"},
		{"4.4", `{"t":{"$date":"2026-12-01T10:00:00.000+00:00"},"s":"I","c":"CONTROL","id":1,"ctx":"main","msg":"***** SERVER RESTARTED *****"}
{"t":{"$date":"2026-12-01T10:00:00.000+00:00"},"s":"E","c":"CONTROL","id":2,"ctx":"main","msg":"Error setting up listener","attr":{"error":{"code":9001}}}
`, `its log ends: Error setting up listener {"error":{"code":9001}}`},
		{"text", "a\nb\nc\nd\n", "its log ends: b | c | d"},
	} {
		l := &tail{}
		_, _ = l.Write([]byte(c.log))
		if got := l.excerpt(); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
	l := &tail{}
	for range 10 {
		_, _ = l.Write(make([]byte, tailBytes))
	}
	if len(l.b) > 2*tailBytes {
		t.Errorf("%d bytes are kept", len(l.b))
	}
}
