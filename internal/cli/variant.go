package cli

import (
	"fmt"
	"slices"
	"strings"

	"mrbench/mr"
)

// variant is one way of computing the answer: a row of the comparison.
type variant struct {
	id        string
	aggregate bool // a pipeline; otherwise mapReduce
	sort      bool
	ranges    bool
	layout    mr.Layout
	js        bool
	covered   bool
}

// ladder is the nine rows, in order.
var ladder = []variant{
	{id: "mr"},
	{id: "mr-sort", sort: true},
	{id: "mr-ranges", sort: true, ranges: true, layout: mr.OneDatabase},
	{id: "mr-ranges-dbs", sort: true, ranges: true, layout: mr.SeparateDatabases},
	{id: "mr-ranges-dbs-js", sort: true, ranges: true, layout: mr.SeparateDatabases, js: true},
	{id: "agg", aggregate: true},
	{id: "agg-ranges", aggregate: true, ranges: true},
	{id: "agg-covered", aggregate: true, covered: true},
	{id: "agg-covered-ranges", aggregate: true, ranges: true, covered: true},
}

func rowIDs() []string {
	ids := make([]string, len(ladder))
	for i, v := range ladder {
		ids[i] = v.id
	}
	return ids
}

// Words of --layout.
const (
	layoutOne      = "one"
	layoutSeparate = "separate"
)

// variants are the rows to measure.
func (o runOptions) variants() []variant {
	if len(o.rows) > 0 {
		var rows []variant
		for _, id := range o.rows {
			rows = append(rows, ladder[slices.IndexFunc(ladder, func(v variant) bool { return v.id == id })])
		}
		return rows
	}
	if o.ladder {
		return ladder
	}
	named := variant{sort: o.sorted(), ranges: o.rangeCount() > 1 || o.list != nil || o.into != "", js: o.jsmode}
	if named.ranges && o.layout == layoutSeparate && o.outDB == "" {
		named.layout = mr.SeparateDatabases
	}
	if o.into != "" {
		named.layout = mr.OneDatabase
		named.id = named.name()
		return []variant{named}
	}
	named.id = named.name()
	beside := "agg"
	if o.take != (takeRange{}) {
		beside = "agg-ranges" // the whole is not this run's
	}
	agg := ladder[slices.IndexFunc(ladder, func(v variant) bool { return v.id == beside })]
	return []variant{named, agg}
}

// name is the ladder's id for a mapReduce variant, or one made the same way for variants that are not on the ladder.
func (v variant) name() string {
	for _, l := range ladder {
		id := l.id
		l.id = v.id
		if l == v {
			return id
		}
	}
	id := "mr"
	switch {
	case v.ranges && !v.sort:
		id += "-unsorted-ranges"
	case v.ranges:
		id += "-ranges"
	case v.sort:
		id += "-sort"
	}
	if v.layout == mr.SeparateDatabases {
		id += "-dbs"
	}
	if v.js {
		id += "-js"
	}
	return id
}

// label tells people what the row does. It is short because a table has little room.
func (v variant) label(ranges, threads int) string {
	var parts []string
	if v.aggregate {
		parts = append(parts, "$group")
	}
	if v.sort {
		parts = append(parts, "sort")
	}
	if v.covered {
		parts = append(parts, "index alone")
	}
	if v.ranges {
		in := fmt.Sprintf("%d ranges", ranges)
		if threads < ranges {
			in += fmt.Sprintf(" in %d threads", threads)
		}
		parts = append(parts, in)
		if v.layout == mr.SeparateDatabases {
			parts = append(parts, fmt.Sprintf("%d dbs", ranges))
		}
	}
	if v.js {
		parts = append(parts, "jsMode")
	}
	text := strings.Join(parts, ", ")
	switch text {
	case "":
		return "mapReduce as written"
	case "$group":
		return "aggregation $group"
	case "sort":
		return "mapReduce, sort"
	}
	return text
}
