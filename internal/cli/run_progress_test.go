package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/target"
)

// clock is a time that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func screen(p *runProgress, width int) string {
	var b strings.Builder
	for i := range p.lineCount() {
		fmt.Fprintln(&b, p.lineAt(i, width, p.a.env.Now()))
	}
	return b.String()
}

// What the bars say is told apart from how they are drawn.
func TestProgressLines(t *testing.T) {
	t.Parallel()
	c := &clock{now: time.Unix(1e9, 0)}
	a := &app{env: Env{Now: c.Now, Stderr: &bytes.Buffer{}}}
	p := newRunProgress(a, nil, []progressRow{
		{id: "mr", threads: 1, documents: []int64{300_000}},
		{id: "mr-ranges-dbs", threads: 2, documents: []int64{75_000, 74_000, 76_000, 75_000}},
		{id: "agg", threads: 1, documents: []int64{300_000}},
	}, 1, 2)
	var got strings.Builder
	show := func(what string, width int) {
		fmt.Fprintf(&got, "-- %s, %d columns\n%s", what, width, screen(p, width))
	}
	found := map[int]partProgress{}
	p.look = func(context.Context, string) (map[int]partProgress, error) { return found, nil }
	begin := func(id string, place, round int) {
		p.begin(t.Context(), turn{place: place, round: round}, id)
	}

	begin("mr", 1, 0)
	p.started(0, 0)
	c.forward(2500 * time.Millisecond)
	show("no word from the server", 80)
	found[0] = partProgress{phaseMap, 150_000, 300_000}
	p.lookOnce(t.Context(), "")
	show("map", 80)
	found[0] = partProgress{phaseReduce, 1_000, 30_000}
	p.lookOnce(t.Context(), "")
	show("reduce", 80)
	p.finished(0, 0)
	show("over", 80)
	p.end(nil)

	begin("mr-ranges-dbs", 2, 0)
	p.started(0, 0)
	p.started(1, 1)
	c.forward(3 * time.Second)
	// With a filter the server does not know how many documents there are; the proof of the ranges does.
	clear(found)
	found[1] = partProgress{phaseMap, 37_000, 0}
	found[3] = partProgress{phaseMap, 1, 0}
	p.lookOnce(t.Context(), "")
	p.finished(0, 0)
	p.started(2, 0)
	c.forward(time.Second)
	show("ranges", 80)
	show("ranges", 100)
	show("ranges", 40)
	p.end(errors.New("it failed"))

	begin("mr", 1, 1)
	p.started(0, 0)
	c.forward(1250 * time.Millisecond)
	show("second round", 80)
	p.now.stopping = true
	show("interrupted", 80)
	p.end(nil)

	for _, line := range strings.Split(got.String(), "\n") {
		if n := utf8.RuneCountInString(line); n > 100 {
			t.Errorf("line of %d characters: %s", n, line)
		}
	}
	golden(t, "progress.txt", got.String())
}

func TestTimeLeft(t *testing.T) {
	t.Parallel()
	c := &clock{now: time.Unix(1e9, 0)}
	p := newRunProgress(&app{env: Env{Now: c.Now}}, nil, []progressRow{{id: "a"}, {id: "b"}, {id: "c"}}, 0, 3)
	x := p.turns
	if got := p.leftText("a", time.Second); got != "" {
		t.Errorf("before anything is over: %q", got)
	}
	x.end("a", 4*time.Second, true)
	if got, want := p.leftText("b", time.Second), "more than 8.0 s left"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	x.end("b", 20*time.Second, true)
	x.end("c", time.Second, false)
	// a: 4 s twice; b: 20 s twice; c never again.
	if got, want := p.leftText("", 0), "about 48 s left"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	x.end("a", 2*time.Second, true)
	// a once more, at 3 s; b runs for 5 s of 20 and comes once more.
	if got, want := p.leftText("b", 5*time.Second), "about 38 s left"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	// A turn that takes longer than the earlier ones does not make the rest shorter.
	if got, want := p.leftText("b", time.Hour), "about 23 s left"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	// A budget goes on until it is used up, and past it to the end of what was asked for.
	p.until = c.Now().Add(10 * time.Minute)
	if got, want := p.leftText("b", 5*time.Second), "about 10m00s left"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	c.forward(595 * time.Second)
	if got, want := p.leftText("b", 5*time.Second), "about 38 s left"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for d, want := range map[time.Duration]string{
		1250 * time.Millisecond: "1.2 s", 42 * time.Second: "42 s", 185 * time.Second: "3m05s",
		time.Hour + 61*time.Second: "1h01m", 26 * time.Hour: "26h00m",
	} {
		if got := shortTime(d); got != want {
			t.Errorf("%v is shown as %q, want %q", d, got, want)
		}
	}
}

