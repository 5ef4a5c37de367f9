package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/bson"

	"mrbench/aggregate"
	"mrbench/internal/bench"
	"mrbench/internal/report"
	"mrbench/internal/target"
	"mrbench/splitter"
)

// planOptions are the flags of run by which several machines share ranges.
type planOptions struct {
	plan string
	take takeRange

	list *splitter.List // what the file plan holds; nil: ranges are cut for this run
}

// takeRange is a part of a list of ranges, from and to counted from 1 and both in it; zero is all of it.
type takeRange struct{ from, to int }

func (t takeRange) String() string {
	if t == (takeRange{}) {
		return ""
	}
	return fmt.Sprintf("%d:%d", t.from, t.to)
}

func (o *planOptions) flags(c *cobra.Command) {
	c.Flags().StringVar(&o.plan, "plan", "", "use the ranges in this `file` of split --save instead of cutting; --ns and --key are the file's")
	c.Flags().Var(&value[takeRange]{&o.take, "from:to", parseTake, takeRange.String}, "take",
		"run only these ranges of --plan, counted from 1, both ends included: one machine's part of the work")
}

func parseTake(s string) (t takeRange, err error) {
	if s == "" {
		return t, nil
	}
	bad := errors.New("it is a part of the list such as 1:8, counted from 1, both ends included")
	from, to, ok := strings.Cut(s, ":")
	if !ok {
		to = from
	}
	if t.from, err = strconv.Atoi(from); err != nil {
		return t, bad
	}
	if t.to, err = strconv.Atoi(to); err != nil || t.from < 1 || t.to < t.from {
		return t, bad
	}
	return t, nil
}

// check refuses flags that contradict a plan.
func (o planOptions) check(cmd *cobra.Command) error {
	if o.plan == "" {
		if o.take != (takeRange{}) {
			return usageError("--take takes a part of the ranges in a file: name it with --plan; mrbench split --save makes one")
		}
		return nil
	}
	for _, name := range []string{"ranges", "strategy", "docs", "create-index"} {
		if cmd.Flags().Changed(name) {
			return usageError("--plan has the ranges of a collection that is there: leave --%s out", name)
		}
	}
	return nil
}

// readPlan reads the list and takes namespace and key from it, unless they are set.
func (a *app) readPlan(cmd *cobra.Command, o *planOptions) error {
	if o.plan == "" {
		return nil
	}
	f, err := os.Open(a.env.path(o.plan))
	if err != nil {
		return usageError("--plan: %w", err)
	}
	defer f.Close()
	l, err := splitter.ReadList(f)
	if err != nil {
		return usageError("--plan %s: %w", o.plan, err)
	}
	ns, err := target.ParseNamespace(l.NS)
	if err == nil {
		_, err = parseKey(l.Key)
	}
	if err != nil {
		return usageError("--plan %s: %w", o.plan, err)
	}
	if o.take.to > len(l.Pieces) {
		return usageError("--take %s: %s holds %s", o.take, o.plan, plural(len(l.Pieces), "range"))
	}
	o.list = l
	for _, f := range []struct{ name, value string }{{"ns", ns.String()}, {"key", l.Key}} {
		if cmd.Flags().Changed(f.name) {
			continue
		}
		if err := cmd.Flags().Set(f.name, f.value); err != nil { // as if it was given, so that a job's own gives way
			return usageError("--plan %s: %w", o.plan, err)
		}
	}
	return nil
}

// fits says that the list is of the collection and key that are run.
func (o planOptions) fits(a *app) error {
	switch l := o.list; {
	case l == nil:
	case l.NS != a.common.ns.String():
		return usageError("--plan %s holds ranges of %s, and the run is on %s: cut that with mrbench split --save", o.plan, l.NS, a.common.ns)
	case l.Key != a.common.key:
		return usageError("--plan %s holds ranges of the key %s, and the run is by %s: cut by that with mrbench split --save", o.plan, l.Key, a.common.key)
	}
	return nil
}

// taken are the indexes [from, to) of the list's ranges that are run.
func (o planOptions) taken() (from, to int) {
	if o.take == (takeRange{}) {
		return 0, len(o.list.Pieces)
	}
	return o.take.from - 1, o.take.to
}

