package telemetry_test

import (
	"context"
	"testing"
	"time"

	"mrbench/internal/target"
	"mrbench/internal/telemetry"
)

// BenchmarkSample is what one sample costs, with the embedded engine in this process: its serverStatus is in the time. With the
// default interval a row of a second has four samples, besides those before and after it, which its time does not
// include: the share of the second that they take is printed.
func BenchmarkSample(b *testing.B) {
	t, err := target.Open(context.Background(), target.Config{DataDir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer t.Close()
	observer, err := t.Observer(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	defer observer.Disconnect(context.Background())
	s := telemetry.Open(context.Background(), telemetry.Config{Client: observer, Bytes: t.Bytes, Interval: time.Hour})
	span := s.Start(context.Background())
	before := telemetry.CPU()
	b.ResetTimer()
	for b.Loop() {
		span.Sample()
	}
	cpu := telemetry.CPU() - before
	usage, series := span.End()
	if usage.ProcessPeakBytes == nil && len(telemetry.Open(context.Background(), telemetry.Config{Client: observer}).Telemetry().Notes) == 0 || series.Inserts == nil {
		b.Fatalf("nothing was observed: %+v", series)
	}
	perSecond := float64(time.Second) / float64(telemetry.DefaultInterval)
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)*perSecond/float64(time.Second)*100, "%-of-wall")
	b.ReportMetric(float64(cpu)/float64(b.N)*perSecond/float64(time.Second)*100, "%-of-a-cpu")
}
