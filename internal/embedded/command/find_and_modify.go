package command

import (
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/store"
)

var findAndModifyArgs = []string{
	"query", "sort", "remove", "update", "new", "fields", "upsert", "bypassDocumentValidation", "arrayFilters", "hint", "let",
}

// modifyArgs are findAndModify's arguments.
type modifyArgs struct {
	query, sort, let    bsonx.Doc
	hint, update        bsonx.Value
	arrayFilters        []bsonx.Doc
	remove, new, upsert bool
}

// findAndModify changes or removes one document and gives it back, as it was or as it is then.
func findAndModify(ctx context.Context, c *call) error {
	ns, err := c.writeNS()
	if err != nil {
		return err
	}
	a, err := c.parseModify()
	if err != nil {
		return err
	}
	if o, done := c.before(0); done {
		return c.retriedReply(o)
	}
	start := len(c.b)
	if err := c.modify(ctx, ns, a); err != nil {
		return err
	}
	c.remember(0, outcome{reply: c.b[start:]})
	return nil
}

func (c *call) modify(ctx context.Context, ns store.NS, a modifyArgs) error {
	h, err := c.newChange(ns, a.query, a.sort, a.let, a.hint)
	if err != nil {
		return err
	}
	defer h.read.watch(ctx)()
	project, err := c.modifyProjection(h)
	if err != nil {
		return err
	}
	if a.remove {
		return c.modifyRemove(ctx, h, project)
	}
	u, err := h.newUpdater(ctx, a.update, a.arrayFilters, a.upsert)
	if err != nil {
		return err
	}
	c.s.counters.ops[opUpdate].Add(1)
	if err := u.one(ctx); err != nil {
		return err
	}
	c.modifyResult(u)
	value := u.before
	if a.new {
		value = u.after
	}
	return c.modifyValue(value, project)
}

func (c *call) parseModify() (a modifyArgs, err error) {
	const cmd = "findAndModify"
	for it := c.body.Iter(); it.Next() && err == nil; {
		v := it.Value()
		switch string(it.Name()) {
		case "query":
			a.query, err = document(cmd, "query", v)
		case "sort":
			a.sort, err = document(cmd, "sort", v)
		case "let":
			a.let, err = document(cmd, "let", v)
		case "hint":
			a.hint, err = hint(cmd, v)
		case "update":
			a.update = v
		case "arrayFilters":
			a.arrayFilters, err = documentsOf(cmd, "arrayFilters", v)
		case "remove":
			a.remove, err = flag(cmd, "remove", v, false)
		case "new":
			a.new, err = flag(cmd, "new", v, false)
		case "upsert":
			a.upsert, err = flag(cmd, "upsert", v, false)
		}
	}
	if a.query == nil {
		a.query = bsonx.Empty
	}
	if err == nil {
		err = a.check()
	}
	return a, err
}

func (a *modifyArgs) check() error {
	switch {
	case a.remove && !a.update.IsMissing():
		return mongoerr.New(mongoerr.FailedToParse, "Cannot specify both an update and remove=true")
	case a.remove && a.upsert:
		return mongoerr.New(mongoerr.FailedToParse, "Cannot specify both upsert=true and remove=true")
	case a.remove && a.new:
		return mongoerr.New(mongoerr.FailedToParse, "Cannot specify both new=true and remove=true; 'remove' always returns the deleted document")
	case a.remove:
		return nil
	case a.update.IsMissing():
		return mongoerr.New(mongoerr.FailedToParse, "Either an update or remove=true must be specified")
	case a.update.Type != docType && a.update.Type != bsonx.TypeArray:
		return wrongType("findAndModify", "update", a.update, "object", "array")
	}
	return nil
}

func (c *call) modifyProjection(h *change) (*query.Projection, error) {
	d, err := c.document("fields")
	if err != nil || d.Len() == 0 {
		return nil, err
	}
	return query.ParseProjection(d, h.read.scope)
}

func (c *call) modifyRemove(ctx context.Context, h *change, project *query.Projection) error {
	var old bsonx.Doc
	h.apply = func(tx *store.Tx, doc bsonx.Doc) error {
		old = doc
		return tx.Delete(doc)
	}
	c.s.counters.ops[opDelete].Add(1)
	if err := h.one(ctx); err != nil {
		return err
	}
	at := c.startDoc("lastErrorObject")
	n := int32(0)
	if old != nil {
		n = 1
	}
	c.int32("n", n)
	c.end(at)
	return c.modifyValue(old, project)
}

// modifyResult appends lastErrorObject of an update.
func (c *call) modifyResult(u *updater) {
	at := c.startDoc("lastErrorObject")
	n := u.matched
	if !u.upserted.IsMissing() {
		n++
	}
	c.int32("n", int32(n))
	c.bool("updatedExisting", u.matched > 0)
	if !u.upserted.IsMissing() {
		c.value("upserted", u.upserted)
	}
	c.end(at)
}

func (c *call) modifyValue(doc bsonx.Doc, project *query.Projection) error {
	if doc == nil {
		c.null("value")
		return nil
	}
	if project == nil {
		c.doc("value", doc)
		return nil
	}
	out, err := project.Apply(nil, doc)
	if err != nil {
		return err
	}
	c.doc("value", out)
	return nil
}
