package command

import (
	"context"
	"math"
	"slices"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

const (
	firstBatchDefault = 101
	batchBytes        = MaxDocumentBytes // of the documents in one batch
)

// firstReply appends {cursor: {firstBatch, id, ns}} and registers cur when the client is to come back for
// more; cur.release closes it otherwise. peek looks past the batch, so that a result that ends with it has id 0.
func (c *call) firstReply(ctx context.Context, cur *cursor, size int64, peek, single bool) error {
	at := c.startDoc("cursor")
	if err := c.fill(ctx, cur, "firstBatch", size); err != nil {
		return err
	}
	if peek && !single && !cur.eof {
		if err := cur.more(ctx); err != nil {
			return err
		}
	}
	var id int64
	if !cur.eof && !single {
		cur.session, cur.user = string(c.g.session), c.sess.owner()
		cur.origin = append(bsonx.Doc(nil), trimmed(c.body)...)
		id = c.s.cursors.add(cur)
	}
	c.int64("id", id)
	c.str("ns", cur.ns)
	c.end(at)
	return nil
}

// fill appends one batch: at most size documents and batchBytes bytes, at least one document when size allows it.
func (c *call) fill(ctx context.Context, cur *cursor, name string, size int64) error {
	if cur.scripts != nil {
		defer cur.scripts.Watch(ctx)()
	}
	at := c.startArray(name)
	c.b = slices.Grow(c.b, cur.filled+cur.filled/64) // a batch is about as large as the one before
	from, n := len(c.b), 0
	for int64(n) < size && !cur.eof {
		if err := cur.more(ctx); err != nil {
			return err
		}
		if cur.eof {
			break
		}
		before := len(c.b)
		if err := c.appendNext(cur, n); err != nil {
			return err
		}
		if n > 0 && len(c.b)-from > batchBytes {
			c.b = c.b[:before] // it will be the first of the next batch
			break
		}
		n++
		cur.advance()
	}
	cur.filled = len(c.b) - from
	c.end(at)
	c.s.counters.docsOut.Add(int64(n))
	return nil
}

// appendNext appends the cursor's next document as element i, without taking it.
func (c *call) appendNext(cur *cursor, i int) (err error) {
	doc := cur.block[0]
	if cur.project == nil {
		c.elem(i, bsonx.DocValue(doc))
		return nil
	}
	c.elemHeader(docType, i)
	c.b, err = cur.project.Apply(c.b, doc)
	return err
}

// more makes sure that a document is at hand, or sets eof.
func (c *cursor) more(ctx context.Context) (err error) {
	if c.left == 0 {
		c.eof = true
		return nil
	}
	if len(c.block) > 0 || c.eof {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c.block, err = c.src.Next(ctx)
	c.eof = err == nil && len(c.block) == 0
	return err
}

func (c *cursor) advance() {
	c.block = c.block[1:]
	if c.left > 0 {
		if c.left--; c.left == 0 {
			c.eof = true
		}
	}
}

// emptyReply is the answer for a collection that does not exist (fields in the order a 4.0 server gives them).
func (c *call) emptyReply(ns string) {
	at := c.startDoc("cursor")
	c.int64("id", 0)
	c.str("ns", ns)
	list := c.startArray("firstBatch")
	c.end(list)
	c.end(at)
}

// listReply answers with a short list of documents at once: {cursor: {id: 0, ns, firstBatch}}.
func (c *call) listReply(ns string, docs []bsonx.Doc) {
	at := c.startDoc("cursor")
	c.int64("id", 0)
	c.str("ns", ns)
	list := c.startArray("firstBatch")
	for i, d := range docs {
		c.elem(i, bsonx.DocValue(d))
	}
	c.end(list)
	c.end(at)
}

// batchSize reads a batch size; 0 stands for otherwise only where the command says so.
func batchSize(cmd, field string, v bsonx.Value, otherwise int64) (int64, error) {
	n, err := whole(cmd, field, v, otherwise)
	if err == nil && n < 0 {
		err = mongoerr.New(mongoerr.BadValue, "BatchSize value must be non-negative, but received: %d", n)
	}
	return min(n, math.MaxInt32), err
}
