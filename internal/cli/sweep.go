package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/bench"
	"mrbench/internal/report"
	"mrbench/internal/target"
	"mrbench/internal/telemetry"
	"mrbench/seed"
	"mrbench/seed/sweep"
)

// sweepResult is what -o json prints.
type sweepResult struct {
	SchemaVersion int            `json:"schema_version"`
	Documents     int64          `json:"documents"` // a point
	Generator     string         `json:"generator"` // "files" for files
	Key           string         `json:"key"`       // that is indexed; empty when no point has an index
	Runs          int            `json:"runs"`
	Seed          uint64         `json:"seed"`
	CPU           string         `json:"cpu"` // whose processor seconds the points have: "server", "shared" with this process, or ""
	Server        bench.Server   `json:"server"`
	Points        []sweep.Result `json:"points"`
	Best          *sweep.Point   `json:"best"`              // null when no point is complete
	BestAcked     *sweep.Point   `json:"best_acknowledged"` // of the points with an acknowledged write concern
	Costs         []sweep.Cost   `json:"costs"`
	Skipped       []sweep.Skip   `json:"skipped"`
	Warnings      []string       `json:"warnings,omitempty"`
	Context       bench.Context  `json:"context"`
	ExitCode      int            `json:"exit_code"`
}

// sweeping is one run of seed --sweep.
type sweeping struct {
	app    *app
	o      seedOptions
	t      *target.Target
	file   *bench.File
	out    *outputs
	conf   sweep.Config
	result sweepResult
}

func (a *app) runSweep(cmd *cobra.Command, o seedOptions, args []string) (err error) {
	ctx := cmd.Context()
	grid, err := o.checkSweep(cmd, args)
	if err != nil {
		return err
	}
	s := &sweeping{app: a, o: o}
	if err := s.documents(ctx, slices.Max(grid.Prefill)); err != nil {
		return err
	}
	if err := s.points(grid); err != nil {
		return err
	}
	id := newRunID(a.env.Now())
	if s.file, err = a.resultFile("sweeps", id, o.save); err != nil {
		return err
	}
	defer finish(&err, s.file)
	if s.t, err = a.open(ctx); err != nil {
		return err
	}
	defer finish(&err, s.t)
	dir, err := a.dataDir()
	if err != nil {
		return err
	}
	s.out = newOutputs(id, s.t, createdIn(dir), a.env.Now)
	s.result.Context = bench.Context{RunID: id, Started: a.env.Now().UTC(), Mrbench: Version(), Options: a.optionsOf(cmd)}
	s.result.Context.DescribeHost()
	defer func() { err = firstError(err, a.dropOutputs(ctx, s.out)) }()
	db := s.out.prefix(0)
	if err := s.out.create(ctx, db); err != nil {
		return a.explain(err, s.t)
	}
	s.conf.Database = s.t.Client.Database(db)
	return s.run(ctx)
}

// resultFile is the file that measurements are appended to: the one named by --save, or one in a directory of the data
// directory. It is opened before any work is done.
func (a *app) resultFile(directory, id, save string) (*bench.File, error) {
	if save != "" {
		f, err := bench.Create(a.env.path(save))
		if err != nil {
			return nil, usageError("--save: %w", err)
		}
		return f, nil
	}
	dir, err := a.dataDir()
	if err != nil {
		return nil, err
	}
	dir = filepath.Join(dir, directory)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	return bench.Create(filepath.Join(dir, id+".ndjson"))
}

// dropOutputs drops a run's databases, also after an interrupt.
func (a *app) dropOutputs(ctx context.Context, out *outputs) error {
	interrupted := ctx.Err() != nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
	defer cancel()
	if interrupted {
		awaitEnd(ctx, out.client, out.run)
	}
	err := out.drop(ctx, nil)
	if err != nil {
		a.tell("warning: %v", err)
	}
	return err
}

