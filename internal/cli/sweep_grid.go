package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mrbench/seed"
	"mrbench/seed/sweep"
)

// sweepOptions are the flags of seed --sweep alone.
type sweepOptions struct {
	sweep []string
	runs  int
	save  string
}

// sweepDocs is how many documents a point loads when --docs does not say.
const sweepDocs = 100_000

func (o *sweepOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVar(&o.sweep, "sweep", nil, "measure every combination of `setting=values`; more may follow: "+strings.Join(sweepSettings, ", "))
	completeSettings(c, "sweep", sweepSettings)
	intFlag(c, &o.runs, "runs", 3, 1, 1000, "with --sweep: how often each point is measured")
	f.StringVar(&o.save, "save", "", "with --sweep: append the measurements to this `file` instead of a new one in the data directory")
}

// onlyWithSweep are flags that say nothing without --sweep, withSweep those that say something with it.
var (
	onlyWithSweep = []string{"runs", "save"}
	withSweep     = []string{
		"sweep", "runs", "save", "docs", "seed", "keys", "generator", "template", "from", "format", "select", "columns", "folders",
		"writers", "batch", "ordered", "write-concern", "index",
	}
	sweepSettings = []string{
		sweep.FactorBatch, sweep.FactorWriters, sweep.FactorWriteConcern, sweep.FactorOrdered, sweep.FactorIndex, sweep.FactorPrefill,
	}
)

// checkSweep finds what does not go together, and makes the grid. Settings that are not on it have their flags' values.
func (o *seedOptions) checkSweep(cmd *cobra.Command, args []string) (sweep.Grid, error) {
	var g sweep.Grid
	var stray string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if cmd.LocalNonPersistentFlags().Lookup(f.Name) != nil && !slices.Contains(withSweep, f.Name) || f.Name == "ns" {
			stray = f.Name
		}
	})
	switch {
	case stray == "ns":
		return g, usageError("--sweep makes collections of its own: --ns has no part in it")
	case stray != "":
		return g, usageError("--%s has no part in --sweep", stray)
	}
	for _, word := range append(slices.Clone(o.sweep), args...) {
		name, values, ok := strings.Cut(word, "=")
		switch {
		case ok && slices.Contains(sweepSettings, name):
			if err := addToGrid(&g, name, values); err != nil {
				return g, usageError("--sweep %s: %w", word, err)
			}
		case len(o.from) > 0 && slices.Contains(args, word):
			o.from = append(o.from, word)
		default:
			if ok {
				return g, usageError("--sweep %s: %q is no setting; settings are %s", word, name, strings.Join(sweepSettings, ", "))
			}
			return g, usageError("--sweep: %q is not of the form setting=values; settings are %s", word, strings.Join(sweepSettings, ", "))
		}
	}
	if err := o.check(cmd, nil); err != nil {
		return g, err
	}
	if o.docs == seedDefaults.docs && !cmd.Flags().Changed("docs") {
		o.docs = sweepDocs
	}
	fill(&g.Batch, o.batch)
	fill(&g.Writers, o.writers)
	fill(&g.WriteConcern, o.writeConcern)
	fill(&g.Ordered, o.ordered)
	fill(&g.Index, seed.IndexMoment(o.index))
	fill(&g.Prefill, 0)
	if len(o.from) > 0 && slices.Max(g.Prefill) > 0 {
		return g, usageError("--sweep prefill: the same files can't be loaded twice into a collection; use a --generator")
	}
	return g, nil
}

func fill[T any](list *[]T, def T) {
	if *list == nil {
		*list = []T{def}
	}
}

func addToGrid(g *sweep.Grid, name, values string) error {
	whole := func(least, most int64) func(string) (int64, error) {
		return func(s string) (int64, error) {
			n, err := parseCount(s)
			if err == nil && (n < least || n > most) {
				err = fmt.Errorf("it is from %d to %d", least, most)
			}
			return n, err
		}
	}
	switch name {
	case sweep.FactorBatch:
		return gridValues(&g.Batch, values, whole(1, 100_000), func(n int64) int { return int(n) })
	case sweep.FactorWriters:
		return gridValues(&g.Writers, values, whole(1, 1000), func(n int64) int { return int(n) })
	case sweep.FactorPrefill:
		return gridValues(&g.Prefill, values, whole(0, 1e15), func(n int64) int64 { return n })
	case sweep.FactorWriteConcern: // the comma is taken: majority+j
		return gridValues(&g.WriteConcern, values, func(s string) (string, error) { return parseConcern(strings.ReplaceAll(s, "+", ",")) }, same)
	case sweep.FactorOrdered:
		return gridValues(&g.Ordered, values, func(s string) (bool, error) {
			b, err := strconv.ParseBool(s)
			if err != nil {
				err = errors.New("it is true or false")
			}
			return b, err
		}, func(b bool) bool { return b })
	default:
		moments := []seed.IndexMoment{seed.IndexBefore, seed.IndexAfter, seed.IndexNone}
		return gridValues(&g.Index, values, func(s string) (seed.IndexMoment, error) {
			if !slices.Contains(moments, seed.IndexMoment(s)) {
				return "", errors.New("it is before, after or none")
			}
			return seed.IndexMoment(s), nil
		}, func(m seed.IndexMoment) seed.IndexMoment { return m })
	}
}

// gridValues reads a list of different values.
func gridValues[P any, T comparable](list *[]T, text string, parse func(string) (P, error), as func(P) T) error {
	if *list != nil {
		return errors.New("the setting is given twice")
	}
	for word := range strings.SplitSeq(text, ",") {
		p, err := parse(strings.TrimSpace(word))
		if err != nil {
			return fmt.Errorf("%q: %w", word, err)
		}
		v := as(p)
		if slices.Contains(*list, v) {
			return fmt.Errorf("%q is listed twice", word)
		}
		*list = append(*list, v)
	}
	return nil
}