// Operations as servers list them: MongoDB 4.0 with the output's name, the newer ones and the engine with a comment.
func TestProgressOfOperations(t *testing.T) {
	t.Parallel()
	d := func(kv ...any) bson.D {
		var doc bson.D
		for i := 0; i < len(kv); i += 2 {
			doc = append(doc, bson.E{Key: kv[i].(string), Value: kv[i+1]})
		}
		return doc
	}
	out := func(db, coll string) bson.D { return d("mapReduce", "uniques", "out", d("replace", coll, "db", db)) }
	emit := d("done", int32(120), "total", int64(1000))
	const prefix = "mrbench_20260102t030405678abcd_1"
	for _, c := range []struct {
		name string
		op   bson.D
		part int
		want partProgress
		ok   bool
	}{
		{"emit of one database", d("msg", "m/r: (1/3) emit phase M/R: (1/3) Emit Progress: 120/1000 12%", "progress", emit, "command", out(prefix, "part_3")), 3, partProgress{phaseMap, 120, 1000}, true},
		{"reduce of a database of its own", d("msg", "m/r: (3/3) final reduce to collection", "progress", emit, "command", out(prefix+"_2", "part_2")), 2, partProgress{phaseReduce, 120, 1000}, true},
		{"uncut", d("command", out(prefix, "answer")), 0, partProgress{}, true},
		{"pipeline", d("command", d("aggregate", "uniques", "comment", prefix+"_7")), 7, partProgress{}, true},
		{"another row's pipeline", d("command", d("aggregate", "uniques", "comment", prefix+"1_7")), 0, partProgress{}, false},
		{"another row's output", d("command", out(prefix+"1", "part_3")), 0, partProgress{}, false},
		{"something else", d("command", d("find", "uniques")), 0, partProgress{}, false},
	} {
		raw, err := bson.Marshal(c.op)
		if err != nil {
			t.Fatal(err)
		}
		part, got, ok := progressOf(raw, prefix)
		if ok != c.ok || ok && (part != c.part || got != c.want) {
			t.Errorf("%s: %d %+v %v", c.name, part, got, ok)
		}
	}
}

// A row's commands are found on a server while they run, with how far they are, and nobody else's.
func TestReadProgress(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	if code, _, stderr := s.run("seed", "--docs", "20000"); code != 0 {
		t.Fatal(stderr)
	}
	s.client(func(tg *target.Target) {
		const prefix = "mrbench_20260102t030405678abcd_1"
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		slow := func(db, part string) {
			ended <- tg.Client.Database("test").RunCommand(ctx, bson.D{
				{Key: "mapReduce", Value: "uniques"},
				{Key: "map", Value: "function () { for (var i = 0; i < 2000; i++) {} emit(this.dim0, 1) }"},
				{Key: "reduce", Value: "function (k, v) { return Array.sum(v) }"},
				{Key: "out", Value: bson.D{{Key: "replace", Value: part}, {Key: "db", Value: db}}},
			}).Err()
		}
		go slow(prefix+"_1", "part_1")
		go slow("another", "part_0")
		for {
			parts, err := readProgress(t.Context(), tg.Client, prefix)
			if err != nil {
				t.Fatal(err)
			}
			if p, ok := parts[1]; ok && p.done > 0 {
				if len(parts) != 1 || p.phase != phaseMap || p.total != 20_000 {
					t.Errorf("found %+v", parts)
				}
				break
			}
			select {
			case err := <-ended:
				t.Fatalf("ended before anything was seen of it: %v", err)
			case <-time.After(time.Millisecond):
			}
		}
		cancel()
		<-ended
		<-ended
	})
}

