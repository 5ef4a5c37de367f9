package cli

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/aggregate"
	"mrbench/internal/bench"
	"mrbench/internal/cluster"
	"mrbench/internal/into"
	"mrbench/internal/report"
	"mrbench/internal/target"
	"mrbench/mr"
	"mrbench/splitter"
)

// intoOptions are the flags of run that keep one result.
type intoOptions struct {
	into        string
	intoSharded bool
	appendTo    bool

	result target.Namespace
}

func (o *intoOptions) flags(c *cobra.Command) {
	c.Flags().StringVar(&o.into, "into", "", "keep the result in this collection, `database.collection`, which several machines may fill at the same time")
	c.Flags().BoolVar(&o.intoSharded, "into-sharded", false, "shard the collection that --into makes, by {_id: 1}, over all shards")
	c.Flags().BoolVar(&o.appendTo, "append", false, "add to what --into holds already")
}

// checkInto refuses flags that have no part in keeping a result.
func (o *runOptions) checkInto(cmd *cobra.Command, rows []string) (err error) {
	if o.into == "" {
		for _, name := range []string{"into-sharded", "append"} {
			if cmd.Flags().Changed(name) {
				return usageError("--%s says how --into keeps the result: name a collection with that", name)
			}
		}
		return nil
	}
	if o.result, err = target.ParseNamespace(o.into); err != nil {
		return usageError("--into %q: %w", o.into, err)
	}
	if n := len(o.into) + len(".mrbench_20060102t150405000ffff_part_10000"); n > maxNamespace {
		return usageError("--into %s: with the names of parts beside it, it comes to %d bytes, and servers before 4.4 take %d: use a shorter name", o.into, n, maxNamespace)
	}
	switch {
	case o.ladder || len(rows) > 1:
		return usageError("--into keeps the result of one variant: name one row with --rows, or leave out --ladder and --rows")
	case slices.Contains(rows, "mr-ranges-dbs"):
		return usageError("--into puts everything into one collection, so mr-ranges-dbs is mr-ranges here: --rows mr-ranges")
	case o.jsmode || slices.Contains(rows, "mr-ranges-dbs-js"):
		return usageError("--into takes no jsMode: it makes strings of keys, which nothing turns back in a collection that others fill")
	}
	for _, name := range []string{"runs", "warmup", "time-budget", "layout", "keep", "out-db"} {
		if cmd.Flags().Changed(name) {
			return usageError("--into computes the result once and puts it into one collection: leave --%s out", name)
		}
	}
	return nil
}

// maxNamespace is how long a namespace may be before 4.4, in bytes.
const maxNamespace = 120

// fits says that the result is another collection than the source, and the row one in ranges.
func (o intoOptions) fits(a *app, variants []variant) error {
	switch {
	case o.into == "":
	case o.result == a.common.ns:
		return usageError("--into %s is the collection that is read", o.into)
	case !variants[0].ranges:
		return usageError("--into puts ranges into the result, and %s is not run in ranges: name a row such as %s-ranges", variants[0].id, variants[0].id)
	}
	return nil
}

// outputsIn is the one database that is written to, "" databases of the run's own.
func (o *runOptions) outputsIn() string {
	if o.into != "" {
		return o.result.DB
	}
	return o.outDB
}

// intoRun is what a run puts into a kept result.
type intoRun struct {
	*into.Result
	list *splitter.List
	// sharded says that the result's collection is.
	sharded bool

	owners    []string      // shards of the ranges that are missing
	documents map[int]int64 // counted in ranges that are run, counted from 0
	mu        sync.Mutex
}

// intoList is the list of all ranges, of which this run may take a part.
func (m *measurement) intoList() *splitter.List {
	if m.o.list != nil {
		return m.o.list
	}
	return &splitter.List{NS: m.app.common.ns.String(), Key: m.app.common.key, Documents: m.result.Dataset.Documents, Pieces: m.pieces}
}

