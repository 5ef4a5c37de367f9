package study

import (
	"fmt"
	"slices"
)

func judgeBulk(r *Result) []string {
	s := []string{
		r.compare("Five inserts at a time instead of one", BulkStreamed, BulkParallel).String(),
		r.compare("Six folder ranges at a time instead of one file", BulkParallel, BulkRanges).String(),
		r.compare("Counting the folder tree beside loading it", BulkRanges, BulkCount).String(),
	}
	switch whole := r.Row(BulkWhole2); {
	case whole.Measured != nil:
		s = append(s, "Reading the larger file whole failed then, at 5.3 GB; at this scale it fits into memory, which says nothing about the full size.")
	case whole.Skipped != "":
		s = append(s, "Reading the larger file whole failed then and is not tried here.")
	}
	if whole, streamed := r.Row(BulkWhole2).Measured, r.Row(BulkStreamed).Measured; whole != nil && streamed != nil && whole.Rate > 0 {
		f := finding{faster: "%s times as fast as", slower: "%s times as slow as"}
		text := f.tell(streamed.Rate / whole.Rate)
		if side(streamed.Rate/whole.Rate) == 0 {
			text = "as fast as"
		}
		s = append(s, fmt.Sprintf("Streamed with one insert at a time it is %s whole.", text))
	}
	return s
}

func judgeGUID(r *Result) []string {
	s := []string{
		r.compare("Batches of 1,000 instead of one insert a document", GUIDSingle, GUIDBatches).String(),
		r.compare("Unacknowledged and unordered beside the same batches", GUIDBatches, GUIDFast).String(),
		r.compare("All of it together", GUIDSingle, GUIDFast).String(),
	}
	at := r.Row(GUIDBatches).Measured
	if large := r.Row(GUIDLarge).Measured; at != nil && large != nil {
		ratio := large.Rate / at.Rate
		f := finding{faster: "%s times as fast", slower: "%s times as slow"}
		verdict := "that no longer holds"
		if side(ratio) < 0 {
			verdict = "that holds"
		}
		s = append(s, fmt.Sprintf("Batches above 1,500 documents: published much slower, here with 5,000 %s: %s.", f.tell(ratio), verdict))
	}
	if best := r.Row(GUIDBest).Measured; at != nil && best != nil {
		ratio := best.Rate / at.Rate
		f := finding{faster: "%s times as fast", slower: "%s times as slow"}
		verdict := "that holds"
		if side(ratio) < 0 {
			verdict = "that no longer holds"
		}
		s = append(s, fmt.Sprintf("Batches of 600: published the best, here against 1,000 %s: %s.", f.tell(ratio), verdict))
	}
	return s
}

// sizes are groups of published numbers of documents, whose rates differ little among themselves.
var sizes = []struct {
	least, most int64
}{
	{95_551, 495_334}, // what the others are compared with
	{1_550, 50_000},
	{59, 991},
}

// rateOf is the median rate of the inserts into an empty collection whose published size is within bounds; 0 for none.
func rateOf(r *Result, least, most int64, rate func(*Row) float64) float64 {
	var rates []float64
	for i, c := range curve {
		if x := rate(r.Rows[i]); x > 0 && c.documents >= least && c.documents <= most {
			rates = append(rates, x)
		}
	}
	if len(rates) == 0 {
		return 0
	}
	slices.Sort(rates)
	return (rates[len(rates)/2] + rates[(len(rates)-1)/2]) / 2
}

func judgeCurve(r *Result) []string {
	published := func(row *Row) float64 { return *row.Published.Rate }
	measured := func(row *Row) float64 {
		if row.Measured == nil {
			return 0
		}
		return row.Measured.Rate
	}
	var s []string
	large := sizes[0]
	for _, g := range sizes[1:] {
		a, b := rateOf(r, large.least, large.most, measured), rateOf(r, g.least, g.most, measured)
		f := finding{
			subject: fmt.Sprintf("Inserts of %s to %s documents beside those of %s and more",
				thousands(Scaled(g.least, r.Scale, 1)), thousands(Scaled(g.most, r.Scale, 1)), thousands(Scaled(large.least, r.Scale, 1))),
			published: rateOf(r, g.least, g.most, published) / rateOf(r, large.least, large.most, published),
			faster:    "%s times as fast", slower: "%s times as slow",
		}
		if a > 0 && b > 0 {
			f.measured, f.known = b/a, true
		}
		s = append(s, f.String())
	}
	for _, x := range []struct {
		subject, from, to string
		published         float64
		atLeast           bool
	}{
		{"With an index", Empty, Indexed, 0.5, true},
		{"Into a collection of 10 million documents (here %s)", Empty, Prefilled, 1, false},
	} {
		f := finding{subject: x.subject, published: x.published, atLeast: x.atLeast, faster: "%s times as fast", slower: "%s times as slow"}
		if x.to == Prefilled {
			f.subject = fmt.Sprintf(x.subject, thousands(Scaled(CurvePrefill, r.Scale, 1)))
		}
		f.measured, f.known = r.seriesRatio(x.from, x.to)
		s = append(s, f.String())
	}
	return s
}

// seriesRatio is the time of a series' steps over that of another's, of the steps that both have: above 1 the second is faster.
func (r *Result) seriesRatio(from, to string) (ratio float64, known bool) {
	var a, b float64
	for _, c := range curve {
		x, y := r.Row(from+" "+thousands(c.documents)).Measured, r.Row(to+" "+thousands(c.documents)).Measured
		if x != nil && y != nil {
			a, b = a+x.Seconds, b+y.Seconds
		}
	}
	if b == 0 {
		return 0, false
	}
	return a / b, true
}

func judgeMapReduce(r *Result) []string {
	return []string{
		r.compare("Sorting on the emitted key", "mr", "mr-sort").String(),
		r.compare("Four ranges at a time into one database", "mr-sort", "mr-ranges").String(),
		r.compare("A database for each range", "mr-ranges", "mr-ranges-dbs").String(),
		r.compare("jsMode", "mr-ranges-dbs", "mr-ranges-dbs-js").String(),
		r.compare("All of it together", "mr", "mr-ranges-dbs-js").String(),
	}
}
