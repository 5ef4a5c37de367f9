package bench

import (
	"fmt"
	"slices"
	"strings"
)

// addPauses sums up how long the row's runs were held back.
func (r *Row) addPauses(samples []Sample) {
	r.PausedSeconds, r.PausedRuns, r.PausedFor = 0, 0, nil
	for _, s := range samples {
		if s.PausedSeconds == 0 {
			continue
		}
		r.PausedSeconds += s.PausedSeconds
		r.PausedRuns++
		for _, why := range s.PausedFor {
			if !slices.Contains(r.PausedFor, why) {
				r.PausedFor = append(r.PausedFor, why)
			}
		}
	}
}

// paused says that the row's times hold pauses of more than a hundredth, and so are no times to compare.
func (r *Row) paused() bool {
	total := 0.0
	if r.Seconds != nil {
		for _, s := range r.Seconds.All {
			total += s
		}
	}
	return r.PausedSeconds > total/100
}

// mostReasons is how many reasons of pauses a note has.
const mostReasons = 3

func (r *Row) pauseText() string {
	why := strings.Join(r.PausedFor[:min(len(r.PausedFor), mostReasons)], ", ")
	if more := len(r.PausedFor) - mostReasons; more > 0 {
		why += fmt.Sprintf(", and %d more", more)
	}
	in := ""
	if n := len(r.Seconds.All); n > 1 {
		in = fmt.Sprintf(" in %d of %d runs", r.PausedRuns, n)
	}
	return fmt.Sprintf("%s was paused for %.3g s%s, which its wall time holds: %s: not to be compared", r.ID, r.PausedSeconds, in, why)
}
