package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mrbench/internal/bench"
	"mrbench/internal/report"
	"mrbench/splitter"
)

type splitOptions struct {
	ranges   int
	strategy string
	then     []string
	verbose  bool
	save     string
}

var strategies = splitter.Strategies()

func (a *app) newSplit() *cobra.Command {
	var o splitOptions
	c := &cobra.Command{
		Use:   "split [flags]",
		Short: "Shows the ranges a strategy gives, and how even they are",
		Long: `split cuts a collection into ranges of the key and counts the documents of each. Ranges are [from, to).
It proves that they cover the collection: the counts must add up. The key needs an index.

auto tries these strategies in turn and says why it went on: splitVector, the server's own command, which needs
rights that not everyone has; chunks, the bounds of a sharded collection's chunks, if its shard key starts with the key;
bucketAuto, which has the server sort all documents, up to 100,000; sample, quantiles of documents drawn
at random; walk, steps along the index, exact and with no rights beyond reading. docs/ranges.md has the rules.`,
		Example: `  mrbench split --ranges 8
  mrbench split --ranges 16 --strategy walk -o csv
  mrbench split -v                                   # and how many documents have which type of key
  mrbench split --key country --then city            # cut within one country too
  mrbench split --ranges 16 --save ranges.json       # for run --plan on several machines`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.save != "" && len(o.then) > 0 {
				return usageError("--save keeps ranges for run --plan, which has no use for those of --then; leave one of them out")
			}
			if o.save != "" {
				if err := a.checkSavePlan(o.save); err != nil {
					return err
				}
			}
			return a.runSplit(cmd.Context(), o)
		},
	}
	intFlag(c, &o.ranges, "ranges", 8, 1, 10_000, "how many ranges are wanted; fewer come when there are fewer keys")
	enumFlag(c, &o.strategy, "strategy", splitter.Auto, strategies, "how to find the bounds")
	fieldsFlag(c, &o.then, "then", "further fields of the key's index, by commas: cuts within one value of the key too, which suits jobs that group by all of them")
	c.Flags().StringVar(&o.save, "save", "", "write the list of ranges to this new `file`, for run --plan")
	c.Flags().BoolVarP(&o.verbose, "verbose", "v", false, "count the documents by BSON type of the key too, and show shards, balancer and orphans of a sharded cluster")
	return c
}

// splitResult is what -o json prints.
type splitResult struct {
	Dataset bench.Dataset `json:"dataset"`
	Wanted  int           `json:"wanted"`
	*bench.Split
	Then      []string         `json:"then,omitempty"`
	Index     string           `json:"index"`
	Fewer     string           `json:"fewer,omitempty"`
	Types     []string         `json:"types"`
	Histogram *histogramResult `json:"histogram,omitempty"`
	Cluster   *clusterView     `json:"cluster,omitempty"`

	next string
}

func (a *app) runSplit(ctx context.Context, o splitOptions) (err error) {
	t, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer finish(&err, t)
	rep, err := a.splitAgain(ctx, t, splitter.Config{
		Collection: t.Client.Database(a.common.ns.DB).Collection(a.common.ns.Coll),
		Key:        a.common.key, Then: o.then, Ranges: o.ranges, Strategy: o.strategy, Predicate: t.Predicate, Histogram: o.verbose,
	})
	if err != nil {
		return a.explain(err, t)
	}
	if o.save != "" {
		if err := a.savePlan(o.save, t, rep); err != nil {
			return err
		}
	}
	r := splitResult{
		Dataset: bench.Dataset{NS: a.common.ns.String(), Documents: rep.Total, Key: a.common.key},
		Wanted:  o.ranges, Split: benchSplit(rep), Then: o.then, Index: rep.Index, Fewer: rep.Fewer, Types: rep.Types,
		Histogram: newHistogram(rep), next: rep.Next,
	}
	tables := []*report.Table{splitTable(r)}
	if r.Histogram != nil {
		tables = append(tables, r.Histogram.table(a.common.key))
	}
	if o.verbose {
		if r.Cluster, err = a.viewCluster(ctx, t, rep.Total); err != nil {
			return a.explain(err, t)
		}
		if r.Cluster != nil {
			tables = append(tables, r.Cluster.table())
		}
	}
	return a.print(r, tables...)
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
		s.Pieces = append(s.Pieces, bench.Piece{From: from, To: to, Documents: p.Documents, Shard: p.Shard})
	}
	if r.Sharding != nil {
		s.Notes = r.Sharding.Notes
	}
	return s
}