// documents makes the generator. With files, their first documents are read.
func (s *sweeping) documents(ctx context.Context, prefill int64) error {
	files, err := s.app.sourceConfig(s.o)
	if err != nil {
		return err
	}
	if files != nil {
		s.conf.Generator, s.conf.Documents, err = sweep.FromFiles(ctx, *files, s.o.docs)
		if err == nil && s.conf.Documents == 0 {
			err = withCode(exitFailed, "the files hold no documents")
		}
		return err
	}
	s.conf.Documents = s.o.docs
	o := s.o
	o.docs += prefill // the default number of keys follows from what a collection comes to hold
	s.conf.Generator, err = s.app.generatorOf(o)
	return err
}

// points makes the list of points, and checks the key when any of them has an index.
func (s *sweeping) points(g sweep.Grid) error {
	points, skipped := g.Points(s.conf.Documents)
	s.conf.Points, s.result.Skipped = points, append([]sweep.Skip{}, skipped...)
	if len(s.conf.Points) == 0 {
		return usageError("--sweep: no point is left: %s", s.result.Skipped[0].Reason)
	}
	s.conf.Runs, s.conf.Seed = s.o.runs, s.o.seed
	key := s.app.common.key
	if slices.ContainsFunc(s.conf.Points, func(p sweep.Point) bool { return p.Index != seed.IndexNone }) {
		if !hasField(s.conf.Generator, min(s.conf.Documents, 100), key) {
			return usageError("--sweep index: the documents have no field %s: name one with --key", key)
		}
		s.conf.IndexKeys, s.result.Key = bson.D{{Key: key, Value: 1}}, key
	}
	return nil
}

// hasField says whether one of the first documents has a field. An index on a field that none has is quickly made and
// says nothing.
func hasField(g seed.Generator, documents int64, key string) bool {
	for i := range documents {
		if _, err := bson.Raw(g.Append(nil, i)).LookupErr(strings.Split(key, ".")...); err == nil {
			return true
		}
	}
	return false
}

// run measures, prints and saves. Its error says how the program ends.
func (s *sweeping) run(ctx context.Context) error {
	a, r := s.app, &s.result
	r.SchemaVersion, r.Documents, r.Generator = bench.SchemaVersion, s.conf.Documents, s.conf.Generator.Name()
	r.Runs, r.Seed, r.Server = s.o.runs, s.o.seed, serverOf(s.t)
	if err := s.announce(ctx); err != nil {
		return a.explain(err, s.t)
	}
	defer s.observe(ctx)()
	if err := s.file.Line(sweepLine{
		"sweep", r.SchemaVersion, r.Documents, r.Generator, r.Key, r.Runs, r.Seed, r.CPU, r.Server, s.conf.Points, r.Skipped, r.Context,
	}); err != nil {
		return err
	}
	list, _ := varied(s.conf.Points)
	total, done, started := len(s.conf.Points)*s.o.runs, 0, a.env.Now()
	s.conf.Prefilling = func(n int64) { a.tell("filling a collection with %s documents", report.Thousands(n)) }
	last := started
	s.conf.Started = func(sweep.Point, int) { last = a.env.Now() }
	s.conf.Progress = func(p seed.Progress) {
		if now := a.env.Now(); now.Sub(last) >= plainEvery {
			last = now
			a.tell("  %s", progressText(p))
		}
	}
	s.conf.Done = func(x sweep.Sample) error {
		done++
		line := fmt.Sprintf("%*d of %d  %s: ", len(fmt.Sprint(total)), done, total, pointText(x.Point, list))
		if x.Error != "" {
			total -= s.o.runs - x.Round
			a.tell("%sfailed: %s", line, x.Error)
		} else {
			rate := float64(x.Documents) / max(x.Seconds, 1e-9)
			a.tell("%s%.3f s, %s documents/s", line, x.Seconds, report.Thousands(int64(rate)))
		}
		if done == len(s.conf.Points) && done < total {
			took := a.env.Now().Sub(started)
			left := took * time.Duration(total-done) / time.Duration(done)
			a.tell("round 1 of %d took %s; about %s left", s.o.runs, roughly(took), roughly(left))
		}
		return s.file.Line(sweepSampleLine{"sweep_sample", x})
	}
	samples, stopped := sweep.Run(ctx, s.conf)
	r.Points = sweep.Summarize(s.conf.Points, samples)
	r.Costs = append([]sweep.Cost{}, sweep.Costs(r.Points)...)
	r.Best, r.BestAcked = bestPoint(r.Points, true), bestPoint(r.Points, false)
	end := a.explain(stopped, s.t)
	if end == nil {
		end = s.verdict()
	}
	r.ExitCode = exitCode(ctx, end)
	end = firstError(end, s.file.Line(sweepEndLine{"sweep_end", a.env.Now().UTC(), r.ExitCode, r.Points, r.Costs, r.Best, r.BestAcked, r.Warnings}))
	if len(samples) == 0 && stopped != nil {
		return end
	}
	perr := a.printAs(r, sweepCSV(r), sweepTables(r)...)
	a.tell("saved in %s", s.file.Path)
	return firstError(perr, end)
}