func (m *measurement) intoConfig(row int, server splitter.Server) into.Config {
	j := m.job
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %v %v %v %d", j.mr.Map, j.mr.Reduce, j.mr.Finalize, j.mr.Scope, j.mr.Query, j.mr.Sort, j.mr.Limit)
	what := "documents " + bench.Dataset{Job: j.title(), Key: m.app.common.key}.What()
	note := func(coll string, dropped bool) error {
		return m.out.record.add(creation{Kind: kindCompanion, Name: m.o.result.DB + "." + coll, Server: m.t.Identity, Run: m.out.run, Time: m.app.env.Now(), Dropped: dropped})
	}
	v := m.variants[row]
	return into.Config{
		Client: m.t.Client, DB: m.o.result.DB, Coll: m.o.result.Coll, List: m.intoList(), Predicate: m.t.Predicate, Threads: m.o.threads,
		Wire: server.WireVersion, Job: fmt.Sprintf("%x", h.Sum(nil)[:8]), What: what,
		Disjoint: v.aggregate && j.disjoint || !v.aggregate && j.emits(m.app.common.key),
		Additive: j.name == "", Append: m.o.appendTo, Run: m.out.run, Host: host, Now: m.app.env.Now,
		Refuse:  func(mode string, base bool) error { return m.refuseInto(v, mode, base) },
		Prepare: func(ctx context.Context, held bool) error { return m.makeInto(ctx, held) },
		Created: func(coll string) error { return note(coll, false) },
		Dropped: func(coll string) error { return note(coll, true) },
	}
}

// refuseInto says what can't be put together in a mode.
func (m *measurement) refuseInto(v variant, mode string, base bool) error {
	switch {
	case mode == into.Reduce && v.aggregate && m.job.name != "":
		return withCode(exitFailed, "--into %s: how values of this pipeline are put together is not known; a row of mapReduce reduces them: --rows mr-ranges", m.o.into)
	case base && m.job.mr.Finalize != "":
		return withCode(exitFailed, "--append: the job has a finalize function, and results that it has been through can't be reduced again: use another name for --into")
	}
	return nil
}

// makeInto makes the result's collection.
func (m *measurement) makeInto(ctx context.Context, held bool) error {
	db := m.t.Client.Database(m.o.result.DB)
	_, exists, err := collectionUUID(ctx, db, m.o.result.Coll)
	if err != nil {
		return err
	}
	if !exists {
		err = db.CreateCollection(ctx, m.o.result.Coll)
		if ce, ok := errors.AsType[mongo.CommandError](err); ok && ce.Code == codeNamespaceExists {
			err = nil
		}
		if err != nil {
			return fmt.Errorf("create %s: %w", m.o.result, err)
		}
	}
	if !m.o.intoSharded {
		return nil
	}
	coll, err := cluster.Of(ctx, m.t.Client, m.o.into)
	if err != nil || coll != nil {
		return err
	}
	if held {
		return withCode(exitFailed, "--into-sharded: %s holds documents and is not sharded; shard it by {_id: 1} yourself, or use another name", m.o.result)
	}
	p, err := m.intoLayout(ctx)
	if err != nil {
		return err
	}
	m.app.tell("sharding %s by {_id: 1} over %s", m.o.result, plural(len(p.Shards), "shard"))
	return cluster.Create(ctx, m.t.Client, p)
}

// codeNamespaceExists is that of a collection that is there.
const codeNamespaceExists = 48

// intoLayout spreads the result over the shards, by the bounds of the ranges where these are of its keys.
func (m *measurement) intoLayout(ctx context.Context) (cluster.Plan, error) {
	c, err := cluster.Ask(ctx, m.t.Client)
	if err != nil {
		return cluster.Plan{}, err
	}
	if c == nil || len(c.Shards) == 0 {
		return cluster.Plan{}, usageError("--into-sharded is for a sharded cluster, through its mongos: %s is none, or does not show its shards", where(m.t))
	}
	p := cluster.Plan{NS: m.o.into, Key: bson.D{{Key: "_id", Value: 1}}, Shards: c.Names()}
	if m.job.emits(m.app.common.key) {
		for _, x := range m.intoList().Pieces[1:] {
			p.Points = append(p.Points, bson.D{{Key: "_id", Value: x.Range.Lo}})
		}
	}
	return p, nil
}

