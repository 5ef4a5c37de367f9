package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/internal/bench"
	"mrbench/internal/report"
	"mrbench/internal/target"
	"mrbench/internal/telemetry"
	"mrbench/mr"
	"mrbench/splitter"
)

type runOptions struct {
	docs         int64
	threads      int
	ranges       int
	perShard     int
	jsmode       bool
	sort         bool
	noSort       bool
	layout       string
	strategy     string
	ladder       bool
	rows         []string
	createIndex  bool
	save         string
	job          string
	keep         bool
	outDB        string
	dryRun       bool
	verbose      bool
	stopBalancer bool
	concernOptions
	scheduleOptions
	planOptions
	politeOptions
	intoOptions
	sampleEvery time.Duration
}

func (o runOptions) sorted() bool { return o.sort && !o.noSort }

func (o runOptions) rangeCount() int {
	if o.ranges > 0 {
		return o.ranges
	}
	return o.threads
}

func (a *app) newRun() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run [flags]",
		Short: "Runs the job's variants and prints one comparison",
		Long: `run counts the documents of each value of the key, by mapReduce and by aggregation, and compares
times and answers. Without --ladder it measures the variant that the flags name (sorted, in ranges,
a separate output database for each) beside the plain aggregation. With --ladder it measures nine
rows: mr, mr-sort, mr-ranges, mr-ranges-dbs, mr-ranges-dbs-js, agg, agg-ranges, agg-covered,
agg-covered-ranges.

Every answer is compared with the first row's by number of keys, sum and digest. Ranges are proved
to cover the collection before any row runs. Outputs go to databases of the run's own
(mrbench_<run>_…), which are dropped afterwards. Each result is saved for compare.

Rows take turns, round by round, in an order that is drawn and balanced, so that what drifts on the
machine meets all alike. With --runs 6 or more medians have intervals; outliers, slow first runs and
rows that are not shown to differ from the first are named under the table. Documents read and
answers must be the same in every run.`,
		Example: `  mrbench run --docs 1e6 --threads 4 --jsmode      seed when needed, then one variant
  mrbench run --ladder --threads 4 --runs 5 --warmup 1
  mrbench run --rows mr,agg-covered-ranges -o markdown
  mrbench run --rows agg,agg-ranges --runs 10 --time-budget 10m --prepare sync
  mrbench run --job job.js --ladder                a job of one's own (docs/jobs.md)
  mrbench run --ladder --uri mongodb://localhost --ns shop.orders --key customer`,
		Args: noArgs,
		Annotations: map[string]string{exitAnnotation: `  0  done, all answers agree
  1  failed
  2  wrong flag, argument or setting
  3  some rows failed, the others are printed and saved
  4  server not reachable
  5  answers differ
  130, 143  interrupted (SIGINT, SIGTERM); finished rows are printed and saved`},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			return a.runRun(cmd, o)
		},
	}
	f := c.Flags()
	countFlag(c, &o.docs, "docs", 0, 1, "seed this many documents first when the collection does not exist")
	intFlag(c, &o.threads, "threads", 4, 1, 1000, "commands at a time")
	intFlag(c, &o.ranges, "ranges", 0, 0, 10_000, "ranges to cut the collection into; 0 is as many as threads")
	intFlag(c, &o.perShard, "per-shard", 0, 0, 1000, "commands at a time on one shard of a cluster; 0 shares the threads evenly over the shards with ranges")
	f.BoolVar(&o.jsmode, "jsmode", false, "mapReduce keeps emits inside JavaScript")
	f.BoolVar(&o.sort, "sort", true, "mapReduce reads the documents in the order of the key")
	f.BoolVar(&o.noSort, "no-sort", false, "the same as --sort=false")
	enumFlag(c, &o.layout, "layout", layoutSeparate, []string{layoutOne, layoutSeparate}, "output databases for ranges")
	enumFlag(c, &o.strategy, "strategy", splitter.Auto, strategies, "how to find the ranges")
	f.BoolVar(&o.ladder, "ladder", false, "measure all nine rows")
	listFlag(c, &o.rows, "rows", rowIDs(), "measure these rows of the ladder, in this order, separated by commas")
	o.scheduleOptions.flags(c)
	o.planOptions.flags(c)
	o.concernFlags(c)
	o.intoOptions.flags(c)
	f.BoolVar(&o.createIndex, "create-index", false, "make an index on the key when there is none")
	f.StringVar(&o.job, "job", "", "run the mapReduce job in this `file` or folder, and its pipeline, instead of the count of unique values")
	f.StringVar(&o.save, "save", "", "append the result to this `file` instead of a new one in the data directory")
	f.BoolVar(&o.keep, "keep", false, "keep the output databases; mrbench clean drops them")
	f.BoolVar(&o.dryRun, "dry-run", false, "print the commands that would be sent, and send none that writes")
	outDBFlag(c, &o.outDB)
	stopBalancerFlag(c, &o.stopBalancer)
	o.politeOptions.flags(c, "ranges")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "say how to find and stop the run's operations on the server")
	f.DurationVar(&o.sampleEvery, "sample-every", telemetry.DefaultInterval, "how often to look at the load of server and host while rows run; 0 does not")
	return c
}

