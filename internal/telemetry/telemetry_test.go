package telemetry

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/internal/bench"
)

// machine is a host whose processes are given.
type machine struct {
	host      string
	pid       int
	processes map[int]func() process
}

func (m machine) name() string                  { return m.host }
func (m machine) self() int                     { return m.pid }
func (m machine) cpu(int) (time.Duration, bool) { return 0, false }
func (m machine) process(pid int) (process, error) {
	if f := m.processes[pid]; f != nil {
		return f(), nil
	}
	return process{}, os.ErrNotExist
}

func reply(t *testing.T, d bson.D) bson.Raw {
	t.Helper()
	b, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestStatusOfAMongoDB(t *testing.T) {
	s := readStatus(reply(t, bson.D{
		{Key: "host", Value: "db1:27017"},
		{Key: "process", Value: "mongod"},
		{Key: "pid", Value: int64(77)},
		{Key: "uptimeMillis", Value: int64(90_500)},
		{Key: "connections", Value: bson.D{{Key: "current", Value: int32(5)}}},
		{Key: "globalLock", Value: bson.D{{Key: "currentQueue", Value: bson.D{{Key: "total", Value: int32(2)}}}, {Key: "activeClients", Value: bson.D{{Key: "total", Value: int32(4)}}}}},
		{Key: "opcounters", Value: bson.D{{Key: "insert", Value: 3.0}, {Key: "query", Value: int32(9)}}},
		{Key: "mem", Value: bson.D{{Key: "resident", Value: int32(100)}}},
		{Key: "extra_info", Value: bson.D{{Key: "user_time_us", Value: int64(2_000_000)}, {Key: "system_time_us", Value: int64(500_000)}}},
		{Key: "locks", Value: bson.D{
			{Key: "Global", Value: bson.D{{Key: "acquireCount", Value: bson.D{{Key: "r", Value: int64(9)}}}, {Key: "timeAcquiringMicros", Value: bson.D{{Key: "r", Value: int64(1_000_000)}, {Key: "W", Value: int64(500_000)}}}}},
			{Key: "Database", Value: bson.D{{Key: "timeAcquiringMicros", Value: bson.D{{Key: "w", Value: int64(250_000)}}}}},
			{Key: "Metadata", Value: bson.D{{Key: "acquireCount", Value: bson.D{{Key: "W", Value: int64(1)}}}}},
		}},
		{Key: "wiredTiger", Value: bson.D{{Key: "cache", Value: bson.D{{Key: "bytes currently in the cache", Value: 1234.0}, {Key: "tracked dirty bytes in the cache", Value: int64(56)}}}}},
	}))
	if s.host != "db1:27017" || s.process != "mongod" || s.pid != 77 || s.uptime != 90_500*time.Millisecond {
		t.Errorf("%+v", s)
	}
	want := map[int]float64{
		connections: 5, queued: 2, active: 4, inserts: 3, queries: 9, serverMemory: 100 << 20, serverCPU: 2.5, lockWait: 1.75,
		cacheBytes: 1234, cacheDirty: 56,
	}
	for i, v := range s.values {
		if w, ok := want[i]; ok && v != w || !ok && !math.IsNaN(v) {
			t.Errorf("observable %d is %v, want %v (known: %v)", i, v, w, ok)
		}
	}
}

func TestLocate(t *testing.T) {
	h := machine{host: "here", pid: 10, processes: map[int]func() process{
		10: func() process { return process{name: "mrbench", age: time.Second} },
		20: func() process { return process{name: "mongod", age: time.Hour} },
		30: func() process { return process{name: "sshd", age: time.Hour} },
	}}
	for _, c := range []struct {
		name string
		s    *status
		want string
		note string
	}{
		{"nothing known", nil, bench.Unknown, "does not say"},
		{"engine in process", &status{host: "here", process: "mrbench", pid: 10}, bench.SameProcess, ""},
		{"on this host", &status{host: "here:27017", process: "mongod", pid: 20, uptime: time.Hour - time.Second}, bench.SameHost, ""},
		{"name in other case", &status{host: "HERE", process: "mongod", pid: 20, uptime: time.Hour}, bench.SameHost, ""},
		{"elsewhere", &status{host: "db1", process: "mongod", pid: 20, uptime: time.Hour}, bench.Elsewhere, "it runs on db1, mrbench on here"},
		{"container: id of another process", &status{host: "here", process: "mongod", pid: 30, uptime: time.Hour}, bench.Elsewhere, "process 30 of this host is another one"},
		{"container: younger than the process", &status{host: "here", process: "mongod", pid: 20, uptime: time.Minute}, bench.Elsewhere, "another one"},
		{"container: no such process", &status{host: "here", process: "mongod", pid: 99, uptime: time.Hour}, bench.Elsewhere, "not exist"},
	} {
		where, pid, note := locate(h, c.s)
		if where != c.want || (pid != 0) != (where == bench.SameHost || where == bench.SameProcess) || (note == "") != (c.note == "") || !strings.Contains(note, c.note) {
			t.Errorf("%s: %q, process %d, note %q; want %q with %q", c.name, where, pid, note, c.want, c.note)
		}
	}
}

func TestProcfs(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("uptime", "1000.50 1500.00\n")
	write("7/stat", "7 (a (b) c) S 1 7 7 0 -1 4194304 5 0 0 0 250 150 0 0 20 0 3 0 90050 1000000 25 18446744073709551615 1 1\n")
	p := procfs{dir, 4096}
	got, err := p.process(7)
	if err != nil {
		t.Fatal(err)
	}
	want := process{name: "a (b) c", age: 100 * time.Second, cpu: 4 * time.Second, memory: 25 * 4096, read: -1, written: -1}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	write("7/io", "rchar: 1\nwchar: 2\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 0\n")
	if got, err = p.process(7); err != nil || got.read != 4096 || got.written != 8192 {
		t.Errorf("%+v %v", got, err)
	}
	for _, bad := range []string{"", "7 sh S 1", "7 (sh) S 1 2 3", "7 (sh) S 1 7 7 0 -1 4194304 5 0 0 0 x 150 0 0 20 0 3 0 90050 1000000 25"} {
		write("8/stat", bad)
		if _, err := p.process(8); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestThisProcess(t *testing.T) {
	h := thisHost()
	p, err := h.process(h.self())
	if runtime.GOOS != "linux" {
		if !errors.Is(err, errNoProcess) {
			t.Errorf("%v", err)
		}
		return
	}
	if err != nil || p.memory <= 0 || p.age <= 0 {
		t.Fatalf("%+v %v", p, err)
	}
	// The fine clock and the ticks of /proc, each rounded down twice, are the same time, of other processes too.
	for _, pid := range []int{h.self(), os.Getppid()} {
		coarse, err := h.process(pid)
		if fine, ok := h.cpu(pid); err == nil && (!ok || fine < coarse.cpu-2*time.Second/ticksPerSecond) {
			t.Errorf("process %d: %v by its clock (%v), %v in /proc", pid, fine, ok, coarse.cpu)
		}
	}
	if _, ok := h.cpu(0); ok {
		t.Error("process 0 has a clock")
	}
	before, ok := h.cpu(h.self())
	for x, n := 1.0, 0; n < 1e6; n++ {
		x = math.Sqrt(x + float64(n))
	}
	if after, _ := h.cpu(h.self()); !ok || after < before || after == 0 {
		t.Errorf("CPU time %v, then %v", before, after)
	}
}

// growing is a server on the same host that uses two processors, inserts 1,000 documents a second and holds more and more memory.
func growing(t *testing.T) (machine, func(context.Context) (bson.Raw, error)) {
	start := time.Now()
	since := func() time.Duration { return time.Since(start) }
	h := machine{host: "here", pid: 1, processes: map[int]func() process{
		1: func() process {
			return process{name: "mrbench", age: since(), cpu: since() / 2, memory: 5e6, read: -1, written: -1}
		},
		2: func() process {
			return process{name: "mongod", age: since(), cpu: 2 * since(), memory: int64(since().Seconds() * 1e6), read: 0, written: int64(since().Seconds() * 100)}
		},
	}}
	return h, func(context.Context) (bson.Raw, error) {
		return reply(t, bson.D{
			{Key: "host", Value: "here"},
			{Key: "process", Value: "mongod"},
			{Key: "pid", Value: 2},
			{Key: "uptimeMillis", Value: since().Milliseconds()},
			{Key: "opcounters", Value: bson.D{{Key: "insert", Value: since().Milliseconds()}}},
			{Key: "connections", Value: bson.D{{Key: "current", Value: 3}}},
		}), nil
	}
}

func TestSpan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, ask := growing(t)
		since := time.Now()
		s := open(t.Context(), Config{Interval: 250 * time.Millisecond, Since: since}, h, ask)
		time.Sleep(10 * time.Second)
		span := s.Start(t.Context())
		time.Sleep(1100 * time.Millisecond)
		usage, series := span.End()

		f := func(x float64) *float64 { return &x }
		n := func(x int64) *int64 { return &x }
		wantUsage := &bench.Usage{ServerCPUSeconds: f(2.2), ClientCPUSeconds: f(0.55), ServerPeakBytes: n(11.1e6), ClientPeakBytes: n(5e6), DiskReadBytes: n(0), DiskWrittenBytes: n(110)}
		if d := cmp.Diff(wantUsage, usage); d != "" {
			t.Errorf("usage: -want +got:\n%s", d)
		}
		want := &bench.Series{
			Start: 10, At: []float64{0.25, 0.5, 0.75, 1.1}, // the last 0.1 s are no interval of their own
			ServerCPU: []float64{2, 2, 2, 2}, ClientCPU: []float64{0.5, 0.5, 0.5, 0.5},
			ServerMemoryBytes: []float64{10.25e6, 10.5e6, 10.75e6, 11.1e6}, ClientMemoryBytes: []float64{5e6, 5e6, 5e6, 5e6},
			DiskReadBytes: []float64{0, 0, 0, 0}, DiskWrittenBytes: []float64{100, 100, 100, 100},
			Inserts: []float64{1000, 1000, 1000, 1000}, Connections: []float64{3, 3, 3, 3},
		}
		if d := cmp.Diff(want, series); d != "" {
			t.Errorf("series: -want +got:\n%s", d)
		}
		head := &bench.Telemetry{IntervalSeconds: 0.25, Server: bench.SameHost, PID: 2}
		if d := cmp.Diff(head, s.Telemetry()); d != "" || s.Trouble() != "" {
			t.Errorf("%s %s", d, s.Trouble())
		}
	})
}