// openInto takes part in the result.
func (m *measurement) openInto(ctx context.Context, row int) error {
	if m.into != nil {
		return nil
	}
	server, err := splitter.AskServer(ctx, m.t.Client)
	if err != nil {
		return err
	}
	c := m.intoConfig(row, server)
	r, err := into.Open(ctx, c)
	if err != nil {
		return err
	}
	x := &intoRun{Result: r, list: c.List}
	if server.Mongos {
		coll, err := cluster.Of(ctx, m.t.Client, m.o.into)
		if err != nil {
			return err
		}
		x.sharded = coll != nil
		if x.sharded && (len(coll.Key) != 1 || coll.Key[0].Key != "_id" || coll.Hashed) {
			return withCode(exitFailed, "%s is sharded by %s; a result of mapReduce can be sharded by {_id: 1} only", m.o.result, cluster.KeyText(coll.Key))
		}
	}
	m.into = x
	return nil
}

// measureInto puts those ranges into the result that are not in it, and ends it when they are the last ones.
func (m *measurement) measureInto(ctx context.Context, row int) (s bench.Sample, err error) {
	if err := m.openInto(ctx, row); err != nil {
		return s, err
	}
	from, to := 0, len(m.into.list.Pieces)
	if m.o.list != nil {
		from, to = m.o.taken()
	}
	missing, err := m.into.Missing(ctx, from, to)
	if err != nil {
		return s, err
	}
	computed := []int{}
	if m.result.Into != nil { // of a try that a fail-over ended
		computed = m.result.Into.Computed
	}
	m.result.Into = &bench.Into{NS: m.o.into, Mode: m.into.Mode(), Ranges: len(m.into.list.Pieces), Computed: computed}
	if n := to - from - len(missing); n > 0 {
		m.app.tell("%s of %d to %d %s in %s already", plural(n, "range"), from+1, to, are(n), m.o.into)
	}
	ranges := make([]splitter.Range, len(missing))
	colls := make([]string, len(missing))
	for k, i := range missing {
		ranges[k] = m.ranges[i-from]
		if colls[k], err = m.into.Where(i); err != nil {
			return s, err
		}
	}
	m.into.owners, m.into.documents = make([]string, len(missing)), map[int]int64{}
	for k, i := range missing {
		if i-from < len(m.owners) {
			m.into.owners[k] = m.owners[i-from]
		}
	}
	for k, p := range m.result.Split.Pieces {
		m.into.documents[from+k] = p.Documents
	}
	start := m.app.env.Now()
	s.Start = m.since(start)
	span := m.sampler.Start(ctx)
	if len(missing) > 0 {
		if m.variants[row].aggregate {
			err = m.aggregateInto(ctx, row, &s, missing, ranges, colls)
		} else {
			err = m.mapReduceInto(ctx, row, &s, missing, ranges, colls)
		}
	}
	complete := false
	if err == nil {
		merging := m.app.env.Now()
		complete, err = m.into.Finish(ctx, func(ctx context.Context, gathered string) error { return m.together(ctx, row, gathered) })
		took := m.app.env.Now().Sub(merging).Seconds()
		s.MergeSeconds = &took
	}
	s.Seconds = m.app.env.Now().Sub(start).Seconds()
	s.Usage = m.used(span)
	asked, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout) // also after an interrupt
	defer cancel()
	in, _, ierr := m.into.In(asked)
	m.result.Into.In = in
	slices.Sort(m.result.Into.Computed)
	if err = firstError(err, ierr); err != nil || !complete {
		return s, unsupported(err, "what the row needs")
	}
	return s, m.verifyInto(ctx)
}

