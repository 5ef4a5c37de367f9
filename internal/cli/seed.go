package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/report"
	"mrbench/internal/target"
	"mrbench/seed"
)

type seedOptions struct {
	docs         int64
	seed         uint64
	keys         int64
	writers      int
	batch        int
	ordered      bool
	writeConcern string
	index        string
	drop         bool
	sourceOptions
	sweepOptions
}

// seedDefaults are what run --docs seeds with.
var seedDefaults = seedOptions{
	docs: 1_000_000, seed: 1, writers: seed.DefaultWriters, batch: seed.DefaultBatch, writeConcern: "1", index: string(seed.IndexAfter),
	sourceOptions: sourceOptions{generator: uniquesName, onDuplicate: string(seed.DuplicateStop)},
}

func (a *app) newSeed() *cobra.Command {
	o := seedDefaults
	c := &cobra.Command{
		Use:   "seed [flags] [--from FILE...]",
		Short: "Creates, fills and indexes a collection",
		Long: `seed fills a collection with documents {_id, dim0: whole number from 0 up to keys} and indexes the
field. A document depends on --seed and its number only, so the content is the same whatever the
number of writers. Afterwards the documents are counted. A collection that holds documents is left
alone unless --drop or --append is given.

--generator makes other documents: guid {Guid: uuid, Data: 20 characters}, people (profiles of about
250 bytes), reviews (texts, about 750 bytes), or template, after a JSON file whose fields may be
{"$gen": "int", "min": 1, "max": 1000, "zipf": 1.2, "missing": 0.1}; the others are double, normal,
bool, choice, date, objectId, uuid, string, text, name, city, index, array and ref. They are indexed
only when --index says so. --emit ndjson writes them to standard output instead.

--from loads files: NDJSON, JSON (documents or arrays of them), CSV, TSV and BSON, each also packed
by gzip or zstd, of any size. JSON may be Extended JSON. A broken record stops the load, with its
file, line and byte, unless --skip-bad names a file for such records. A column of a CSV header may
have a type: name.string(), age.int32(), n.int64(), x.double(), d.decimal(), id.objectId(),
u.uuid(), ok.boolean(), day.date(2006-01-02), b.binary(base64).

--sweep loads the same --docs documents (100,000 unless said) at every point of a grid, --runs times, round by round
in another order each round, and shows times, rates, the best point, and what each setting does when all others stay.
Settings that are not on the grid have their flags' values. Documents of files are read into memory before. Each
point gets a new collection in a database of the run's own, which is dropped afterwards. With prefill, filling one
anew for each point would take most of the time: a prefilled collection is loaded once, points add to it one after
the other, and it is replaced when it has grown by a tenth. Combinations that would measure nothing are left out,
and it says which. In write-concern, majority+j is majority,j.`,
		Example: `  mrbench seed --docs 10M
  mrbench seed --docs 500k --keys 1000 --ns test.few --index before
  mrbench seed --generator people --docs 1M --emit ndjson >people.ndjson
  mrbench seed --ns test.people --from people.ndjson
  mrbench seed --ns test.reviews --from reviews/ --select reviews --skip-bad bad.ndjson --writers 5
  mrbench seed --from reviews/ --select reviews --plan 6
  mrbench seed --sweep batch=1,100,1000,10000 writers=1,4 index=none,before
  mrbench seed --sweep write-concern=0,1,majority,j ordered=true,false prefill=0,1M --docs 100k
  mrbench seed --docs 1e6 --uri mongodb://localhost --writers 8 --write-concern majority`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(o.sweep) > 0 {
				return a.runSweep(cmd, o, args)
			}
			for _, n := range onlyWithSweep {
				if cmd.Flags().Changed(n) {
					return usageError("--%s is for --sweep", n)
				}
			}
			if err := a.formats("seed", formatTable, formatJSON); err != nil {
				return err
			}
			if err := o.check(cmd, args); err != nil {
				return err
			}
			switch {
			case o.emit != "":
				return a.emitNDJSON(cmd.Context(), o)
			case o.countOnly || o.plan > 0:
				return a.countFiles(cmd.Context(), o)
			}
			return a.runSeed(cmd.Context(), o)
		},
	}
	f := c.Flags()
	countFlag(c, &o.docs, "docs", o.docs, 1, "documents to write: 1000000, 1e6, 500k, 10M")
	f.Uint64Var(&o.seed, "seed", o.seed, "another seed gives other documents")
	countFlag(c, &o.keys, "keys", 0, 0, "different values of the key; 0 is a tenth of the documents")
	intFlag(c, &o.writers, "writers", o.writers, 1, 1000, "inserts at a time")
	intFlag(c, &o.batch, "batch", o.batch, 1, 100_000, "documents an insert; cut down to what the server takes")
	f.BoolVar(&o.ordered, "ordered", false, "insert in order: the server stops a batch at its first error")
	f.Var(&value[string]{&o.writeConcern, "concern", parseConcern, same}, "write-concern", "0, 1, a number of members, majority, j, or majority,j")
	complete(c, "write-concern", []string{"0", "1", "2", "3", "majority", "j", "majority,j"})
	enumFlag(c, &o.index, "index", o.index, []string{string(seed.IndexBefore), string(seed.IndexAfter), string(seed.IndexNone)}, "when to build the index on the key")
	f.BoolVar(&o.drop, "drop", false, "drop the collection first")
	o.sourceOptions.flags(c)
	o.sweepOptions.flags(c)
	return c
}

