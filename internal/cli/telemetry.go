package cli

import (
	"context"
	"time"

	"mrbench/internal/bench"
	"mrbench/internal/telemetry"
)

// leastInterval is the shortest time between samples: below it, sampling would be part of what is measured.
const leastInterval = 50 * time.Millisecond

// observe begins to look at the load of server and host. The function that comes back ends it.
func (m *measurement) observe(ctx context.Context) func() {
	if m.o.sampleEvery == 0 {
		return func() {}
	}
	client, err := m.t.Observer(ctx)
	if err != nil {
		m.warn("the load of the server was not observed: %v", err)
		return func() {}
	}
	m.sampler = telemetry.Open(ctx, telemetry.Config{
		Client: client, Bytes: m.t.Bytes, Interval: m.o.sampleEvery, Since: m.result.Context.Started,
	})
	m.result.Telemetry = m.sampler.Telemetry()
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
		defer cancel()
		_ = client.Disconnect(ctx) // nothing depends on it any more
	}
}

// used ends the observation of a run and keeps what came of it.
func (m *measurement) used(span *telemetry.Span) *bench.Usage {
	usage, load := span.End()
	m.load = load
	return usage
}

// saveLoad writes the load of the run whose sample was just saved.
func (m *measurement) saveLoad(s bench.Sample) error {
	if m.load == nil {
		return nil
	}
	m.load.Row, m.load.Round, m.load.Warmup = s.Row, s.Round, s.Warmup
	m.result.Telemetry.Runs = append(m.result.Telemetry.Runs, *m.load)
	return m.file.Series(*m.load)
}