func are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// verifyInto compares the complete result with its parts.
func (m *measurement) verifyInto(ctx context.Context) error {
	c, err := m.into.Check(ctx)
	if err != nil {
		return err
	}
	x := &bench.IntoCheck{Keys: c.Keys, PartKeys: c.PartKeys, Sum: c.Sum, Agrees: c.Agrees()}
	if c.SumKnown {
		x.PartSum = &c.PartSum
	}
	m.result.Into.Check = x
	return nil
}

// wrongInto is the end of a run whose result is not what its parts are.
func (m *measurement) wrongInto() error {
	if x := m.result.Into; x != nil && x.Check != nil && !x.Check.Agrees {
		return withCode(exitDiffer, "%s is not what its parts come to: something else wrote to it, or the collection changed while ranges were computed", m.o.into)
	}
	return nil
}

// came notes a range that is in. It is called from several goroutines.
func (m *measurement) came(ctx context.Context, i int) (keys int64, err error) {
	keys, err = m.into.Done(ctx, i, m.into.documents[i])
	if err == nil {
		m.into.mu.Lock()
		defer m.into.mu.Unlock()
		m.result.Into.Computed = append(m.result.Into.Computed, i+1)
	}
	return keys, err
}

func (m *measurement) mapReduceInto(ctx context.Context, row int, s *bench.Sample, missing []int, ranges []splitter.Range, colls []string) error {
	c := m.mapReduceConfig(row)
	c.Ranges, c.Owners, c.JSMode, c.KeyTypes, c.OutDB = ranges, m.into.owners, false, nil, ""
	if m.into.Mode() == into.Reduce {
		c.Job.Finalize = "" // it runs when the parts are put together
	}
	keys := make([]int64, len(missing)) // the server's reply has those of the whole result as output
	c.Into = &mr.Into{
		DB: m.o.result.DB, Coll: func(part int) string { return colls[part] }, Add: m.into.Mode() == into.Merge, Sharded: m.into.sharded && m.into.Mode() == into.Merge,
		Aside: func(part int) (string, func() error, error) { return m.into.Aside(missing[part]) },
		Done: func(ctx context.Context, p mr.Part) (err error) {
			keys[p.Index], err = m.came(ctx, missing[p.Index])
			return err
		},
	}
	c.OnStart = func(p mr.Part) { m.show.started(p.Index, p.Thread) }
	c.OnPart = func(p mr.Part) { m.show.finished(p.Index, p.Thread) }
	rep, err := mr.Run(ctx, c)
	if rep != nil {
		s.OutputDBs, s.ServerSeconds, s.Counts = 1, milliseconds(rep.ServerMS), benchCounts(rep.Counts)
		var output int64
		for _, p := range rep.Parts {
			lo, hi := bounds(p.Range)
			n, counts := keys[p.Index], benchCounts(p.Counts)
			counts.Output = &n
			output += n
			s.Parts = append(s.Parts, bench.Part{From: lo, To: hi, Database: p.DB, Thread: p.Thread, Start: p.Start, Seconds: p.Seconds, ServerSeconds: milliseconds(p.ServerMS), Counts: counts, Shard: p.Owner, Shards: m.partShards(p)})
		}
		s.Counts.Output = &output
	}
	return err
}

func (m *measurement) aggregateInto(ctx context.Context, row int, s *bench.Sample, missing []int, ranges []splitter.Range, colls []string) error {
	c := m.pipeline(row)
	c.Ranges, c.Owners, c.Comment = ranges, m.into.owners, m.out.prefix(row)
	keys := make([]int64, len(missing))
	c.Into = &aggregate.Into{
		Coll: func(part int) *mongo.Collection { return m.t.Client.Database(m.o.result.DB).Collection(colls[part]) },
		Done: func(ctx context.Context, p aggregate.Part) (err error) {
			keys[p.Index], err = m.came(ctx, missing[p.Index])
			return err
		},
	}
	c.OnStart = func(p aggregate.Part) { m.show.started(p.Index, p.Thread) }
	c.OnPart = func(p aggregate.Part) { m.show.finished(p.Index, p.Thread) }
	rep, err := aggregate.Run(ctx, c)
	if rep == nil {
		return err
	}
	s.OutputDBs, s.IndexUsed = 1, rep.IndexUsed
	if c.Covered {
		covered := rep.IsCovered
		s.Covered = &covered
	}
	var output int64
	for _, p := range rep.Parts {
		lo, hi := bounds(p.Range)
		n := keys[p.Index]
		output += n
		s.Parts = append(s.Parts, bench.Part{From: lo, To: hi, Thread: p.Thread, Start: p.Start, Seconds: p.Seconds, Counts: bench.Counts{Output: &n}, Shard: p.Owner, Shards: askedShards(p)})
	}
	s.Counts = bench.Counts{Output: &output}
	return err
}

