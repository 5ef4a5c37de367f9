package study

import (
	"slices"
	"strconv"
	"time"
)

// Result is an experiment repeated.
type Result struct {
	Study     string   `json:"study"`
	What      string   `json:"what"`
	Published string   `json:"published_for"`
	Scale     float64  `json:"scale"`
	Runs      int      `json:"runs"`
	Rows      []*Row   `json:"steps"`
	Paragraph string   `json:"paragraph"` // what holds here and what does not
	Remarks   []string `json:"remarks"`

	of *Experiment
}

// Row is a step: published and measured.
type Row struct {
	ID        string     `json:"id"`
	Series    string     `json:"series,omitempty"`
	Label     string     `json:"label"`
	Published *Published `json:"published"` // null when nothing was
	Measured  *Measured  `json:"measured"`  // null when there is no measurement
	Note      string     `json:"note,omitempty"`
	Skipped   string     `json:"skipped,omitempty"` // why the step was not tried
	Error     string     `json:"error,omitempty"`   // why it failed
}

// Published is what was published of a step.
type Published struct {
	Documents int64    `json:"documents"`
	Seconds   *float64 `json:"seconds"`
	Rate      *float64 `json:"documents_per_second"`
	Ratio     *float64 `json:"ratio"` // of the rate, to the first step's
	Said      string   `json:"said,omitempty"`
}

// Measured is what was measured of a step.
type Measured struct {
	Documents int64     `json:"documents"`
	Seconds   float64   `json:"seconds"` // median
	All       []float64 `json:"all_seconds"`
	Rate      float64   `json:"documents_per_second"`
	Ratio     *float64  `json:"ratio"` // of the rate, to the first step's; null without a first step
}

// Start makes a result without measurements.
func (e *Experiment) Start(scale float64, runs int) *Result {
	r := &Result{Study: e.Name, What: e.What, Published: e.Where, Scale: scale, Runs: runs, Remarks: e.Remarks, of: e}
	first := e.Steps[0].Rate()
	for _, s := range e.Steps {
		row := &Row{ID: s.ID, Series: s.Series, Label: s.Label}
		if s.Seconds > 0 || s.Said != "" {
			row.Published = &Published{Documents: s.Documents, Said: s.Said}
			if s.Seconds > 0 {
				seconds, rate, ratio := s.Seconds, s.Rate(), s.Rate()/first
				row.Published.Seconds, row.Published.Rate, row.Published.Ratio = &seconds, &rate, &ratio
			}
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}

// Row finds a step by its ID; nil when there is none.
func (r *Result) Row(id string) *Row {
	if i := slices.IndexFunc(r.Rows, func(row *Row) bool { return row.ID == id }); i >= 0 {
		return r.Rows[i]
	}
	return nil
}

// Add notes a run of a step.
func (row *Row) Add(documents int64, took time.Duration) {
	m := row.Measured
	if m == nil {
		m = &Measured{}
		row.Measured = m
	}
	m.Documents = documents
	m.All = append(m.All, max(took.Seconds(), 1e-9))
	sorted := slices.Sorted(slices.Values(m.All))
	m.Seconds = (sorted[len(sorted)/2] + sorted[(len(sorted)-1)/2]) / 2
	m.Rate = float64(documents) / m.Seconds
}

// Finish works out ratios and the paragraph.
func (r *Result) Finish() {
	if first := r.Rows[0].Measured; first != nil && first.Rate > 0 {
		for _, row := range r.Rows {
			if row.Measured != nil {
				ratio := row.Measured.Rate / first.Rate
				row.Measured.Ratio = &ratio
			}
		}
	}
	r.Paragraph = join(r.of.judge(r))
}

// Scaled is n at a scale, at least least.
func Scaled(n int64, scale float64, least int64) int64 {
	return max(least, int64(float64(n)*scale+0.5))
}

func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
