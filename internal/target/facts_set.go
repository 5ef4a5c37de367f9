package target

import (
	"context"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

// Set is what a member of a replica set says of it.
type Set struct {
	Name     string
	Me       string // host:port of the member that answered
	Primary  bool   // that member is the primary
	Members  int    // that hold data
	Arbiters int
}

func (f *Facts) readSet(r bson.Raw) {
	f.Wire = -1
	if n, ok := r.Lookup("maxWireVersion").AsInt64OK(); ok {
		f.Wire = int32(n)
	}
	name, ok := r.Lookup("setName").StringValueOK()
	if !ok {
		return
	}
	s := &Set{Name: name}
	s.Me, _ = r.Lookup("me").StringValueOK()
	for _, field := range []string{"ismaster", "isWritablePrimary"} {
		if is, ok := r.Lookup(field).BooleanOK(); ok {
			s.Primary = is
		}
	}
	count := func(field string) int {
		a, _ := r.Lookup(field).ArrayOK()
		values, _ := a.Values() //nolint:errcheck // none, then
		return len(values)
	}
	s.Members, s.Arbiters = count("hosts")+count("passives"), count("arbiters")
	f.Set = s
}

// askFCV asks for the feature compatibility version, which not every user may know. A router has none.
func (f *Facts) askFCV(ctx context.Context, c *mongo.Client, _ Namespace) error {
	if f.Mongos || f.Kind == Embedded {
		return nil
	}
	r, err := c.Database("admin").RunCommand(ctx, bson.D{{Key: "getParameter", Value: 1}, {Key: "featureCompatibilityVersion", Value: 1}}).Raw()
	if err != nil {
		if f.refused(err) {
			return nil
		}
		return fmt.Errorf("getParameter: %w", err)
	}
	v := r.Lookup("featureCompatibilityVersion")
	if d, ok := v.DocumentOK(); ok {
		v = d.Lookup("version")
	}
	f.FCV, _ = v.StringValueOK()
	return nil
}

// codeAtlas is how a hosted server refuses what its tier does not have.
const codeAtlas = 8000

// refused reports whether err is the server's word, and notes one that only a hosted tier gives.
func (f *Facts) refused(err error) bool {
	code, text, is := refusal(err)
	if is && (code == codeAtlas || strings.Contains(strings.ToLower(text), "atlas tier") || strings.Contains(text, "CMD_NOT_ALLOWED")) {
		f.Hosted = true
	}
	return is
}

// setCapabilities are what depends on the topology: where reads and writes go, and how they are confirmed.
func (f *Facts) setCapabilities(add func(string, State, string)) {
	alone := "a single server: there is no other member"
	switch {
	case f.Kind == Embedded:
		alone = "the embedded engine is one process"
		add(CapWrites, Works, "to the data directory; one process at a time has it")
	case f.Mongos:
		add(CapWrites, Works, "through mongos, to the primary of each shard")
	case f.Set == nil:
		add(CapWrites, Works, "a standalone server")
	case f.Set.Primary:
		add(CapWrites, Works, fmt.Sprintf("%s is the primary of %s, a set of %s", orThis(f.Set.Me), f.Set.Name, f.Set.size()))
	default:
		add(CapWrites, Refused, fmt.Sprintf("%s is no primary of %s: connect to the set (leave directConnection out), or name the primary", orThis(f.Set.Me), f.Set.Name))
	}
	switch {
	case f.Set != nil && f.Set.Members > 1:
		add(CapSecondaries, Works, "run --read-preference reads pipelines from secondaries; what they lag behind, their answers lack")
	case f.Set != nil:
		add(CapSecondaries, NoEffect, "the set has one member with data: there is no secondary to read from")
	case f.Mongos:
		add(CapSecondaries, Works, "run --read-preference reads pipelines from the shards' secondaries, where they have some")
	default:
		add(CapSecondaries, NoEffect, alone)
	}
	if f.Set == nil && !f.Mongos {
		add(CapReadConcern, NoEffect, alone)
		add(CapWriteConcern, NoEffect, alone+"; j still waits for its journal")
	} else {
		add(CapReadConcern, Works, "run --read-concern "+strings.Join(f.ReadConcerns(), ", "))
		add(CapWriteConcern, Works, "outputs wait for the majority of members unless --write-concern or the connection string says otherwise")
	}
}

func orThis(me string) string {
	if me == "" {
		return "this member"
	}
	return me
}

func (s *Set) size() string {
	text := fmt.Sprintf("%d members", s.Members)
	if s.Members == 1 {
		text = "1 member"
	}
	if s.Arbiters > 0 {
		text += fmt.Sprintf(" and %d without data", s.Arbiters)
	}
	return text
}

// ReadConcerns are the levels that the server takes for pipelines outside of transactions.
func (f *Facts) ReadConcerns() []string {
	levels := []string{"local"}
	if f.atLeast(3, 6) {
		levels = append(levels, "available")
	}
	replicated := f.Set != nil || f.Mongos
	if replicated && f.Storage != "mmapv1" {
		levels = append(levels, "majority")
		if f.atLeast(5, 0) {
			levels = append(levels, "snapshot")
		}
	}
	return levels
}

// limitCapabilities are the bounds of the server.
func (f *Facts) limitCapabilities(add func(string, State, string)) {
	switch {
	case f.Hosted:
		add(CapMemory, Uncertain, "100 MB for a $group or $sort, and small hosted tiers do not let it go to disk: large groups fail there")
	default:
		add(CapMemory, Works, "100 MB for a $group or $sort; beyond that it goes to disk, as mrbench sends allowDiskUse")
	}
	if f.Hosted {
		add(CapHosted, Uncertain, "a hosted tier refuses or limits commands: mapReduce and JavaScript, splitVector, serverStatus, currentOp, killOp, new databases by rights")
	}
}
