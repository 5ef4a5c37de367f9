package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mrbench/internal/report"
	"mrbench/seed"
	"mrbench/seed/source"
)

// sourceOptions are the flags of seed that say where documents come from.
type sourceOptions struct {
	from        []string
	format      string
	selected    string
	columns     string
	skipBad     string
	folders     string
	countOnly   bool
	plan        int
	generator   string
	template    string
	emit        string
	onDuplicate string
	add         bool
	resume      bool
	retries     int
	verbose     bool
	politeOptions
	overwrite bool
}

const uniquesName = "uniques"

func (o *sourceOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVar(&o.from, "from", nil, "load `files`: a name, a folder, a pattern, or - for standard input; more may follow")
	var formats []string
	for _, x := range source.Formats() {
		formats = append(formats, string(x))
	}
	f.StringVar(&o.selected, "select", "", "load the elements of this array `field` in each document of the files")
	enumFlag(c, &o.format, "format", "", formats, "how to read the files, when names and content do not tell")
	f.StringVar(&o.columns, "columns", "", "`header` of csv and tsv files without one: name,age.int32(),born.date(2006-01-02)")
	f.StringVar(&o.skipBad, "skip-bad", "", "write broken records to this `file` and go on; otherwise the first one stops")
	f.StringVar(&o.folders, "folders", "", "take the top-level folders `from:to` only, counted from 0, to not included")
	f.BoolVar(&o.countOnly, "count-only", false, "count the files' records, per folder, and load nothing")
	intFlag(c, &o.plan, "plan", 0, 1, 100_000, "print so many folder ranges with equal numbers of records, and load nothing")
	enumFlag(c, &o.generator, "generator", uniquesName, seed.GeneratorNames(), "what to make")
	f.StringVar(&o.template, "template", "", "JSON `file` that says what the template generator makes")
	f.StringVar(&o.emit, "emit", "", "load nothing and write the generator's documents: ndjson, json or bson to standard output, or a `file` such as people.ndjson.gz")
	enumFlag(c, &o.onDuplicate, "on-duplicate", string(seed.DuplicateStop), []string{string(seed.DuplicateStop), string(seed.DuplicateSkip)}, "when a key is there already")
	f.BoolVar(&o.add, "append", false, "add to a collection that holds documents")
}

// changed returns what says which of some flags was given, "" none.
func changed(cmd *cobra.Command) func(names ...string) string {
	return func(names ...string) string {
		for _, n := range names {
			if cmd.Flags().Changed(n) {
				return n
			}
		}
		return ""
	}
}

// check finds what does not go together. It sets what follows from the rest.
func (o *seedOptions) check(cmd *cobra.Command, args []string) error {
	set := changed(cmd)
	if len(o.from) > 0 {
		o.from = append(o.from, args...)
		none := []string{"generator", "template", "emit", "docs", "seed", "keys"}
		if len(o.sweep) > 0 { // takes the first documents, and points in a random order
			none = []string{"generator", "template", "keys"}
		}
		if n := set(none...); n != "" {
			return usageError("--from loads files: --%s has no part in it", n)
		}
	} else {
		if err := noArgs(cmd, args); err != nil {
			return err
		}
		if n := set("format", "select", "columns", "skip-bad", "folders", "count-only", "plan"); n != "" && !o.resume {
			return usageError("--%s is for files: name them with --from", n)
		}
	}
	if err := o.checkResume(set); err != nil {
		return err
	}
	if o.emit != "" || set("emit") != "" {
		if _, err := parseEmit(o.emit); err != nil {
			return err
		}
		if n := set("writers", "batch", "ordered", "write-concern", "index", "drop", "append", "on-duplicate", "retries", "verbose"); n != "" {
			return usageError("--emit writes documents and loads nothing: --%s has no part in it", n)
		}
	}
	if o.countOnly || o.plan > 0 {
		if n := set("writers", "batch", "ordered", "write-concern", "index", "drop", "append", "on-duplicate", "retries", "verbose"); n != "" {
			return usageError("--count-only and --plan load nothing: --%s has no part in it", n)
		}
	}
	if o.overwrite && o.emit == "" && o.skipBad == "" {
		return usageError("--overwrite is for the files of --emit and --skip-bad")
	}
	if o.add && o.drop {
		return usageError("--append and --drop exclude each other")
	}
	if o.ordered && o.onDuplicate == string(seed.DuplicateSkip) {
		return usageError("--ordered stops at a duplicate key: leave it out to skip them")
	}
	if o.template != "" {
		if set("generator") != "" && o.generator != "template" {
			return usageError("--template is for --generator template, not %s", o.generator)
		}
		o.generator = "template"
	} else if o.generator == "template" {
		return usageError("--generator template needs a --template file")
	}
	if (len(o.from) > 0 || o.generator != uniquesName) && set("index") == "" {
		o.index = string(seed.IndexNone) // the key is a field of uniques
	}
	return nil
}

