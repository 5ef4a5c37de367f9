package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/bench"
	"mrbench/internal/report"
	"mrbench/internal/target"
	"mrbench/internal/tune"
	"mrbench/splitter"
)

type tuneFlags struct {
	budget      time.Duration
	job         string
	docs        int64
	rows        []string
	threads     int
	strategy    string
	createIndex bool
	outDB       string
	seed        uint64
	save        string
	verbose     bool
	dryRun      bool
	politeOptions
}

func (a *app) newTune() *cobra.Command {
	var o tuneFlags
	c := &cobra.Command{
		Use:   "tune [flags]",
		Short: "Finds the fastest way to do a job within a time budget",
		Long: `tune looks for the fastest combination of variant, threads, ranges, output databases and jsMode for the count
of unique values, or for a job of your own, within a time budget. Variants that the server can't run, or whose
options have no effect on it, are left out with the reason.

Every combination runs once on a small part of the documents; the better half runs on twice as much, and so on. An
option that gains nothing at two sizes is given up. The last few, four at most, take turns on all documents until
the budget is used or there is no doubt (p < 0.001); their answers are compared. Half of the budget at most goes into choosing them. What tune is sure
of rests on these last runs alone, by a Mann-Whitney test of the best against the runner-up. When there is no time for
four runs of two of them on everything, the last runs are on a part too, which is said.

A part is the beginning of each range, with all documents of a key together; without ranges it is the first documents
that are read, which have fewer documents for a key than the whole. What comes with size alone, such as spilling to
disk or jsMode's limit of keys, shows in the last runs only.

The budget counts from the first run on; documents, index and ranges come before. Outputs go to databases of the run's
own (mrbench_<run>_…), which are dropped, on Ctrl-C too; what is known by then is printed.`,
		Example: `  mrbench tune --budget 2m
  mrbench tune --job totals.js --uri mongodb://localhost --budget 30m
  mrbench tune --rows mr-ranges,mr-ranges-js --max-threads 16 -o json`,
		Args: noArgs,
		Annotations: map[string]string{exitAnnotation: `  0  done, whether or not the best is shown to be better than the next
  1  failed
  2  wrong flag, argument or setting
  3  some combinations failed, the others are printed
  4  server not reachable
  5  answers differ
  130, 143  interrupted (SIGINT, SIGTERM); what is known is printed`},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.budget <= 0 {
				return usageError("--budget %v: it is a time above 0, such as 90s or 5m", o.budget)
			}
			return a.runTune(cmd, o)
		},
	}
	o.budget = 5 * time.Minute
	durationFlag(c, &o.budget, "budget", "how long to look")
	f := c.Flags()
	f.StringVar(&o.job, "job", "", "tune the mapReduce job in this `file` or folder, and its pipeline, instead of the count of unique values")
	countFlag(c, &o.docs, "docs", 0, 1, "seed this many documents first when the collection does not exist")
	listFlag(c, &o.rows, "rows", tuneRows(), "try these variants only, separated by commas")
	intFlag(c, &o.threads, "max-threads", 0, 0, 256, "try 1, 2, 4, … up to so many threads; 0 is twice the server's processors")
	enumFlag(c, &o.strategy, "strategy", splitter.Auto, strategies, "how to find the ranges")
	f.BoolVar(&o.createIndex, "create-index", false, "make an index on the key when there is none")
	outDBFlag(c, &o.outDB)
	f.Uint64Var(&o.seed, "shuffle-seed", 1, "of the order within rounds: a whole number")
	o.politeOptions.flags(c, "ranges")
	f.BoolVar(&o.dryRun, "dry-run", false, "print the commands that would be sent, and send none that writes")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "say how to find and stop its operations on the server")
	f.StringVar(&o.save, "save", "", "append what is measured to this `file` instead of a new one in the data directory")
	return c
}

// finalsEvery is how often a round of the last runs has a line.
const finalsEvery = time.Second

// errDiffer ends a search: which of two answers comes sooner is of no interest when they are not the same.
var errDiffer = errors.New("the answers differ")

// tuning is one run of tune.
type tuning struct {
	app     *app
	o       tuneFlags
	t       *target.Target
	file    *bench.File
	m       *measurement
	list    []tuneCandidate
	parts   tuneParts
	matched int64 // documents that the job's query lets through
	router  bool  // the server is one
	result  tuneResult
	line    map[int]float64 // seconds by candidate, of the finals' round that is going on
	paused  float64         // seconds that runs were held back
	told    time.Time       // when such a line was written last
}

