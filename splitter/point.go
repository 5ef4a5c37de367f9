package splitter

import (
	"slices"

	"go.mongodb.org/mongo-driver/bson"
)

// field is one of those that the ranges are of, in the order of the index.
type field struct {
	key        string
	descending bool // runs against the first field in the index
	present    uint32
}

// point is a place between documents: a value for each field.
type point []bson.RawValue

// layout is the fields of the ranges.
type layout []field

// compare orders points as the index does when read so that its first field
// ascends. A zero value stands before all others.
func (l layout) compare(a, b point) int {
	for i, f := range l {
		switch x, y := zero(a[i]), zero(b[i]); {
		case x && y:
			return 0
		case x:
			return -1
		case y:
			return 1
		}
		if c := Compare(a[i], b[i]); c != 0 {
			if f.descending {
				return -c
			}
			return c
		}
	}
	return 0
}

// tidy sorts points, drops equal ones, and one below which nothing can lie.
func (l layout) tidy(points []point) []point {
	for _, p := range points {
		p.settle()
	}
	slices.SortStableFunc(points, l.compare)
	points = slices.CompactFunc(points, func(a, b point) bool { return l.compare(a, b) == 0 })
	if len(points) > 0 && l.lowest(points[0]) {
		points = points[1:]
	}
	return points
}

// settle makes null of undefined, for they are one key.
func (p point) settle() {
	for i, v := range p {
		if v.Type == bson.TypeUndefined {
			p[i] = bson.RawValue{Type: bson.TypeNull}
		}
	}
}

// lowest says that nothing lies below a point.
func (l layout) lowest(p point) bool {
	for i, f := range l {
		end := bson.TypeMinKey
		if f.descending {
			end = bson.TypeMaxKey
		}
		if zero(p[i]) {
			return true
		}
		if p[i].Type != end {
			return false
		}
	}
	return true
}

// pieces are the ranges that the points bound.
func (l layout) pieces(points []point) []Piece {
	out := make([]Piece, 0, len(points)+1)
	lo := make(point, len(l))
	for i := range len(points) + 1 {
		hi := make(point, len(l))
		if i < len(points) {
			hi = points[i]
		}
		out = append(out, Piece{Range: l.between(lo, hi)})
		lo = hi
	}
	return out
}

// between is [lo, hi); values that are zero bound nothing.
func (l layout) between(lo, hi point) Range {
	r := Range{Key: l[0].key, Lo: lo[0], Hi: hi[0], present: l[0].present}
	for i := 1; i < len(l); i++ {
		r.Then = append(r.Then, Field{Key: l[i].key, Descending: l[i].descending, Lo: lo[i], Hi: hi[i], present: l[i].present})
	}
	return r
}

// pointOf reads the point at which a document lies.
func (l layout) pointOf(doc bson.Raw) point {
	p := make(point, len(l))
	for i, f := range l {
		p[i] = valueAt(doc, f.key)
		if zero(p[i]) {
			p[i] = bson.RawValue{Type: bson.TypeNull}
		}
	}
	p.settle()
	return p
}

// cuts are the points that a strategy found.
type cuts struct {
	points []point
	// weights are the documents between neighbours, from the beginning to the end: one more than points.
	// nil: the points are spaced evenly.
	weights []int64
	rough   bool      // the points say nothing about how many documents are between them
	chunks  *chunkMap // not nil: the points are bounds of these chunks
}

// bucket is a run of documents that begins at a point.
type bucket struct {
	from point
	docs int64
}

// cuts orders buckets, joins those that begin at the same key, and gives their bounds.
func (l layout) cuts(buckets []bucket) cuts {
	for _, b := range buckets {
		b.from.settle()
	}
	slices.SortStableFunc(buckets, func(a, b bucket) int { return l.compare(a.from, b.from) })
	var c cuts
	for i, b := range buckets {
		switch {
		case i == 0:
			c.weights = append(c.weights, b.docs)
		case l.compare(buckets[i-1].from, b.from) == 0:
			c.weights[len(c.weights)-1] += b.docs
		default:
			c.points = append(c.points, b.from)
			c.weights = append(c.weights, b.docs)
		}
	}
	return c
}

// choose takes points that bound n pieces; all when there are fewer.
func (c cuts) choose(n int) []point {
	if len(c.points) <= n-1 {
		return c.points
	}
	chosen := make([]point, 0, n-1)
	if c.weights != nil {
		for _, end := range lightest(c.weights, n, nil) {
			chosen = append(chosen, c.points[end-1])
		}
		return chosen
	}
	pieces := len(c.points) + 1
	for i := 1; i < n; i++ {
		chosen = append(chosen, c.points[(i*pieces+n/2)/n-1])
	}
	return chosen
}
