package cli

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mrbench/internal/bench"
	"mrbench/internal/report"
)

type compareOptions struct {
	failIfSlower *float64 // share of one; nil for never
}

func (a *app) newCompare() *cobra.Command {
	var o compareOptions
	c := &cobra.Command{
		Use:   "compare [flags] [RESULT...]",
		Short: "Shows saved results side by side, and which differences are real",
		Long: `compare sets results side by side, row by row: without arguments the last two in the data directory
with a finished row, with one argument that one and the latest, otherwise all that are named, each
beside the first. A RESULT is a file that run saved, a run's id or its first characters, or latest;
latest~1 is the one before, FILE~1 the last run of a file but one. Of a file that holds runs on
several data sets each is compared with the same data set's of the others.

The change is the middle of all ratios of a new run's time to an old one's, with its 95 % interval.
~ means that the Mann-Whitney test shows no difference (p is 0.05 or more). It takes 4 runs on each side to show
any difference, and 6 for intervals of the medians. Warnings say when data, servers or machines
are not the same.

--fail-if-slower ends with code 6 when a row is slower by more than that and the test shows it.`,
		Example: `  mrbench compare
  mrbench compare latest~2 latest~1 latest
  mrbench compare before.ndjson after.ndjson -o markdown
  mrbench compare main.ndjson --fail-if-slower 10%
  mrbench compare before.ndjson after.ndjson -o gobench | benchstat -col result -`,
		Args: cobra.ArbitraryArgs,
		Annotations: map[string]string{exitAnnotation: `  0  done
  1  failed, or there is no row to compare
  2  wrong flag, argument or setting
  6  a row is slower than --fail-if-slower allows, and the difference is shown`},
		RunE: func(_ *cobra.Command, args []string) error { return a.runCompare(args, o) },
	}
	c.Flags().Var(&value[*float64]{&o.failIfSlower, "percent", parsePercent, showPercent}, "fail-if-slower",
		"exit with 6 when a row is shown to be slower by more than this, such as 10%")
	return c
}

func parsePercent(s string) (*float64, error) {
	x, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(s, "%")), 64)
	if err != nil || !(x >= 0) || x > 1e6 || strings.ContainsAny(s, "xXpP") {
		return nil, errors.New("it is a percentage such as 10%")
	}
	x /= 100
	return &x, nil
}

func showPercent(x *float64) string {
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x*100, 'g', 6, 64) + "%"
}

func (a *app) runCompare(args []string, o compareOptions) error {
	switch len(args) {
	case 0:
		args = []string{latest + "~1", latest}
	case 1:
		args = []string{args[0], latest}
	}
	picks, err := a.pick(args)
	if err != nil {
		return err
	}
	c := compareResults(picks)
	end := c.verdict(o.failIfSlower)
	var tables []*report.Table
	for i := range c.Sets {
		tables = append(tables, c.table(&c.Sets[i]))
	}
	notes := &tables[len(tables)-1].Notes
	*notes = append(*notes, c.notes()...)
	for _, w := range c.Unproved {
		*notes = append(*notes, "warning: "+w)
		if a.common.output != formatTable && a.common.output != formatMarkdown {
			a.tell("warning: %s", w)
		}
	}
	if err := a.printAs(c, c.csv(), tables...); err != nil {
		return err
	}
	return end
}

// comparison is what -o json prints.
type comparison struct {
	Results  []comparedResult `json:"results"`
	Sets     []comparedSet    `json:"sets"` // one for each data set
	Warnings []string         `json:"warnings"`
	// Slower are the rows that --fail-if-slower does not allow, Unproved those that seem slower than it but may not be.
	Slower   []string `json:"slower,omitempty"`
	Unproved []string `json:"unproved,omitempty"`
}

// comparedResult is a column of the comparison.
type comparedResult struct {
	Name     string `json:"name"` // a, b, c; old and new when there are two
	File     string `json:"file"`
	RunID    string `json:"run_id"`
	Started  string `json:"started"`
	Runs     int    `json:"runs"` // of the row with most
	ExitCode int    `json:"exit_code"`
}

// comparedSet is the rows measured on one data set.
type comparedSet struct {
	Dataset bench.Dataset `json:"dataset"` // of the first result
	Rows    []comparedRow `json:"rows"`
	// Mean is the geometric mean of the ratios to the first result, over the Shared rows that all results have; null for
	// the first result.
	Mean   []*float64 `json:"geometric_mean"`
	Shared int        `json:"shared_rows"`

	results []*bench.Result // one for each column; nil where a result has no such data set
}

type comparedRow struct {
	ID    string         `json:"id"`
	Label string         `json:"label"`
	Sides []comparedSide `json:"sides"` // one for each result
}

// comparedSide is a row in one result.
type comparedSide struct {
	Seconds *bench.Seconds `json:"seconds"` // null when the result has no time for the row
	Why     string         `json:"why,omitempty"`
	// Versus compares with the first result (a); null for the first, and where either has no time.
	Versus *bench.Versus `json:"versus"`
}

func compareResults(picks []picked) comparison {
	c := comparison{Warnings: []string{}}
	for i, p := range picks {
		r := p.result()
		name := string(rune('a' + i%26))
		if i >= 26 {
			name += strconv.Itoa(i / 26)
		}
		if len(picks) == 2 {
			name = []string{"old", "new"}[i]
		}
		c.Results = append(c.Results, comparedResult{name, p.name, r.Context.RunID, r.Context.Started.Local().Format("2006-01-02 15:04:05"), mostRuns(r), r.ExitCode})
	}
	for _, results := range sameData(picks) {
		c.Sets = append(c.Sets, compareSet(results))
	}
	for i := range c.Sets {
		c.warn(&c.Sets[i])
	}
	return c
}

