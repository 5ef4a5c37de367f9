package sweep

import (
	"strconv"

	"mrbench/seed"
)

// Point is one way of loading.
type Point struct {
	Batch        int              `json:"batch"`   // documents an insert; 1 is one insert a document
	Writers      int              `json:"writers"` // inserts at a time
	WriteConcern string           `json:"write_concern"`
	Ordered      bool             `json:"ordered"`
	Index        seed.IndexMoment `json:"index"`
	Prefill      int64            `json:"prefill"` // documents that are there before
}

// Grid holds the values of each setting. Every list needs one at least.
type Grid struct {
	Batch        []int
	Writers      []int
	WriteConcern []string
	Ordered      []bool
	Index        []seed.IndexMoment
	Prefill      []int64
}

// Skip says why points of a grid are not measured.
type Skip struct {
	Reason string `json:"reason"`
	Points int    `json:"points"`
}

// Points lists the grid's points that make sense for so many documents a point, and why others were left out.
func (g Grid) Points(documents int64) (points []Point, skipped []Skip) {
	at := map[string]int{}
	for _, prefill := range g.Prefill {
		for _, index := range g.Index {
			for _, concern := range g.WriteConcern {
				for _, ordered := range g.Ordered {
					for _, writers := range g.Writers {
						for _, batch := range g.Batch {
							p := Point{batch, writers, concern, ordered, index, prefill}
							reason := g.senseless(p, documents)
							if reason == "" {
								points = append(points, p)
								continue
							}
							i, ok := at[reason]
							if !ok {
								i = len(skipped)
								at[reason] = i
								skipped = append(skipped, Skip{Reason: reason})
							}
							skipped[i].Points++
						}
					}
				}
			}
		}
	}
	return points, skipped
}

// senseless says why a point would measure nothing, or the same as another one.
func (g Grid) senseless(p Point, documents int64) string {
	batches := (documents + int64(p.Batch) - 1) / int64(p.Batch)
	both := len(g.Ordered) > 1
	switch {
	case int64(p.Batch) > documents:
		return "a batch has more documents than a point loads"
	case batches < int64(p.Writers):
		return "there are fewer batches than writers: some would have nothing to do"
	case p.Index == seed.IndexAfter && p.Prefill > 0:
		return "an index made after the load covers what was there before too: its time would say nothing about the load"
	case both && p.Ordered && p.WriteConcern == "0":
		return "with write concern 0 nobody hears of an error that order could stop at: measured unordered only"
	case both && p.Ordered && p.Batch == 1:
		return "a batch of one has no order: measured unordered only"
	}
	return ""
}

// factor is a setting of a point.
type factor struct {
	name  string
	value func(Point) string
}

// Names of the settings, as Cost has them.
const (
	FactorBatch        = "batch"
	FactorWriters      = "writers"
	FactorWriteConcern = "write-concern"
	FactorOrdered      = "ordered"
	FactorIndex        = "index"
	FactorPrefill      = "prefill"
)

// factors lists the settings in the order in which they are shown. Read only.
var factors = []factor{
	{FactorIndex, func(p Point) string { return string(p.Index) }},
	{FactorWriteConcern, func(p Point) string { return p.WriteConcern }},
	{FactorOrdered, func(p Point) string { return strconv.FormatBool(p.Ordered) }},
	{FactorBatch, func(p Point) string { return strconv.Itoa(p.Batch) }},
	{FactorWriters, func(p Point) string { return strconv.Itoa(p.Writers) }},
	{FactorPrefill, func(p Point) string { return strconv.FormatInt(p.Prefill, 10) }},
}