// partial says that other machines run the other ranges.
func (o planOptions) partial() bool {
	if o.list == nil {
		return false
	}
	from, to := o.taken()
	return to-from < len(o.list.Pieces)
}

// inRanges refuses rows that read everything where only some ranges are to be run, and a plan that no row uses.
func (o planOptions) inRanges(variants []variant) error {
	var whole []string
	for _, v := range variants {
		if !v.ranges {
			whole = append(whole, v.id)
		}
	}
	var rows []string
	for _, v := range ladder {
		if v.ranges {
			rows = append(rows, v.id)
		}
	}
	switch {
	case o.take != (takeRange{}) && len(whole) > 0:
		return usageError("--take runs some of the ranges, and %s would read the whole collection: name rows in ranges with --rows (%s)", strings.Join(whole, ", "), strings.Join(rows, ", "))
	case o.plan != "" && len(whole) == len(variants):
		return usageError("--plan has ranges and none of the rows is run in ranges: name some with --rows (%s)", strings.Join(rows, ", "))
	}
	return nil
}

// provePlan counts the ranges of the list again. All together have to hold the collection; a part of them is only counted.
func (m *measurement) provePlan(ctx context.Context) error {
	o := m.o.planOptions
	from, to := o.taken()
	pieces := o.list.Pieces[from:to]
	rep, err := splitter.Prove(ctx, splitter.Config{Collection: m.coll, Key: o.list.Key, Predicate: m.t.Predicate}, o.list.Ranges()[from:to], !o.partial())
	if err != nil {
		return err
	}
	rep.Strategy = o.list.Strategy
	m.ranges, m.types = rep.Ranges(), unionOf(rep.Types, o.list.Types)
	m.owners = rep.Owners()
	m.result.Split = benchSplit(rep)
	m.result.Split.Plan = &bench.SplitPlan{ID: o.list.ID(), Ranges: len(o.list.Pieces), From: from + 1, To: to}
	held, planned := held(m.result.Split), int64(0)
	for _, p := range pieces {
		planned += p.Documents
	}
	m.result.Dataset.Documents = held
	m.app.tell("%s", proof(m.result.Split))
	if held != planned {
		m.warn("the ranges hold %s documents now and held %s when the list was made, %s: the collection has changed", report.Thousands(held), report.Thousands(planned), o.list.Created.Local().Format("2006-01-02 15:04"))
	}
	return nil
}

// onlyTaken leaves out of a pipeline what lies outside the ranges that are run.
func (m *measurement) onlyTaken(c aggregate.Config) aggregate.Config {
	if m.o.partial() {
		c.Pipeline = append([]bson.D{{{Key: "$match", Value: splitter.Span(m.ranges).Filter(m.t.Predicate)}}}, c.Pipeline...)
	}
	return c
}

func unionOf(a, b []string) []string {
	out := slices.Clone(a)
	for _, x := range b {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// checkSavePlan refuses, before anything is asked of a server, a file that a list can't be written to. One that is there already is left
// alone: other machines may be at work on its ranges.
func (a *app) checkSavePlan(path string) error {
	full := a.env.path(path)
	if _, err := os.Lstat(full); err == nil {
		return usageError("--save %s: the file is there already; name another one, or remove it when no run uses its ranges any more", path)
	}
	if st, err := os.Stat(filepath.Dir(full)); err != nil {
		return usageError("--save: %w", err)
	} else if !st.IsDir() {
		return usageError("--save %s: %s is no directory", path, filepath.Dir(path))
	}
	return nil
}

// savePlan writes the list of ranges, whole or not at all.
func (a *app) savePlan(path string, t *target.Target, rep *splitter.Report) error {
	l := &splitter.List{
		NS: a.common.ns.String(), Key: a.common.key, Documents: rep.Total, Strategy: rep.Strategy, Types: rep.Types,
		Server: t.Identity, Created: a.env.Now().UTC(), Pieces: rep.Pieces,
	}
	path = a.env.path(path)
	var b bytes.Buffer
	err := l.Write(&b)
	if err == nil {
		err = replaceFile(path, b.Bytes())
	}
	if err != nil {
		return fmt.Errorf("--save: %w", err)
	}
	a.tell("saved as %s; on each machine: mrbench run --plan %s --take from:to", path, filepath.Base(path))
	return nil
}