// bounds shows both ends of a range.
func bounds(r splitter.Range) (from, to string) { return r.From(), r.To() }

func splitTable(r splitResult) *report.Table {
	keys := strings.Join(append([]string{r.Dataset.Key}, r.Then...), ", ")
	t := &report.Table{
		Title: fmt.Sprintf("%s in ranges of %s", r.Dataset.NS, keys),
		Columns: []report.Column{
			{Title: "#", Name: "range"}, {Title: "from"}, {Title: "to"}, {Title: "documents"}, {Title: "share"},
		},
	}
	sharded := slices.ContainsFunc(r.Pieces, func(p bench.Piece) bool { return p.Shard != "" })
	if sharded {
		t.Columns = append(t.Columns, report.Column{Title: "shard", Left: true, Max: 24})
	}
	short := shortBounds(r.Pieces)
	for i, p := range r.Pieces {
		share := 0.0
		if r.Documents > 0 {
			share = float64(p.Documents) / float64(r.Documents)
		}
		line := []report.Cell{report.Int(int64(i + 1)), {Text: short[p.From], Raw: p.From}, {Text: short[p.To], Raw: p.To}, report.Int(p.Documents), report.Percent(share, 1)}
		if sharded {
			line = append(line, report.Str(shardName(p.Shard)))
		}
		t.Add(line...)
	}
	t.Notes = append(t.Notes, proof(r.Split))
	if r.Fewer != "" {
		t.Notes = append(t.Notes, fmt.Sprintf("%d ranges were wanted: %s", r.Wanted, r.Fewer))
	}
	t.Notes = append(t.Notes, found(r.Split)...)
	if len(r.Types) > 1 && r.Histogram == nil {
		t.Notes = append(t.Notes, fmt.Sprintf("%s holds %s", r.Dataset.Key, strings.Join(r.Types, ", ")))
	}
	switch {
	case len(r.Then) > 0:
		t.Notes = append(t.Notes, fmt.Sprintf("documents with one %s can be in several ranges: these suit jobs that group by %s",
			r.Dataset.Key, keys))
	case r.Imbalance > heavy && r.next != "":
		t.Notes = append(t.Notes, fmt.Sprintf("single values of %s are heavy; --then %s cuts within them along index %s, for jobs that group by both", r.Dataset.Key, r.next, r.Index))
	}
	return t
}

// heavy is the imbalance from which on cutting within a value of the key is suggested.
const heavy = 1.5

// proof says that the ranges hold the whole collection.
func proof(s *bench.Split) string {
	held := held(s)
	word := "ranges hold"
	if len(s.Pieces) == 1 {
		word = "range holds"
	}
	if p := s.Plan; p.Partial() {
		return fmt.Sprintf("ranges %d to %d of the %d of list %s hold %s documents; the largest is %.2f times the mean; the others are not looked at",
			p.From, p.To, p.Ranges, p.ID, report.Thousands(held), s.Imbalance)
	}
	return fmt.Sprintf("proof: %d %s %s of %s documents; the largest is %.2f times the mean", len(s.Pieces), word,
		report.Thousands(held), report.Thousands(s.Documents), s.Imbalance)
}

func held(s *bench.Split) (documents int64) {
	for _, p := range s.Pieces {
		documents += p.Documents
	}
	return documents
}

// timeText is a time for a sentence.
func timeText(seconds float64) string {
	if seconds < 1 {
		return fmt.Sprintf("%.0f ms", seconds*1000)
	}
	return fmt.Sprintf("%.1f s", seconds)
}

// found says how the bounds were found, and why not otherwise.
func found(s *bench.Split) []string {
	if s.Plan != nil {
		return []string{fmt.Sprintf("the ranges are those of list %s, cut by %s; counting them took %s", s.Plan.ID, s.Strategy, timeText(s.CountSeconds))}
	}
	notes := []string{fmt.Sprintf("%s gave %s split keys in %s, the proof took %s", s.Strategy, report.Thousands(int64(s.SplitKeys)), timeText(s.Seconds), timeText(s.CountSeconds))}
	notes = append(notes, s.Notes...)
	for _, k := range s.Skipped {
		notes = append(notes, fmt.Sprintf("%s was skipped: %s", k.Strategy, k.Reason))
	}
	return notes
}
