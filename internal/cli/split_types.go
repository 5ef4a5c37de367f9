package cli

import (
	"fmt"
	"strings"

	"mrbench/internal/report"
	"mrbench/splitter"
)

// histogramResult is the types of the key in -o json.
type histogramResult struct {
	Types   []typeResult `json:"types"`
	Read    int64        `json:"documents_read"` // the rest was counted from the index alone
	Seconds float64      `json:"seconds"`

	all int64
}

type typeResult struct {
	Group     string   `json:"group,omitempty"` // when types are known of its lowest and highest keys only
	Types     []string `json:"types"`
	Documents int64    `json:"documents"`
}

func newHistogram(r *splitter.Report) *histogramResult {
	if r.Histogram == nil {
		return nil
	}
	h := &histogramResult{Types: []typeResult{}, Read: r.Histogram.Read, Seconds: r.Histogram.Seconds, all: r.Total}
	for _, c := range r.Histogram.Counts {
		h.Types = append(h.Types, typeResult(c))
	}
	return h
}

// table shows types in sort order, which is the order of the ranges.
func (h *histogramResult) table(key string) *report.Table {
	t := &report.Table{
		Title:   fmt.Sprintf("types of %s, in sort order", key),
		Columns: []report.Column{{Title: "type", Left: true}, {Title: "documents"}, {Title: "share"}},
	}
	groups := false
	for _, c := range h.Types {
		name := strings.Join(c.Types, ", ")
		if c.Group != "" {
			name, groups = c.Group+" ("+name+" seen)", true
		}
		t.Add(report.Str(name), report.Int(c.Documents), report.Percent(float64(c.Documents)/float64(h.all), 1))
	}
	t.Notes = append(t.Notes, fmt.Sprintf("counted in %s by ranges of the index, one for each group of types that sort together", timeText(h.Seconds)))
	if h.Read > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%s documents were read to tell the types of one group apart", report.Thousands(h.Read)))
	}
	if groups {
		t.Notes = append(t.Notes, fmt.Sprintf("a group of more than %s documents is not read: the types seen are those of its lowest and highest keys",
			report.Thousands(splitter.ReadTypesUpTo)))
	}
	return t
}
