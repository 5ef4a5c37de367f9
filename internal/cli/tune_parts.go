package cli

import (
	"slices"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/splitter"
)

// tuneParts gives candidates their ranges, whole or shortened. It has a cut of the collection that is finer than any candidate's:
// a candidate's range is some of these pieces in a row, and a part of the data is the beginning of each of its ranges.
type tuneParts struct {
	pieces    []splitter.Piece
	documents int64
}

// Bounds of the finer cut and of the first part.
const (
	mostPieces      = 1024
	piecesPerRange  = 16     // of the candidate with the most ranges, where there are documents enough
	pieceDocuments  = 100    // a piece is not made smaller
	firstDocuments  = 50_000 // what a run costs beside reading is no longer most of it
	leastFirstShare = 1.0 / 64
)

func wantedPieces(ranges int, documents int64) int {
	n := min(int64(ranges*piecesPerRange), mostPieces, documents/pieceDocuments)
	return int(max(n, int64(ranges)))
}

// firstShare is the part of the first round: all, where more than half would be wanted.
func firstShare(documents int64) float64 {
	share := max(leastFirstShare, firstDocuments/float64(max(documents, 1)))
	if share > 0.5 {
		return 1
	}
	return share
}

// ranges cuts everything into n ranges of about equally many documents, and shortens each to a share of its documents, in whole
// pieces and at least one. It also says how many documents they hold.
func (p *tuneParts) ranges(n int, share float64) (ranges []splitter.Range, documents int64) {
	from := 0
	var before int64
	for k := range n {
		goal := p.documents * int64(k+1) / int64(n)
		to, held := from, before
		// At least a piece for this range and for each that follows.
		for to < len(p.pieces)-(n-k-1) && (to == from || held+p.pieces[to].Documents/2 < goal || k == n-1) {
			held += p.pieces[to].Documents
			to++
		}
		last, took := from, p.pieces[from].Documents
		for wanted := share * float64(held-before); last+1 < to && (share == 1 || float64(took+p.pieces[last+1].Documents/2) < wanted); {
			last++
			took += p.pieces[last].Documents
		}
		r := p.pieces[from].Range
		r.Hi = p.pieces[last].Range.Hi
		ranges, documents = append(ranges, r), documents+took
		from, before = to, held
	}
	return ranges, documents
}

// beginning is the first documents by the key, up to a share of all, as a filter.
func (p *tuneParts) beginning(share float64, predicate splitter.Predicate) (filter bson.D, documents int64) {
	ranges, documents := p.ranges(1, share)
	return ranges[0].Filter(predicate), documents
}

// within is a job that reads only what a filter matches.
func (j *runJob) within(filter bson.D) *runJob {
	l := *j
	if len(filter) == 0 {
		return &l
	}
	l.mr.Query = filter
	if len(j.mr.Query) > 0 {
		l.mr.Query = bson.D{{Key: "$and", Value: bson.A{j.mr.Query, filter}}}
	}
	if j.pipeline != nil {
		l.pipeline = slices.Insert(slices.Clone(j.pipeline), 0, bson.D{{Key: "$match", Value: filter}})
	}
	return &l
}

// limited is a job that reads its first n documents only, in whatever order it reads them.
func (j *runJob) limited(n int64) *runJob {
	l := *j
	if l.mr.Limit == 0 || n < l.mr.Limit {
		l.mr.Limit = n
	}
	first := slices.IndexFunc(j.pipeline, func(stage bson.D) bool { return len(stage) != 1 || stage[0].Key != "$match" })
	if first >= 0 {
		l.pipeline = slices.Insert(slices.Clone(j.pipeline), first, bson.D{{Key: "$limit", Value: n}})
	}
	return &l
}