func (a *app) runTune(cmd *cobra.Command, o tuneFlags) (err error) {
	ctx := cmd.Context()
	ro := runOptions{docs: o.docs, strategy: o.strategy, createIndex: o.createIndex, job: o.job, outDB: o.outDB}
	if err := checkOutDB(o.outDB); err != nil {
		return err
	}
	job, err := a.jobOf(cmd, &ro)
	if err != nil {
		return err
	}
	id := newRunID(a.env.Now())
	a.appName = "mrbench tune " + id
	s := &tuning{app: a, o: o}
	var dry *dryRun
	if o.dryRun {
		if dry, err = a.newDryRun("tune"); err != nil {
			return err
		}
	} else {
		if s.file, err = a.resultFile("tunings", id, o.save); err != nil {
			return err
		}
		defer finish(&err, s.file)
	}
	if s.t, err = a.open(ctx); err != nil {
		return err
	}
	defer finish(&err, s.t)
	dir, err := a.dataDir()
	if err != nil {
		return err
	}
	s.m = &measurement{
		app: a, o: ro, t: s.t, job: job, first: -1, dry: dry, show: &runProgress{a: a},
		coll: s.t.Client.Database(a.common.ns.DB).Collection(a.common.ns.Coll),
		out:  newOutputs(id, s.t, createdIn(dir), a.env.Now),
	}
	r := &s.result
	r.Context = bench.Context{RunID: id, Started: a.env.Now().UTC(), Mrbench: Version(), Options: a.optionsOf(cmd)}
	r.Context.DescribeHost()
	s.m.result.Context = r.Context
	job.describe(a)
	if o.dryRun {
		return a.explain(s.plan(ctx), s.t)
	}
	if err := s.prepare(ctx); err != nil {
		return a.explain(err, s.t)
	}
	if o.verbose {
		a.tell("%s", findText(s.t.AppName))
	}
	governor, end, err := o.govern(ctx, a, s.t, r.Threads)
	if err != nil {
		return err
	}
	defer end()
	s.m.governor = governor
	defer s.m.cleanUp(ctx, &err)
	return s.run(ctx)
}

// prepare finds out what can be tried, and cuts the collection into pieces that are proved to cover it.
func (s *tuning) prepare(ctx context.Context) error {
	m, r := s.m, &s.result
	facts, err := s.t.Ask(ctx, s.app.common.ns)
	if err != nil {
		return err
	}
	m.out.db = s.o.outDB
	if err := m.settleConcerns(facts, concernOptions{}); err != nil {
		return err
	}
	if err := m.mayPrepare(ctx, facts); err != nil {
		return err
	}
	if err := m.documents(ctx); err != nil {
		return err
	}
	s.router = facts.Mongos
	list := tuneVariants()
	if len(s.o.rows) > 0 {
		list = slices.DeleteFunc(list, func(v variant) bool { return !slices.Contains(s.o.rows, v.id) })
	}
	usable, skipped := usableVariants(list, tuneCapabilities(facts, s.app.common.ns, s.o.outDB), m.job, s.app.common.key)
	if len(usable) == 0 {
		return withCode(exitFailed, "nothing can be tried on this server: %s: %s", skipped[0].What, skipped[0].Reason)
	}
	r.Skipped = append([]tuneSkip{}, skipped...)
	s.threads(ctx)
	if slices.ContainsFunc(usable, variant.needsIndex) {
		if err := m.index(ctx); err != nil {
			return err
		}
	}
	s.parts.documents = m.result.Dataset.Documents
	if err := s.split(ctx, usable); err != nil {
		return err
	}
	s.list, skipped = candidates(usable, r.Threads, len(s.parts.pieces))
	r.Skipped = append(r.Skipped, skipped...)
	if len(s.list) == 0 {
		return withCode(exitFailed, "nothing can be tried: %s: %s", skipped[0].What, skipped[0].Reason)
	}
	for _, c := range s.list {
		c.id = c.text() // what messages call it
		m.variants = append(m.variants, c.variant)
	}
	s.matched = s.parts.documents
	if q := m.job.mr.Query; len(q) > 0 {
		if s.matched, err = m.coll.CountDocuments(ctx, q); err != nil {
			return fmt.Errorf("count what the job's query matches in %s: %w", s.app.common.ns, err)
		}
	}
	if l := m.job.mr.Limit; l > 0 {
		s.matched = min(s.matched, l)
	}
	r.SchemaVersion, r.Job, r.NS, r.Key = bench.SchemaVersion, m.job.title(), s.app.common.ns.String(), s.app.common.key
	r.Documents, r.Server, r.Seed, r.BudgetSeconds = s.parts.documents, serverOf(s.t), s.o.seed, s.o.budget.Seconds()
	r.FirstShare = firstShare(r.Documents)
	return nil
}