func bestPoint(results []sweep.Result, unacknowledged bool) *sweep.Point {
	if i := sweep.Best(results, unacknowledged); i >= 0 {
		return &results[i].Point
	}
	return nil
}

// verdict is how a sweep ends that was not stopped.
func (s *sweeping) verdict() error {
	failed := 0
	var why string
	for _, p := range s.result.Points {
		if p.Error != "" {
			failed++
			why = pointText(p.Point, settings) + ": " + p.Error
		}
	}
	switch {
	case failed == 0:
		return nil
	case failed == len(s.result.Points):
		return withCode(exitFailed, "no point succeeded; the last one, %s", why)
	default:
		return withCode(exitPartial, "%d of %d points failed; the last one, %s", failed, len(s.result.Points), why)
	}
}

func serverOf(t *target.Target) bench.Server {
	return bench.Server{Kind: t.Kind, Version: t.Version, WireVersion: t.WireVersion, Topology: t.Topology, Address: t.Address, Throwaway: t.Throwaway}
}

// observe begins to note the processor seconds of each load. The function that comes back ends it.
func (s *sweeping) observe(ctx context.Context) func() {
	client, err := s.t.Observer(ctx)
	if err != nil {
		s.result.Warnings = append(s.result.Warnings, fmt.Sprintf("the server's processor seconds are not known: %v", err))
		return func() {}
	}
	sampler := telemetry.Open(ctx, telemetry.Config{Client: client, Interval: time.Hour}) // beginning and end are enough
	kind, seconds := "server", func(u *bench.Usage) *float64 { return u.ServerCPUSeconds }
	if sampler.Telemetry().Server == bench.SameProcess {
		kind, seconds = "shared", func(u *bench.Usage) *float64 { return u.ProcessCPUSeconds }
	}
	observe := func(ctx context.Context) func() *float64 {
		span := sampler.Start(ctx)
		return func() *float64 {
			if used, _ := span.End(); used != nil {
				return seconds(used)
			}
			return nil
		}
	}
	if observe(ctx)() != nil { // servers need not tell
		s.result.CPU, s.conf.Observe = kind, observe
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
		defer cancel()
		_ = client.Disconnect(ctx) // nothing depends on it any more
	}
}

// The lines of a sweep in a result file.
type (
	sweepLine struct {
		Type          string        `json:"type"`
		SchemaVersion int           `json:"schema_version"`
		Documents     int64         `json:"documents"`
		Generator     string        `json:"generator"`
		Key           string        `json:"key"`
		Runs          int           `json:"runs"`
		Seed          uint64        `json:"seed"`
		CPU           string        `json:"cpu"`
		Server        bench.Server  `json:"server"`
		Plan          []sweep.Point `json:"plan"`
		Skipped       []sweep.Skip  `json:"skipped"`
		Context       bench.Context `json:"context"`
	}
	sweepSampleLine struct {
		Type string `json:"type"`
		sweep.Sample
	}
	sweepEndLine struct {
		Type      string         `json:"type"`
		Finished  time.Time      `json:"finished"`
		ExitCode  int            `json:"exit_code"`
		Points    []sweep.Result `json:"points"`
		Costs     []sweep.Cost   `json:"costs"`
		Best      *sweep.Point   `json:"best"`
		BestAcked *sweep.Point   `json:"best_acknowledged"`
		Warnings  []string       `json:"warnings,omitempty"`
	}
)
