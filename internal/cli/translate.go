package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/bson"

	"mrbench/aggregate/translate"
	"mrbench/internal/target"
	"mrbench/mr/jobfile"
	"mrbench/mr/jobfile/lint"
)

type translateOptions struct {
	prove   string
	limit   int64
	outDB   string
	plain   bool
	allowJS bool
}

// How much of the data a proof runs on.
const (
	proveNo     = "no"
	proveSample = "sample"
	proveAll    = "all"
)

func (a *app) newTranslate() *cobra.Command {
	var o translateOptions
	c := &cobra.Command{
		Use:   "translate JOB [flags]",
		Short: "Turns a mapReduce job into a pipeline, or says what stops it, and proves it on data",
		Long: `translate reads a job, writes the aggregation pipeline that gives the same answer without any JavaScript,
and says for each stage which lines of the job it comes from. JOB is a .js file with a shell call
(db.orders.mapReduce(…)), a YAML or JSON file, or a folder with map.js and reduce.js; it is read and never run.

The pipeline keeps JavaScript's meaning also for values that nobody expects, or ends with a message. --plain leaves
these guards out and says what it takes for granted. What has no equivalent is refused with line and reason;
--allow-js leaves it to $function and $accumulator then.

--prove sample runs both on --limit documents and compares them key by key; --prove all goes on with all of them.
docs/jobs.md explains job files, refusals and caveats.`,
		Example: `  mrbench translate job.js
  mrbench translate job.js --plain -o go > pipeline.go
  mrbench translate job.yaml --ns shop.orders --prove all --uri mongodb://localhost`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError("translate takes one job, a file or a folder; %d given", len(args))
			}
			return nil
		},
		Annotations: map[string]string{exitAnnotation: `  0  done
  1  failed, or the job can't be translated
  2  wrong flag, argument or setting
  4  server not reachable
  5  answers differ: job and pipeline disagree on the data
  130, 143  interrupted (SIGINT, SIGTERM)`},
		RunE: func(cmd *cobra.Command, args []string) error { return a.runTranslate(cmd, o, args[0]) },
	}
	enumFlag(c, &o.prove, "prove", proveNo, []string{proveNo, proveSample, proveAll}, "run job and pipeline on the data and compare")
	countFlag(c, &o.limit, "limit", 10_000, 1, "documents of the sample")
	outDBFlag(c, &o.outDB)
	c.Flags().BoolVar(&o.plain, "plain", false, "no guards for values of unusual types")
	c.Flags().BoolVar(&o.allowJS, "allow-js", false, "leave what has no equivalent to $function and $accumulator (MongoDB 4.4 and later)")
	return c
}

func (a *app) runTranslate(cmd *cobra.Command, o translateOptions, file string) error {
	j, err := a.readJob(file)
	if errors.Is(err, fs.ErrNotExist) {
		return usageError("%w", err)
	}
	if err != nil {
		return err
	}
	r, err := translate.Translate(j, translate.Options{Plain: o.plain, AllowJS: o.allowJS})
	if err != nil {
		a.lint(cmd.Context(), j, nil)
		return err
	}
	if err := a.writePipeline(r, j); err != nil {
		return err
	}
	if !o.plain && slices.ContainsFunc(r.Caveats, func(c translate.Caveat) bool { return c.ID == translate.CaveatGuard }) {
		a.tell("--plain writes a shorter pipeline, without guards for values of unusual types")
	}
	ns, err := a.jobNamespace(cmd, j)
	if o.prove == proveNo {
		a.lint(cmd.Context(), j, nil)
		a.tell("not proved: --prove sample runs both on data and compares them")
		return nil
	}
	if err != nil {
		return err
	}
	return a.proveJob(cmd.Context(), o, j, r, ns)
}

// readJob reads a job file or folder by the path that a person gave.
func (a *app) readJob(file string) (*jobfile.Job, error) {
	path, err := filepath.Abs(a.env.path(file))
	if err != nil {
		return nil, fmt.Errorf("job %s: %w", file, err)
	}
	return jobfile.Read(os.DirFS(filepath.Dir(path)), filepath.Base(path), file)
}

// jobNamespace is --ns when it is given, else what the job names; a job without a database is in that of --ns.
func (a *app) jobNamespace(cmd *cobra.Command, j *jobfile.Job) (target.Namespace, error) {
	if cmd.Flags().Changed("ns") || j.Collection == "" {
		return a.common.ns, nil
	}
	ns := target.Namespace{DB: j.Database, Coll: j.Collection}
	if ns.DB == "" {
		ns.DB = a.common.ns.DB
	}
	if _, err := target.ParseNamespace(ns.String()); err != nil {
		return ns, fmt.Errorf("job %s: %w", j.File, err)
	}
	return ns, nil
}

// writePipeline prints the pipeline, and what a reader has to know: within it as comments, or on stderr.
func (a *app) writePipeline(r *translate.Result, j *jobfile.Job) error {
	coll := j.Collection
	if coll == "" {
		coll = a.common.ns.Coll
	}
	text := ""
	switch a.common.output {
	case formatMongosh:
		text = r.MongoDBShell(coll)
	case formatGo:
		var err error
		if text, err = r.Go(); err != nil {
			return err
		}
	default:
		text = r.JSON()
		for i, s := range r.Stages {
			for _, l := range s.Lines {
				a.tell("stage %d is from %s", i+1, l)
			}
		}
		a.tell("needs MongoDB %s or later", r.MinVersion)
		for _, c := range r.Caveats {
			a.tell("caveat: %s", c)
		}
	}
	if _, err := fmt.Fprint(a.env.Stdout, text); err != nil {
		return fmt.Errorf("write the pipeline: %w", err)
	}
	return nil
}

// lint warns of what is wrong with the job itself.
func (a *app) lint(ctx context.Context, j *jobfile.Job, docs []bson.Raw) {
	found, err := lint.Check(ctx, j, docs)
	if err != nil {
		a.tell("the job could not be tried: %v", err)
	}
	for _, f := range found {
		a.tell("job: %s", f)
	}
}
