package splitter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Prove counts given ranges again, with the filters that jobs use; it cuts nothing. c.Ranges, c.Strategy and c.Then are not looked at.
// whole says that the ranges are to hold the whole collection: the counts must add up, as for Split. Otherwise they are
// some of its ranges, and are counted alone. Errors are those of Split.
func Prove(ctx context.Context, c Config, ranges []Range, whole bool) (*Report, error) {
	if len(ranges) == 0 {
		return nil, errors.New("splitter: no ranges given")
	}
	for _, r := range ranges {
		if r.Key != c.Key || len(r.Then) > 0 {
			return nil, fmt.Errorf("splitter: a range of %s, not of %s alone", r.Key, c.Key)
		}
	}
	start := time.Now()
	c.Then = nil
	r, err := newReader(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := r.refuseArrays(ctx); err != nil {
		return nil, err
	}
	total, err := r.quickTotal(ctx)
	if err != nil {
		return nil, err
	}
	s, err := r.probe(ctx, total)
	if err != nil {
		return nil, err
	}
	rep := &Report{Index: r.index, Types: s.list(), Total: total}
	for _, x := range ranges {
		x.present = s.present
		rep.Pieces = append(rep.Pieces, Piece{Range: x})
	}
	if whole {
		err = r.prove(ctx, c.Predicate, rep)
	} else {
		_, err = r.countPieces(ctx, c.Predicate, rep.Pieces)
		rep.Imbalance = imbalance(rep.Pieces)
	}
	if err != nil {
		return nil, err
	}
	if err := r.findOwners(ctx, rep); err != nil {
		return nil, err
	}
	rep.Elapsed = time.Since(start)
	rep.CountSeconds = rep.Elapsed.Seconds()
	return rep, nil
}

// Span is the range from the beginning of the first range to the end of the last one.
func Span(ranges []Range) Range {
	if len(ranges) == 0 {
		return Range{}
	}
	r := ranges[0]
	r.Then = slices.Clone(r.Then)
	for _, x := range ranges[1:] {
		r = join(r, x)
	}
	return r
}
