package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/cluster"
	"mrbench/internal/report"
	"mrbench/internal/target"
	"mrbench/seed"
)

const balancerIsOn = "balancer is on: chunks may move while loading; --stop-balancer stops it for that time"

// codeShardKeyMissing is a write error's: a document without the shard key.
const codeShardKeyMissing = 61

// planSharding says how the collection is to be sharded, and what is to be said of it. Nothing is written.
func (a *app) planSharding(ctx context.Context, t *target.Target, o seedOptions) (p cluster.Plan, notes []string, err error) {
	c, err := cluster.Ask(ctx, t.Client)
	if err != nil {
		return p, nil, err
	}
	if c == nil {
		return p, nil, usageError("--shard-key: %s is no mongos, and only a sharded cluster has shards; give --uri of a mongos, or leave --shard-key out", where(t))
	}
	p = cluster.Plan{NS: a.common.ns.String(), Key: o.shardKey, Chunks: o.presplit}
	for _, s := range c.Shards {
		if !s.Draining {
			p.Shards = append(p.Shards, s.Name)
		}
	}
	if len(p.Shards) == 0 {
		return p, nil, withCode(exitFailed, "--shard-key: the user can't see the cluster's shards; listShards needs the role clusterMonitor or clusterManager")
	}
	if p.Chunks == 0 {
		p.Chunks = 2 * len(p.Shards)
	}
	if p.Chunks < len(p.Shards) {
		notes = append(notes, fmt.Sprintf("%s for %d shards: some shards get none", plural(p.Chunks, "chunk"), len(p.Shards)))
	}
	if !hashedKey(p.Key) {
		var note string
		if p.Points, note, err = a.splitPoints(ctx, o, p.Chunks); err != nil {
			return p, nil, err
		}
		if note != "" {
			notes = append(notes, note)
		}
		p.Chunks = len(p.Points) + 1
	}
	if o.indexMoot != "" {
		notes = append(notes, fmt.Sprintf("--index %s: the index {%s: 1} is the shard key's, so it is there from the start", o.indexMoot, a.common.key))
	}
	if len(c.Migrations) > 0 {
		notes = append(notes, fmt.Sprintf("a migration runs: %s; moving chunks may have to wait for it", c.Migrations[0]))
	}
	if c.Balancer.Moves() && !o.stopBalancer {
		notes = append(notes, balancerIsOn)
	}
	return p, notes, nil
}

// tellBalancer says before documents are added to a sharded collection that its chunks may move.
func (a *app) tellBalancer(ctx context.Context, t *target.Target) error {
	b, err := cluster.BalancerOf(ctx, t.Client)
	if err != nil || b == nil || !b.Moves() {
		return err
	}
	if coll, err := cluster.Of(ctx, t.Client, a.common.ns.String()); coll == nil {
		if cluster.Refused(err) {
			return nil
		}
		return err
	}
	a.tell(balancerIsOn)
	return nil
}

// mayShard refuses a collection that exists and is not an empty one of an earlier seed, either not sharded or sharded by the same key.
func (a *app) mayShard(ctx context.Context, t *target.Target, o seedOptions) error {
	ns := a.common.ns
	uuid, exists, err := collectionUUID(ctx, t.Client.Database(ns.DB), ns.Coll)
	if err != nil || !exists || o.drop {
		return err
	}
	n, err := t.Client.Database(ns.DB).Collection(ns.Coll).EstimatedDocumentCount(ctx)
	if err != nil {
		return fmt.Errorf("count %s: %w", ns, err)
	}
	if n > 0 {
		return &seed.NotEmptyError{NS: ns.String(), Documents: n}
	}
	dir, err := a.dataDir()
	if err != nil {
		return err
	}
	known, err := createdIn(dir).list(t.Identity)
	if err != nil {
		return err
	}
	ours := uuid != "" && slices.ContainsFunc(known, func(k creation) bool { return k.Kind == kindCollection && k.Name == ns.String() && k.UUID == uuid })
	coll, err := cluster.Of(ctx, t.Client, ns.String())
	const wayOut = "--drop replaces it, --ns names another"
	switch {
	case err != nil:
		return err
	case coll != nil && !cluster.SameKey(coll.Key, o.shardKey):
		return withCode(exitFailed, "%s exists and is sharded by %s already, and a shard key can't be changed; %s", ns, cluster.KeyText(coll.Key), wayOut)
	case !ours:
		return withCode(exitFailed, "%s exists and was not made by mrbench: --shard-key shards a collection that seed creates; %s", ns, wayOut)
	}
	return nil
}

