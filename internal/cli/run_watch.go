package cli

import (
	"context"

	"mrbench/internal/bench"
	"mrbench/splitter"
)

// watched measures a row once while its progress is shown.
func (m *measurement) watched(ctx context.Context, row int, t bench.Turn) (bench.Sample, error) {
	if m.show == nil {
		m.show = m.newProgress()
	}
	return m.withRetry(ctx, row, func() (bench.Sample, error) {
		m.show.begin(ctx, turn{place: t.Order, round: t.Round, prefix: m.out.prefix(row)}, t.Row)
		pausedIn(&bench.Sample{}, m.governor) // of a try before
		s, err := m.measure(ctx, row, t.Warmup)
		pausedIn(&s, m.governor)
		m.show.end(err)
		if splitter.Killed(err) {
			m.app.tell("%s: %v: the row is failed and not run again, the others go on", m.variants[row].id, err)
		}
		return s, err
	})
}

func (m *measurement) newProgress() *runProgress {
	rows := make([]progressRow, len(m.variants))
	for i, v := range m.variants {
		planned := m.result.Rows[i]
		rows[i] = progressRow{id: v.id, threads: planned.Threads, documents: []int64{m.result.Dataset.Documents}}
		if split := m.result.Split; v.ranges && split != nil {
			rows[i].documents = rows[i].documents[:0]
			for _, p := range split.Pieces {
				rows[i].documents = append(rows[i].documents, p.Documents)
			}
		}
	}
	p := newRunProgress(m.app, m.t.Client, rows, m.o.warmup, m.o.runs)
	if m.o.budget > 0 {
		p.until = m.app.env.Now().Add(m.o.budget)
	}
	return p
}