// threads decides how many are tried at most.
func (s *tuning) threads(ctx context.Context) {
	r := &s.result
	defer func() { s.o.cap(s.app, &r.Threads, "thread") }()
	r.CPUs = serverCPUs(ctx, s.t)
	if r.Threads = s.o.threads; r.Threads > 0 {
		return
	}
	cpus := r.CPUs
	if cpus == 0 {
		cpus = runtime.NumCPU()
		s.m.warn("the server does not say how many processors it has: up to twice this machine's %d were tried; --max-threads says otherwise", cpus)
	}
	r.Threads = min(2*cpus, 256)
}

// split cuts the collection into small pieces. Without ranges to try, the types of the key are all that is wanted, and only by jsMode.
func (s *tuning) split(ctx context.Context, usable []variant) error {
	wanted := 0
	switch {
	case slices.ContainsFunc(usable, func(v variant) bool { return v.ranges }):
		wanted = wantedPieces(mostRanges(s.result.Threads), s.parts.documents)
	case slices.ContainsFunc(usable, func(v variant) bool { return v.js }):
		wanted = 1
	default:
		return nil
	}
	rep, err := s.app.splitAgain(ctx, s.t, splitter.Config{
		Collection: s.m.coll, Key: s.app.common.key, Ranges: wanted, Strategy: s.o.strategy, Predicate: s.t.Predicate,
	})
	if err != nil {
		return err
	}
	s.parts = tuneParts{rep.Pieces, rep.Total}
	s.m.types = rep.Types
	s.app.tell("%s", proof(benchSplit(rep)))
	return nil
}

// run searches, prints and saves. Its error says how the program ends.
func (s *tuning) run(ctx context.Context) error {
	a, r := s.app, &s.result
	if err := s.file.Line(tuneLine{"tune", r.SchemaVersion, r.Job, r.NS, r.Key, r.Documents, r.Seed, r.BudgetSeconds, r.Server, r.Skipped, r.Context}); err != nil {
		return err
	}
	a.tell("%s on %s documents within %s", counted(len(s.list), "combination", "combinations"), report.Thousands(r.Documents), budgetText(s.o.budget))
	out, stopped := tune.Run(ctx, tune.Config{
		Candidates: searched(s.list), Documents: r.Documents, Measure: s.measure, Budget: s.o.budget, First: r.FirstShare,
		Seed: s.o.seed, Done: s.done, Begin: s.begin, Now: a.env.Now,
	})
	s.tellLine()
	if s.paused > 0 {
		s.m.warn("runs were held back for %.3g s in all for the sake of others, which their times hold", s.paused)
	}
	s.m.agreement()
	if errors.Is(stopped, errDiffer) {
		stopped = nil // the verdict says it
	}
	if _, other, differ := s.differ(); differ && stopped == nil && s.m.result.Difference == nil {
		// It came before the one it has to be compared with, and its output is gone.
		if _, _, err := s.measure(ctx, other, 1, true); err != nil {
			s.m.warn("the differing keys of %s could not be found: %v", s.list[other].text(), err)
		}
	}
	end := a.explain(stopped, s.t)
	s.conclude(out)
	if end == nil {
		end = s.verdict(out)
	}
	r.ExitCode = exitCode(ctx, end)
	end = firstError(end, s.file.Line(tuneEndLine{"tune_end", a.env.Now().UTC(), r}))
	if out.Guess < 0 && len(out.Finalists) == 0 && stopped != nil {
		return end
	}
	perr := s.print()
	a.tell("saved in %s", s.file.Path)
	return firstError(perr, end)
}

// measure runs a candidate once, on a part or on everything. Only answers on everything can be compared.
func (s *tuning) measure(ctx context.Context, i int, share float64, final bool) (documents int64, seconds float64, err error) {
	c, m := s.list[i], s.m
	whole := m.job
	defer func() { m.job = whole }()
	m.o.threads, m.ranges, documents = c.threads, nil, s.parts.documents
	if c.variant.ranges {
		m.ranges, documents = s.parts.ranges(c.ranges, share)
	} else if share < 1 && s.router && len(s.parts.pieces) > 0 {
		// Routers refuse a mapReduce with a limit, and gather documents before a $limit instead of grouping on the shards.
		var filter bson.D
		filter, documents = s.parts.beginning(share, s.t.Predicate)
		m.job = whole.within(filter)
	} else if share < 1 {
		documents = max(1, int64(share*float64(documents)))
		m.job = whole.limited(max(1, int64(share*float64(s.matched))))
	}
	x, err := m.measure(ctx, i, !final || share < 1)
	pausedIn(&x, m.governor)
	s.paused += x.PausedSeconds
	if err != nil {
		return 0, 0, s.app.explain(err, s.t)
	}
	if x.Answer != nil {
		s.result.answers = append(s.result.answers, tuneAnswer{i, *x.Answer})
	}
	return documents, x.Seconds, nil
}

