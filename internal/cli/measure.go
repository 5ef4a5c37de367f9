package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/aggregate"
	"mrbench/internal/bench"
	"mrbench/internal/cluster"
	"mrbench/internal/parity"
	"mrbench/internal/polite"
	"mrbench/internal/target"
	"mrbench/internal/telemetry"
	"mrbench/mr"
	"mrbench/splitter"
)

// cleanUpTimeout is how long dropping output databases may take after an interrupt.
const cleanUpTimeout = 30 * time.Second

// differingKeys is how many differing keys are looked for.
const differingKeys = 5

// measurement is one run of the run command.
type measurement struct {
	app      *app
	o        runOptions
	t        *target.Target
	file     *bench.File
	coll     *mongo.Collection
	variants []variant
	out      *outputs
	job      *runJob
	effects  effects
	concerns concerns
	dry      *dryRun          // nil: commands are sent
	governor *polite.Governor // nil: no limits

	startBalancer bool // at the end of a dry run

	sampler *telemetry.Sampler
	load    *bench.Series // of the run that was measured last

	ranges  []splitter.Range
	owners  []string         // shards of the ranges, "" not known
	cluster *cluster.Cluster // nil: no mongos
	pieces  []splitter.Piece // the whole list that ranges were cut for this run from; nil with --plan
	into    *intoRun         // nil: nothing is kept
	types   []string
	result  bench.Result

	// The answer that others are compared with: of the earliest row in the list that has one so far. Rows are run in any
	// order, so an earlier row may still take its place.
	first  int // row, -1 before there is one
	answer *bench.Answer
	stored *mr.Report // that row's last run, when its answer is in a collection

	show *runProgress // nil before the first row starts
}

func (m *measurement) warn(format string, args ...any) {
	m.result.Warnings = append(m.result.Warnings, fmt.Sprintf(format, args...))
}

// run measures all rows, prints and saves them. Its error says how the program ends.
func (m *measurement) run(ctx context.Context) error {
	end, err := m.measureRows(ctx)
	if err != nil {
		return err
	}
	return firstError(m.print(), end)
}

// measureRows measures all rows and saves them. end says how the measurement ended; with err there is nothing to print.
func (m *measurement) measureRows(ctx context.Context) (end, err error) {
	m.first = -1
	defer m.observe(ctx)()
	if m.result.Context.Schedule == nil {
		m.result.Context.Schedule = m.o.schedule()
		m.o.record(m.result.Context.Options, m.result.Context.Schedule)
	}
	if err := m.file.Begin(&m.result); err != nil {
		return nil, err
	}
	outcomes, stopped := bench.Rounds(ctx, m.plan())
	if outcomes == nil {
		return nil, stopped
	}
	for i := range m.result.Rows {
		m.fillRow(&m.result.Rows[i], outcomes[m.result.Rows[i].ID], stopped)
	}
	bench.SameInput(m.result.Rows)
	m.result.Annotate()
	if stopped == nil {
		m.explainDifference(ctx)
	}
	if trouble := m.sampler.Trouble(); trouble != "" {
		m.warn("%s", trouble)
	}
	m.agreement()
	end = m.verdict(stopped)
	m.result.ExitCode = exitCode(ctx, end)
	for _, r := range m.result.Rows {
		if r.Seconds != nil || r.Skipped != "" || r.Error != "" {
			end = firstError(end, m.file.Row(r))
		}
	}
	end = firstError(end, m.file.End(&m.result, m.app.env.Now().UTC()))
	return end, nil
}