func TestTenHoursStaySmall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, ask := growing(t)
		s := open(t.Context(), Config{Interval: time.Second}, h, ask)
		span := s.Start(t.Context())
		time.Sleep(10 * time.Hour)
		usage, series := span.End()
		if n := len(series.At); n > mostIntervals || n < mostIntervals/2 {
			t.Errorf("%d intervals", n)
		}
		if last := series.At[len(series.At)-1]; last != 36000 {
			t.Errorf("the series ends after %v s", last)
		}
		if !slices.IsSorted(series.At) || !slices.IsSorted(series.ServerMemoryBytes) {
			t.Errorf("times %v, memory %v", series.At, series.ServerMemoryBytes)
		}
		for _, x := range series.Inserts {
			if math.Abs(x-1000) > 1 {
				t.Errorf("%v inserts a second", x)
			}
		}
		if *usage.ServerCPUSeconds != 72000 {
			t.Errorf("%v CPU seconds", *usage.ServerCPUSeconds)
		}
	})
}

func TestLevelsKeepTheirPeaks(t *testing.T) {
	r := newRecord(point{values: unknown()})
	for i := range 1000 {
		p := point{at: time.Duration(i+1) * time.Second, values: unknown()}
		p.values[queued] = 0
		if i == 500 {
			p.values[queued] = 42
		}
		r.add(p, false)
	}
	if s := r.series(); slices.Max(s.Queued) != 42 || len(s.Queued) != len(s.At) {
		t.Errorf("%v", s.Queued)
	}
}

