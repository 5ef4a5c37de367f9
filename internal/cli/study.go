package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/internal/bench"
	"mrbench/internal/report"
	"mrbench/internal/study"
	"mrbench/internal/target"
)

type studyOptions struct {
	scale float64
	runs  int
	seed  uint64
}

// toldFrom is how long one of many steps takes that a line is worth while it goes on.
const toldFrom = 100 * time.Millisecond

// mostScale is how much larger than published an experiment can be made.
const mostScale = 10

func (a *app) newStudy() *cobra.Command {
	var o studyOptions
	var names []string
	for _, e := range study.Experiments() {
		names = append(names, e.Name)
	}
	c := &cobra.Command{
		Use:   "study [NAME] [flags]",
		Short: "Reruns a published experiment and prints its numbers beside the measured ones",
		Long: `study repeats the steps of a published experiment and prints published and measured numbers side by
side, with the ratio of each step's rate to the first step's: absolute times belong to other
machines. A paragraph, worked out from the measured numbers, says what holds here and what no longer
does. Without a name it lists the experiments.

Numbers of documents, and the sizes of batches and pauses that go with them, are the published ones
times --scale. Data is made by mrbench, files in the system's directory for temporary files; everything is
loaded into databases of the run's own. All of it is removed afterwards, on Ctrl-C too. docs/studies.md says
what each step does and what differs from the publication.`,
		Example: `  mrbench study
  mrbench study bulk-insert
  mrbench study mapreduce-20x --scale 1 --uri mongodb://localhost`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError("study takes one name, of %s", strings.Join(names, ", "))
			}
			if len(args) == 1 && study.Find(args[0]) == nil {
				if s := closest(args[0], names); s != "" {
					return usageError("there is no study %q; did you mean %s?", args[0], s)
				}
				return usageError("there is no study %q; there are %s", args[0], strings.Join(names, ", "))
			}
			return nil
		},
		ValidArgs: names,
		Annotations: map[string]string{exitAnnotation: `  0  done, whatever the numbers say
  1  failed
  2  wrong flag, argument or setting
  3  some steps failed, the others are printed
  4  server not reachable
  130, 143  interrupted (SIGINT, SIGTERM); finished steps are printed`},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.listStudies()
			}
			return a.runStudy(cmd, study.Find(args[0]), o)
		},
	}
	f := c.Flags()
	f.Var(&value[float64]{&o.scale, "factor", parseScale, showScale}, "scale", "size relative to the published one: 0.1, 1; each experiment has a default of its own")
	intFlag(c, &o.runs, "runs", 3, 1, 1000, "how often each step is measured, step by step in turn; medians are shown")
	f.Uint64Var(&o.seed, "seed", 1, "another seed gives other documents")
	return c
}

func parseScale(s string) (float64, error) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !(x > 0) || x > mostScale {
		return 0, fmt.Errorf("it is a number above 0, at most %d", mostScale)
	}
	return x, nil
}

