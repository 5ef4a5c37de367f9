package mimic

import (
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"mrbench/internal/mongofake"
)

// Load is how busy the server says that it is.
type Load struct {
	Queue       int           // operations that wait; of a router, on shard s1 by its $currentOp
	Dirty, Used float64       // parts of the cache
	Taken       int           // write tickets of 128
	Lag         time.Duration // of a second member of the set
	Delay       time.Duration // which that member is meant to have
}

// SetLoad has a function say how busy the server is, for each command that asks. Without it the server says nothing of it.
func (s *Server) SetLoad(f func(c mongofake.Command) Load) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load = f
}

func (s *Server) loadFor(c mongofake.Command) (Load, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.load == nil {
		return Load{}, false
	}
	return s.load(c), true
}

// loaded adds the load to a reply to serverStatus of a mongod. Tickets are elsewhere since 8.0, and the numbers are of the types they have.
func (s *Server) loaded(c mongofake.Command, d bson.D) bson.D {
	l, ok := s.loadFor(c)
	if !ok {
		return d
	}
	const tickets, cache = 128, int64(1 << 30)
	of := func(taken int) bson.D {
		return bson.D{{Key: "out", Value: int32(taken)}, {Key: "available", Value: int32(tickets - taken)}, {Key: "totalTickets", Value: int32(tickets)}}
	}
	free := bson.D{{Key: "write", Value: of(l.Taken)}, {Key: "read", Value: of(0)}}
	engine := bson.D{{Key: "cache", Value: bson.D{
		{Key: "bytes currently in the cache", Value: int64(l.Used * float64(cache))},
		{Key: "maximum bytes configured", Value: float64(cache)},
		{Key: "tracked dirty bytes in the cache", Value: int64(l.Dirty * float64(cache))},
	}}}
	more := bson.D{{Key: "globalLock", Value: bson.D{{Key: "currentQueue", Value: bson.D{
		{Key: "total", Value: int32(l.Queue)}, {Key: "readers", Value: int32(l.Queue)}, {Key: "writers", Value: int32(0)},
	}}}}, {Key: "connections", Value: bson.D{{Key: "current", Value: int32(19)}, {Key: "available", Value: int32(15981)}, {Key: "totalCreated", Value: int32(20)}}}}
	if s.atLeast(8, 0) {
		more = append(more, bson.E{Key: "queues", Value: bson.D{{Key: "execution", Value: free}}})
	} else {
		engine = append(engine, bson.E{Key: "concurrentTransactions", Value: free})
	}
	return append(append(without(d, "wiredTiger", "globalLock", "connections"), more...), bson.E{Key: "wiredTiger", Value: engine})
}

// waiting answers a router's $currentOp for operations that wait, which the engine has none of.
func (s *Server) waiting(c mongofake.Command) bson.D {
	if s.c.Topology != Mongos || c.DB != "admin" || !strings.Contains(c.Body.String(), "waitingForLock") {
		return nil
	}
	l, ok := s.loadFor(c)
	if !ok {
		return nil
	}
	var docs []any
	if l.Queue > 0 {
		docs = append(docs, bson.D{{Key: "_id", Value: "s1"}, {Key: "waiting", Value: int32(l.Queue)}})
	}
	return mongofake.Cursor("admin.$cmd.aggregate", docs...)
}

// withLag gives the status of a set a second member, which is behind.
func (s *Server) withLag(c mongofake.Command, status bson.D) bson.D {
	l, ok := s.loadFor(c)
	if !ok {
		return status
	}
	now := time.Now()
	members, _ := value(status, "members").(bson.A)
	first, _ := members[0].(bson.D)
	first = append(first, bson.E{Key: "optimeDate", Value: primitive.NewDateTimeFromTime(now)})
	return replace(status, "members", bson.A{first, bson.D{
		{Key: "_id", Value: int32(1)}, {Key: "name", Value: "db2:27017"}, {Key: "health", Value: 1.0}, {Key: "state", Value: int32(2)},
		{Key: "stateStr", Value: "SECONDARY"}, {Key: "optimeDate", Value: primitive.NewDateTimeFromTime(now.Add(-l.Lag))},
	}})
}

// setConfig is the configuration of that set.
func (s *Server) setConfig(c mongofake.Command) bson.D {
	delay := "secondaryDelaySecs"
	if !s.atLeast(5, 0) {
		delay = "slaveDelay"
	}
	l, _ := s.loadFor(c)
	return bson.D{{Key: "config", Value: bson.D{{Key: "_id", Value: s.setName()}, {Key: "members", Value: bson.A{
		bson.D{{Key: "_id", Value: int32(0)}, {Key: "host", Value: s.address}, {Key: delay, Value: int64(0)}},
		bson.D{{Key: "_id", Value: int32(1)}, {Key: "host", Value: "db2:27017"}, {Key: delay, Value: int64(l.Delay / time.Second)}},
	}}}}, {Key: "ok", Value: 1.0}}
}
