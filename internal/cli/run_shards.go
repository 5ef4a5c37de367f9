package cli

import (
	"fmt"
	"slices"
	"strings"

	"mrbench/aggregate"
	"mrbench/internal/bench"
	"mrbench/internal/report"
	"mrbench/mr"
)

// nameShards notes what the cluster behind a mongos is made of.
func (m *measurement) nameShards() {
	if m.o.perShard > 0 && len(m.ranges) > 1 && owning(m.owners) == 0 {
		m.warn("--per-shard %d was not used: it is not known which shard a range lies on", m.o.perShard)
	}
	if m.cluster == nil {
		return
	}
	s := &m.result.Server
	s.Shards, s.Balancer = m.cluster.Names(), m.cluster.Balancer.String()
}

// perShard is how many commands may run at a time on one shard; 0: no limit, for it is not known where ranges lie.
func (m *measurement) perShard() int {
	shards := owning(m.owners)
	switch {
	case shards == 0:
		return 0
	case m.o.perShard > 0:
		return m.o.perShard
	}
	return (m.o.threads + shards - 1) / shards
}

// owning is how many shards have ranges.
func owning(owners []string) int {
	seen := map[string]bool{"": true}
	for _, o := range owners {
		seen[o] = true
	}
	return len(seen) - 1
}

// shardNamed is the name of the shard with a host as replies have it: the address of its replica set, whose members may have
// changed, or of a single server.
func (m *measurement) shardNamed(host string) string {
	set, _, isSet := strings.Cut(host, "/")
	if m.cluster != nil {
		for _, s := range m.cluster.Shards {
			if s.Host == host || isSet && strings.HasPrefix(s.Host, set+"/") {
				return s.Name
			}
		}
	}
	if isSet {
		return set
	}
	return host
}

// partShards are the shards of a command of mapReduce.
func (m *measurement) partShards(p mr.Part) (list []bench.PartShard) {
	for _, s := range p.Shards {
		list = append(list, bench.PartShard{Shard: m.shardNamed(s.Host), Input: &s.Counts.Input, Output: &s.Counts.Output})
	}
	return list
}

// askedShards are the shards that a pipeline is sent to, where the router was asked.
func askedShards(p aggregate.Part) (list []bench.PartShard) {
	for _, name := range p.Shards {
		list = append(list, bench.PartShard{Shard: name})
	}
	return list
}

// shardLoads adds a row's ranges up by shard.
func (m *measurement) shardLoads(r *bench.Row) {
	if len(r.Parts) < 2 || len(m.result.Server.Shards) == 0 {
		return
	}
	var pieces []bench.Piece
	if m.result.Split != nil {
		pieces = m.result.Split.Pieces
	}
	r.Shards = bench.ShardLoads(r.Parts, pieces)
	if n := bench.Strayed(r.Parts); n > 0 {
		m.warn("%s: %d of %d ranges went to other shards than their own too: chunks have moved since, or the router can't tell the shard by the filter", r.ID, n, len(r.Parts))
	}
}

// severalShards is the name of the ranges that lie on no single shard.
const severalShards = "several"

func shardName(s string) string {
	if s == "" {
		return severalShards
	}
	return s
}

// mostShardLines is how many lines the table of shards has.
const mostShardLines = 60

// shardsTable shows what the ranges of each row were for each shard; nil where nothing is known of shards.
func shardsTable(r *bench.Result) *report.Table {
	if len(r.Server.Shards) < 2 {
		return nil
	}
	var times []float64
	for _, row := range r.Rows {
		for _, s := range row.Shards {
			times = append(times, s.Seconds)
		}
	}
	if len(times) == 0 {
		return nil
	}
	u := report.UnitFor(times...)
	t := &report.Table{
		Title: fmt.Sprintf("what the ranges were for each of %d shards, in each row's last run", len(r.Server.Shards)),
		Columns: []report.Column{
			{Title: "row", Name: "id", Left: true},
			{Title: "shard", Left: true, Max: 24},
			{Title: "ranges", Drop: 4},
			{Title: "documents", Drop: 2},
			{Title: "keys", Drop: 3},
			{Title: "busy " + u.Name, Name: "busy_seconds"},
			{Title: "share", Drop: 5},
		},
	}
	per, lines := []string{}, 0
	for _, row := range r.Rows {
		if len(row.Shards) == 0 {
			continue
		}
		var all float64
		for _, s := range row.Shards {
			all += s.Seconds
		}
		if text := fmt.Sprint(row.PerShard); row.PerShard > 0 && !slices.Contains(per, text) {
			per = append(per, text)
		}
		for i, s := range row.Shards {
			if lines++; lines > mostShardLines {
				continue
			}
			id := report.Str(row.ID)
			if i > 0 {
				id = report.Cell{Raw: row.ID}
			}
			share := report.Missing()
			if all > 0 {
				share = report.Percent(s.Seconds/all, 0)
			}
			t.Add(id, report.Str(shardName(s.Shard)), report.Int(int64(s.Ranges)), orMissing(s.Documents), orMissing(s.Keys), u.Time(s.Seconds), share)
		}
	}
	if lines > mostShardLines {
		t.Notes = append(t.Notes, fmt.Sprintf("%d more lines: -o json has all", lines-mostShardLines))
	}
	t.Notes = append(t.Notes, "busy: the commands of the shard's ranges, added up")
	if len(per) > 0 {
		t.Notes = append(t.Notes, "commands at a time on one shard: "+strings.Join(per, ", "))
	}
	if r.Server.Balancer != "" {
		t.Notes = append(t.Notes, "balancer: "+r.Server.Balancer)
	}
	return t
}

func orMissing(n int64) report.Cell {
	if n == 0 {
		return report.Missing()
	}
	return report.Int(n)
}

// shardsText is a row's shards in one field: name, ranges, documents, keys and busy seconds, divided by colons.
func shardsText(loads []bench.ShardLoad) string {
	var parts []string
	for _, s := range loads {
		parts = append(parts, fmt.Sprintf("%s:%d:%d:%d:%.6f", shardName(s.Shard), s.Ranges, s.Documents, s.Keys, s.Seconds))
	}
	return strings.Join(parts, " ")
}
