package splitter

import (
	"context"

	"go.mongodb.org/mongo-driver/bson"
)

// walkGrain is how many pieces a range are looked for, so that they can be joined to even ranges.
const walkGrain = 4

// walkCompound walks along the first field, and within each of its values that is
// heavier than half a range along the next fields. Its points have as many values as needed.
func (r *reader) walkCompound(ctx context.Context, s *seen, ranges int, total int64) (cuts, error) {
	need := max(total/int64(ranges), 1)
	coarse, err := r.walkField(ctx, s, ranges*walkGrain, total)
	if err != nil {
		return cuts{}, err
	}
	first := r.fields[:1]
	pieces := first.pieces(coarse)
	if _, err := r.countPieces(ctx, Brackets, pieces); err != nil {
		return cuts{}, err
	}
	var found []point
	for i, p := range pieces {
		if i > 0 {
			found = append(found, r.fields.extend(coarse[i-1]))
		}
		if p.Documents*2 <= need {
			continue
		}
		deeper, err := r.walkInside(ctx, p.Range, need)
		if err != nil {
			return cuts{}, err
		}
		found = append(found, deeper...)
	}
	return cuts{points: r.fields.tidy(found), rough: true}, nil
}

// walkInside cuts the last value of a range, if it is a heavy one. A range that the walk
// made ends with its heaviest value.
func (r *reader) walkInside(ctx context.Context, x Range, need int64) ([]point, error) {
	last, err := r.keys(ctx, x.Filter(Brackets), true, 0, 1)
	if err != nil || len(last) == 0 {
		return nil, err
	}
	k := point{last[0]}
	if zero(k[0]) {
		k[0] = bson.RawValue{Type: bson.TypeNull}
	}
	k.settle()
	inside := r.inside(k)
	run, err := inside.count(ctx, bson.D{})
	if err != nil || run*2 <= need {
		return nil, err
	}
	s, err := inside.probe(ctx, run)
	if err != nil {
		return nil, err
	}
	c, err := inside.walk(ctx, s, int(min(run*walkGrain/need+1, maxSplitKeys)), run)
	if err != nil {
		return nil, err
	}
	found := []point{r.fields.extend(k)}
	for _, p := range c.points {
		found = append(found, append(point{k[0]}, p...))
	}
	return found, nil
}

// inside reads only the documents whose first fields have these values.
func (r *reader) inside(prefix point) *reader {
	in := *r
	in.base = both(r.base, anyOf(r.key, r.fields.equal(prefix, 0, len(prefix))))
	in.fields = append(layout(nil), r.fields[len(prefix):]...)
	in.fields[0].descending = false
	in.key = in.fields[0].key
	return &in
}

// extend makes a point of all fields from values of the first ones.
func (l layout) extend(p point) point {
	return append(p[:len(p):len(p)], make(point, len(l)-len(p))...)
}

// probePrefixes is in how many values of the first fields types of the next one are looked for.
const probePrefixes = 32

// probeThen finds the types of the further fields within the values of the first
// ones at which points lie, for only there do filters ask for them. With many such values nothing is asked, and
// filters name all types.
func (r *reader) probeThen(ctx context.Context, points []point) error {
	for i := 1; i < len(r.fields); i++ {
		r.fields[i].present = 0
		var prefixes []point
		for _, p := range points {
			if n := len(prefixes); !zero(p[i]) && (n == 0 || r.fields[:i].compare(prefixes[n-1], p[:i]) != 0) {
				prefixes = append(prefixes, p[:i])
			}
		}
		if len(prefixes) > probePrefixes {
			continue
		}
		found := make([]uint32, len(prefixes))
		err := Each(ctx, len(prefixes), countThreads, func(ctx context.Context, n, _ int) error {
			s, err := r.inside(prefixes[n]).probe(ctx, 0)
			if err == nil {
				found[n] = s.present
			}
			return err
		})
		if err != nil {
			return err
		}
		for _, present := range found {
			r.fields[i].present |= present
		}
	}
	return nil
}
