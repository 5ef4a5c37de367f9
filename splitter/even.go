package splitter

import (
	"context"

	"go.mongodb.org/mongo-driver/bson"
)

const (
	// uneven is the imbalance from which on the pieces are cut again by counts.
	uneven = 1.25
	// countedPerRange is how many candidate pieces a range are counted then.
	countedPerRange = 16
)

// even cuts again when keys that are heavier than the rest have made the pieces
// uneven: split keys stand for equal numbers of documents only where no key
// does outweigh their distance. The documents between the keys are counted, the
// keys that give the smallest largest piece are taken, and those pieces are proved.
func (r *reader) even(ctx context.Context, c Config, keys []bson.RawValue, present uint32, rep *Report) error {
	keys = choose(keys, c.Ranges*countedPerRange)
	small := pieces(c.Key, keys, present)
	if _, err := r.countPieces(ctx, c.Predicate, small); err != nil {
		return err
	}
	weights := make([]int64, len(small))
	for i, p := range small {
		weights[i] = p.Documents
	}
	var points []bson.RawValue
	for _, end := range lightest(weights, c.Ranges) {
		points = append(points, keys[end-1])
	}
	better := *rep
	better.Pieces = pieces(c.Key, points, present)
	if err := r.prove(ctx, c.Predicate, &better); err != nil {
		return err
	}
	if better.Imbalance < rep.Imbalance {
		*rep = better
	}
	return nil
}

// lightest groups neighbours into at most n groups so that the heaviest group
// is as light as can be, and returns where each group but the last ends.
func lightest(weights []int64, n int) []int {
	var lo, hi int64
	for _, w := range weights {
		lo = max(lo, w)
		hi += w
	}
	for lo < hi { // the least weight that n groups can keep to
		mid := lo + (hi-lo)/2
		if len(groups(weights, mid))+1 <= n {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return groups(weights, lo)
}

// groups fills one group after the other up to a weight and returns their ends, without the last.
func groups(weights []int64, most int64) []int {
	var ends []int
	sum := int64(0)
	for i, w := range weights {
		if i > 0 && sum+w > most {
			ends = append(ends, i)
			sum = 0
		}
		sum += w
	}
	return ends
}
