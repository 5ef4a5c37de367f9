package cli

import (
	"context"

	"github.com/spf13/cobra"

	"mrbench/internal/report"
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
	dryRun       bool
	shardOptions
	sourceOptions
	sweepOptions
}

// seedDefaults are what run --docs seeds with.
var seedDefaults = seedOptions{
	docs: 1_000_000, seed: 1, writers: seed.DefaultWriters, batch: seed.DefaultBatch, index: string(seed.IndexAfter),
	sourceOptions: sourceOptions{generator: uniquesName, onDuplicate: string(seed.DuplicateStop), retries: seed.DefaultRetries},
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
only when --index says so. --emit writes them to a file instead (people.ndjson.gz, reviews.json, x.bson.zst), or to standard
output (ndjson, json, bson).

--from loads files: NDJSON, JSON (documents or arrays of them), CSV, TSV and BSON, each also packed
by gzip or zstd, of any size. JSON may be Extended JSON. A broken record stops the load, with its
file, line and byte, unless --skip-bad names a file for such records. A column of a CSV header may
have a type: name.string(), age.int32(), n.int64(), x.double(), d.decimal(), id.objectId(),
u.uuid(), ok.boolean(), day.date(2006-01-02), b.binary(base64).

A batch that the network or an election fails is sent again, and counts once. A load from files that was interrupted
or killed goes on with --resume, from a checkpoint in the data directory, and loads no document twice.

--shard-key shards the collection on a sharded cluster before it is loaded, through a mongos. Only a collection that seed
creates is sharded. It is cut into --presplit chunks where the documents to come are spread evenly, and each shard gets as
many of them as the others, one after another, so that ranges of the key do not cross shards. docs/loading.md has the rules.

--sweep loads the same --docs documents (100,000 unless said) at every point of a grid, --runs times, round by round
in another order each round, and shows times, rates, the best point, and what each setting does when all others stay.
Settings that are not on the grid have their flags' values. Documents of files are read into memory before. Each
point gets a new collection in a database of the run's own, which is dropped afterwards. With prefill, filling one
anew for each point would take most of the time: a prefilled collection is loaded once, points add to it one after
the other, and it is replaced when it has grown by a tenth. Combinations that would measure nothing are left out,
and it says which. In write-concern, majority+j is majority,j.`,
		Example: `  mrbench seed --docs 10M
  mrbench seed --docs 500k --keys 1000 --ns test.few --index before
  mrbench seed --generator people --docs 1M --emit people.ndjson
  mrbench seed --ns test.people --from people.ndjson
  mrbench seed --ns test.reviews --from reviews/ --select reviews --skip-bad bad.ndjson --writers 5
  mrbench seed --ns test.reviews --from reviews/ --select reviews --skip-bad bad.ndjson --resume
  mrbench seed --from reviews/ --select reviews --plan 6
  mrbench seed --sweep batch=1,100,1000,10000 writers=1,4 index=none,before
  mrbench seed --sweep write-concern=0,1,majority,j ordered=true,false prefill=0,1M --docs 100k
  mrbench seed --docs 1e6 --uri mongodb://localhost --writers 8 --write-concern majority
  mrbench seed --docs 10M --uri mongodb://mongos --shard-key dim0 --presplit 8 --stop-balancer`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.dryRun {
				for _, n := range []string{"sweep", "emit", "resume", "count-only", "plan"} {
					if cmd.Flags().Changed(n) {
						return usageError("--dry-run shows the commands of a whole load; leave --%s out", n)
					}
				}
			}
			if o.politeOptions.text() != "" && (len(o.sweep) > 0 || o.emit != "" || o.countOnly || o.plan > 0) {
				return usageError("%s is for a load into a collection", o.politeOptions.text())
			}
			if len(o.sweep) > 0 {
				if o.writeConcern == "" {
					o.writeConcern = "1"
				}
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
			if err := firstError(o.check(cmd, args), o.checkSharding(a.common.key, changed(cmd))); err != nil {
				return err
			}
			switch {
			case o.emit != "":
				return a.emit(cmd.Context(), o)
			case o.countOnly || o.plan > 0:
				return a.countFiles(cmd.Context(), o)
			}
			a.appName = "mrbench seed " + newRunID(a.env.Now())
			o.cap(a, &o.writers, "writer")
			if o.dryRun {
				return a.drySeed(cmd.Context(), o)
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
	f.Var(&value[string]{&o.writeConcern, "concern", parseConcern, same}, "write-concern", "0, 1, a number of members, majority, j, or majority,j; else what the connection string says, or 1")
	complete(c, "write-concern", []string{"0", "1", "2", "3", "majority", "j", "majority,j"})
	enumFlag(c, &o.index, "index", o.index, []string{string(seed.IndexBefore), string(seed.IndexAfter), string(seed.IndexNone)}, "when to build the index on the key")
	f.BoolVar(&o.drop, "drop", false, "drop the collection first")
	f.BoolVar(&o.dryRun, "dry-run", false, "print the commands that would be sent, and send none that writes")
	o.shardOptions.flags(c)
	o.sourceOptions.flags(c)
	o.loadFlags(c)
	o.politeOptions.flags(c, "batches")
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
	// PausedSeconds of the load, at least one writer was held back for the sake of others.
	PausedSeconds float64  `json:"paused_seconds,omitempty"`
	PausedFor     []string `json:"paused_for,omitempty"`
	Complete      bool     `json:"complete"` // false when the load was interrupted or failed

	Sharding *shardResult `json:"sharding,omitempty"`
	Server   struct {
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
	restore, err := a.stopBalancer(ctx, t, o.stopBalancer)
	if err != nil {
		return err
	}
	defer restore()
	if t.Topology == "sharded" && (o.add || o.resume) {
		if err := a.tellBalancer(ctx, t); err != nil {
			return err
		}
	}
	r, err := a.fill(ctx, t, o)
	if r != nil && (err == nil || r.Documents > 0) {
		tables := []*report.Table{seedTable(r)}
		if err == nil && t.Topology == "sharded" {
			if r.Sharding = a.shardedResult(ctx, t); r.Sharding != nil {
				tables = append(tables, shardTable(r.Sharding))
			}
		}
		if perr := a.print(r, tables...); err == nil {
			err = perr
		}
	}
	return a.explain(err, t)
}