func (m *measurement) plan() bench.Plan {
	s := m.result.Context.Schedule
	p := bench.Plan{
		Runs: s.Runs, Warmup: s.Warmup, Shuffle: s.Shuffle, Budget: m.o.budget,
		Started: m.result.Context.Started, Now: m.app.env.Now, Done: m.finished,
		Before: func(ctx context.Context, t bench.Turn) error { return m.o.before(ctx, m.app, t) },
	}
	for i, v := range m.variants {
		p.Jobs = append(p.Jobs, bench.Job{ID: v.id, Run: func(ctx context.Context, t bench.Turn) (bench.Sample, error) {
			return m.watched(ctx, i, t)
		}})
	}
	return p
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// notRunPrefix begins the error of a row that the run's end came before.
const notRunPrefix = "not run: "

func (m *measurement) fillRow(r *bench.Row, o *bench.Outcome, stopped error) {
	r.Fill(o)
	m.shardLoads(r)
	if r.Seconds == nil && r.Skipped == "" && r.Error == "" && stopped != nil {
		r.Error = notRunPrefix + stopped.Error()
	}
}

// verdict is how the run ends: interrupted, answers differ, some rows failed, or well.
func (m *measurement) verdict(stopped error) error {
	if stopped != nil {
		return stopped
	}
	rows := m.result.Rows
	if wrong := m.wrongInto(); wrong != nil {
		return wrong
	}
	if i := slices.IndexFunc(rows, func(r bench.Row) bool { return r.Agrees != nil && !*r.Agrees }); i >= 0 {
		return withCode(exitDiffer, "the answer of %s is not the answer of %s", rows[i].ID, firstMeasured(&m.result))
	}
	var failed, good []string
	var why string
	for _, r := range rows {
		switch {
		case r.Error != "":
			failed = append(failed, r.ID)
			why = r.Error
		case r.Seconds != nil:
			good = append(good, r.ID)
		}
	}
	switch {
	case len(good) == 0 && len(failed) == 0:
		return withCode(exitFailed, "this server can run none of the rows")
	case len(good) == 0:
		return withCode(exitFailed, "no row succeeded: %s: %s", failed[len(failed)-1], why)
	case len(failed) == 1:
		return withCode(exitPartial, "row %s failed: %s", failed[0], why)
	case len(failed) > 1:
		return withCode(exitPartial, "%d rows failed: %s", len(failed), strings.Join(failed, ", "))
	}
	return nil
}

// finished saves a sample and says so.
func (m *measurement) finished(s bench.Sample) error {
	m.show.line(fmt.Sprintf("%-18s %8.2f s  %s", s.Row, s.Seconds, roundText(s.Round, m.o.runs, " of ")))
	s.Parts = nil // the last run's are in its row
	m.result.Samples = append(m.result.Samples, s)
	return firstError(m.file.Sample(s), m.saveLoad(s))
}

// since is a moment as samples have it: seconds after the start of the run.
func (m *measurement) since(t time.Time) float64 {
	return t.Sub(m.result.Context.Started).Seconds()
}

// measure runs a row once and compares its answer.
func (m *measurement) measure(ctx context.Context, row int, warmup bool) (bench.Sample, error) {
	v := m.variants[row]
	if why := m.skip(v); why != "" {
		return bench.Sample{}, &bench.SkipError{Reason: why}
	}
	if m.o.into != "" {
		return m.measureInto(ctx, row)
	}
	if v.aggregate {
		return m.aggregate(ctx, row, warmup)
	}
	if err := m.out.drop(ctx, m.notOf(row)); err != nil {
		return bench.Sample{}, err
	}
	c := m.mapReduceConfig(row)
	c.Created = func(db string) error { return m.out.create(ctx, db) }
	c.OnStart = func(p mr.Part) { m.show.started(p.Index, p.Thread) }
	c.OnPart = func(p mr.Part) { m.show.finished(p.Index, p.Thread) }
	span := m.sampler.Start(ctx)
	start := m.app.env.Now()
	rep, err := mr.Run(ctx, c)
	usage := m.used(span)
	if err != nil {
		return bench.Sample{}, unsupported(err, "mapReduce")
	}
	s := bench.Sample{Start: m.since(start), Seconds: rep.Seconds, Mode: rep.Mode, OutputDBs: len(rep.Databases), ServerSeconds: milliseconds(rep.ServerMS), Usage: usage}
	if v.ranges {
		s.MergeSeconds = &rep.MergeSeconds
	}
	s.Counts = benchCounts(rep.Counts)
	if v.sort || v.ranges {
		if s.IndexUsed, err = m.indexUsed(ctx, c); err != nil {
			return s, err
		}
	}
	for _, p := range rep.Parts {
		from, to := bounds(p.Range)
		s.Parts = append(s.Parts, bench.Part{
			From: from, To: to, Database: p.DB, Thread: p.Thread, Start: p.Start, Seconds: p.Seconds,
			ServerSeconds: milliseconds(p.ServerMS), Counts: benchCounts(p.Counts), Mode: p.Mode,
			Shard: p.Owner, Shards: m.partShards(p),
		})
	}
	if warmup {
		return s, m.out.drop(ctx, m.notOf(row))
	}
	var d parity.Digest
	for doc, err := range rep.Answer.Results(ctx, false) {
		if err == nil {
			err = d.Add(doc)
		}
		if err != nil {
			return s, fmt.Errorf("read the answer: %w", err)
		}
	}
	return s, m.compare(ctx, row, &s, &d, rep)
}

// mapReduceConfig is what a row of mapReduce runs, without what is told on the way.
func (m *measurement) mapReduceConfig(row int) mr.Config {
	v := m.variants[row]
	c := mr.Config{
		Client: m.t.Client, DB: m.coll.Database().Name(), Coll: m.coll.Name(), Job: m.job.mapReduce(v),
		Predicate: m.t.Predicate, Threads: m.o.threads, Layout: v.layout, JSMode: v.js, AllowPlain: true, KeyTypes: m.types,
		Prefix: m.out.prefix(row), OutDB: m.out.db, Gate: gate(m.governor), WriteConcern: m.concerns.write,
	}
	if !m.job.emits(m.app.common.key) {
		c.KeyTypes = nil // they are another field's
	}
	if v.ranges {
		c.Ranges, c.Owners, c.PerShard = m.ranges, m.owners, m.perShard()
	}
	return c
}

// explainFind asks for the plan of a find with the filter and sort of a mapReduce.
func explainFind(c mr.Config) bson.D {
	find := bson.D{{Key: "find", Value: c.Coll}, {Key: "filter", Value: bson.D{}}}
	if len(c.Ranges) > 0 {
		find[1].Value = c.Ranges[len(c.Ranges)/2].Filter(c.Predicate)
	}
	if len(c.Job.Sort) > 0 {
		find = append(find, bson.E{Key: "sort", Value: c.Job.Sort})
	}
	return bson.D{{Key: "explain", Value: find}, {Key: "verbosity", Value: "queryPlanner"}}
}

// indexUsed asks which index the server reads a mapReduce's documents by. Servers do not explain mapReduce; a find with
// the same filter and sort is planned the same way. "" is none, or a server that does not explain.
func (m *measurement) indexUsed(ctx context.Context, c mr.Config) (string, error) {
	raw, err := m.coll.Database().RunCommand(ctx, explainFind(c)).Raw()
	if _, refused := errors.AsType[mongo.CommandError](err); refused {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("explain find in %s: %w", m.app.common.ns, err)
	}
	plan := splitter.ReadPlan(raw)
	if plan.Scans {
		return "", nil
	}
	return strings.Join(plan.Indexes, ", "), nil
}

// aggregate runs a pipeline once; its answer is digested as it streams in.
func (m *measurement) aggregate(ctx context.Context, row int, warmup bool) (bench.Sample, error) {
	c := m.pipeline(row)
	c.Comment = m.out.prefix(row)
	c.OnStart = func(p aggregate.Part) { m.show.started(p.Index, p.Thread) }
	c.OnPart = func(p aggregate.Part) { m.show.finished(p.Index, p.Thread) }
	digests := make([]parity.Digest, max(1, len(c.Ranges)))
	c.Sink = func(part int, results []bson.Raw) error {
		for _, doc := range results {
			if err := digests[part].Add(doc); err != nil {
				return err
			}
		}
		return nil
	}
	span := m.sampler.Start(ctx)
	start := m.app.env.Now()
	rep, err := aggregate.Run(ctx, c)
	usage := m.used(span)
	if err != nil {
		return bench.Sample{}, unsupported(err, "aggregate")
	}
	output := rep.Output
	s := bench.Sample{Start: m.since(start), Seconds: rep.Seconds, Counts: bench.Counts{Output: &output}, IndexUsed: rep.IndexUsed, Usage: usage}
	if c.Covered {
		covered := rep.IsCovered
		s.Covered = &covered
	}
	for _, p := range rep.Parts {
		from, to := bounds(p.Range)
		out := p.Output
		s.Parts = append(s.Parts, bench.Part{From: from, To: to, Thread: p.Thread, Start: p.Start, Seconds: p.Seconds, Counts: bench.Counts{Output: &out}, Shard: p.Owner, Shards: askedShards(p)})
	}
	if warmup {
		return s, nil
	}
	var d parity.Digest
	for i := range digests {
		d.Merge(&digests[i])
	}
	return s, m.compare(ctx, row, &s, &d, nil)
}

// notOf keeps the databases of all rows but one.
func (m *measurement) notOf(row int) func(db string) bool {
	of := m.out.of(row)
	return func(db string) bool { return !of(db) }
}

func (m *measurement) pipeline(row int) aggregate.Config {
	v := m.variants[row]
	c := aggregate.Config{
		Collection: m.concerns.of(m.coll), Pipeline: m.job.pipeline, Key: m.app.common.key,
		Predicate: m.t.Predicate, Threads: m.o.threads, Covered: v.covered, Gate: gate(m.governor),
	}
	if v.ranges {
		c.Ranges, c.Owners, c.PerShard = m.ranges, m.owners, m.perShard()
	}
	return c
}

// compare sets the sample's answer and, when it is not the first row's, looks for the keys that differ, while both
// answers are there. stored is where a mapReduce left its answer. Outputs that are not needed any more are dropped.
func (m *measurement) compare(ctx context.Context, row int, s *bench.Sample, d *parity.Digest, stored *mr.Report) error {
	x := d.Answer()
	s.Answer = &bench.Answer{Keys: x.Keys, Sum: x.Sum, Digest: x.Digest}
	before := m.first
	if err := m.agreesNearly(ctx, row, s, stored); err != nil {
		m.warn("the answer of %s could not be compared key by key: %v", m.variants[row].id, err)
	}
	switch {
	case m.first < 0 || row < m.first:
		m.first, m.answer, m.stored = row, s.Answer, stored
		m.result.Difference = nil // it was from another row
	case row == m.first:
		m.stored = stored
	case *s.Answer != *m.answer && m.result.Difference == nil:
		m.explainLag(ctx, row)
		if err := m.findDifference(ctx, row, stored); err != nil {
			m.warn("the differing keys of %s could not be found: %v", m.variants[row].id, err)
		}
	}
	if m.o.keep {
		return nil
	}
	if before >= 0 && before != m.first {
		if err := m.out.drop(ctx, m.notOf(before)); err != nil {
			return err
		}
	}
	if row == m.first {
		return nil
	}
	return m.out.drop(ctx, m.notOf(row))
}

// answers are the first row's and another row's, ascending by key.
func (m *measurement) answers(ctx context.Context, row int, stored *mr.Report) (one, other iter.Seq2[bson.Raw, error]) {
	one, other = aggregate.Results(ctx, m.onlyTaken(m.pipeline(m.first))), aggregate.Results(ctx, m.onlyTaken(m.pipeline(row)))
	if m.stored != nil {
		one = m.stored.Answer.Results(ctx, true)
	}
	if stored != nil {
		other = stored.Answer.Results(ctx, true)
	}
	return one, other
}

func (m *measurement) findDifference(ctx context.Context, row int, stored *mr.Report) error {
	d := &bench.Difference{Row: m.variants[row].id, First: m.variants[m.first].id}
	m.result.Difference = d
	one, other := m.answers(ctx, row, stored)
	keys, err := parity.Differences(one, other, differingKeys)
	for _, k := range keys {
		d.Keys = append(d.Keys, bench.KeyDiff{Key: k.Key, First: k.A, Row: k.B})
	}
	return err
}

// explainDifference runs a row that disagrees once more, unmeasured, when it always came before the first row and its
// output was gone by the time there was something to compare it with.
func (m *measurement) explainDifference(ctx context.Context) {
	for i, r := range m.result.Rows {
		if m.result.Difference != nil {
			return
		}
		if r.Agrees == nil || *r.Agrees {
			continue
		}
		m.app.tell("%s does not agree: running it once more, to find the keys that differ", r.ID)
		if _, err := m.measure(ctx, i, false); err != nil {
			m.warn("the differing keys of %s could not be found: %v", r.ID, err)
		} else if m.result.Difference == nil {
			m.warn("%s gave the right answer when it was run once more: its answers are not the same every time", r.ID)
		}
	}
}

// cleanUp drops the run's output databases, also after an interrupt, unless they are to be kept.
func (m *measurement) cleanUp(ctx context.Context, err *error) {
	if m.o.keep && ctx.Err() == nil {
		if n := len(m.out.dbs); n > 0 {
			what := fmt.Sprintf("%d output databases", n)
			if m.out.db != "" { // not all that are recorded were needed
				what = "output collections of " + m.out.db
			}
			m.app.tell("%s are kept (mrbench_%s_…); mrbench clean drops them", what, m.out.run)
		}
		return
	}
	*err = firstError(*err, m.app.dropOutputs(ctx, m.out))
}

func milliseconds(ms int64) *float64 {
	if ms < 0 {
		return nil
	}
	s := float64(ms) / 1000
	return &s
}

func benchCounts(c mr.Counts) bench.Counts {
	if !c.Known {
		return bench.Counts{}
	}
	return bench.Counts{Input: &c.Input, Emit: &c.Emit, Reduce: &c.Reduce, Output: &c.Output}
}

// Codes by which servers say that they do not offer a command, or not to this user.
const (
	codeUnauthorized        = 13
	codeCommandNotFound     = 59
	codeCommandNotSupported = 115
	codeAtlas               = 8000
)

// unsupported turns a server's refusal of a command into the reason why a row is skipped.
func unsupported(err error, command string) error {
	if errors.Is(err, mr.ErrAmbiguousKeys) {
		return &bench.SkipError{Reason: strings.TrimPrefix(mr.ErrAmbiguousKeys.Error(), "mr: ")}
	}
	ce, ok := errors.AsType[mongo.CommandError](err)
	if !ok {
		return err
	}
	switch ce.Code {
	case codeUnauthorized:
		if why := lackingRight(err); why != "" {
			return &bench.SkipError{Reason: fmt.Sprintf("%s (code %d)", why, ce.Code)}
		}
		return &bench.SkipError{Reason: fmt.Sprintf("the server refuses %s: %s (code %d)", command, ce.Message, ce.Code)}
	case codeCommandNotFound, codeCommandNotSupported, codeAtlas:
		return &bench.SkipError{Reason: fmt.Sprintf("the server refuses %s: %s (code %d)", command, ce.Message, ce.Code)}
	}
	for _, off := range []string{"globalscriptengine", "server-side javascript", "scripting is disabled", "without the js engine"} {
		if strings.Contains(strings.ToLower(ce.Message), off) {
			return &bench.SkipError{Reason: fmt.Sprintf("JavaScript is switched off on this server: %s", ce.Message)}
		}
	}
	return err
}