func (s *tuning) begin(round int, final bool, share float64, n int) {
	switch {
	case !final:
		s.app.tell("round %d: %s on %s", round, counted(n, "combination", "combinations"), shareText(share))
	case round == 1:
		s.app.tell("last runs: %s in turns on %s (row threads/ranges)", counted(n, "combination", "combinations"), shareText(share))
	default:
		s.tellLine()
	}
}

// done tells and saves a trial; those of a round of the finals share a line.
func (s *tuning) done(t tune.Trial) error {
	c := s.list[t.Candidate]
	if t.Final {
		if s.line == nil {
			s.line = map[int]float64{}
		}
		s.line[t.Candidate] = t.Seconds
	} else {
		s.app.tell("  %-20s %3d thr %4d rng  %8.3f s  %8.3f s/M docs", c.name(), c.threads, c.ranges, t.Seconds, perMillion(t))
	}
	err := s.file.Line(tuneTrialLine{"tune_trial", c.name(), c.threads, c.ranges, t})
	if _, _, differ := s.differ(); differ && err == nil {
		return errDiffer
	}
	return err
}

func (s *tuning) tellLine() {
	var words []string
	for _, i := range slices.Sorted(maps.Keys(s.line)) {
		c := s.list[i]
		words = append(words, fmt.Sprintf("%s %d/%d %.3f s", c.name(), c.threads, c.ranges, s.line[i]))
	}
	if now := s.app.env.Now(); len(words) > 0 && now.Sub(s.told) >= finalsEvery {
		s.told = now
		s.app.tell("  %s", strings.Join(words, ", "))
	}
	s.line = nil
}

// verdict is how a search ends that was not stopped.
func (s *tuning) verdict(out *tune.Outcome) error {
	if first, other, ok := s.differ(); ok {
		return withCode(exitDiffer, "the answer of %s is not the answer of %s", s.list[other].text(), s.list[first].text())
	}
	failed, good := 0, 0
	var why string
	for i, x := range out.Standings {
		switch {
		case x.Err != nil && bench.Skipped(x.Err) == "":
			failed++
			why = s.list[i].text() + ": " + x.Err.Error()
		case len(x.Trials) > 0:
			good++
		}
	}
	switch {
	case good == 0 && failed == 0:
		return withCode(exitFailed, "this server can run none of the combinations")
	case good == 0:
		return withCode(exitFailed, "no combination succeeded; the last one, %s", why)
	case failed > 0:
		return withCode(exitPartial, "%s failed; the last one, %s", counted(failed, "combination", "combinations"), why)
	}
	return nil
}

// differ finds two finalists whose answers are not the same, or two runs of one; first comes earlier in the list.
func (s *tuning) differ() (first, other int, differ bool) {
	for _, x := range s.result.answers {
		if y := s.result.answers[0]; x.answer != y.answer {
			return min(x.candidate, y.candidate), max(x.candidate, y.candidate), true
		}
	}
	return 0, 0, false
}

// command is the run that uses a candidate.
func (s *tuning) command(c tuneCandidate) string {
	words := []string{"mrbench", "run"}
	add := func(flag, value string) { words = append(words, flag, shellWord(value)) }
	if s.o.job != "" {
		add("--job", s.o.job)
	}
	onLadder := slices.ContainsFunc(ladder, func(v variant) bool { return v.id == c.name() })
	switch {
	case c.aggregate || onLadder && !c.variant.ranges:
		add("--rows", c.name())
	case !c.sort && !c.variant.ranges:
		words = append(words, "--no-sort")
	}
	if c.variant.ranges || !onLadder {
		add("--threads", fmt.Sprint(c.threads))
		add("--ranges", fmt.Sprint(c.ranges))
	}
	if word := c.layoutWord(); word != "" {
		add("--layout", word)
	}
	if c.js {
		words = append(words, "--jsmode")
	}
	unless := func(flag, value, otherwise string) {
		if value != otherwise && value != "" {
			add(flag, value)
		}
	}
	g := s.app.common
	unless("--out-db", s.o.outDB, "")
	unless("--strategy", s.o.strategy, splitter.Auto)
	unless("--ns", g.ns.String(), "test.uniques")
	unless("--key", g.key, "dim0")
	unless("--uri", target.Redact(g.uri), "")
	unless("--data-dir", g.dataDir, "")
	return strings.Join(words, " ")
}
