package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

type options struct {
	docs      int64
	runs      int
	dir       string
	only      string
	save      string
	compare   string
	breakdown bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "speed:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var o options
	f := flag.NewFlagSet("speed", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Int64Var(&o.docs, "docs", 1_000_000, "documents")
	f.IntVar(&o.runs, "runs", 1, "runs of each step; the median counts")
	f.StringVar(&o.dir, "dir", "", "where the databases are made, and removed again (default a temporary directory)")
	f.StringVar(&o.only, "only", "", "steps whose names contain one of these words, separated by commas; what they need is done all the same")
	f.StringVar(&o.save, "save", "", "write the figures to this file")
	f.StringVar(&o.compare, "compare", "", "set the figures beside those of this file")
	f.BoolVar(&o.breakdown, "breakdown", false, "profile each row and say where the time of a document goes")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 || o.docs < 1000 || o.runs < 1 {
		return errors.New("flags only; at least 1000 documents and one run")
	}
	var old *figures
	if o.compare != "" {
		var err error
		if old, err = load(o.compare); err != nil {
			return err
		}
	}
	base, err := os.MkdirTemp(o.dir, "mrbench-speed-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base) // a temporary directory
	b := &bench{o: o, dir: base, stderr: stderr, words: strings.FieldsFunc(o.only, func(r rune) bool { return r == ',' })}
	err = b.measure(ctx)
	if len(b.f.Steps) > 0 {
		if terr := printTable(stdout, &b.f, old); err == nil {
			err = terr
		}
	}
	if err == nil && o.breakdown {
		err = printBreakdown(stdout, &b.f)
	}
	if err == nil && o.save != "" {
		err = b.f.save(o.save)
	}
	return err
}
