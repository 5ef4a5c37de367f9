package throwaway

import (
	"fmt"
	"strconv"
	"strings"
)

// Kinds of topologies.
const (
	Standalone = "standalone"
	ReplSet    = "replset"
	Sharded    = "sharded"
)

// Limits of topologies.
const (
	MostMembers = 7
	MostShards  = 8
)

// Topology is what is started: a mongod, a replica set of N members, or N shards of one member each with a config server
// and a mongos.
type Topology struct {
	Kind string
	N    int
}

// ParseTopology reads standalone, replset, replset:3, sharded or sharded:2.
func ParseTopology(s string) (Topology, error) {
	bad := fmt.Errorf("it is standalone, replset or replset:N with up to %d members, sharded:N with up to %d shards", MostMembers, MostShards)
	kind, number, given := strings.Cut(strings.ToLower(s), ":")
	t, most := Topology{Kind: kind, N: 1}, 0
	switch kind {
	case Standalone:
	case ReplSet:
		most = MostMembers
	case Sharded:
		t.N, most = 2, MostShards
	default:
		return t, bad
	}
	if given {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > most {
			return t, bad
		}
		t.N = n
	}
	return t, nil
}

// String is what ParseTopology reads.
func (t Topology) String() string {
	switch {
	case t.Kind == Sharded, t.Kind == ReplSet && t.N > 1:
		return fmt.Sprintf("%s:%d", t.Kind, t.N)
	case t.Kind == "":
		return Standalone
	}
	return t.Kind
}

// text is the topology for a person.
func (t Topology) text() string {
	what, noun := t.Kind, ""
	switch t.Kind {
	case ReplSet:
		what, noun = "replica set", "member"
	case Sharded:
		noun = "shard"
	default:
		return Standalone
	}
	if t.N != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%s, %d %s", what, t.N, noun)
}

// dataNodes is how many mongods hold documents.
func (t Topology) dataNodes() int { return max(t.N, 1) }