// sameData sorts runs by data set: for each one that several arguments have, the last run of each. When there is no such
// data set, it is the last runs of all, and there will be a warning.
func sameData(picks []picked) (sets [][]*bench.Result) {
	type data struct {
		ns, key   string
		job       string
		documents int64
	}
	index := map[data]int{}
	for i, p := range picks {
		for _, r := range p.runs {
			d := data{r.Dataset.NS, r.Dataset.Key, r.Dataset.Job, r.Dataset.Documents}
			if _, known := index[d]; !known {
				index[d] = len(sets)
				sets = append(sets, make([]*bench.Result, len(picks)))
			}
			sets[index[d]][i] = r
		}
	}
	var shared [][]*bench.Result
	for _, s := range sets {
		if s[0] != nil && count(s, func(r *bench.Result) bool { return r != nil }) > 1 {
			shared = append(shared, s)
		}
	}
	complete := len(shared) > 0
	for i := range picks { // a result that shares nothing must not vanish
		complete = complete && count(shared, func(s []*bench.Result) bool { return s[i] != nil }) > 0
	}
	if complete {
		return shared
	}
	last := make([]*bench.Result, len(picks))
	for i, p := range picks {
		last[i] = p.result()
	}
	return [][]*bench.Result{last}
}

func count[T any](all []T, is func(T) bool) (n int) {
	for _, x := range all {
		if is(x) {
			n++
		}
	}
	return n
}

// compareSet matches rows by id: those of the last result in its order, then those that only earlier ones have.
func compareSet(results []*bench.Result) comparedSet {
	set := comparedSet{results: results, Mean: make([]*float64, len(results))}
	var ids []string
	seen := map[string]bool{}
	for i := len(results) - 1; i >= 0; i-- {
		if results[i] == nil {
			continue
		}
		set.Dataset = results[i].Dataset
		for _, r := range results[i].Rows {
			if !seen[r.ID] {
				seen[r.ID] = true
				ids = append(ids, r.ID)
			}
		}
	}
	logs := make([]float64, len(results))
	for _, id := range ids {
		row := comparedRow{ID: id}
		whole := true
		for i, r := range results {
			side := comparedSide{}
			if n := rowOf(r, id); n == nil {
				side.Why = "not measured"
			} else {
				if n.Label != "" {
					row.Label = n.Label
				}
				side.Seconds = n.Seconds
				if n.Seconds == nil {
					side.Why = notRun(*n)
				} else if i > 0 && row.Sides[0].Seconds != nil {
					side.Versus = bench.CompareTimes(row.Sides[0].Seconds.All, n.Seconds.All)
				}
			}
			whole = whole && side.Seconds != nil
			row.Sides = append(row.Sides, side)
		}
		set.Rows = append(set.Rows, row)
		if whole {
			set.Shared++
			for i := 1; i < len(row.Sides); i++ {
				logs[i] += math.Log(row.Sides[i].Versus.Ratio)
			}
		}
	}
	for i := 1; i < len(results) && set.Shared > 0; i++ {
		mean := math.Exp(logs[i] / float64(set.Shared))
		set.Mean[i] = &mean
	}
	return set
}

func rowOf(r *bench.Result, id string) *bench.Row {
	if r == nil {
		return nil
	}
	for i := range r.Rows {
		if r.Rows[i].ID == id {
			return &r.Rows[i]
		}
	}
	return nil
}

// verdict says how the comparison ends, and which rows seem slower than allowed without being shown to be.
func (c *comparison) verdict(limit *float64) error {
	compared := 0
	for _, set := range c.Sets {
		for _, row := range set.Rows {
			for i, side := range row.Sides {
				v := side.Versus
				if v == nil {
					if limit != nil && i > 0 && row.Sides[0].Seconds != nil {
						c.Unproved = append(c.Unproved, fmt.Sprintf("%s has no time in %s (%s): --fail-if-slower can say nothing about it", row.ID, c.Results[i].Name, side.Why))
					}
					continue
				}
				compared++
				if limit == nil || v.Ratio-1 <= *limit {
					continue
				}
				text := fmt.Sprintf("%s by %s", c.rowName(row.ID, i), report.Percent(v.Ratio-1, 1).Text)
				switch {
				case v.Shown:
					c.Slower = append(c.Slower, fmt.Sprintf("%s (p=%s, n=%s)", text, pText(v.P), nText(v)))
				case !bench.CanShow(v.RunsA, v.RunsB):
					c.Unproved = append(c.Unproved, fmt.Sprintf("slower than allowed: %s, but %s runs can't show any difference: measure both with --runs 6 or more", text, nText(v)))
				default:
					c.Unproved = append(c.Unproved, fmt.Sprintf("slower than allowed: %s, but not shown to be (p=%s, n=%s): measure more runs", text, pText(v.P), nText(v)))
				}
			}
		}
	}
	switch {
	case compared == 0:
		return withCode(exitFailed, "the results have no row in common that was measured in both")
	case len(c.Slower) > 0:
		return withCode(exitSlower, "slower by more than %s: %s", showPercent(limit), strings.Join(c.Slower, ", "))
	}
	return nil
}

func (c *comparison) rowName(id string, column int) string {
	if len(c.Results) == 2 {
		return id
	}
	return fmt.Sprintf("%s in %s", id, c.Results[column].Name)
}

// Gobench writes all times of all results. What tells the columns apart is the key "result".
func (c comparison) Gobench(w io.Writer) error {
	for _, set := range c.Sets {
		for i, r := range set.results {
			if r == nil {
				continue
			}
			if err := r.GobenchAs(w, c.Results[i].Name); err != nil {
				return err
			}
		}
	}
	return nil
}
