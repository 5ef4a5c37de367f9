package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"mrbench/internal/bench"
	"mrbench/internal/report"
	"mrbench/internal/report/page"
)

func (a *app) newReport() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "report [flags] [RESULT]",
		Short: "Renders a saved result as text, Markdown, CSV, JSON, benchmark lines or a page",
		Long: `report renders a result that run saved, from its file alone: no server is asked. RESULT is a file that
run saved, of which the last run is taken, a run's id or its first characters, or latest, which
is the default; latest~1 is the one before. Text and Markdown are what run printed.

-o html writes one page that needs nothing else and loads nothing: times with intervals and single
runs, speed-ups, which thread worked on which range when, throughput and load over time, the
tables, the context, and the command that makes such a result again. It opens offline, prints, and
reads on a phone, light and dark.

With --out the format follows the file's name (.html, .md, .csv, .json, .txt) unless -o says it.`,
		Example: `  mrbench report                            the latest result, as run printed it
  mrbench report --out report.html          a page to attach to a ticket
  mrbench report nightly.ndjson -o markdown
  mrbench report -o csv --out rows.csv`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError("report takes one result; %d given (compare sets several side by side)", len(args))
			}
			return nil
		},
		Annotations: map[string]string{exitAnnotation: `  0  done
  1  failed, or there is no result
  2  wrong flag, argument or setting`},
		RunE: func(cmd *cobra.Command, args []string) error {
			if out != "" && !cmd.Flags().Changed("output") {
				a.common.output = formatOf(out, a.common.output)
			}
			return a.runReport(args, out)
		},
	}
	c.Flags().StringVar(&out, "out", "", "write to this `file` instead of to the output")
	return c
}

// formatOf is the format that a file's name asks for.
func formatOf(file, otherwise string) string {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".html", ".htm":
		return formatHTML
	case ".md", ".markdown":
		return formatMarkdown
	case ".csv":
		return formatCSV
	case ".json":
		return formatJSON
	case ".txt":
		return formatTable
	}
	return otherwise
}

func (a *app) runReport(args []string, out string) error {
	r, name, err := a.saved(args)
	if err != nil {
		return err
	}
	if out == "" {
		if a.common.output == formatHTML && a.env.Columns != nil && a.env.Columns() > 0 {
			return usageError("a page is nothing to read on a terminal: name a file with --out report.html, or redirect the output")
		}
		return a.render(r, name)
	}
	var b bytes.Buffer
	stdout := a.env.Stdout
	a.env.Stdout = &b
	err = a.render(r, name)
	a.env.Stdout = stdout
	if err != nil {
		return err
	}
	if err := replaceFile(a.env.path(out), b.Bytes()); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	a.tell("written to %s (%s)", out, report.Bytes(int64(b.Len())).Text)
	return nil
}

// render writes a result in the format asked for.
func (a *app) render(r *bench.Result, name string) error {
	tables := resultTables(r)
	if a.common.output != formatHTML {
		return a.printAs(r, runCSV(r), tables...)
	}
	for _, row := range r.Rows {
		if t := partsTable(row); t != nil && t.Title != tables[0].Title {
			tables = append(tables, t)
		}
	}
	return page.Write(a.env.Stdout, page.Page{Result: r, Findings: timeNotes(r), Tables: tables, Command: a.reproduce(r), Source: name})
}

// replaceFile writes a file as a whole, or not at all.
func replaceFile(path string, content []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			e.Path = path // not the name beside it, which nobody gave
		}
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // it is nobody's
		}
	}()
	if _, err = f.Write(content); err != nil {
		_ = f.Close() // the first error counts
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if err = os.Chmod(f.Name(), 0o644); err != nil { // as files are made; temporary ones are their owner's alone
		return err
	}
	return os.Rename(f.Name(), path)
}

// saved finds the result that report is about, and its name for people.
func (a *app) saved(args []string) (*bench.Result, string, error) {
	if len(args) == 0 {
		args = []string{latest}
	}
	p, err := a.pick(args)
	if err != nil {
		return nil, "", err
	}
	return p[0].result(), p[0].name, nil
}