// check refuses flags that contradict each other.
func (o *runOptions) check(cmd *cobra.Command) error {
	if o.ladder && len(o.rows) > 0 {
		return usageError("--ladder measures all nine rows and --rows some of them; use one of them")
	}
	if o.ladder || len(o.rows) > 0 {
		which := "--ladder"
		if len(o.rows) > 0 {
			which = "--rows"
		}
		for _, name := range []string{"jsmode", "sort", "no-sort", "layout"} {
			if cmd.Flags().Changed(name) {
				return usageError("--%s names one variant and %s a fixed list; use one of them", name, which)
			}
		}
	}
	if o.sampleEvery != 0 && o.sampleEvery < leastInterval {
		return usageError("--sample-every %v: it is at least %v, so that it is no load itself, or 0", o.sampleEvery, leastInterval)
	}
	if err := checkOutDB(o.outDB); err != nil {
		return err
	}
	if err := o.planOptions.check(cmd); err != nil {
		return err
	}
	if err := o.checkInto(cmd, o.rows); err != nil {
		return err
	}
	if o.noSort && o.sort && cmd.Flags().Changed("sort") {
		return usageError("--sort and --no-sort exclude each other")
	}
	return nil
}

func (a *app) runRun(cmd *cobra.Command, o runOptions) (err error) {
	ctx := cmd.Context()
	if err := a.readPlan(cmd, &o.planOptions); err != nil {
		return err
	}
	job, err := a.jobOf(cmd, &o)
	if err == nil {
		err = firstError(firstError(o.planOptions.fits(a), o.inRanges(o.variants())), o.intoOptions.fits(a, o.variants()))
	}
	if err != nil {
		return err
	}
	dir, err := a.dataDir()
	if err != nil {
		return err
	}
	started := a.env.Now()
	id := newRunID(started)
	a.appName = "mrbench run " + id
	o.ranges = o.rangeCount()
	o.cap(a, &o.threads, "thread")
	if o.dryRun {
		return a.dryRun(cmd, o, job, newOutputs(id, nil, createdIn(dir), a.env.Now))
	}
	path := filepath.Join(resultsDir(dir), id+".ndjson")
	if o.save != "" {
		path = a.env.path(o.save)
	} else if err := os.MkdirAll(resultsDir(dir), 0o755); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	file, err := bench.Create(path)
	if err != nil {
		if o.save != "" {
			return usageError("--save: %w", err)
		}
		return err
	}
	defer finish(&err, file)
	t, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer finish(&err, t)
	m := &measurement{
		app: a, o: o, t: t, file: file, variants: o.variants(), job: job,
		coll: t.Client.Database(a.common.ns.DB).Collection(a.common.ns.Coll),
		out:  newOutputs(id, t, createdIn(dir), a.env.Now),
	}
	m.out.db = o.outDB
	m.result.Context = bench.Context{RunID: id, Started: started.UTC(), Mrbench: Version(), Options: a.optionsOf(cmd)}
	m.result.Context.DescribeHost()
	job.describe(a)
	restore, err := a.stopBalancer(ctx, t, o.stopBalancer)
	if err != nil {
		return err
	}
	defer restore()
	if err := m.prepare(ctx); err != nil {
		return a.explain(err, t)
	}
	if o.verbose {
		a.tell("%s", findText(t.AppName))
	}
	governor, end, err := o.govern(ctx, a, t, o.threads)
	if err != nil {
		return err
	}
	defer end()
	m.governor = governor
	defer m.cleanUp(ctx, &err)
	return m.run(ctx)
}

