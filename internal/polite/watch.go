package polite

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/bson"
)

// lookTimeout is how long a server may take to answer one question.
const lookTimeout = 5 * time.Second

// ask sends a command to the database admin and returns the reply.
type ask func(ctx context.Context, cmd bson.D) (bson.Raw, error)

// watcher looks at a server, by the questions that it answers.
type watcher struct {
	ask     ask
	want    Limits
	sources []source
	delays  map[int64]float64
	first   readings // of the look that found out what can be watched
	asked   string   // last
	notes   []string // what can't be watched, and why
	alone   string   // why a router's watcher is the only one; "" it is not

	// Of a shard.
	shard string
	host  string
	login error  // why it is asked without a login
	end   func() // the connection; nil: there is none
}

// watches reports whether there is something to ask.
func (w *watcher) watches() bool { return len(w.sources) > 0 }

// source is a question, and how to read its answer.
type source struct {
	name  string
	kinds []kind // that the answer tells
	cmd   bson.D
	read  func(readings, bson.Raw)
}

// as is a source's read function that is about one server.
func as(name string, read func(*reading, bson.Raw)) func(readings, bson.Raw) {
	return func(rs readings, raw bson.Raw) { read(rs.of(name), raw) }
}

// Commands are what a governor of these limits asks a server, all of which only read: the first ones once. A shard is asked what a
// member of a replica set is.
func (l Limits) Commands(mongos, set bool) []bson.D {
	list := []bson.D{{{Key: "isMaster", Value: 1}}}
	if set && l.any(lag) {
		list = append(list, bson.D{{Key: "replSetGetConfig", Value: 1}})
	}
	for _, s := range l.sources("", mongos, set, nil) {
		list = append(list, s.cmd)
	}
	return list
}

func (l Limits) sources(of string, mongos, set bool, delays map[int64]float64) []source {
	var list []source
	add := func(name string, cmd bson.D, read func(readings, bson.Raw), tells ...kind) {
		if l.any(tells...) {
			list = append(list, source{name, tells, cmd, read})
		}
	}
	if mongos {
		add("serverStatus", statusCommand, as(of, (*reading).readStatus), connections)
		add("$currentOp", waitingCommand, readings.readWaiting, queue)
	} else {
		add("serverStatus", statusCommand, as(of, (*reading).readStatus), queue, cacheDirty, cacheUsed, tickets, connections)
	}
	if set {
		members := func(r *reading, raw bson.Raw) { r.readMembers(raw, delays) }
		add("replSetGetStatus", bson.D{{Key: "replSetGetStatus", Value: 1}}, as(of, members), lag)
	}
	return list
}

func (l Limits) any(list ...kind) bool {
	for _, k := range list {
		if l.levels[k].on {
			return true
		}
	}
	return false
}

// The sections that are large and not looked at are left out.
var statusCommand = bson.D{
	{Key: "serverStatus", Value: 1}, {Key: "repl", Value: 0}, {Key: "metrics", Value: 0}, {Key: "locks", Value: 0}, {Key: "tcmalloc", Value: 0},
	{Key: "sharding", Value: 0}, {Key: "shardingStatistics", Value: 0}, {Key: "transactions", Value: 0}, {Key: "opLatencies", Value: 0},
}

// waitingCommand counts operations that wait, by shard: a router has no queues of its own, and gathers the shards' operations.
var waitingCommand = bson.D{
	{Key: "aggregate", Value: 1},
	{Key: "pipeline", Value: bson.A{
		bson.D{{Key: "$currentOp", Value: bson.D{{Key: "allUsers", Value: true}}}},
		bson.D{{Key: "$match", Value: bson.D{{Key: "$or", Value: bson.A{
			bson.D{{Key: "waitingForLock", Value: true}}, bson.D{{Key: "currentQueue.name", Value: bson.D{{Key: "$exists", Value: true}}}},
		}}}}},
		bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$shard"}, {Key: "waiting", Value: bson.D{{Key: "$sum", Value: 1}}}}}},
	}},
	{Key: "cursor", Value: bson.D{}},
}

func (rs readings) readWaiting(raw bson.Raw) {
	rs.of("").raise(queue, measure{})
	list, _ := raw.Lookup("cursor", "firstBatch").ArrayOK()
	values, err := list.Values()
	if err != nil {
		return
	}
	for _, v := range values {
		if d, ok := v.DocumentOK(); ok {
			n, _ := number(d, "waiting")
			shard, _ := d.Lookup("_id").StringValueOK()
			rs.of(shard).raise(queue, measure{value: n})
		}
	}
}

// open finds out what can be watched, by looking once.
func (w *watcher) open(ctx context.Context) error {
	if !w.want.Watches() {
		return nil
	}
	hello, err := w.ask(ctx, bson.D{{Key: "isMaster", Value: 1}})
	if err != nil {
		return fmt.Errorf("isMaster: %w", err)
	}
	msg, _ := hello.Lookup("msg").StringValueOK()
	mongos := msg == "isdbgrid"
	name, _ := hello.Lookup("setName").StringValueOK()
	set := name != ""
	if w.want.any(lag) && set {
		if raw, err := w.ask(ctx, bson.D{{Key: "replSetGetConfig", Value: 1}}); err == nil {
			w.delays = readDelays(raw)
		} else if !refused(err) {
			return fmt.Errorf("replSetGetConfig: %w", err)
		}
	}
	w.first = readings{}
	var lost refusals
	for _, s := range w.want.sources(w.shard, mongos, set, w.delays) {
		raw, err := w.ask(ctx, s.cmd)
		switch {
		case err == nil:
			s.read(w.first, raw)
		case !refused(err):
			return fmt.Errorf("%s: %w", s.name, err)
		case s.name == "replSetGetStatus":
			lost.add(w.want, "lag of single members", s, err)
			s = source{"isMaster", s.kinds, bson.D{{Key: "isMaster", Value: 1}}, as(w.shard, (*reading).readLastWrite)}
			s.read(w.first, hello)
		default:
			lost.add(w.want, "", s, err)
			continue
		}
		w.sources = append(w.sources, s)
	}
	w.notes = append(w.notes, lost.notes(w)...)
	w.missing(lost.noted, mongos, set)
	return nil
}

func (w *watcher) note(format string, args ...any) {
	w.notes = append(w.notes, fmt.Sprintf(format, args...))
}

// missing notes the limits of which the first look said nothing.
func (w *watcher) missing(noted [kinds]bool, mongos, set bool) {
	of := map[string][]string{}
	var order []string
	for k, v := range w.want.levels {
		if !v.on || noted[k] || w.first.of(w.shard)[k].known {
			continue
		}
		why := "the server does not say"
		switch {
		case mongos && kind(k) != queue && kind(k) != connections:
			why = "only shards know, and none is watched" + w.alone
		case kind(k) == lag && !set:
			why = "there is no replica set"
		}
		if of[why] == nil {
			order = append(order, why)
		}
		of[why] = append(of[why], kindInfos[k].name)
	}
	for _, why := range order {
		w.note("%s: %s", strings.Join(of[why], ", "), why)
	}
}

// look asks all that can be asked.
func (w *watcher) look(ctx context.Context) (readings, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	rs := readings{}
	for _, s := range w.sources {
		w.asked = s.name
		raw, err := w.ask(ctx, s.cmd)
		if err != nil {
			return rs, err
		}
		s.read(rs, raw)
	}
	return rs, nil
}