// seedResult is what -o json prints.
type seedResult struct {
	*seed.Report
	Key         string `json:"key,omitempty"`
	Keys        int64  `json:"keys,omitempty"`
	Seed        uint64 `json:"seed"`
	RejectsFile string `json:"rejects_file,omitempty"`
	Server      struct {
		Kind    string `json:"kind"`
		Version string `json:"version"`
	} `json:"server"`
}

func (a *app) runSeed(ctx context.Context, o seedOptions) (err error) {
	t, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer finish(&err, t)
	r, err := a.fill(ctx, t, o)
	if err != nil {
		return a.explain(err, t)
	}
	return a.print(r, seedTable(r))
}

// fill seeds the collection. It records the collection as mrbench's own when it creates it.
func (a *app) fill(ctx context.Context, t *target.Target, o seedOptions) (*seedResult, error) {
	db := t.Client.Database(a.common.ns.DB)
	coll := db.Collection(a.common.ns.Coll)
	files, err := a.sourceConfig(o)
	if err != nil {
		return nil, err
	}
	conf := seed.Config{Source: files}
	if files == nil {
		if conf.Generator, err = a.generatorOf(o); err != nil {
			return nil, err
		}
		conf.Documents = o.docs
	} else if _, err := files.Files(); err != nil { // before anything is made or dropped
		return nil, err
	}
	bad := &rejects{path: a.env.path(o.skipBad)}
	if o.skipBad != "" {
		conf.Bad = bad.take
	}
	if err := a.makeCollection(ctx, t, o.drop, o.add); err != nil {
		return nil, err
	}
	keys := o.keys
	if keys == 0 {
		keys = max(1, o.docs/10)
	}
	show, stop := a.seedProgress(a.common.ns.String())
	conf.Collection = coll
	conf.Writers, conf.Batch, conf.Ordered = o.writers, o.batch, o.ordered
	conf.WriteConcern = o.writeConcern
	conf.Index, conf.IndexKeys = seed.IndexMoment(o.index), bson.D{{Key: a.common.key, Value: 1}}
	conf.OnDuplicate, conf.Append = seed.OnDuplicate(o.onDuplicate), o.add
	conf.Progress = show
	rep, err := seed.Run(ctx, conf)
	stop()
	if cerr := bad.close(); cerr != nil && err == nil {
		err = fmt.Errorf("--skip-bad: %w", cerr)
	}
	if err != nil {
		if ctx.Err() != nil {
			a.tell("%s is filled in part; seed it again with --drop", a.common.ns)
		}
		return nil, err
	}
	r := &seedResult{Report: rep, Seed: o.seed}
	if rep.Generator == uniquesName || rep.Index != string(seed.IndexNone) {
		r.Key = a.common.key
	}
	if rep.Generator == uniquesName {
		r.Keys = keys
	}
	if rep.Rejects > 0 {
		r.RejectsFile = bad.path
	}
	r.Server.Kind, r.Server.Version = t.Kind, t.Version
	return r, nil
}

