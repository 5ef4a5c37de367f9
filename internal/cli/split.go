package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mrbench/internal/bench"
	"mrbench/internal/report"
	"mrbench/splitter"
)

type splitOptions struct {
	ranges   int
	strategy string
}

var strategies = []string{splitter.Auto, splitter.SplitVector, splitter.Walk}

func (a *app) newSplit() *cobra.Command {
	var o splitOptions
	c := &cobra.Command{
		Use:   "split [flags]",
		Short: "Shows the ranges a strategy gives, and how even they are",
		Long: `split cuts a collection into ranges of the key and counts the documents of each. Ranges are [from, to).
It proves that they cover the collection: the counts must add up. The key needs an index.

auto tries splitVector, which needs rights that not everyone has, then walk, which reads the index.`,
		Example: `  mrbench split --ranges 8
  mrbench split --ranges 16 --strategy walk -o csv`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.runSplit(cmd.Context(), o) },
	}
	intFlag(c, &o.ranges, "ranges", 8, 1, 10_000, "how many ranges are wanted; fewer come when there are fewer keys")
	enumFlag(c, &o.strategy, "strategy", splitter.Auto, strategies, "how to find the bounds")
	return c
}

// splitResult is what -o json prints.
type splitResult struct {
	Dataset bench.Dataset `json:"dataset"`
	Wanted  int           `json:"wanted"`
	*bench.Split
	Types []string `json:"types"`
}

func (a *app) runSplit(ctx context.Context, o splitOptions) (err error) {
	t, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer finish(&err, t)
	rep, err := splitter.Split(ctx, splitter.Config{
		Collection: t.Client.Database(a.common.ns.DB).Collection(a.common.ns.Coll),
		Key:        a.common.key, Ranges: o.ranges, Strategy: o.strategy, Predicate: t.Predicate,
	})
	if err != nil {
		return a.explain(err, t)
	}
	r := splitResult{
		Dataset: bench.Dataset{NS: a.common.ns.String(), Documents: rep.Total, Key: a.common.key},
		Wanted:  o.ranges, Split: benchSplit(rep), Types: rep.Types,
	}
	return a.print(r, splitTable(r))
}

func benchSplit(r *splitter.Report) *bench.Split {
	s := &bench.Split{
		Strategy: r.Strategy, SplitKeys: r.SplitKeys, Seconds: r.Seconds, CountSeconds: r.CountSeconds,
		Imbalance: r.Imbalance, Documents: r.Total,
	}
	for _, k := range r.Skipped {
		s.Skipped = append(s.Skipped, bench.Skip{Strategy: k.Strategy, Reason: k.Reason})
	}
	for _, p := range r.Pieces {
		from, to := bounds(p.Range)
		s.Pieces = append(s.Pieces, bench.Piece{From: from, To: to, Documents: p.Documents})
	}
	return s
}

// bounds shows both ends of a range.
func bounds(r splitter.Range) (from, to string) {
	from, to = "MinKey", "MaxKey"
	if r.Lo.Type != 0 {
		from = splitter.Text(r.Lo)
	}
	if r.Hi.Type != 0 {
		to = splitter.Text(r.Hi)
	}
	return from, to
}

// maxBound is how much of a bound tables show.
const maxBound = 28

func splitTable(r splitResult) *report.Table {
	t := &report.Table{
		Title: fmt.Sprintf("%s in ranges of %s", r.Dataset.NS, r.Dataset.Key),
		Columns: []report.Column{
			{Title: "#", Name: "range"}, {Title: "from", Max: maxBound}, {Title: "to", Max: maxBound}, {Title: "documents"}, {Title: "share"},
		},
	}
	var held int64
	for i, p := range r.Pieces {
		share := 0.0
		if r.Documents > 0 {
			share = float64(p.Documents) / float64(r.Documents)
		}
		t.Add(report.Int(int64(i+1)), report.Str(p.From), report.Str(p.To), report.Int(p.Documents), report.Percent(share, 1))
		held += p.Documents
	}
	t.Notes = append(t.Notes, proof(r.Split))
	if n := len(r.Pieces); n < r.Wanted {
		t.Notes = append(t.Notes, fmt.Sprintf("%d ranges were wanted; the key has too few different values for more than %d", r.Wanted, n))
	}
	t.Notes = append(t.Notes, found(r.Split))
	if len(r.Types) > 1 {
		t.Notes = append(t.Notes, fmt.Sprintf("%s holds %s", r.Dataset.Key, strings.Join(r.Types, ", ")))
	}
	return t
}

// proof says that the pieces hold the whole collection.
func proof(s *bench.Split) string {
	var held int64
	for _, p := range s.Pieces {
		held += p.Documents
	}
	word := "pieces hold"
	if len(s.Pieces) == 1 {
		word = "piece holds"
	}
	return fmt.Sprintf("%d %s %s of %s documents; the largest is %.2f times the mean", len(s.Pieces), word,
		report.Thousands(held), report.Thousands(s.Documents), s.Imbalance)
}

// found says how the bounds were found, and why not otherwise.
func found(s *bench.Split) string {
	text := fmt.Sprintf("%s gave %s split keys in %.1f s, the proof took %.1f s", s.Strategy, report.Thousands(int64(s.SplitKeys)), s.Seconds, s.CountSeconds)
	for _, k := range s.Skipped {
		text += fmt.Sprintf("; %s was skipped: %s", k.Strategy, k.Reason)
	}
	return text
}
