package cli

import (
	"fmt"
	"time"
)

// turns are the runs that a plan has for its rows, and what those that are over took: preparing, measuring, reading
// the answer back and tidying up.
type turns struct {
	rounds int // of each row, warm-up included
	rows   map[string]*rowTurns
}

type rowTurns struct {
	done  int
	spent time.Duration
	over  bool // skipped or failed: no turn of it comes any more
}

func newTurns(rounds int, ids []string) *turns {
	t := &turns{rounds: rounds, rows: map[string]*rowTurns{}}
	for _, id := range ids {
		t.rows[id] = &rowTurns{}
	}
	return t
}

// end notes that a turn of a row is over; without ok the row has no further ones.
func (t *turns) end(id string, spent time.Duration, ok bool) {
	r := t.rows[id]
	if r == nil {
		return
	}
	if !ok {
		r.over = true
		return
	}
	r.done++
	r.spent += spent
}

// left is how long the turns to come will take, when each takes as long as its row's earlier ones did. The row that
// runs now has been at it for elapsed. atLeast says that some row has not had a turn yet, so that nobody knows
// about it; known, that there is something to go by.
func (t *turns) left(now string, elapsed time.Duration) (left time.Duration, atLeast, known bool) {
	for id, r := range t.rows {
		todo := t.rounds - r.done
		switch {
		case r.over || todo <= 0:
		case r.done == 0:
			atLeast = true
		default:
			mean := r.spent / time.Duration(r.done)
			if id == now {
				left += max(0, mean-elapsed)
				todo--
			}
			left += mean * time.Duration(todo)
			known = true
		}
	}
	return left, atLeast, known
}

// shortTime is a time for a line of progress: 0.4 s, 35 s, 3m05s, 2h10m.
func shortTime(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < time.Hour:
		d = d.Round(time.Second)
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	default:
		d = d.Round(time.Minute)
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
}
