package tune

import (
	"fmt"
	"maps"
	"slices"
)

// leastPairs is how many pairs, with an option and without, have to be seen at a size.
const leastPairs = 2

// dropOptions puts out the candidates with an option that gained nothing at the last two sizes: with it the middle pair was no
// faster than without.
func (s *search) dropOptions() {
	ratios := map[string][]float64{}
	for _, i := range s.alive {
		with, ok := s.timeIn(i)
		for option, base := range s.Candidates[i].Options {
			if without, also := s.timeIn(base); ok && also {
				ratios[option] = append(ratios[option], with/max(without, 1e-9))
			}
		}
	}
	for _, option := range slices.Sorted(maps.Keys(ratios)) {
		if len(ratios[option]) < leastPairs {
			continue // one pair can be chance
		}
		s.kept[option] = append(s.kept[option], medianOf(ratios[option]))
		last := s.kept[option]
		if n := len(last); n < 2 || last[n-1] < 1 || last[n-2] < 1 {
			continue
		}
		n := len(last)
		has := func(i int) bool { _, has := s.Candidates[i].Options[option]; return has }
		if !slices.ContainsFunc(s.alive, func(i int) bool { return !has(i) }) {
			continue // nothing would be left
		}
		for _, i := range s.alive {
			if has(i) {
				s.out.Standings[i].Out = fmt.Sprintf("%s gained nothing: %.2f× and %.2f× the time", option, last[n-2], last[n-1])
			}
		}
		s.alive = slices.DeleteFunc(s.alive, has)
	}
}

// timeIn is a candidate's time a document in this round.
func (s *search) timeIn(i int) (float64, bool) {
	trials := s.out.Standings[i].Trials
	if n := len(trials); n > 0 && trials[n-1].Round == s.round && !trials[n-1].Final {
		return trials[n-1].Seconds / float64(trials[n-1].Documents), true
	}
	return 0, false
}