// together puts gathered parts, documents {key, value}, into the result.
func (m *measurement) together(ctx context.Context, row int, gathered string) error {
	if m.variants[row].aggregate {
		_, err := aggregate.Run(ctx, m.addUp(gathered))
		return err
	}
	_, err := mr.Run(ctx, m.reduceUp(row, gathered))
	return err
}

// addUp is the sum of counts by key.
func (m *measurement) addUp(gathered string) aggregate.Config {
	db := m.t.Client.Database(m.o.result.DB)
	return aggregate.Config{
		Collection: db.Collection(gathered), Key: "key", Predicate: m.t.Predicate,
		Pipeline: []bson.D{{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$key"}, {Key: "value", Value: bson.D{{Key: "$sum", Value: "$value"}}}}}}},
		Into:     &aggregate.Into{Coll: func(int) *mongo.Collection { return db.Collection(m.o.result.Coll) }},
	}
}

// reduceUp is the job's own reduce, and finalize, by key.
func (m *measurement) reduceUp(row int, gathered string) mr.Config {
	to := &mr.Into{DB: m.o.result.DB, Coll: func(int) string { return m.o.result.Coll }, Add: true, Sharded: m.o.intoSharded}
	to.Aside = func(int) (string, func() error, error) { return m.aside(-1), nil, nil }
	if m.into != nil {
		to.Sharded = m.into.sharded
		to.Aside = func(int) (string, func() error, error) { return m.into.Aside(-1) }
	}
	return mr.Config{
		Client: m.t.Client, DB: m.o.result.DB, Coll: gathered, Job: m.job.mr.Again("key"), Predicate: m.t.Predicate, Prefix: m.out.prefix(row), Into: to,
	}
}

// intoNotes say what became of a kept result.
func intoNotes(x *bench.Into) []string {
	if x == nil {
		return nil
	}
	did := "no range was computed, as all were in"
	if n := len(x.Computed); n > 0 {
		did = fmt.Sprintf("this run put in %s", plural(n, "range"))
		if n <= 8 {
			did = "this run put in " + strings.Trim(strings.ReplaceAll(fmt.Sprint(x.Computed), " ", ", "), "[]")
		}
	}
	lines := []string{fmt.Sprintf("into %s by %s: %d of %s in; %s", x.NS, x.Mode, x.In, plural(x.Ranges, "range"), did)}
	c := x.Check
	switch {
	case c == nil && x.In < x.Ranges:
		return append(lines, fmt.Sprintf("%s is complete when the other ranges are in: mrbench run --into %s with the same list of ranges", x.NS, x.NS))
	case c == nil:
		return lines
	}
	text := fmt.Sprintf("check: %s holds %s keys, sum %s; its parts come to %s keys", x.NS, report.Thousands(c.Keys), sumText(c.Sum), report.Thousands(c.PartKeys))
	if c.PartSum != nil {
		text += ", sum " + sumText(*c.PartSum)
	}
	if !c.Agrees {
		text += ": THEY DIFFER"
	}
	return append(lines, text)
}

func sumText(f float64) string {
	if n := int64(f); float64(n) == f {
		return report.Thousands(n)
	}
	return fmt.Sprint(f)
}
