package telemetry

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/internal/bench"
)

// DefaultInterval is the time between two samples.
const DefaultInterval = 250 * time.Millisecond

// sampleTimeout is how long the server may take to answer serverStatus.
const sampleTimeout = 2 * time.Second

// Config says what to observe.
type Config struct {
	// Client asks serverStatus. Its connections should be its own: what goes over them is then not counted for the job.
	Client *mongo.Client
	// Bytes counts what went over the job's connections so far. May be nil.
	Bytes func() (sent, received int64)
	// Interval is the time between samples; 0 is DefaultInterval.
	Interval time.Duration
	// Since is the time that series count their start from.
	Since time.Time
}

// Sampler observes one server and this host. A nil Sampler observes nothing.
type Sampler struct {
	interval time.Duration
	since    time.Time
	bytes    func() (sent, received int64)
	host     host
	ask      func(context.Context) (bson.Raw, error)
	head     bench.Telemetry

	asked, failed int   // serverStatus while runs went on
	failure       error // the last one
}

// Open finds out what can be observed. It does not fail: what can't be observed is in the notes.
func Open(ctx context.Context, c Config) *Sampler {
	admin := c.Client.Database("admin")
	return open(ctx, c, thisHost(), func(ctx context.Context) (bson.Raw, error) {
		return admin.RunCommand(ctx, command).Raw()
	})
}

func open(ctx context.Context, c Config, h host, ask func(context.Context) (bson.Raw, error)) *Sampler {
	s := &Sampler{interval: c.Interval, since: c.Since, bytes: c.Bytes, host: h, ask: ask}
	if s.interval <= 0 {
		s.interval = DefaultInterval
	}
	s.head = bench.Telemetry{IntervalSeconds: s.interval.Seconds(), Server: bench.Unknown}
	note := func(format string, args ...any) { s.head.Notes = append(s.head.Notes, fmt.Sprintf(format, args...)) }
	st, err := s.status(ctx)
	if err != nil {
		note("%s", refusal(err))
		s.ask = nil
	}
	if st != nil {
		var why string
		s.head.Server, s.head.PID, why = locate(h, st)
		if why != "" {
			note("%s", why)
		}
		if st.process == "mongos" {
			note("the server is a mongos: its own load is shown, not that of the shards")
		}
	}
	switch _, err := h.process(h.self()); {
	case errors.Is(err, errNoProcess):
		note("%v; this is %s", err, runtime.GOOS)
	case err != nil:
		note("mrbench's own CPU time and memory can't be read: %v", err)
	}
	if s.head.Server == bench.SameProcess {
		note("server and client are one process: its CPU time and memory are of both together")
	}
	return s
}

// refusal says why there is no serverStatus.
func refusal(err error) string {
	if ce, ok := errors.AsType[mongo.CommandError](err); ok {
		return fmt.Sprintf("the server refuses serverStatus (%s, code %d), so its counters are not known; the role clusterMonitor allows it", ce.Message, ce.Code)
	}
	return fmt.Sprintf("serverStatus failed, so the server's counters are not known: %v", err)
}

// Telemetry says how load is observed, without what was observed.
func (s *Sampler) Telemetry() *bench.Telemetry {
	if s == nil {
		return nil
	}
	t := s.head
	return &t
}

// Trouble says how many samples failed since Open; "" when none did.
func (s *Sampler) Trouble() string {
	if s == nil || s.failed == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d samples of the server's load failed: %v", s.failed, s.asked, s.failure)
}

// status asks the server; nil without an error when it is known not to answer.
func (s *Sampler) status(ctx context.Context) (*status, error) {
	if s.ask == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, sampleTimeout)
	defer cancel()
	raw, err := s.ask(ctx)
	if err != nil {
		return nil, err
	}
	return readStatus(raw), nil
}