// makeSharded creates the collection, shards it and spreads its chunks over the shards.
func (a *app) makeSharded(ctx context.Context, t *target.Target, o seedOptions) error {
	var p cluster.Plan
	var notes []string
	err := a.afterFailOver(ctx, t, "looking at the cluster", func() (err error) { // which only reads
		if p, notes, err = a.planSharding(ctx, t, o); err == nil {
			err = a.mayShard(ctx, t, o)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := a.makeCollection(ctx, t, o); err != nil {
		return err
	}
	for _, n := range notes {
		a.tell("%s", n)
	}
	a.tell("sharding %s by %s: %s on %s", p.NS, cluster.KeyText(p.Key), plural(p.Chunks, "chunk"), plural(len(p.Shards), "shard"))
	start, told := a.env.Now(), a.env.Now()
	p.Progress = func(done, steps int) {
		if now := a.env.Now(); now.Sub(told) >= plainEvery {
			told = now
			a.tell("step %d of %d", done, steps)
		}
	}
	if err := cluster.Create(ctx, t.Client, p); err != nil {
		a.halfSharded(ctx, t, p, err)
		return explainSharding(err, p)
	}
	a.tell("the chunks were laid out in %s", shortTime(a.env.Now().Sub(start)))
	return a.recordAgain(ctx, t)
}

// recordAgain records the collection once more where sharding gave it another UUID.
func (a *app) recordAgain(ctx context.Context, t *target.Target) error {
	ns := a.common.ns
	uuid, exists, err := collectionUUID(ctx, t.Client.Database(ns.DB), ns.Coll)
	if err != nil || !exists {
		return err
	}
	dir, err := a.dataDir()
	if err != nil {
		return err
	}
	known, err := createdIn(dir).list(t.Identity)
	if err != nil || slices.ContainsFunc(known, func(k creation) bool { return k.Kind == kindCollection && k.Name == ns.String() && k.UUID == uuid }) {
		return err
	}
	return createdIn(dir).add(creation{Kind: kindCollection, Name: ns.String(), UUID: uuid, Server: t.Identity, Time: a.env.Now()})
}

// explainShardKey says why a sharded collection did not take a document.
func explainShardKey(err error) error {
	if e, ok := errors.AsType[*seed.DocumentError](err); ok && e.Code == codeShardKeyMissing {
		return fmt.Errorf("%w; the collection is sharded: before MongoDB 4.4 every document must have all fields of the shard key, and in no version may one be an array: mend the document, or shard by a field that all have", err)
	}
	return err
}

// planned adds what shards the collection to a dry run's text.
func (d *dryRun) planned(p cluster.Plan, notes []string) {
	for _, n := range notes {
		d.line("// %s", n)
	}
	for _, s := range p.Steps() {
		note := ""
		if s.Command[0].Key == "moveChunk" {
			note = "unless it is there already"
		}
		d.command(s.DB, s.Command, true, note)
	}
	if hashedKey(p.Key) {
		d.line("// and moveChunk where the server did not share its chunks out evenly")
	}
	ns := p.NS
	d.command("config", bson.D{{Key: "find", Value: "chunks"}, {Key: "filter", Value: bson.D{{Key: "ns", Value: ns}}}}, false, "to verify the layout; by uuid since 5.0")
}

// shardResult is what a sharded collection looks like after it was filled.
type shardResult struct {
	Key      string       `json:"key"`
	Chunks   int          `json:"chunks"`
	Balancer string       `json:"balancer"`
	Shards   []shardShare `json:"shards"`
}

type shardShare struct {
	Name      string `json:"name"`
	Host      string `json:"host,omitempty"`
	Chunks    int    `json:"chunks"`
	Documents int64  `json:"documents"` // a quick count
}

// shardedResult looks at the layout afterwards; nil when the collection is not sharded, or nothing can be seen.
func (a *app) shardedResult(ctx context.Context, t *target.Target) *shardResult {
	v, err := a.viewCluster(ctx, t, countNothing)
	if err != nil {
		a.tell("warning: what lies on which shard could not be found out: %v", err)
	}
	if err != nil || v == nil || v.ShardKey == "" {
		return nil
	}
	return &shardResult{Key: v.ShardKey, Chunks: v.Chunks, Balancer: v.Balancer.String(), Shards: v.PerShard}
}

func shardTable(r *shardResult) *report.Table {
	var total int64
	for _, s := range r.Shards {
		total += s.Documents
	}
	t := &report.Table{
		Title:   fmt.Sprintf("sharded by %s: %s", r.Key, plural(r.Chunks, "chunk")),
		Columns: []report.Column{{Title: "shard", Left: true}, {Title: "chunks"}, {Title: "documents"}, {Title: "share"}},
		Notes:   []string{"documents are quick counts; balancer: " + r.Balancer},
	}
	for _, s := range r.Shards {
		share := 0.0
		if total > 0 {
			share = float64(s.Documents) / float64(total)
		}
		t.Add(report.Str(s.Name), report.Int(int64(s.Chunks)), report.Int(s.Documents), report.Percent(share, 1))
	}
	return t
}
