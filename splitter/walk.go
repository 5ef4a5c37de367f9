package splitter

import (
	"context"

	"go.mongodb.org/mongo-driver/bson"
)

// position is a place in the index: a bracket, and a key in it unless at its beginning.
type position struct {
	in bracket
	at bson.RawValue
}

// walk finds points along the index with no rights beyond reading.
func (r *reader) walk(ctx context.Context, s *seen, ranges int, total int64) (cuts, error) {
	if len(r.fields) > 1 {
		return r.walkCompound(ctx, s, ranges, total)
	}
	found, err := r.walkField(ctx, s, ranges, total)
	return cuts{points: found}, err
}

// walkField finds points of the first field by stepping along the index, one bracket of types after
// the other, so that every step is a plain range of the index. It needs no
// rights beyond reading. Each step skips over one piece from where the last
// one ended, so the whole index is passed once; a key heavier than a piece gets a
// piece that ends with it.
func (r *reader) walkField(ctx context.Context, s *seen, ranges int, total int64) ([]point, error) {
	var found []point
	from := position{}
	left := total
	for pieces := int64(ranges); pieces > 1 && left > 0; pieces-- {
		to, passed, err := r.step(ctx, s, from, (left+pieces-1)/pieces)
		if err != nil {
			return nil, err
		}
		if zero(to.at) {
			break
		}
		found = append(found, point{to.at})
		from = to
		left -= passed
	}
	return r.fields[:1].tidy(found), nil
}

// step goes about need documents on from a position, to the start of a key. A
// zero key means that no other key comes. passed is the exact number of documents between.
func (r *reader) step(ctx context.Context, s *seen, from position, need int64) (to position, passed int64, err error) {
	for b := from.in; b < brackets; b++ {
		if s.present&(1<<b) == 0 || b == array {
			continue
		}
		var lo bson.RawValue
		if b == from.in {
			lo = from.at
		}
		if passed >= need { // the last bracket ended just here
			k, err := r.first(ctx, b)
			return position{b, k}, passed, err
		}
		if !b.point() {
			keys, err := r.keys(ctx, r.bracketFilter(b, lo, bson.RawValue{}), false, need-passed, 1)
			if err != nil {
				return to, 0, err
			}
			if len(keys) > 0 {
				return r.land(ctx, s, position{b, lo}, keys[0], passed, need)
			}
		}
		n, err := r.count(ctx, r.bracketFilter(b, lo, bson.RawValue{}))
		if err != nil {
			return to, 0, err
		}
		if b.point() && passed > 0 && (n >= need || passed+n-need > need-passed) {
			// better to end before this bracket's one key than behind it
			k, err := r.first(ctx, b)
			return position{b, k}, passed, err
		}
		passed += n
	}
	return position{}, passed, nil
}

// land decides where a piece ends that reaches into the run of key k: before the
// run, or behind it when that is nearer and the run no piece of its own.
func (r *reader) land(ctx context.Context, s *seen, from position, k bson.RawValue, passed, need int64) (position, int64, error) {
	before, err := r.between(ctx, from, k)
	if err != nil {
		return position{}, 0, err
	}
	before += passed
	if before*2 >= need && before > 0 {
		return position{from.in, k}, before, nil
	}
	run, err := r.count(ctx, anyOf(r.key, equal(r.key, k).clauses()))
	if err != nil {
		return position{}, 0, err
	}
	if before > 0 && run >= need {
		return position{from.in, k}, before, nil // a key that fills a piece alone
	}
	next, err := r.after(ctx, s, from.in, k)
	if err != nil || zero(next.at) {
		return next, 0, err
	}
	return next, before + run, nil
}

// between counts the documents from a position up to key k of the same bracket.
func (r *reader) between(ctx context.Context, from position, k bson.RawValue) (int64, error) {
	if !zero(from.at) && Compare(from.at, k) == 0 {
		return 0, nil
	}
	return r.count(ctx, r.bracketFilter(from.in, from.at, k))
}

// after is the first key behind k: in its bracket, or the first of the next one that has documents.
func (r *reader) after(ctx context.Context, s *seen, b bracket, k bson.RawValue) (position, error) {
	f := anyOf(r.key, interval{key: r.key, lo: k, loOpen: true, present: 1 << b}.clauses())
	keys, err := r.keys(ctx, f, false, 0, 1)
	if err != nil {
		return position{}, err
	}
	if len(keys) > 0 {
		return position{b, keys[0]}, nil
	}
	for b++; b < brackets; b++ {
		if s.present&(1<<b) != 0 && b != array {
			k, err := r.first(ctx, b)
			return position{b, k}, err
		}
	}
	return position{}, nil
}

// first is the least key of a bracket that has documents.
func (r *reader) first(ctx context.Context, b bracket) (bson.RawValue, error) {
	switch b {
	case nullish:
		return bson.RawValue{Type: bson.TypeNull}, nil
	}
	keys, err := r.keys(ctx, r.bracketFilter(b, bson.RawValue{}, bson.RawValue{}), false, 0, 1)
	if err != nil || len(keys) == 0 {
		return bson.RawValue{}, err
	}
	return keys[0], nil
}