// fromHost sets what this system says.
func (s *Sampler) fromHost(v *[observables]float64) {
	if s.bytes != nil {
		out, in := s.bytes()
		v[sent], v[received] = float64(out), float64(in)
	}
	cpuAt, memoryAt := clientCPU, clientMemory
	if s.head.Server == bench.SameProcess {
		cpuAt, memoryAt = processCPU, processMemory
		v[serverCPU], v[serverMemory] = math.NaN(), math.NaN()
	}
	if own, err := s.host.process(s.host.self()); err == nil {
		v[cpuAt], v[memoryAt] = s.cpuSeconds(s.host.self(), own), float64(own.memory)
		if s.head.Server == bench.SameProcess {
			setDisk(v, own)
		}
	}
	if s.head.Server == bench.SameHost {
		v[serverCPU], v[serverMemory] = math.NaN(), math.NaN()
		if p, err := s.host.process(s.head.PID); err == nil {
			v[serverCPU], v[serverMemory] = s.cpuSeconds(s.head.PID, p), float64(p.memory)
			setDisk(v, p)
		}
	}
}

func (s *Sampler) cpuSeconds(pid int, p process) float64 {
	if fine, ok := s.host.cpu(pid); ok {
		return fine.Seconds()
	}
	return p.cpu.Seconds()
}

func setDisk(v *[observables]float64, p process) {
	if p.read >= 0 && p.written >= 0 {
		v[diskRead], v[diskWritten] = float64(p.read), float64(p.written)
	}
}

func unknown() (v [observables]float64) {
	for i := range v {
		v[i] = math.NaN()
	}
	return v
}

// Span is the observation of one run.
type Span struct {
	s      *Sampler
	ctx    context.Context
	start  time.Time
	record *record
	stop   chan struct{}
	done   chan struct{}
}

// Start takes the first sample and begins to observe. End must be called.
func (s *Sampler) Start(ctx context.Context) *Span {
	if s == nil {
		return nil
	}
	sp := &Span{s: s, ctx: context.WithoutCancel(ctx), stop: make(chan struct{}), done: make(chan struct{})}
	base := point{values: unknown()}
	if st := sp.status(); st != nil {
		base.values = st.values
	}
	s.fromHost(&base.values)
	sp.start = time.Now()
	sp.record = newRecord(base)
	go sp.observe()
	return sp
}

// status asks the server; nil when it does not answer, which is counted.
func (sp *Span) status() *status {
	if sp.s.ask == nil {
		return nil
	}
	st, err := sp.s.status(sp.ctx)
	sp.s.asked++
	if err != nil {
		sp.s.failed++
		sp.s.failure = err
	}
	return st
}

// observe samples until the span ends.
func (sp *Span) observe() {
	defer close(sp.done)
	tick := time.NewTicker(sp.s.interval)
	defer tick.Stop()
	for {
		select {
		case <-sp.stop:
			return
		case <-tick.C:
			sp.sample()
		}
	}
}

// sample takes a sample. It looks at the system first: a busy server may take its time to answer.
func (sp *Span) sample() {
	p, complete := sp.withStatus(sp.fromHost())
	if complete {
		sp.record.add(p, false)
	}
}

func (sp *Span) fromHost() point {
	p := point{at: time.Since(sp.start), values: unknown()}
	sp.s.fromHost(&p.values)
	return p
}

// withStatus adds what the server says to what the system says. It is not complete when the server did not answer.
func (sp *Span) withStatus(p point) (point, bool) {
	st := sp.status()
	if st == nil {
		return p, sp.s.ask == nil
	}
	for i, v := range st.values {
		// What the server says of its process is not mixed with what the system says of it.
		if (sp.s.head.Server == bench.SameHost || sp.s.head.Server == bench.SameProcess) && (i == serverCPU || i == serverMemory) {
			continue
		}
		if math.IsNaN(p.values[i]) {
			p.values[i] = v
		}
	}
	return p, true
}

// End takes the last sample and returns what the run used and how its load went. The series has no row and round yet.
func (sp *Span) End() (*bench.Usage, *bench.Series) {
	if sp == nil {
		return nil, nil
	}
	p := sp.fromHost() // now, not when the server has answered
	close(sp.stop)
	<-sp.done
	p, complete := sp.withStatus(p)
	sp.record.end = p
	if complete {
		n := len(sp.record.points)
		sp.record.add(p, n > 0 && p.at-sp.record.points[n-1].at < sp.s.interval/2)
	}
	series := sp.record.series()
	series.Start = math.Round(sp.start.Sub(sp.s.since).Seconds()*1000) / 1000
	return sp.record.usage(), series
}
