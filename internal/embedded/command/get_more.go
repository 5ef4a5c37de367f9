package command

import (
	"context"
	"math"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

// getMore gives the next batch of a cursor.
func getMore(ctx context.Context, c *call) error {
	id := c.target()
	if id.Type != bsonx.TypeInt64 {
		return wrongType("getMore", "getMore", id, "long")
	}
	if id.Int64() == 0 {
		return mongoerr.New(mongoerr.BadValue, "Cursor id for getMore must be non-zero")
	}
	ns, size, err := c.getMoreArgs()
	if err != nil {
		return err
	}
	cur, err := c.s.cursors.take(id.Int64(), ns.String(), c.g.session, c.sess.owner())
	if err != nil {
		return err
	}
	if cur == nil {
		return c.noCursor(id.Int64(), ns)
	}
	done := true
	defer func() { c.s.cursors.put(cur, done) }()
	at := c.startDoc("cursor")
	if err := c.fill(ctx, cur, "nextBatch", size); err != nil {
		return err
	}
	var next int64
	if done = cur.eof; !done {
		next = cur.id
	}
	c.int64("id", next)
	c.str("ns", cur.ns)
	c.end(at)
	return nil
}

func (c *call) getMoreArgs() (ns store.NS, size int64, err error) {
	if c.arg("collection").IsMissing() {
		return ns, 0, mongoerr.New(mongoerr.FailedToParse, "Field 'collection' missing in getMore")
	}
	coll, err := c.text("collection")
	if err != nil {
		return ns, 0, err
	}
	ns = store.NS{DB: c.db, Coll: coll}
	c.op.setNS(ns)
	if coll == "" {
		return ns, 0, mongoerr.New(mongoerr.InvalidNamespace, "Collection names cannot be empty")
	}
	size, err = batchSize("getMore", "batchSize", c.arg("batchSize"), 0)
	if size == 0 {
		size = math.MaxInt32 // as many as fit
	}
	return ns, size, err
}

// noCursor tells a dropped collection from a cursor that has ended, as a 4.0 server does.
func (c *call) noCursor(id int64, ns store.NS) error {
	snap := c.s.db.Snapshot()
	defer func() { _ = snap.Close() }()
	if !isCommandNS(ns.Coll) && snap.Collection(ns) == nil {
		return mongoerr.New(mongoerr.OperationFailed, "collection dropped between getMore calls")
	}
	return mongoerr.New(mongoerr.CursorNotFound, "cursor id %d not found", id)
}
