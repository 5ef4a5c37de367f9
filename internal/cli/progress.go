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
		}
	}, func() {}
}

func (a *app) seedBar(ns string) (func(seed.Progress), func()) {
	var current atomic.Pointer[seed.Progress]
	bars := mpb.New(mpb.WithOutput(a.env.Stderr), mpb.WithWidth(30), mpb.WithRefreshRate(200*time.Millisecond))
	bar := bars.AddBar(0,
		mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name(ns+" ")),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string {
			if p := current.Load(); p != nil {
				return " " + progressText(*p)
			}
			return ""
		})),
	)
	return func(p seed.Progress) {
			current.Store(&p)
			bar.SetTotal(p.Total, false)
			bar.SetCurrent(p.Documents)
		}, func() {
			bar.Abort(true)
			bars.Wait()
		}
}

func progressText(p seed.Progress) string {
	switch p.Phase {
	case seed.PhaseIndex:
		return "building the index"
	case seed.PhaseCount:
		return "counting"
	}
	if p.Total == 0 { // files
		text := fmt.Sprintf("%s documents, %s/s, %.1f MB/s", report.Thousands(p.Documents), report.Thousands(int64(p.Rate)), p.MBRate)
		if p.Rejects+p.Duplicates > 0 {
			text += fmt.Sprintf(", %s broken, %s duplicate", report.Thousands(p.Rejects), report.Thousands(p.Duplicates))
		}
		return text
	}
	text := fmt.Sprintf("%s of %s documents", report.Thousands(p.Documents), report.Thousands(p.Total))
	if p.Rate > 0 {
		left := time.Duration(float64(p.Total-p.Documents) / p.Rate * float64(time.Second)).Round(time.Second)
		text += fmt.Sprintf(", %s/s, %v left", report.Thousands(int64(p.Rate)), left)
	}
	return text
}