// dryRun prints what run would send, and saves nothing.
func (a *app) dryRun(cmd *cobra.Command, o runOptions, job *runJob, out *outputs) (err error) {
	ctx := cmd.Context()
	d, err := a.newDryRun("run")
	if err != nil {
		return err
	}
	m := &measurement{app: a, o: o, variants: o.variants(), job: job, out: out, dry: d}
	if m.t, err = a.open(ctx); err != nil {
		return err
	}
	defer finish(&err, m.t)
	m.coll = m.t.Client.Database(a.common.ns.DB).Collection(a.common.ns.Coll)
	m.out.db = o.outDB
	starts, err := a.planBalancer(ctx, m.t, d, o.stopBalancer)
	if err != nil {
		return err
	}
	m.startBalancer = starts
	return a.explain(m.planRun(ctx), m.t)
}

// optionsOf is every flag of the command with its value, without passwords.
func (a *app) optionsOf(cmd *cobra.Command) map[string]any {
	o := map[string]any{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		switch f.Name {
		case "help", "config":
		case "uri":
			o[f.Name] = target.Redact(f.Value.String())
		default:
			o[f.Name] = f.Value.String()
		}
	})
	return o
}

// prepare makes sure of everything that has to be there before the first row: documents, index, ranges that are
// proved to cover the collection.
func (m *measurement) prepare(ctx context.Context) error {
	if err := m.lookAtCluster(ctx); err != nil {
		return err
	}
	facts, err := m.t.Ask(ctx, m.app.common.ns)
	if err != nil {
		return fmt.Errorf("ask the server what it can do: %w", err)
	}
	ns := m.app.common.ns
	if err := m.settleConcerns(facts, m.o.concernOptions); err != nil {
		return err
	}
	if err := m.mayPrepare(ctx, facts); err != nil {
		return err
	}
	m.effects = noEffects(facts, ns, m.variants, m.o.outputsIn())
	m.foretell()
	if err := m.documents(ctx); err != nil {
		return err
	}
	possible := slices.DeleteFunc(slices.Clone(m.variants), func(v variant) bool { return m.skip(v) != "" })
	if slices.ContainsFunc(possible, variant.needsIndex) {
		if err := m.index(ctx); err != nil {
			return err
		}
	}
	ranges := slices.ContainsFunc(possible, func(v variant) bool { return v.ranges })
	if ranges {
		if err := m.split(ctx, m.o.rangeCount()); err != nil {
			return err
		}
	} else if slices.ContainsFunc(possible, func(v variant) bool { return v.js }) {
		// One range over everything: only the types of the key are wanted, which tell what jsMode's strings were.
		if err := m.split(ctx, 1); err != nil {
			return err
		}
		m.ranges, m.owners, m.result.Split = nil, nil, nil
	}
	r := &m.result
	r.SchemaVersion = bench.SchemaVersion
	r.Dataset.NS, r.Dataset.Key, r.Dataset.Job = m.app.common.ns.String(), m.app.common.key, m.job.title()
	if err := m.dataset(ctx); err != nil {
		return err
	}
	r.Server = serverOf(m.t)
	m.nameShards()
	for _, v := range m.variants {
		row := bench.Row{ID: v.id, Threads: 1, Ranges: 1, NoEffect: m.effects.none[v.id]}
		if v.ranges {
			row.Ranges = len(m.ranges)
			if row.Ranges == 0 { // it will be skipped
				row.Ranges = m.o.rangeCount()
			}
			row.Threads = min(m.o.threads, row.Ranges)
			row.PerShard = m.perShard()
		}
		if m.o.outDB != "" {
			v.layout = mr.OneDatabase
		}
		row.Label = v.label(row.Ranges, row.Threads)
		r.Rows = append(r.Rows, row)
	}
	return nil
}

func (v variant) needsIndex() bool { return v.sort || v.ranges || v.covered || v.js }

