package tune

import (
	"fmt"

	"mrbench/internal/bench"
)

// Verdict is what is sure about the best finalist.
type Verdict struct {
	Best     int // candidate, -1 when no run was finished on the last part
	RunnerUp int // candidate, -1 when there is none
	// Versus compares the runner-up's times (a) with the best's (b): Ratio below 1 says how much faster the best is.
	Versus *bench.Versus
}

// Verdict compares the two best finalists.
func (o *Outcome) Verdict() Verdict {
	v := Verdict{Best: -1, RunnerUp: -1}
	if len(o.Finalists) > 0 {
		v.Best = o.Finalists[0]
	}
	if len(o.Finalists) > 1 {
		v.RunnerUp = o.Finalists[1]
		v.Versus = bench.CompareTimes(o.Standings[v.RunnerUp].finals(), o.Standings[v.Best].finals())
	}
	return v
}

// Sure reports whether the best is shown to be better than the runner-up.
func (v Verdict) Sure() bool { return v.Versus != nil && v.Versus.Shown && v.Versus.Ratio < 1 }

// Text says it in a sentence; name gives the words for a candidate.
func (v Verdict) Text(name func(candidate int) string) string {
	switch {
	case v.Best < 0:
		return "nothing is sure: no finalist was measured"
	case v.RunnerUp < 0:
		return fmt.Sprintf("%s is the only one that was measured to the end", name(v.Best))
	case v.Sure():
		text := fmt.Sprintf("%s is better than %s: %.2f times its time", name(v.Best), name(v.RunnerUp), v.Versus.Ratio)
		if ci := v.Versus.CI; ci != nil {
			text += fmt.Sprintf(" [%.2f, %.2f]", ci[0], ci[1])
		}
		return text + fmt.Sprintf(", %s, %d and %d runs", pText(v.Versus.P), v.Versus.RunsB, v.Versus.RunsA)
	}
	text := fmt.Sprintf("%s and %s can't be told apart in this budget: %d and %d runs, p=%.2f", name(v.Best), name(v.RunnerUp), v.Versus.RunsB, v.Versus.RunsA, v.Versus.P)
	least := min(v.Versus.RunsA, v.Versus.RunsB)
	switch {
	case !bench.CanShow(v.Versus.RunsA, v.Versus.RunsB):
		return text + fmt.Sprintf("; fewer than %d runs each can show nothing", leastFinals)
	case v.Versus.Needed > least:
		return text + fmt.Sprintf("; about %d more of each would, if the difference is what it seems", v.Versus.Needed-least)
	}
	return text + "; no reasonable number of runs would"
}

func pText(p float64) string {
	if p < 0.001 {
		return "p<0.001"
	}
	return fmt.Sprintf("p=%.3f", p)
}
