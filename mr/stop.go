package mr

import (
	"context"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/splitter"
)

// How long stop goes on looking for the run's commands, and how often. A command
// may still be on its way when the client gives up on it, hence the second look.
const (
	stopFor   = 15 * time.Second
	stopEvery = 50 * time.Millisecond
	stopLooks = 2 // in a row without a command
)

// stop kills what the run still has on the server, and returns when nothing is
// left (or after stopFor). The run's own context may have ended, so it has its own.
func (r *runner) stop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopFor)
	defer cancel()
	admin := r.Client.Database("admin")
	for quiet := 0; quiet < stopLooks; {
		ops, err := r.running(ctx, admin)
		if err != nil {
			return // no right to look, or no connection: the server notices the closed socket in time
		}
		if len(ops) == 0 {
			quiet++
		} else {
			quiet = 0
		}
		for _, op := range ops {
			_ = admin.RunCommand(ctx, bson.D{{Key: "killOp", Value: 1}, {Key: "op", Value: op.id}}).Err()
			if r.server.Mongos && op.session.Type != 0 {
				// The shards' part of the work has other names; it may have the same session.
				_ = admin.RunCommand(ctx, bson.D{{Key: "killSessions", Value: bson.A{bson.D{{Key: "id", Value: op.session}}}}}).Err()
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(stopEvery):
		}
	}
}

// operation is one of the run's on the server.
type operation struct {
	id, session bson.RawValue // session's type is 0 when there is none
}

// running lists the run's operations.
func (r *runner) running(ctx context.Context, admin *mongo.Database) ([]operation, error) {
	stages := []bson.D{{}}
	if r.server.Mongos {
		stages = append(stages, bson.D{{Key: "localOps", Value: true}})
	}
	var ids []operation
	listed := false
	for _, stage := range stages {
		cur, err := admin.Aggregate(ctx, mongo.Pipeline{{{Key: "$currentOp", Value: stage}}})
		if err != nil {
			continue
		}
		listed = true
		for cur.Next(ctx) {
			ids = r.appendOurs(ids, cur.Current)
		}
		_ = cur.Close(ctx)
	}
	if listed {
		return ids, ctx.Err()
	}
	// The older command, which shortens long commands to a text.
	raw, err := admin.RunCommand(ctx, bson.D{{Key: "currentOp", Value: 1}, {Key: "$ownOps", Value: true}}).Raw()
	if err != nil {
		raw, err = admin.RunCommand(ctx, bson.D{{Key: "currentOp", Value: 1}}).Raw()
	}
	if err != nil {
		return nil, err
	}
	list, _ := raw.Lookup("inprog").ArrayOK()
	values, _ := list.Values()
	for _, v := range values {
		if d, ok := v.DocumentOK(); ok {
			ids = r.appendOurs(ids, d)
		}
	}
	return ids, nil
}

func (r *runner) appendOurs(ids []operation, op bson.Raw) []operation {
	id := op.Lookup("opid")
	if id.Type == 0 || !ours(op, r.places(), r.comment()) {
		return ids
	}
	session := op.Lookup("lsid", "id")
	return append(ids, operation{
		id:      bson.RawValue{Type: id.Type, Value: slices.Clone(id.Value)},
		session: bson.RawValue{Type: session.Type, Value: slices.Clone(session.Value)},
	})
}

// tagged is a filter with the comment in it, for routers before 4.4: on their shards nothing else of a command says whose it is, for it writes to
// another collection there and may have no session. Filters have a comment on every version.
func (r *runner) tagged(query bson.D) bson.D {
	if !r.server.Mongos || r.server.WireVersion >= splitter.Wire44 {
		return query
	}
	return append(slices.Clone(query), bson.E{Key: "$comment", Value: r.Comment})
}

// comment is what the commands carry, if anything.
func (r *runner) comment() string {
	if r.server.WireVersion < splitter.Wire44 && !r.server.Mongos && r.Into == nil {
		return ""
	}
	return r.Comment
}

// places are what only this run writes to: databases, or in outDB the collections whose names begin with prefix.
type places struct {
	databases     []string
	outDB, prefix string
}

func (c Config) places() places {
	if c.OutDB != "" {
		return places{outDB: c.OutDB, prefix: c.Prefix + "_"}
	}
	return places{databases: c.databases()}
}

func (p places) have(db, coll string) bool {
	if p.outDB != "" {
		return db == p.outDB && strings.HasPrefix(coll, p.prefix)
	}
	return slices.Contains(p.databases, db)
}

// in reports whether a command that was shortened to a text names one of the places.
func (p places) in(text string) bool {
	if p.outDB != "" {
		return strings.Contains(text, `"`+p.prefix)
	}
	return slices.ContainsFunc(p.databases, func(name string) bool { return strings.Contains(text, `db: "`+name+`"`) })
}

// ours recognises an operation by what only this run has: where it writes, as
// the namespace or as the output, and its comment.
func ours(op bson.Raw, where places, comment string) bool {
	ns, _ := op.Lookup("ns").StringValueOK()
	db, coll, _ := strings.Cut(ns, ".")
	if where.have(db, coll) {
		return true
	}
	for _, field := range []string{"command", "query", "originatingCommand"} {
		cmd, ok := op.Lookup(field).DocumentOK()
		if !ok {
			continue
		}
		if whole, ok := cmd.Lookup("mapreduce.shardedfinish").DocumentOK(); ok { // where a shard puts the results of all together
			cmd = whole
		}
		out, _ := cmd.Lookup("out", "db").StringValueOK()
		into, _ := cmd.Lookup("out", "replace").StringValueOK()
		if into == "" {
			into, _ = cmd.Lookup("out", "reduce").StringValueOK()
		}
		tag, _ := cmd.Lookup("comment").StringValueOK()
		mark, _ := cmd.Lookup("query", "$comment").StringValueOK()
		if where.have(out, into) || (comment != "" && (tag == comment || mark == comment)) {
			return true
		}
		if text, ok := cmd.Lookup("$truncated").StringValueOK(); ok {
			if where.in(text) || comment != "" && strings.Contains(text, `$comment: "`+comment+`"`) {
				return true
			}
		}
	}
	return false
}
