package mimic

import (
	"context"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"mrbench/internal/mongofake"
)

// wireVersion is the maxWireVersion of each release, newest first.
func (s *Server) wireVersion() int32 {
	for _, v := range []struct{ major, minor, wire int32 }{
		{8, 0, 25}, {7, 0, 21}, {6, 0, 17}, {5, 0, 13}, {4, 4, 9}, {4, 2, 8}, {4, 0, 7},
	} {
		if s.atLeast(v.major, v.minor) {
			return v.wire
		}
	}
	return 6
}

// own answers what the engine is not asked. With body the engine gets that instead.
func (s *Server) own(ctx context.Context, c mongofake.Command) (own, body bson.D, err error) {
	switch c.Name {
	case "hello":
		if !s.atLeast(4, 4) {
			return refuse(59, "no such command: 'hello'"), nil, nil
		}
	case "mapReduce", "mapreduce":
		return s.mapReduce(ctx, c)
	case "find":
		if s.c.NoScripting && c.Body.Lookup("filter", "$where").Type != 0 {
			return refuse(2, "no globalScriptEngine in $where parsing"), nil, nil
		}
	case "aggregate":
		if own := s.waiting(c); own != nil {
			return own, nil, nil
		}
		if own, err := s.stages(ctx, c); own != nil || err != nil {
			return own, nil, err
		}
		return nil, s.adapted(c), nil
	case "replSetGetConfig":
		if s.c.Topology == ReplicaSet {
			return s.setConfig(c), nil, nil
		}
	case "splitVector":
		own, err := s.splitVector(ctx, c)
		return own, nil, err
	case "replSetGetStatus":
		switch s.c.Topology {
		case Mongos:
			return bson.D{{Key: "info", Value: "mongos"}, {Key: "ok", Value: 0.0}, {Key: "errmsg", Value: "replSetGetStatus is not supported through mongos"}}, nil, nil
		case ReplicaSet:
			return s.withLag(c, s.setStatus()), nil, nil
		case Standalone:
			return refuse(76, "not running with --replSet"), nil, nil
		}
	}
	if s.c.Topology == Mongos {
		own, err := s.router(ctx, c)
		return own, nil, err
	}
	return nil, nil, nil
}

// stages refuses a pipeline with a stage that the version does not know, or that a router does not take.
func (s *Server) stages(ctx context.Context, c mongofake.Command) (bson.D, error) {
	list, _ := c.Body.Lookup("pipeline").ArrayOK()
	values, err := list.Values()
	if err != nil {
		return nil, nil //nolint:nilerr // the engine refuses it
	}
	for _, v := range values {
		if d, ok := v.DocumentOK(); ok && d.Lookup("$merge").Type != 0 && !s.atLeast(4, 2) {
			return refuse(40324, "Unrecognized pipeline stage name: '$merge'"), nil
		}
	}
	if s.c.Topology != Mongos || len(values) == 0 {
		return nil, nil
	}
	last, _ := values[len(values)-1].DocumentOK()
	out, ok := last.Lookup("$out").StringValueOK()
	if !ok {
		return nil, nil
	}
	coll, err := s.sharded(ctx, c.DB+"."+out)
	if coll != nil {
		return refuse(28769, c.DB+"."+out+" cannot be sharded"), err
	}
	return nil, err
}

// changed says which of the engine's replies are not handed on as they are.
func changed(command string) bool {
	return slices.Contains([]string{
		"hello", "isMaster", "ismaster", "buildInfo", "buildinfo", "serverStatus", "mapReduce", "mapreduce",
		"count", "createIndexes", "insert", "drop", "dropDatabase", "splitVector", "listIndexes",
	}, command)
}

