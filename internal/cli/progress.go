package cli

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"mrbench/internal/report"
	"mrbench/seed"
)

// plainEvery is how often a line is printed where there is no terminal to draw on.
const plainEvery = 5 * time.Second

// mostWriters is how many have a line of their own, so that a terminal has room for them.
const mostWriters = 16

// seedProgress shows how a load goes: a bar on a terminal, a line now and then elsewhere. stop ends it.
func (a *app) seedProgress(ns string) (show func(seed.Progress), stop func()) {
	if a.bars() {
		return a.seedBar(ns)
	}
	last := a.env.Now()
	return func(p seed.Progress) {
		if now := a.env.Now(); now.Sub(last) >= plainEvery {
			last = now
			a.tell("%s: %s", ns, progressText(p))
			for i := range min(len(p.Writers), mostWriters+1) {
				a.tell("  %s", writerText(p, i))
			}
		}
	}, func() {}
}

// seedBar draws a bar, a line with the rates below it, and a line for each writer that is told of.
func (a *app) seedBar(ns string) (func(seed.Progress), func()) {
	var current atomic.Pointer[seed.Progress]
	text := func(of func(seed.Progress) string) decor.Decorator {
		return decor.Any(func(decor.Statistics) string {
			if p := current.Load(); p != nil {
				return of(*p)
			}
			return ""
		})
	}
	bars := mpb.New(mpb.WithOutput(a.env.Stderr), mpb.WithWidth(24), mpb.WithRefreshRate(200*time.Millisecond))
	bar := bars.AddBar(0,
		mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name(ns+" ")),
		mpb.AppendDecorators(text(func(p seed.Progress) string { return " " + amountText(p) })),
	)
	lines := []*mpb.Bar{bar}
	line := func(of func(seed.Progress) string) {
		lines = append(lines, bars.New(0, mpb.NopStyle(), mpb.BarRemoveOnComplete(), mpb.PrependDecorators(text(of))))
	}
	line(func(p seed.Progress) string { return "  " + ratesText(p) })
	return func(p seed.Progress) {
			current.Store(&p)
			for i := len(lines) - 2; i < min(len(p.Writers), mostWriters+1); i++ {
				line(func(p seed.Progress) string { return "  " + writerText(p, i) })
			}
			total, done := p.Total, p.Documents
			if total == 0 {
				total, done = p.ReadTotal, p.Read
			}
			bar.SetTotal(total, false)
			bar.SetCurrent(done)
		}, func() {
			for _, b := range lines {
				b.Abort(true)
			}
			bars.Wait()
		}
}

// progressText is how far a load is, on one line.
func progressText(p seed.Progress) string {
	if rates := ratesText(p); rates != "" {
		return amountText(p) + ", " + rates
	}
	return amountText(p)
}

// amountText says how much is done and how long the rest will take.
func amountText(p seed.Progress) string {
	switch p.Phase {
	case seed.PhaseIndex:
		return "building the index"
	case seed.PhaseCount:
		return "counting"
	}
	text := report.Thousands(p.Documents) + " documents"
	switch {
	case p.Total > 0:
		text = fmt.Sprintf("%s of %s documents", report.Thousands(p.Documents), report.Thousands(p.Total))
	case p.ReadTotal > 0:
		text += fmt.Sprintf(", %d %% of %s", min(100*p.Read/p.ReadTotal, 100), report.Bytes(p.ReadTotal).Text)
	}
	if left := p.Left(); left > 0 {
		text += fmt.Sprintf(", %s left", shortTime(time.Duration(left*float64(time.Second))))
	}
	return text
}

// ratesText says how fast it goes, now and on average, and what went wrong so far.
func ratesText(p seed.Progress) string {
	if p.Phase != seed.PhaseLoad || p.Seconds <= 0 {
		return ""
	}
	text := fmt.Sprintf("now %s/s %.1f MB/s, average %s/s %.1f MB/s", report.Thousands(int64(p.Rate)), p.MBRate,
		report.Thousands(int64(float64(p.Documents)/p.Seconds)), float64(p.Bytes)/p.Seconds/1e6)
	for _, x := range []struct {
		n    int64
		what string
	}{{p.Rejects, "broken"}, {p.Duplicates, "duplicate"}, {p.Retries, "sent again"}, {p.Earlier, "before"}} {
		if x.n > 0 {
			text += fmt.Sprintf(", %s %s", report.Thousands(x.n), x.what)
		}
	}
	return text
}

// writerText is what a writer did and does.
func writerText(p seed.Progress, i int) string {
	if i >= len(p.Writers) {
		return ""
	}
	if rest := len(p.Writers) - mostWriters; i == mostWriters && rest > 1 {
		return fmt.Sprintf("and %d more writers", rest)
	}
	w := p.Writers[i]
	return fmt.Sprintf("writer %-2d %-9s %6s batches %10s documents, %s ms, mean %s ms", i+1, w.Doing,
		report.Thousands(w.Batches), report.Thousands(w.Documents), report.Fixed(w.LastMS, 1).Text, report.Fixed(w.MeanMS, 1).Text)
}