func showScale(x float64) string {
	if x == 0 {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

func (a *app) listStudies() error {
	type listed struct {
		Name  string  `json:"name"`
		What  string  `json:"what"`
		Where string  `json:"published_for"`
		Scale float64 `json:"default_scale"`
		Takes string  `json:"takes_about"`
	}
	var list []listed
	t := &report.Table{Columns: []report.Column{
		{Title: "study", Left: true}, {Title: "scale"}, {Title: "takes", Left: true}, {Title: "what", Left: true},
	}}
	for _, e := range study.Experiments() {
		list = append(list, listed{e.Name, e.What, e.Where, e.Scale, e.Takes})
		t.Add(report.Str(e.Name), report.Str(showScale(e.Scale)), report.Str(e.Takes), report.Str(e.What))
		t.Notes = append(t.Notes, fmt.Sprintf("%s: published for %s", e.Name, e.Where))
	}
	t.Notes = append(t.Notes, "scale: the default of --scale; takes: roughly, with it and three runs, on 2 cores with the embedded engine")
	return a.print(list, t)
}

// studyResult is what -o json prints.
type studyResult struct {
	SchemaVersion int `json:"schema_version"`
	*study.Result
	Server   bench.Server  `json:"server"`
	Context  bench.Context `json:"context"`
	ExitCode int           `json:"exit_code"`
}

// studying is a study that is going on.
type studying struct {
	app    *app
	cmd    *cobra.Command
	e      *study.Experiment
	o      studyOptions
	t      *target.Target
	out    *outputs
	file   *bench.File
	dir    string // of files that the study makes
	made   int    // collections
	result studyResult
}

// studyStep is a step that loads or counts once.
type studyStep struct {
	id  string
	run func(ctx context.Context) (documents int64, took time.Duration, note string, err error)
}

func (a *app) runStudy(cmd *cobra.Command, e *study.Experiment, o studyOptions) (err error) {
	ctx := cmd.Context()
	if o.scale == 0 {
		o.scale = e.Scale
	}
	dataDir, err := a.dataDir()
	if err != nil {
		return err
	}
	id := newRunID(a.env.Now())
	s := &studying{app: a, cmd: cmd, e: e, o: o}
	if s.file, err = a.resultFile("studies", id, ""); err != nil {
		return err
	}
	defer finish(&err, s.file)
	if s.t, err = a.open(ctx); err != nil {
		return err
	}
	defer finish(&err, s.t)
	s.out = newOutputs(id, s.t, createdIn(dataDir), a.env.Now)
	defer func() { err = firstError(err, a.dropOutputs(ctx, s.out)) }()
	if s.dir, err = os.MkdirTemp("", "mrbench-study-"); err != nil {
		return fmt.Errorf("directory for the study's files: %w", err)
	}
	defer func() { err = firstError(err, os.RemoveAll(s.dir)) }()
	s.result = studyResult{SchemaVersion: bench.SchemaVersion, Result: e.Start(o.scale, o.runs), Server: serverOf(s.t)}
	s.result.Context = bench.Context{RunID: id, Started: a.env.Now().UTC(), Mrbench: Version(), Options: a.optionsOf(cmd)}
	s.result.Context.DescribeHost()
	if err := s.out.create(ctx, s.db()); err != nil {
		return a.explain(err, s.t)
	}
	measure := map[string]func(context.Context) error{
		"bulk-insert": s.bulkInsert, "guid-500k": s.guid500k, "batch-curve": s.batchCurve, "mapreduce-20x": s.mapReduce20x,
	}[e.Name]
	stopped := measure(ctx)
	return s.finish(ctx, a.explain(stopped, s.t))
}

// db is the study's database.
func (s *studying) db() string { return s.out.prefix(0) }

// collection makes a new one. A study's database is dropped at its end, so are its collections.
func (s *studying) collection(ctx context.Context) (*mongo.Collection, error) {
	s.made++
	db := s.t.Client.Database(s.db())
	name := fmt.Sprintf("study_%d", s.made)
	if err := db.CreateCollection(ctx, name); err != nil {
		return nil, fmt.Errorf("create %s.%s: %w", db.Name(), name, err)
	}
	return db.Collection(name), nil
}

// withCollection lends a new collection and drops it.
func (s *studying) withCollection(ctx context.Context, work func(*mongo.Collection) error) error {
	c, err := s.collection(ctx)
	if err != nil {
		return err
	}
	if err := work(c); err != nil {
		return err
	}
	if err := c.Drop(ctx); err != nil {
		return fmt.Errorf("drop %s: %w", c.Name(), err)
	}
	return nil
}

// measure runs steps round by round. One that fails is out of later rounds, and the others go on.
func (s *studying) measure(ctx context.Context, steps []studyStep) error {
	for round := 1; round <= s.o.runs; round++ {
		for _, step := range steps {
			row := s.result.Row(step.id)
			if row.Error != "" || row.Skipped != "" {
				continue
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			documents, took, note, err := step.run(ctx)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			label := row.Label
			if row.Series != "" {
				label = row.Series + ", " + label
			}
			if skip, ok := errors.AsType[*bench.SkipError](err); ok {
				row.Skipped = skip.Reason
				s.app.tell("%-34s skipped: %s", label, row.Skipped)
				continue
			}
			if err != nil {
				row.Error = s.app.explain(err, s.t).Error()
				s.app.tell("%-34s failed: %s", label, row.Error)
				continue
			}
			row.Note = note
			row.Add(documents, took)
			if row.Series == "" || took >= toldFrom {
				s.app.tell("%-34s %9.3f s", label, took.Seconds())
			}
		}
	}
	return nil
}

// finish prints, and says how the program ends.
func (s *studying) finish(ctx context.Context, stopped error) error {
	failed, good := 0, 0
	var why string
	for _, row := range s.result.Rows {
		switch {
		case row.Error != "":
			failed++
			why = row.Label + ": " + row.Error
		case row.Measured != nil:
			good++
		}
	}
	s.result.Finish()
	end := stopped
	switch {
	case end != nil:
	case failed > 0 && good == 0:
		end = withCode(exitFailed, "no step succeeded; the last one, %s", why)
	case failed > 0:
		end = withCode(exitPartial, "%s failed; the last one, %s", counted(failed, "step", "steps"), why)
	}
	if good == 0 {
		return end
	}
	s.result.ExitCode = exitCode(ctx, end)
	err := s.file.Line(struct {
		Type string `json:"type"`
		studyResult
	}{"study", s.result})
	csv, tables := studyTables(&s.result)
	err = firstError(s.app.printAs(s.result, csv, tables...), err)
	s.app.tell("saved in %s", s.file.Path)
	return firstError(end, err)
}