// escape is what moves the cursor or sets a colour.
var escape = regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`)

// On a terminal bars are drawn, lines go above them, and in the end they are taken away.
func TestBarsOnTerminal(t *testing.T) {
	t.Parallel()
	for _, colours := range []bool{true, false} {
		errs := &watcher{}
		a := &app{env: Env{Now: time.Now, Stderr: errs, StderrTerminal: true}}
		a.common.noColor = !colours
		p := newRunProgress(a, nil, []progressRow{{id: "mr", threads: 2, documents: []int64{10, 10}}}, 0, 1)
		p.after = 0
		p.look = func(context.Context, string) (map[int]partProgress, error) {
			return map[int]partProgress{0: {phaseMap, 5, 10}}, nil
		}
		p.begin(t.Context(), turn{place: 1, round: 1}, "mr")
		p.started(0, 0)
		errs.wait(t, "range 1 of 2")
		errs.wait(t, "\x1b[")
		if colours {
			errs.wait(t, "\x1b[36m")
		} else {
			errs.wait(t, "[=")
		}
		a.tell("a line in between")
		errs.wait(t, "a line in between")
		p.end(nil)
		a.tell("a line afterwards")
		got := errs.String()
		if strings.Contains(got, "\x1b[36m") != colours {
			t.Errorf("colours %v: %q", colours, got)
		}
		if !strings.HasSuffix(got, "a line afterwards\n") || strings.Contains(got[strings.LastIndex(got, "\x1b["):], "range") {
			t.Errorf("bars are left behind: %q", got)
		}
		// Nothing that outlives the process: no hidden cursor, no other screen, no mode.
		if strings.Contains(got, "\x1b[?") {
			t.Errorf("modes of the terminal are changed: %q", got)
		}
	}
}

// Where there are no bars and where they are unwanted, Stderr has no escape; Stdout never has.
func TestNoBars(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	if code, _, stderr := s.run("seed", "--docs", "1000"); code != 0 {
		t.Fatal(stderr)
	}
	for _, c := range []struct {
		name     string
		terminal bool
		vars     map[string]string
		args     []string
		lines    bool
	}{
		{"no terminal", false, nil, nil, true},
		{"dumb", true, map[string]string{"TERM": "dumb"}, nil, true},
		{"quiet", true, nil, []string{"--quiet"}, false},
		{"quiet by the environment", false, map[string]string{"MRBENCH_QUIET": "true"}, nil, false},
	} {
		var out, errs bytes.Buffer
		s.env = c.vars
		env := s.environ(append([]string{"run", "--rows", "mr,agg", "-o", "csv", "--save", filepath.Join(t.TempDir(), "r.ndjson")}, c.args...), &out, &errs)
		env.StderrTerminal = c.terminal
		if code := Run(t.Context(), env); code != 0 {
			t.Fatal(errs.String())
		}
		if !strings.HasPrefix(out.String(), "id,") || escape.MatchString(out.String()+errs.String()) {
			t.Errorf("%s: stdout %q, stderr %q", c.name, &out, &errs)
		}
		if c.lines != strings.Contains(errs.String(), "run 1 of 1") || !c.lines && errs.Len() > 0 {
			t.Errorf("%s: stderr %q", c.name, &errs)
		}
	}
}

// --quiet leaves errors.
func TestQuietError(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	code, stdout, stderr := s.run("run", "--quiet")
	if code != exitFailed || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "mrbench: test.uniques does not exist") {
		t.Errorf("%d %q %q", code, stdout, stderr)
	}
}

// Where there is no terminal and there are many runs, not each of them gets a line.
func TestPlainLines(t *testing.T) {
	t.Parallel()
	c := &clock{now: time.Unix(1e9, 0)}
	var errs bytes.Buffer
	a := &app{env: Env{Now: c.Now, Stderr: &errs}}
	p := newRunProgress(a, nil, []progressRow{{id: "mr", threads: 1, documents: []int64{1}}}, 0, 1000)
	for i := range 200 {
		p.begin(t.Context(), turn{place: 1, round: i + 1}, "mr")
		c.forward(100 * time.Millisecond)
		p.end(nil)
		p.line(fmt.Sprintf("run %d", i+1))
	}
	want := "run 1  about 1m40s left\nrun 51  about 1m35s left\nrun 101  about 1m30s left\nrun 151  about 1m25s left\n"
	if d := cmp.Diff(want, errs.String()); d != "" {
		t.Error(d)
	}
}

// BenchmarkLook is what one look at a server's running commands costs; a terminal causes two in a second.
func BenchmarkLook(b *testing.B) {
	tg, err := target.Open(b.Context(), target.Config{DataDir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = tg.Close() }()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readProgress(b.Context(), tg.Client, "mrbench_20260102t030405678abcd_1"); err != nil {
			b.Fatal(err)
		}
	}
}

// Bars stand beside the numbers on a terminal that can show them, and nowhere else.
func TestBarsBesideNumbers(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	if code, _, stderr := s.run("seed", "--docs", "1000"); code != 0 {
		t.Fatal(stderr)
	}
	for _, c := range []struct {
		name    string
		columns int
		vars    map[string]string
		format  string
		want    bool
	}{
		{"UTF-8", 140, map[string]string{"LANG": "de_DE.UTF-8"}, "table", true},
		{"LC_ALL over LANG", 140, map[string]string{"LANG": "de_DE.UTF-8", "LC_ALL": "C"}, "table", false},
		{"no locale", 140, nil, "table", false},
		{"no room", 60, map[string]string{"LANG": "C.utf8"}, "table", false},
		{"no terminal", 0, map[string]string{"LANG": "C.utf8", "COLUMNS": "140"}, "table", false},
		{"markdown", 140, map[string]string{"LANG": "C.utf8"}, "markdown", false},
	} {
		s.columns, s.env = c.columns, c.vars
		code, out, stderr := s.run("run", "--rows", "mr,agg", "-o", c.format)
		if code != 0 {
			t.Fatal(stderr)
		}
		if strings.Contains(out, "████") != c.want {
			t.Errorf("%s: %s", c.name, out)
		}
		for line := range strings.Lines(out) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); c.format == "table" && n > max(c.columns, 60) && c.columns > 0 {
				t.Errorf("%s: line of %d: %s", c.name, n, line)
			}
		}
	}
}
