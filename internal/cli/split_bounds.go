package cli

import "mrbench/internal/bench"

const (
	maxBound  = 28 // characters of a bound in a table of 80 columns
	boundHead = 8  // of these, from the beginning when the middle is left out
	boundLead = 4  // and before the first character that differs
)

// shortBounds shows each bound so that it fits and can be told from the one before and the one behind: what
// long bounds begin alike is left out.
func shortBounds(pieces []bench.Piece) map[string]string {
	var bounds []string
	if len(pieces) > 0 {
		bounds = append(bounds, pieces[0].From)
	}
	for _, p := range pieces {
		bounds = append(bounds, p.To)
	}
	short := map[string]string{}
	for i, b := range bounds {
		same := 0
		if i > 0 {
			same = alike(b, bounds[i-1])
		}
		if i+1 < len(bounds) {
			same = max(same, alike(b, bounds[i+1]))
		}
		short[b] = shortBound([]rune(b), same)
	}
	return short
}

// alike is how many characters two texts begin with alike.
func alike(a, b string) int {
	x, y := []rune(a), []rune(b)
	n := 0
	for n < min(len(x), len(y)) && x[n] == y[n] {
		n++
	}
	return n
}

// shortBound leaves out what does not fit: behind the first characters when what differs comes late, and at the end.
func shortBound(r []rune, same int) string {
	if len(r) <= maxBound {
		return string(r)
	}
	var head []rune
	if same >= maxBound-boundLead {
		head = append(append(head, r[:boundHead]...), '…')
		r = r[min(same-boundLead, len(r)-(maxBound-len(head))):]
	}
	if room := maxBound - len(head); len(r) > room {
		r = append(r[:room-1:room-1], '…')
	}
	return string(head) + string(r)
}
