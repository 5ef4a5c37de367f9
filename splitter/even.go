package splitter

import (
	"context"
	"slices"
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
func (r *reader) even(ctx context.Context, c Config, found cuts, rep *Report) error {
	small := r.fields.pieces(found.candidates(c.Ranges).points)
	if _, err := r.countPieces(ctx, c.Predicate, small); err != nil {
		return err
	}
	var counted cuts
	for _, p := range joinEmpty(small) {
		_, lo, _ := p.Range.parts()
		if !zero(p.Range.Lo) {
			counted.points = append(counted.points, lo)
		}
		counted.weights = append(counted.weights, p.Documents)
	}
	better := *rep
	better.Pieces = r.fields.pieces(counted.choose(c.Ranges))
	if err := r.prove(ctx, c.Predicate, &better); err != nil {
		return err
	}
	if better.Imbalance < rep.Imbalance || len(better.Pieces) > len(rep.Pieces) {
		*rep = better
	}
	return nil
}

// candidates are the points that are counted when pieces are cut again.
func (c cuts) candidates(ranges int) cuts {
	return cuts{points: c.choose(ranges * countedPerRange)}
}

// lightest groups neighbours into at most n groups so that the heaviest group
// is as light as can be, and returns where each group but the last ends. No group goes across a wall: walls[i]
// stands before member i; nil is none, and there are fewer than n.
func lightest(weights []int64, n int, walls []bool) []int {
	return fill(weights, groups(weights, capacity(weights, n, walls), walls), n)
}

// capacity is the least weight that n groups can keep to.
func capacity(weights []int64, n int, walls []bool) int64 {
	var lo, hi int64
	for _, w := range weights {
		lo = max(lo, w)
		hi += w
	}
	for lo < hi {
		mid := lo + (hi-lo)/2
		if len(groups(weights, mid, walls))+1 <= n {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// fill cuts groups on until there are n, always the heaviest that has several
// members, at the place that leaves the lightest halves.
func fill(weights []int64, ends []int, n int) []int {
	for len(ends)+1 < n {
		from, best, heaviest := 0, 0, int64(-1)
		for _, end := range append(slices.Clone(ends), len(weights)) {
			if sum := total(weights[from:end]); end-from > 1 && sum > heaviest {
				heaviest, best = sum, half(weights, from, end)
			}
			from = end
		}
		if best == 0 {
			break
		}
		at, _ := slices.BinarySearch(ends, best)
		ends = slices.Insert(ends, at, best)
	}
	return ends
}

// half is the place between two neighbours at which from..end is cut most evenly.
func half(weights []int64, from, end int) int {
	all, left := total(weights[from:end]), int64(0)
	at, least := from+1, all+1
	for i := from + 1; i < end; i++ {
		left += weights[i-1]
		if heavier := max(left, all-left); heavier < least {
			at, least = i, heavier
		}
	}
	return at
}

func total(weights []int64) (sum int64) {
	for _, w := range weights {
		sum += w
	}
	return sum
}

// groups fills one group after the other up to a weight, or a wall, and returns their ends, without the last.
func groups(weights []int64, most int64, walls []bool) []int {
	var ends []int
	sum := int64(0)
	for i, w := range weights {
		if i > 0 && (sum+w > most || walls != nil && walls[i]) {
			ends = append(ends, i)
			sum = 0
		}
		sum += w
	}
	return ends
}
