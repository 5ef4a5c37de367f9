package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
)

// BenchmarkRunner measures what measuring costs beside the rows themselves: order, hooks, the line in the result file,
// and the statistics at the end, for the nine rows of the ladder in ten rounds. The metric %/s is the cost of a run as a
// share of a row that takes one second.
func BenchmarkRunner(b *testing.B) {
	const rows, rounds = 9, 10
	n := int64(1_000_000)
	sample := Sample{
		Counts: Counts{&n, &n, &n, &n}, Mode: "js", IndexUsed: "dim0_1", OutputDBs: 4,
		Answer: &Answer{100_000, "1000000", "0c31c29b8d9a2f0e5b0a7f2f3d0c7a11"}, Parts: make([]Part, 8),
	}
	seed := uint64(1)
	b.ReportAllocs()
	for b.Loop() {
		f, err := Create(filepath.Join(b.TempDir(), "r.ndjson"))
		if err != nil {
			b.Fatal(err)
		}
		r := result()
		p := Plan{
			Runs: rounds, Shuffle: &seed,
			Before: func(context.Context, Turn) error { return nil },
			Done: func(s Sample) error {
				s.Parts = nil
				r.Samples = append(r.Samples, s)
				return f.Sample(s)
			},
		}
		r.Rows = nil
		for i := range rows {
			id := fmt.Sprint("row", i)
			r.Rows = append(r.Rows, Row{ID: id})
			p.Jobs = append(p.Jobs, Job{ID: id, Run: func(_ context.Context, t Turn) (Sample, error) {
				s := sample
				s.Seconds = 1 + 0.01*float64((t.Round*7+i*3)%10) + 0.001*float64(i)
				return s, nil
			}})
		}
		if err := f.Begin(r); err != nil {
			b.Fatal(err)
		}
		out, err := Rounds(b.Context(), p)
		if err != nil {
			b.Fatal(err)
		}
		for i := range r.Rows {
			r.Rows[i].Fill(out[r.Rows[i].ID])
		}
		r.Annotate()
		for _, row := range r.Rows {
			if err := f.Row(row); err != nil {
				b.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
	perRun := b.Elapsed().Seconds() / float64(b.N) / (rows * rounds)
	b.ReportMetric(perRun*1e6, "µs/run")
	b.ReportMetric(perRun*100, "%/s")
}