// makeCollection creates the collection to be filled, and records it. One that exists stays as it is, unless it holds
// documents, which is an error, or drop is asked for.
func (a *app) makeCollection(ctx context.Context, t *target.Target, drop, add bool) error {
	ns := a.common.ns
	db := t.Client.Database(ns.DB)
	_, exists, err := collectionUUID(ctx, db, ns.Coll)
	if err != nil {
		return err
	}
	if exists && drop {
		if err := db.Collection(ns.Coll).Drop(ctx); err != nil {
			return fmt.Errorf("drop %s: %w", ns, err)
		}
		exists = false
	}
	if exists {
		n, err := db.Collection(ns.Coll).EstimatedDocumentCount(ctx)
		if err == nil && n > 0 && !add {
			err = &seed.NotEmptyError{NS: ns.String(), Documents: n}
		}
		return err
	}
	if err := db.CreateCollection(ctx, ns.Coll); err != nil {
		return fmt.Errorf("create %s: %w", ns, err)
	}
	uuid, _, err := collectionUUID(ctx, db, ns.Coll)
	if err != nil {
		return err
	}
	dir, err := a.dataDir()
	if err != nil {
		return err
	}
	return createdIn(dir).add(creation{Kind: kindCollection, Name: ns.String(), UUID: uuid, Server: t.Identity, Time: a.env.Now()})
}

func seedTable(r *seedResult) *report.Table {
	t := &report.Table{
		Title: fmt.Sprintf("%s: %s documents with %s values of %s", r.NS, report.Thousands(r.Documents), report.Thousands(r.Keys), r.Key),
		Columns: []report.Column{
			{Title: "documents"},
			{Title: "size", Name: "bytes"},
			{Title: "s", Name: "seconds"},
			{Title: "documents/s", Name: "documents_per_second"},
			{Title: "p50 ms", Name: "batch_p50_ms", Drop: 3},
			{Title: "p95 ms", Name: "batch_p95_ms", Drop: 3},
			{Title: "max ms", Name: "batch_max_ms", Drop: 3},
			{Title: "index s", Name: "index_seconds"},
			{Title: "counted"},
		},
	}
	if r.Generator != uniquesName {
		what := "of the generator " + r.Generator
		if r.Files > 0 {
			what = fmt.Sprintf("from %d files", r.Files)
		}
		t.Title = fmt.Sprintf("%s: %s documents %s", r.NS, report.Thousands(r.Documents), what)
	}
	index := report.Missing()
	if r.Index == string(seed.IndexAfter) {
		index = report.Fixed(r.IndexSeconds, 2)
	}
	t.Add(report.Int(r.Documents), report.Bytes(r.Bytes), report.Fixed(r.Seconds, 2), report.Int(int64(r.DocumentsPerSecond)),
		report.Fixed(r.BatchP50MS, 1), report.Fixed(r.BatchP95MS, 1), report.Fixed(r.BatchMaxMS, 1), index, report.Int(r.Counted))
	t.Notes = append(t.Notes, fmt.Sprintf("%d writers, %s documents a batch (p50, p95 and max are a batch's times), write concern %s",
		r.Writers, report.Thousands(int64(r.Batch)), r.WriteConcern))
	switch seed.IndexMoment(r.Index) {
	case seed.IndexBefore:
		t.Notes = append(t.Notes, "the index was made first: its cost is inside the time")
	case seed.IndexAfter:
		t.Notes = append(t.Notes, "the index was made last: the time includes it")
	case seed.IndexNone:
		t.Notes = append(t.Notes, "no index was made")
	}
	if r.Files > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%.1f MB/s; %s broken records, %s duplicate keys", r.MBPerSecond, report.Thousands(r.Rejects), report.Thousands(r.Duplicates)))
	}
	if r.RejectsFile != "" {
		t.Notes = append(t.Notes, "the broken records are in "+r.RejectsFile)
	}
	if r.Duplicates > 0 {
		t.Notes = append(t.Notes, "left out, as their key was there already: "+strings.Join(r.DuplicateKeys, ", "))
	}
	t.Notes = append(t.Notes, fmt.Sprintf("counted afterwards: %s of %s documents are there", report.Thousands(r.Counted), report.Thousands(r.Before+r.Documents)))
	return t
}
