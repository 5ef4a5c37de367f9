package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/internal/cluster"
	"mrbench/internal/report"
	"mrbench/internal/target"
)

// How viewCluster is to count documents one by one, if it is not told how many there are.
const (
	countNothing = -1
	countLimited = -2
)

// countTime bounds a count for the sake of orphans alone.
const countTime = 5 * time.Second

// clusterView is what is shown of a sharded cluster and a collection on it.
type clusterView struct {
	*cluster.Cluster
	NS        string       `json:"-"`
	ShardKey  string       `json:"shard_key,omitempty"` // "" not sharded
	NoBalance bool         `json:"no_balance,omitempty"`
	Chunks    int          `json:"chunks,omitempty"`
	Jumbo     int          `json:"jumbo_chunks,omitempty"`
	PerShard  []shardShare `json:"per_shard,omitempty"`
	Unseen    string       `json:"unseen,omitempty"`           // what the user may not see
	Quick     int64        `json:"quick_count,omitempty"`      // of metadata, orphans included
	Counted   int64        `json:"documents,omitempty"`        // one by one, without orphans
	Orphans   *int64       `json:"orphans_estimate,omitempty"` // nil: not known
}

// viewCluster looks at the cluster and the collection; nil when the server is no mongos. counted is the number of documents, or how to count.
func (a *app) viewCluster(ctx context.Context, t *target.Target, counted int64) (*clusterView, error) {
	ns := a.common.ns
	c, err := cluster.Ask(ctx, t.Client)
	if err != nil || c == nil {
		return nil, err
	}
	v := &clusterView{Cluster: c, NS: ns.String()}
	coll, err := cluster.Of(ctx, t.Client, v.NS)
	if cluster.Refused(err) {
		v.Unseen = "whether " + v.NS + " is sharded: it takes the right to read the database config"
		return v, nil
	}
	if err != nil || coll == nil {
		return v, err
	}
	v.ShardKey, v.NoBalance, v.Chunks = cluster.KeyText(coll.Key), coll.NoBalance, len(coll.Chunks)
	for _, x := range coll.Chunks {
		if x.Jumbo {
			v.Jumbo++
		}
	}
	docs := t.Client.Database(ns.DB).Collection(ns.Coll)
	quick, err := cluster.Documents(ctx, docs)
	if cluster.Refused(err) {
		v.Unseen = "the documents of each shard: it takes the right to read " + v.NS
		quick, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	chunks := coll.PerShard()
	for _, s := range c.Shards {
		v.PerShard = append(v.PerShard, shardShare{s.Name, s.Host, chunks[s.Name], quick[s.Name]})
		v.Quick += quick[s.Name]
	}
	if quick == nil || counted == countNothing {
		return v, nil
	}
	if counted == countLimited {
		if counted, err = docs.CountDocuments(ctx, bson.D{}, options.Count().SetMaxTime(countTime)); err != nil {
			if _, refused := errors.AsType[mongo.CommandError](err); refused && ctx.Err() == nil {
				return v, nil // it takes too long
			}
			return nil, fmt.Errorf("count %s: %w", ns, err)
		}
	}
	v.Counted = counted
	orphans := max(0, v.Quick-counted)
	v.Orphans = &orphans
	return v, nil
}

func (v *clusterView) table() *report.Table {
	t := &report.Table{
		Title:   fmt.Sprintf("sharded cluster of %s, balancer %s", plural(len(v.Shards), "shard"), v.Balancer),
		Columns: []report.Column{{Title: "shard", Left: true}, {Title: "host", Left: true, Drop: 1}, {Title: "chunks"}, {Title: "documents"}},
	}
	if v.ShardKey == "" {
		t.Columns = t.Columns[:2]
		for _, s := range v.Shards {
			t.Add(report.Str(s.Name), report.Str(s.Host))
		}
	}
	for _, s := range v.PerShard {
		t.Add(report.Str(s.Name), report.Str(s.Host), report.Int(int64(s.Chunks)), report.Int(s.Documents))
	}
	note := func(format string, args ...any) { t.Notes = append(t.Notes, fmt.Sprintf(format, args...)) }
	switch {
	case v.ShardKey != "":
		note("%s is sharded by %s in %s; documents are quick counts", v.NS, v.ShardKey, plural(v.Chunks, "chunk"))
	case v.Unseen == "":
		note("%s is not sharded", v.NS)
	}
	if v.Unseen != "" {
		note("not seen: %s", v.Unseen)
	}
	if len(v.Shards) == 0 {
		note("the shards can't be seen: listShards takes the role clusterMonitor")
	}
	if v.NoBalance {
		note("the balancer is told to leave %s alone (noBalance)", v.NS)
	}
	if v.Jumbo > 0 {
		note("%s marked jumbo: too large to be moved", plural(v.Jumbo, "chunk"))
	}
	for _, m := range v.Migrations {
		note("a migration runs: %s", m)
	}
	switch {
	case v.Orphans != nil && *v.Orphans > 0:
		note("about %s orphans: a quick count has %s documents, a full one %s; an estimate", report.Thousands(*v.Orphans), report.Thousands(v.Quick), report.Thousands(v.Counted))
	case v.Orphans != nil:
		note("no orphans: the quick count has no more documents than the full one")
	case v.ShardKey != "" && v.Unseen == "":
		note("orphans were not looked for: a full count takes longer than %v", countTime)
	}
	return t
}

// lookAtCluster finds out what the cluster behind a mongos is made of, and says before a run what may disturb it.
func (m *measurement) lookAtCluster(ctx context.Context) (err error) {
	m.cluster, err = cluster.Ask(ctx, m.t.Client)
	c := m.cluster
	if err != nil || c == nil {
		return err
	}
	text := ""
	if c.Balancer.Moves() {
		text = ": chunks may move (--stop-balancer stops it meanwhile)"
	}
	m.app.tell("sharded cluster of %s, balancer %s%s", plural(len(c.Shards), "shard"), c.Balancer, text)
	if len(c.Migrations) > 0 {
		text := fmt.Sprintf("a migration was under way when the run began: %s; it takes time from the rows", c.Migrations[0])
		if n := len(c.Migrations); n > 1 {
			text = fmt.Sprintf("%d migrations were under way when the run began, such as %s; they take time from the rows", n, c.Migrations[0])
		}
		m.app.tell("warning: %s", text)
		m.warn("%s", text)
	}
	return nil
}