// change makes the engine's reply the version's and topology's.
func (s *Server) change(ctx context.Context, c mongofake.Command, d bson.D) (bson.D, error) {
	switch c.Name {
	case "hello", "isMaster", "ismaster":
		return s.hello(d), nil
	case "buildInfo", "buildinfo":
		d = without(d, "mrbench")
		return replace(replace(replace(d, "version", s.c.Version), "versionArray", s.versionArray()), "javascriptEngine", s.scriptEngine()), nil
	case "serverStatus":
		if s.c.Topology == Mongos {
			d = replace(without(d, "storageEngine", "wiredTiger"), "process", "mongos")
			return append(d[:len(d)-1:len(d)-1], bson.E{Key: "sharding", Value: bson.D{{Key: "configsvrConnectionString", Value: "cfg/" + s.address}}}, d[len(d)-1]), nil
		}
		return s.loaded(c, replace(replace(without(d, "mrbench"), "process", "mongod"), "version", s.c.Version)), nil
	case "mapReduce", "mapreduce":
		return s.mapReduceReply(ctx, c, d)
	case "splitVector":
		return without(d, "timeMillis"), nil
	case "insert":
		if s.c.Topology == ReplicaSet {
			op := bson.D{{Key: "ts", Value: primitive.Timestamp{T: uint32(time.Now().Unix()), I: 1}}, {Key: "t", Value: int64(1)}}
			return append(d[:1:1], append(bson.D{{Key: "opTime", Value: op}}, d[1:]...)...), nil
		}
	}
	if s.c.Topology == Mongos {
		return s.routerReply(ctx, c, d)
	}
	return d, nil
}

func (s *Server) scriptEngine() string {
	if s.c.NoScripting {
		return "none"
	}
	return "mozjs"
}

func (s *Server) hello(d bson.D) bson.D {
	d = without(d, "mrbench", "compression")
	if s.strange() {
		d = without(d, "speculativeAuthenticate", "saslSupportedMechs")
	}
	if !s.atLeast(4, 4) {
		d = without(d, "helloOk")
	}
	if !s.atLeast(4, 2) {
		d = without(d, "connectionId")
	}
	d = replace(d, "maxWireVersion", s.wireVersion())
	var more bson.D
	switch s.c.Topology {
	case Standalone:
		return d
	case Mongos:
		d = without(d, "readOnly")
		more = bson.D{{Key: "msg", Value: "isdbgrid"}}
	case ReplicaSet:
		last := primitive.NewDateTimeFromTime(time.Now().Add(-s.lag).Truncate(time.Second))
		op := bson.D{{Key: "ts", Value: primitive.Timestamp{T: uint32(time.Now().Unix()), I: 1}}, {Key: "t", Value: int64(1)}}
		more = bson.D{
			{Key: "hosts", Value: s.members()},
			{Key: "setName", Value: s.setName()},
			{Key: "setVersion", Value: int32(1)},
			{Key: "secondary", Value: false},
			{Key: "primary", Value: s.primaryAddress()},
			{Key: "me", Value: s.address},
			{Key: "electionId", Value: election},
			{Key: "lastWrite", Value: bson.D{{Key: "opTime", Value: op}, {Key: "lastWriteDate", Value: last}, {Key: "majorityOpTime", Value: op}, {Key: "majorityWriteDate", Value: last}}},
		}
	}
	d = append(d[:1:1], append(more, d[1:]...)...)
	if s.c.Topology == ReplicaSet && s.isSecondary() {
		d = secondaryHello(d, s.lead != nil)
	}
	return d
}

// setName is the replica set's: a shard's name.
func (s *Server) setName() string {
	if s.member != "" {
		return s.member
	}
	return shardNames[0]
}

var election = primitive.ObjectID{11: 1} //nolint:gochecknoglobals // a constant

func (s *Server) setStatus() bson.D {
	now := primitive.NewDateTimeFromTime(time.Now())
	return bson.D{
		{Key: "set", Value: s.setName()},
		{Key: "date", Value: now},
		{Key: "myState", Value: int32(1)},
		{Key: "term", Value: int64(1)},
		{Key: "heartbeatIntervalMillis", Value: int64(2000)},
		{Key: "members", Value: bson.A{bson.D{
			{Key: "_id", Value: int32(0)}, {Key: "name", Value: s.address}, {Key: "health", Value: 1.0}, {Key: "state", Value: int32(1)}, {Key: "stateStr", Value: "PRIMARY"},
		}}},
		{Key: "ok", Value: 1.0},
	}
}

func without(d bson.D, names ...string) bson.D {
	return slices.DeleteFunc(slices.Clone(d), func(e bson.E) bool { return slices.Contains(names, e.Key) })
}

// replace puts a value in the place of another, if there is one.
func replace(d bson.D, name string, v any) bson.D {
	for i := range d {
		if d[i].Key == name {
			d[i].Value = v
		}
	}
	return d
}

// namespace is the collection that a command is about.
func namespace(c mongofake.Command) string {
	name, _ := c.Body.Lookup(c.Name).StringValueOK()
	return c.DB + "." + name
}

func splitNS(ns string) (db, coll string) {
	db, coll, _ = strings.Cut(ns, ".")
	return db, coll
}