// documents counts the collection, and seeds it when there is none and --docs says how many.
func (m *measurement) documents(ctx context.Context) error {
	a := m.app
	_, exists, err := collectionUUID(ctx, m.coll.Database(), m.coll.Name())
	if err != nil {
		return err
	}
	if !exists {
		if m.job.name != "" {
			return withCode(exitFailed, "%s does not exist on %s; load the job's documents with mrbench seed --from, or name another collection with --ns", a.common.ns, where(m.t))
		}
		if m.o.docs == 0 {
			return &splitter.NoCollectionError{NS: a.common.ns.String()}
		}
		o := seedDefaults
		o.docs, o.politeOptions = m.o.docs, m.o.politeOptions
		if m.dry != nil {
			o.writeConcern = seedConcern(m.t)
			m.dry.line("// %s does not exist: it is filled first; the rows depend on its documents, so the plan ends with that", a.common.ns)
			return firstError(a.planSeed(m.dry, o, false, nil), errPlanEnds)
		}
		a.tell("%s does not exist: seeding %s documents", a.common.ns, report.Thousands(o.docs))
		r, err := a.fill(ctx, m.t, o)
		if err != nil {
			return err
		}
		a.tell("seeded %s with %s documents in %.1f s, %s documents/s with the index", r.NS, report.Thousands(r.Documents), r.Seconds, report.Thousands(int64(r.DocumentsPerSecond)))
	}
	n, err := m.coll.EstimatedDocumentCount(ctx)
	if err != nil {
		return fmt.Errorf("count %s: %w", a.common.ns, err)
	}
	if n == 0 {
		return withCode(exitFailed, "%s on %s is empty; fill it with: %s", a.common.ns, where(m.t), a.command("seed --docs 1e6"))
	}
	if exists && m.o.docs != 0 && m.o.docs != n {
		m.warn("%s already holds %s documents: --docs %s was not used (mrbench seed --drop replaces them)", a.common.ns, report.Thousands(n), report.Thousands(m.o.docs))
	}
	m.result.Dataset.Documents = n
	return nil
}

// index makes sure that an index starts with the key.
func (m *measurement) index(ctx context.Context) error {
	key := m.app.common.key
	_, _, err := splitter.IndexFor(ctx, m.coll, key)
	if _, none := errors.AsType[*splitter.NoIndexError](err); !none || !m.o.createIndex {
		return err
	}
	if m.dry != nil {
		m.dry.line("// the index is made first; the ranges depend on it, so the plan ends with that")
		m.dry.command(m.app.common.ns.DB, bson.D{{Key: "createIndexes", Value: m.app.common.ns.Coll}, {Key: "indexes", Value: bson.A{bson.D{
			{Key: "key", Value: bson.D{{Key: key, Value: 1}}}, {Key: "name", Value: key + "_1"},
		}}}}, true, "")
		return errPlanEnds
	}
	start := m.app.env.Now()
	m.app.tell("making the index {%s: 1} on %s", key, m.app.common.ns)
	if err := m.app.afterFailOver(ctx, m.t, "making the index", func() error {
		_, err := m.coll.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{Key: key, Value: 1}}})
		return err
	}); err != nil {
		return fmt.Errorf("create index {%s: 1} on %s: %w", key, m.app.common.ns, err)
	}
	m.app.tell("the index was made in %s", shortTime(m.app.env.Now().Sub(start)))
	return nil
}

// split cuts the collection; without proof that the ranges cover it there is an error, and no row is run.
func (m *measurement) split(ctx context.Context, wanted int) error {
	if m.o.list != nil {
		return m.provePlan(ctx)
	}
	rep, err := m.app.splitAgain(ctx, m.t, splitter.Config{
		Collection: m.coll, Key: m.app.common.key, Ranges: wanted, Strategy: m.o.strategy, Predicate: m.t.Predicate,
	})
	if err != nil {
		return err
	}
	for _, p := range rep.Pieces {
		m.ranges = append(m.ranges, p.Range)
	}
	m.owners = rep.Owners()
	m.pieces = rep.Pieces
	m.types = rep.Types
	m.result.Split = benchSplit(rep)
	m.app.tell("%s", proof(m.result.Split))
	m.result.Dataset.Documents = rep.Total
	if rep.Fewer != "" {
		m.warn("%d ranges were wanted and %d made: %s", wanted, len(m.ranges), rep.Fewer)
	}
	if rep.Imbalance > 1.5 {
		m.warn("the largest range holds %.1f times the mean; it will hold the others up", rep.Imbalance)
	}
	return nil
}
