package mimic

import (
	"context"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/mongofake"
)

// StepDown has the member be a secondary for a while, and the primary again afterwards: it says so in hello, refuses what only a
// primary does, and has no other member take its place.
func (s *Server) StepDown(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secondaryUntil = time.Now().Add(d)
}

func (s *Server) isSecondary() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.c.Secondary || time.Now().Before(s.secondaryUntil)
}

// notPrimary refuses what a secondary does not do; nil: it does it.
func (s *Server) notPrimary(c mongofake.Command) bson.D {
	if s.c.Topology != ReplicaSet || !s.isSecondary() {
		return nil
	}
	refusal := func(code int32, text string) bson.D {
		d := refuse(code, text)
		if s.atLeast(4, 4) {
			d = append(d, bson.E{Key: "topologyVersion", Value: bson.D{{Key: "processId", Value: election}, {Key: "counter", Value: int64(7)}}})
		}
		return d
	}
	switch c.Name {
	case "insert", "update", "delete", "findAndModify", "create", "createIndexes", "dropIndexes", "drop", "dropDatabase", "renameCollection", "mapReduce":
		return refusal(NotPrimary, "not master")
	case "aggregate":
		list, _ := c.Body.Lookup("pipeline").ArrayOK()
		stages, _ := list.Values() //nolint:errcheck // none, then
		for _, v := range stages {
			if d, ok := v.DocumentOK(); ok && (d.Lookup("$merge").Type != 0 || d.Lookup("$out").Type != 0) {
				return refusal(NotPrimary, "not master")
			}
		}
	case "find", "count", "distinct", "listCollections", "listIndexes", "splitVector":
	default:
		return nil
	}
	mode, _ := c.Body.Lookup("$readPreference", "mode").StringValueOK()
	if mode == "" || mode == "primary" {
		return refusal(13435, "not master and slaveOk=false")
	}
	return nil
}

// secondaryHello makes hello's reply a secondary's. led says that it knows a primary.
func secondaryHello(d bson.D, led bool) bson.D {
	d = slices.DeleteFunc(slices.Clone(d), func(e bson.E) bool { return e.Key == "primary" && !led || e.Key == "electionId" })
	return replace(replace(replace(d, "ismaster", false), "isWritablePrimary", false), "secondary", true)
}

// Secondary starts another member of the set, a secondary with the same documents, whose last write is said to be older than the
// primary's by lag.
func (s *Server) Secondary(t testing.TB, lag time.Duration) *Server {
	t.Helper()
	x := &Server{c: s.c, major: s.major, minor: s.minor, engine: s.engine, inside: s.inside, lead: s, lag: lag}
	x.c.Secondary = true
	x.listen(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.second = x
	return x
}

// listen serves connections until the test ends.
func (s *Server) listen(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	t.Cleanup(func() { cancel(); work.Wait() })
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = listener.Addr().String()
	t.Cleanup(func() { _ = listener.Close() })
	work.Go(func() { s.accept(ctx, listener) })
}

// members are the addresses of the set's members.
func (s *Server) members() bson.A {
	if s.lead != nil {
		return s.lead.members()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := bson.A{s.address}
	if s.second != nil {
		a = append(a, s.second.address)
	}
	return a
}

func (s *Server) primaryAddress() string {
	if s.lead != nil {
		return s.lead.address
	}
	return s.address
}

// unconfirmed adds to a reply that its write concern was not met.
func unconfirmed(reply any, code int32) any {
	raw, err := bson.Marshal(reply)
	if err != nil {
		return reply
	}
	var d bson.D
	if err := bson.Unmarshal(raw, &d); err != nil {
		return reply
	}
	text, name := "waiting for replication timed out", "WriteConcernFailed"
	if code == 100 {
		text, name = "Not enough data-bearing nodes", "CannotSatisfyWriteConcern"
	}
	return append(d, bson.E{Key: "writeConcernError", Value: bson.D{{Key: "code", Value: code}, {Key: "codeName", Value: name}, {Key: "errmsg", Value: text}}})
}

// adapted is a pipeline's command as the engine takes it, which has no members; nil: as it is.
func (s *Server) adapted(c mongofake.Command) bson.D {
	level, _ := c.Body.Lookup("readConcern", "level").StringValueOK()
	snapshot := level == "snapshot" && s.atLeast(5, 0) && s.c.Topology != Standalone
	if !snapshot && s.c.BatchSize == 0 {
		return nil
	}
	var d bson.D
	if err := bson.Unmarshal(c.Body, &d); err != nil {
		return nil
	}
	if snapshot {
		d = without(d, "readConcern")
	}
	if s.c.BatchSize > 0 {
		d = replace(d, "cursor", bson.D{{Key: "batchSize", Value: s.c.BatchSize}})
	}
	return d
}
