package polite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
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
	notes   []string // what can't be watched, and why
}

// source is a question, and how to read its answer.
type source struct {
	name  string
	kinds []kind // that the answer tells
	cmd   bson.D
	read  func(*reading, bson.Raw)
}

// Commands are what a governor of these limits asks a server, all of which only read: the first ones once.
func (l Limits) Commands(mongos, set bool) []bson.D {
	list := []bson.D{{{Key: "isMaster", Value: 1}}}
	if set && l.any(lag) {
		list = append(list, bson.D{{Key: "replSetGetConfig", Value: 1}})
	}
	for _, s := range l.sources(mongos, set, nil) {
		list = append(list, s.cmd)
	}
	return list
}

func (l Limits) sources(mongos, set bool, delays map[int64]float64) []source {
	var list []source
	add := func(name string, cmd bson.D, read func(*reading, bson.Raw), tells ...kind) {
		if l.any(tells...) {
			list = append(list, source{name, tells, cmd, read})
		}
	}
	if mongos {
		add("serverStatus", statusCommand, (*reading).readStatus, connections)
		add("$currentOp", waitingCommand, (*reading).readWaiting, queue)
	} else {
		add("serverStatus", statusCommand, (*reading).readStatus, queue, cacheDirty, cacheUsed, tickets, connections)
	}
	if set {
		add("replSetGetStatus", bson.D{{Key: "replSetGetStatus", Value: 1}}, func(r *reading, raw bson.Raw) { r.readMembers(raw, delays) }, lag)
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

func (r *reading) readWaiting(raw bson.Raw) {
	r.raise(queue, measure{})
	list, _ := raw.Lookup("cursor", "firstBatch").ArrayOK()
	values, err := list.Values()
	if err != nil {
		return
	}
	for _, v := range values {
		if d, ok := v.DocumentOK(); ok {
			n, _ := number(d, "waiting")
			shard, _ := d.Lookup("_id").StringValueOK()
			r.raise(queue, measure{value: n, of: strings.TrimSpace("shard " + shard)})
		}
	}
}

// newWatcher finds out what can be watched, by looking once.
func newWatcher(ctx context.Context, ask ask, want Limits) (*watcher, reading, error) {
	w := &watcher{ask: ask, want: want}
	if !want.Watches() {
		return w, reading{}, nil
	}
	hello, err := ask(ctx, bson.D{{Key: "isMaster", Value: 1}})
	if err != nil {
		return nil, reading{}, fmt.Errorf("isMaster: %w", err)
	}
	msg, _ := hello.Lookup("msg").StringValueOK()
	mongos := msg == "isdbgrid"
	name, _ := hello.Lookup("setName").StringValueOK()
	set := name != ""
	if want.any(lag) && set {
		if raw, err := ask(ctx, bson.D{{Key: "replSetGetConfig", Value: 1}}); err == nil {
			w.delays = readDelays(raw)
		} else if !refused(err) {
			return nil, reading{}, fmt.Errorf("replSetGetConfig: %w", err)
		}
	}
	var r reading
	var noted [kinds]bool
	for _, s := range want.sources(mongos, set, w.delays) {
		raw, err := ask(ctx, s.cmd)
		switch {
		case err == nil:
			s.read(&r, raw)
		case !refused(err):
			return nil, reading{}, fmt.Errorf("%s: %w", s.name, err)
		case s.name == "replSetGetStatus":
			w.note("lag only of the majority of members: %s is refused (%v)", s.name, err)
			s = source{"isMaster", s.kinds, bson.D{{Key: "isMaster", Value: 1}}, (*reading).readLastWrite}
			s.read(&r, hello)
		default:
			var names []string
			for _, k := range s.kinds {
				if noted[k] = true; want.levels[k].on {
					names = append(names, kindInfos[k].name)
				}
			}
			w.note("%s: %s is refused (%v)", strings.Join(names, ", "), s.name, err)
			continue
		}
		w.sources = append(w.sources, s)
	}
	w.missing(r, noted, mongos, set)
	return w, r, nil
}

func (w *watcher) note(format string, args ...any) {
	w.notes = append(w.notes, fmt.Sprintf(format, args...))
}

// missing notes the limits of which the first look said nothing.
func (w *watcher) missing(r reading, noted [kinds]bool, mongos, set bool) {
	of := map[string][]string{}
	var order []string
	for k, v := range w.want.levels {
		if !v.on || noted[k] || r[k].known {
			continue
		}
		why := "the server does not say"
		switch {
		case mongos && kind(k) != queue && kind(k) != connections:
			why = "shards can't be asked through a mongos"
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
func (w *watcher) look(ctx context.Context) (reading, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	var r reading
	for _, s := range w.sources {
		raw, err := w.ask(ctx, s.cmd)
		if err != nil {
			return r, fmt.Errorf("%s: %w", s.name, err)
		}
		s.read(&r, raw)
	}
	return r, nil
}

// refused reports whether the server answered, and said no.
func refused(err error) bool {
	var ce mongo.CommandError
	if !errors.As(err, &ce) || mongo.IsNetworkError(err) {
		return false
	}
	return !ce.HasErrorLabel("RetryableWriteError") && !ce.HasErrorLabel("TransientTransactionError")
}
