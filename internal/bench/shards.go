package bench

import (
	"cmp"
	"slices"
)

// ShardLoads adds the parts of a row up by shard, in order of the names; pieces are the ranges that the parts are of. nil when no part is
// known to lie on a shard or to have been worked on by some.
func ShardLoads(parts []Part, pieces []Piece) []ShardLoad {
	var loads []ShardLoad
	of := func(name string) *ShardLoad {
		i, known := slices.BinarySearchFunc(loads, name, func(l ShardLoad, name string) int { return cmp.Compare(l.Shard, name) })
		if !known {
			loads = slices.Insert(loads, i, ShardLoad{Shard: name})
		}
		return &loads[i]
	}
	for i, p := range parts {
		l := of(p.Shard)
		l.Ranges++
		l.Seconds += p.Seconds
		told := false
		keys := p.Counts.Output // of the only shard that worked on the part: its own reply also counts what was in the output before
		if working(p.Shards) > 1 {
			keys = nil
		}
		for _, s := range p.Shards {
			if s.Input == nil || s.Output == nil {
				continue
			}
			told = true
			if *s.Input == 0 && s.Shard != p.Shard {
				continue // it was asked and had nothing to do
			}
			l := of(s.Shard)
			l.Documents += *s.Input
			switch {
			case keys == nil:
				l.Keys += *s.Output
			case *s.Input > 0:
				l.Keys += *keys
			}
		}
		if told {
			continue
		}
		l = of(p.Shard)
		if len(pieces) == len(parts) {
			l.Documents += pieces[i].Documents
		}
		if p.Counts.Output != nil {
			l.Keys += *p.Counts.Output
		}
	}
	if len(loads) == 1 && loads[0].Shard == "" {
		return nil
	}
	return loads
}

// working counts the shards that read something.
func working(shards []PartShard) (n int) {
	for _, s := range shards {
		if s.Input != nil && *s.Input > 0 {
			n++
		}
	}
	return n
}

// Strayed counts the parts whose command had work on a shard that the range was not said to lie on, or was sent to one without need.
// Routers take the upper bound of a range as if it were in it, so they also ask the shard on which the next range begins.
func Strayed(parts []Part) (n int) {
	for i, p := range parts {
		if p.Shard == "" {
			continue
		}
		next, open := p.Shard, false
		if i+1 < len(parts) {
			next = parts[i+1].Shard
			open = next == "" // which shard it begins on is not known
		}
		if slices.ContainsFunc(p.Shards, func(s PartShard) bool {
			switch {
			case s.Shard == p.Shard:
				return false
			case s.Input != nil:
				return *s.Input > 0
			}
			return !open && s.Shard != next
		}) {
			n++
		}
	}
	return n
}
