package splitter

import "go.mongodb.org/mongo-driver/bson"

// lexicographic gives clauses for a range of a compound key: each document of the
// range matches one, others none. With bounds (a1, b1) and (a2, b2) they are
//
//	a = a1 and b >= b1,  a1 < a < a2,  a = a2 and b < b2
//
// or a = a1 and b1 <= b < b2 where a1 equals a2, and so on for more fields.
func (r Range) lexicographic() []bson.D {
	l, lo, hi := r.parts()
	same := 0
	for same < len(l) && !zero(lo[same]) && !zero(hi[same]) && Compare(lo[same], hi[same]) == 0 {
		same++
	}
	if same == len(l) || same > 0 && zero(hi[same]) {
		return nil // hi is not above lo
	}
	prefix := l.equal(lo, 0, same)
	loDepth, hiDepth := lo.depth(), hi.depth()
	var all []bson.D
	for j := loDepth - 1; j > same; j-- {
		all = append(all, l.piece(lo, same, j, lo[j], bson.RawValue{}, j < loDepth-1)...)
	}
	all = append(all, l[same].span(lo[same], hi[same], loDepth > same+1)...)
	for j := same + 1; j < hiDepth; j++ {
		all = append(all, l.piece(hi, same, j, bson.RawValue{}, hi[j], false)...)
	}
	return cross(prefix, all)
}

// depth is how many values a bound has.
func (p point) depth() int {
	for i, v := range p {
		if zero(v) {
			return i
		}
	}
	return len(p)
}

// piece is: the fields from..j-1 as in at, and field j between two values.
func (l layout) piece(at point, from, j int, lo, hi bson.RawValue, loOpen bool) []bson.D {
	return cross(l.equal(at, from, j), l[j].span(lo, hi, loOpen))
}

// equal is: the fields from..to-1 are those of a point. One empty clause when there are none.
func (l layout) equal(at point, from, to int) []bson.D {
	all := []bson.D{{}}
	for i := from; i < to; i++ {
		all = cross(all, equal(l[i].key, at[i]).clauses())
	}
	return all
}

// span is [lo, hi) in the field's own direction, or (lo, hi).
func (f field) span(lo, hi bson.RawValue, loOpen bool) []bson.D {
	x := interval{key: f.key, lo: lo, hi: hi, loOpen: loOpen, present: f.present}
	if f.descending {
		x.lo, x.hi, x.loOpen, x.hiClosed = hi, lo, true, !loOpen
	}
	return x.clauses()
}

// cross pairs each clause with each.
func cross(a, b []bson.D) []bson.D {
	var all []bson.D
	for _, x := range a {
		for _, y := range b {
			all = append(all, both(x, y))
		}
	}
	return all
}

// both joins two filters. A name that both have, such as $or or $expr, goes under one $and.
func both(x, y bson.D) bson.D {
	for _, a := range x {
		for _, b := range y {
			if a.Key == b.Key {
				return bson.D{{Key: "$and", Value: bson.A{x, y}}}
			}
		}
	}
	return append(append(bson.D{}, x...), y...)
}
