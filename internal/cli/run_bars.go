package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"mrbench/internal/report"
)

// maxBars is how many ranges are shown at once.
const maxBars = 12

// lineCount is how many lines the turn takes: its own, one for each thread, and one for the threads that are too many.
func (p *runProgress) lineCount() int {
	n := len(p.now.slots)
	if n > maxBars {
		return maxBars + 2
	}
	return n + 1
}

// lineAt is a line of at most width characters.
func (p *runProgress) lineAt(i, width int, now time.Time) string {
	switch {
	case i == 0:
		return cut(p.headLine(now), width)
	case i > maxBars:
		return cut(fmt.Sprintf("  and %d more at the same time", len(p.now.slots)-maxBars), width)
	default:
		return p.barLine(p.now.running()[i-1], width, now)
	}
}

// running is what the threads do, in the order of the ranges; those that have nothing left to do come last.
func (t *turn) running() []slot {
	return slices.SortedStableFunc(slices.Values(t.slots), func(a, b slot) int { return cmp.Compare(uint(a.part), uint(b.part)) })
}

// headLine says which row runs, for how long, and what is left of the whole.
func (p *runProgress) headLine(now time.Time) string {
	t := &p.now
	elapsed := now.Sub(t.start)
	parts := []string{fmt.Sprintf("row %d/%d %s, %s, %s", t.place, t.rows, t.row.id, roundText(t.round, p.runs, "/"), shortTime(elapsed))}
	n := len(t.row.documents)
	switch {
	case t.stopping:
		return parts[0] + "; stopping what runs on the server"
	case t.ended >= n:
		parts = append(parts, "reading the answer")
	case n > len(t.slots):
		parts = append(parts, fmt.Sprintf("%d/%d ranges done", t.ended, n))
	}
	if left := p.leftText(t.row.id, elapsed); left != "" {
		parts = append(parts, left)
	}
	return strings.Join(parts, "; ")
}

// roundText says which run of a row it is. A time budget adds runs that nobody can count before.
func roundText(round, runs int, of string) string {
	switch {
	case round < 1:
		return "warm-up"
	case round > runs:
		return fmt.Sprintf("run %d", round)
	}
	return fmt.Sprintf("run %d%s%d", round, of, runs)
}

// leftText is how long it will take to the end, "" when nobody knows: by what the rows took so far, or to the end of the
// time budget.
func (p *runProgress) leftText(now string, elapsed time.Duration) string {
	left, atLeast, known := p.left(now, elapsed)
	switch {
	case !known:
		return ""
	case atLeast:
		return "more than " + shortTime(left) + " left"
	}
	return "about " + shortTime(left) + " left"
}

func (p *runProgress) left(now string, elapsed time.Duration) (left time.Duration, atLeast, known bool) {
	left, atLeast, known = p.turns.left(now, elapsed)
	if !p.until.IsZero() {
		if budget := p.until.Sub(p.a.env.Now()); budget >= left {
			left, atLeast, known = budget, false, true
		}
	}
	return left, atLeast, known
}

// barLine is what a thread does: its range, how far it is by the server's word, else by what the range took the last
// time, else how long it has been at it.
func (p *runProgress) barLine(s slot, width int, now time.Time) string {
	if s.part < 0 {
		return ""
	}
	n := len(p.now.row.documents)
	digits := len(strconv.Itoa(n))
	name := "  whole collection"
	if n > 1 {
		name = fmt.Sprintf("  range %*d of %d", digits, s.part+1, n)
	}
	elapsed := now.Sub(s.start)
	share, text := -1.0, shortTime(elapsed)
	total := s.total
	if total == 0 && s.phase == phaseMap && s.part < n {
		total = p.now.row.documents[s.part]
	}
	switch last := p.tookLast(s.part); {
	case s.phase == phaseReduce:
		share, text = 1, "final reduce"
		if s.total > 0 {
			text += fmt.Sprintf(" %s of %s", report.Thousands(s.done), report.Thousands(s.total))
		}
	case s.phase == phaseMap && total > 0:
		done := min(s.done, total)
		share = float64(done) / float64(total)
		text = fmt.Sprintf("%s of %s", report.Thousands(done), report.Thousands(total))
	case last > 0:
		share = min(0.99, elapsed.Seconds()/last.Seconds())
		text = fmt.Sprintf("%s, %s the last time", shortTime(elapsed), shortTime(last))
	}
	if share < 0 {
		return cut(name+"  "+text, width)
	}
	percent := fmt.Sprintf("%3.0f%%", share*100)
	const (
		others = 8  // brackets and what stands between
		texts  = 32 // room for the longest text that is usual, so that all bars are of one length
	)
	room := min(40, width-len(name)-max(texts, len(text))-len(percent)-others)
	if room < 8 {
		return cut(name+"  "+percent+"  "+text, width)
	}
	full := int(share * float64(room))
	bar := p.style.cyan(strings.Repeat("=", full)) + strings.Repeat("-", room-full)
	return name + "  [" + bar + "] " + percent + "  " + text
}

func (p *runProgress) tookLast(part int) time.Duration {
	if part < len(p.now.row.took) {
		return p.now.row.took[part]
	}
	return 0
}

// cut shortens a line that would wrap, which bars do not survive.
func cut(s string, width int) string {
	if r := []rune(s); width > 0 && len(r) > width {
		return string(r[:max(0, width-1)]) + "…"
	}
	return s
}