// Without rights the host is still observed, and the reason is a note.
func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _ := growing(t)
		asked := 0
		s := open(t.Context(), Config{Bytes: func() (int64, int64) { return 7, 9 }}, h, func(context.Context) (bson.Raw, error) {
			asked++
			return nil, mongo.CommandError{Code: 13, Message: "not authorized on admin"}
		})
		span := s.Start(t.Context())
		time.Sleep(time.Second)
		usage, series := span.End()
		if asked != 1 {
			t.Errorf("the server was asked %d times after it refused", asked)
		}
		if n := s.Telemetry().Notes; len(n) != 1 || !strings.Contains(n[0], "code 13") || !strings.Contains(n[0], "clusterMonitor") {
			t.Errorf("notes %q", n)
		}
		if usage.ServerCPUSeconds != nil || *usage.ClientCPUSeconds != 0.5 || *usage.SentBytes != 0 {
			t.Errorf("%+v", usage)
		}
		if series.ServerCPU != nil || len(series.ClientCPU) != 4 || series.Inserts != nil {
			t.Errorf("%+v", series)
		}
	})
}

// Samples that fail are left out and counted, and what the run used is still known.
func TestServerThatStopsAnswering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, ask := growing(t)
		n := 0
		s := open(t.Context(), Config{}, h, func(ctx context.Context) (bson.Raw, error) {
			if n++; n > 4 {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return ask(ctx)
		})
		span := s.Start(t.Context())
		time.Sleep(10 * time.Second)
		usage, series := span.End()
		if len(series.At) != 2 || *usage.ServerCPUSeconds != 20 {
			t.Errorf("%v, %v s", series.At, *usage.ServerCPUSeconds)
		}
		if got := s.Trouble(); !strings.Contains(got, "samples of the server's load failed") {
			t.Errorf("%q", got)
		}
	})
}

func TestOneProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _ := growing(t)
		s := open(t.Context(), Config{}, h, func(context.Context) (bson.Raw, error) {
			return reply(t, bson.D{{Key: "host", Value: "here"}, {Key: "process", Value: "mrbench"}, {Key: "pid", Value: 1}, {Key: "mem", Value: bson.D{{Key: "resident", Value: 9}}}}), nil
		})
		span := s.Start(t.Context())
		time.Sleep(time.Second)
		u, series := span.End()
		if u.ServerCPUSeconds != nil || u.ClientCPUSeconds != nil || u.ServerPeakBytes != nil || u.ClientPeakBytes != nil || *u.ProcessCPUSeconds != 0.5 || *u.ProcessPeakBytes != 5e6 {
			t.Errorf("%+v", u)
		}
		if series.ServerCPU != nil || series.ClientCPU != nil || series.ServerMemoryBytes != nil || len(series.ProcessCPU) != 4 {
			t.Errorf("%+v", series)
		}
		if n := s.Telemetry().Notes; len(n) != 1 || !strings.Contains(n[0], "one process") {
			t.Errorf("notes %q", n)
		}
	})
}

func TestNothingIsObserved(t *testing.T) {
	var s *Sampler
	usage, series := s.Start(t.Context()).End()
	if usage != nil || series != nil || s.Telemetry() != nil || s.Trouble() != "" {
		t.Errorf("%v %v", usage, series)
	}
}

// What a server on another host says of itself is taken; its disk stays unknown.
func TestServerElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _ := growing(t)
		start := time.Now()
		s := open(t.Context(), Config{}, h, func(context.Context) (bson.Raw, error) {
			return reply(t, bson.D{
				{Key: "host", Value: "db1"},
				{Key: "process", Value: "mongod"},
				{Key: "pid", Value: 2},
				{Key: "mem", Value: bson.D{{Key: "resident", Value: 64}}},
				{Key: "extra_info", Value: bson.D{{Key: "user_time_us", Value: time.Since(start).Microseconds() * 3}, {Key: "system_time_us", Value: 0}}},
			}), nil
		})
		span := s.Start(t.Context())
		time.Sleep(time.Second)
		u, series := span.End()
		if u.ServerCPUSeconds == nil || *u.ServerCPUSeconds != 3 || *u.ServerPeakBytes != 64<<20 || *u.ClientCPUSeconds != 0.5 || u.DiskWrittenBytes != nil || u.ProcessCPUSeconds != nil {
			t.Errorf("%+v", u)
		}
		if d := cmp.Diff([]float64{3, 3, 3, 3}, series.ServerCPU); d != "" {
			t.Error(d)
		}
		if head := s.Telemetry(); head.Server != bench.Elsewhere || head.PID != 0 || len(head.Notes) != 1 || !strings.Contains(head.Notes[0], "db1") {
			t.Errorf("%+v", head)
		}
	})
}