// sourceConfig is nil when no files are named.
func (a *app) sourceConfig(o seedOptions) (*source.Config, error) {
	if len(o.from) == 0 {
		return nil, nil
	}
	c := &source.Config{Stdin: a.env.Stdin, Format: source.Format(o.format), Select: o.selected, Columns: o.columns}
	for _, p := range o.from {
		if p != "-" {
			p = a.env.path(p)
		}
		c.Paths = append(c.Paths, p)
	}
	if i := slices.Index(o.from, "-"); i >= 0 && slices.Contains(o.from[i+1:], "-") {
		return nil, usageError("--from -: standard input can be read once only")
	}
	if o.folders != "" {
		from, to, ok := strings.Cut(o.folders, ":")
		var err1, err2 error
		if from != "" {
			c.From, err1 = strconv.Atoi(from)
		}
		if to != "" {
			c.To, err2 = strconv.Atoi(to)
		}
		if !ok || err1 != nil || err2 != nil || c.From < 0 || c.To < 0 || (to != "" && c.To <= c.From) {
			return nil, usageError("--folders %q: it is a range such as 0:10, 5: or :5, counted from 0", o.folders)
		}
	}
	return c, nil
}

func (a *app) generatorOf(o seedOptions) (seed.Generator, error) {
	p := seed.Params{Seed: o.seed, Field: a.common.key, Documents: o.docs, Keys: o.keys}
	if o.template != "" {
		b, err := os.ReadFile(a.env.path(o.template))
		if err != nil {
			return nil, usageError("--template: %w", err)
		}
		p.Template = b
	}
	g, err := seed.ByName(o.generator, p)
	if err != nil && o.template != "" {
		return nil, usageError("%s: %w", o.template, err)
	}
	return g, err
}

type countResult struct {
	Folders []source.FolderCount `json:"folders"`
	Plan    []source.Range       `json:"plan,omitempty"`
	Records int64                `json:"records"`
	Broken  int64                `json:"broken"` // files whose rest could not be read
}

// closer is a function that closes something.
type closer func() error

func (c closer) Close() error { return c() }

// countFiles counts the files' records and plans ranges of folders.
func (a *app) countFiles(ctx context.Context, o seedOptions) (reterr error) {
	c, err := a.sourceConfig(o)
	if err != nil {
		return err
	}
	if o.skipBad != "" {
		bad, err := openRejects(a.env.path(o.skipBad), false, o.overwrite)
		if err != nil {
			return err
		}
		defer finish(&reterr, closer(bad.close))
		c.Bad = bad.take
	}
	last := a.env.Now()
	r := &countResult{}
	r.Folders, err = source.Count(ctx, *c, func(f source.FolderCount) {
		if now := a.env.Now(); now.Sub(last) >= plainEvery {
			last = now
			a.tell("%s records up to folder %s", report.Thousands(f.Running), f.Folder)
		}
	})
	if err != nil {
		return a.explainFill(err, o, nil)
	}
	if n := len(r.Folders); n > 0 {
		r.Records = r.Folders[n-1].Running
	}
	for _, f := range r.Folders {
		r.Broken += f.Broken
	}
	t := &report.Table{Title: fmt.Sprintf("%s records in %s", report.Thousands(r.Records), plural(len(r.Folders), "folder"))}
	if r.Broken > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("the rest of %s could not be read: see %s", plural(int(r.Broken), "file"), o.skipBad))
	}
	if o.plan == 0 {
		t.Columns = []report.Column{{Title: "folder", Left: true}, {Title: "files"}, {Title: "records"}, {Title: "running"}, {Title: "text", Name: "bytes"}}
		for _, f := range r.Folders {
			t.Add(report.Cell{Text: f.Folder}, report.Int(int64(f.Files)), report.Int(f.Records), report.Int(f.Running), report.Bytes(f.Bytes))
		}
		return a.print(r, t)
	}
	if r.Plan, err = source.Plan(r.Folders, o.plan); err != nil {
		return usageError("--plan: %s", strings.TrimPrefix(err.Error(), "source: "))
	}
	t.Columns = []report.Column{{Title: "flag", Left: true}, {Title: "first folder", Left: true}, {Title: "records"}}
	for i := range r.Plan {
		p := &r.Plan[i]
		name := r.Folders[p.From].Folder
		p.From, p.To = p.From+c.From, p.To+c.From
		t.Add(report.Cell{Text: fmt.Sprintf("--folders %d:%d", p.From, p.To)}, report.Cell{Text: name}, report.Int(p.Records))
	}
	return a.print(r, t)
}
