package splitter

import "go.mongodb.org/mongo-driver/bson"

// Bounds are those of a chunk, [Lo, Hi) of one field: MinKey or a zero value below everything, MaxKey or a zero value above.
type Bounds struct{ Lo, Hi bson.RawValue }

// fetched is the order in which the types of a range are looked at: the first one that chunks give back whole is taken.
var fetched = []bracket{number, objectID, date, text, boolean, binData, timestamp, object} //nolint:gochecknoglobals // a constant

// Fetched divides the range's filter for a server that fetches results of the same values chunk by chunk, by {$gte: lo, $lt: hi}, which matches
// values of one type only: found is of those that it finds so, rest of those that it loses. Either is nil when the collection has none.
func (r Range) Fetched(chunks []Bounds) (found, rest bson.D) {
	x := interval{key: r.Key, lo: r.Lo, hi: r.Hi, present: r.present}
	taken := brackets
	for _, b := range fetched {
		if x.holds(b) && r.whole(b, chunks) {
			taken = b
			break
		}
	}
	var in, out []bson.D
	for b := minKey; b < brackets; b++ {
		if !x.holds(b) {
			continue
		}
		if b == taken {
			in = append(in, x.within(b)...)
		} else {
			out = append(out, x.within(b)...)
		}
	}
	if in != nil {
		found = anyOf(r.Key, in)
	}
	if out != nil {
		rest = anyOf(r.Key, out)
	}
	return found, rest
}

// holds says that values of a bracket can be in the interval.
func (x interval) holds(b bracket) bool {
	return (x.present == 0 || x.present&(1<<b) != 0) && len(x.within(b)) > 0
}

// whole says that all chunks which the bracket's part of the range reaches into begin and end in it, or at the ends of everything.
func (r Range) whole(b bracket, chunks []Bounds) bool {
	for _, c := range chunks {
		lo, hi := c.Lo, c.Hi
		if !zero(hi) && !zero(r.Lo) && Compare(hi, r.Lo) <= 0 || !zero(lo) && !zero(r.Hi) && Compare(lo, r.Hi) >= 0 {
			continue // outside of the range
		}
		from, to := minKey, maxKey
		if !zero(lo) {
			from = bracketOf(lo)
		}
		if !zero(hi) {
			to = bracketOf(hi)
		}
		if b < from || b > to {
			continue
		}
		if from != minKey && from != b || to != maxKey && to != b {
			return false
		}
	}
	return true
}
