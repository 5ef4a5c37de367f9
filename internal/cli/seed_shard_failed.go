package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/internal/cluster"
	"mrbench/internal/target"
)

// halfSharded says what there is of a collection that could not be sharded to the end, and how to go on.
func (a *app) halfSharded(ctx context.Context, t *target.Target, p cluster.Plan, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
	defer cancel()
	there, lerr := a.layoutOf(ctx, t, p)
	if lerr == nil {
		lerr = a.recordAgain(ctx, t)
	}
	if lerr != nil {
		there = fmt.Sprintf("what there is of %s could not be found out (%v)", p.NS, lerr)
	}
	if !goesOn(err) {
		a.insist("%s\nmrbench clean --data drops it", there)
		return
	}
	a.insist("%s\nmrbench clean --data drops it; this goes on with it:\n  %s", there, a.sameCommand([]string{"drop"}))
}

// layoutOf is what there is of the collection now.
func (a *app) layoutOf(ctx context.Context, t *target.Target, p cluster.Plan) (string, error) {
	_, exists, err := collectionUUID(ctx, t.Client.Database(a.common.ns.DB), a.common.ns.Coll)
	if err != nil {
		return "", err
	}
	if !exists {
		return p.NS + " is not there any more", nil
	}
	coll, err := cluster.Of(ctx, t.Client, p.NS)
	switch {
	case err != nil:
		return "", err
	case coll == nil:
		return p.NS + " is there, not sharded, with nothing loaded", nil
	}
	planned := fmt.Sprintf("%d of %s", len(coll.Chunks), plural(p.Chunks, "chunk"))
	if len(coll.Chunks) >= p.Chunks {
		planned = plural(len(coll.Chunks), "chunk")
	}
	return fmt.Sprintf("%s is there, sharded by %s in %s, with nothing loaded", p.NS, cluster.KeyText(coll.Key), planned), nil
}

// goesOn reports whether the same command can go on after what stopped a collection from being sharded.
func goesOn(err error) bool {
	if _, ok := errors.AsType[*cluster.LayoutError](err); ok {
		return false
	}
	return !chunksLeft(err) && !uniqueIndex(err)
}

// chunksLeft says that servers before 5.0 found chunks of a shardCollection that a fail-over cut off in the middle.
func chunksLeft(err error) bool {
	e, ok := errors.AsType[mongo.CommandError](err)
	return ok && strings.Contains(e.Message, "previous attempt to shard collection")
}

func uniqueIndex(err error) bool {
	e, ok := errors.AsType[mongo.CommandError](err)
	return ok && strings.Contains(e.Message, "unique index")
}

// explainSharding adds the next step to what stopped a collection from being sharded.
func explainSharding(err error, p cluster.Plan) error {
	if e, ok := errors.AsType[*cluster.LayoutError](err); ok {
		next := "--drop begins anew"
		if strings.Contains(e.Problem, "balancer") {
			next = "--stop-balancer keeps it from that"
		}
		return withCode(exitFailed, "%w; %s", err, next)
	}
	e, ok := errors.AsType[mongo.CommandError](err)
	switch {
	case ok && e.Code == codeUnauthorized:
		return withCode(exitFailed, "%w; sharding needs enableSharding, splitChunk and moveChunk on %s, which the role clusterManager has", err, p.NS)
	case chunksLeft(err):
		return withCode(exitFailed, "%w; it was cut off in the middle, and --drop does not take these chunks away: use another name, or have someone who may write "+
			"to config delete them, db.getSiblingDB(\"config\").chunks.deleteMany({ns: %q}) in mongosh", err, p.NS)
	case uniqueIndex(err):
		return withCode(exitFailed, "%w; a unique index has to begin with the shard key, as each shard sees its own documents only; the one on _id is then unique on each shard, and on all only if _id is the shard key: "+
			"drop that index, or shard by its fields", err)
	case ok && (e.Code == 117 || e.Code == 46):
		return withCode(exitFailed, "%w; another migration or lock was in the way for minutes: wait until it ends (mrbench doctor shows what runs), or give --stop-balancer", err)
	case failedOver(err):
		return withCode(exitFailed, "%w; it was tried again for minutes: wait until the config servers and all shards have a primary (mrbench doctor shows the shards)", err)
	}
	return err
}
