package command

import (
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

// upserted is an entry of update's reply.
type upserted struct {
	index int
	id    bsonx.Value
}

// update changes documents.
func update(ctx context.Context, c *call) error {
	ns, err := c.writeNS()
	if err != nil {
		return err
	}
	ordered, err := c.flag("ordered", true)
	if err != nil {
		return err
	}
	statements, err := c.statements("updates")
	if err != nil {
		return err
	}
	updates, err := readAll(statements, parseUpdateArgs)
	if err != nil {
		return err
	}
	c.s.counters.ops[opUpdate].Add(int64(len(statements)))
	var matched, modified int64
	var inserted []upserted
	var errs []writeError
	for i, a := range updates {
		o, done := c.before(i)
		var err error
		if !done {
			if o, err = c.updateStatement(ctx, ns, a); err == nil {
				c.remember(i, o)
			}
		}
		switch {
		case err == nil:
			matched, modified = matched+o.matched, modified+o.modified
			if !o.upserted.IsMissing() {
				matched++
				inserted = append(inserted, upserted{i, o.upserted})
			}
			continue
		case ctx.Err() != nil || wholeCommand(err):
			return err
		}
		errs = append(errs, writeError{i, err})
		if ordered {
			break
		}
	}
	c.s.counters.docsUpd.Add(modified)
	c.count("n", matched)
	c.count("nModified", modified)
	c.upserts(inserted)
	c.writeErrors(errs)
	c.retriedIDs()
	return nil
}

func (c *call) upserts(list []upserted) {
	if len(list) == 0 {
		return
	}
	at := c.startArray("upserted")
	for i, u := range list {
		doc := c.startElem(i)
		c.int32("index", int32(u.index))
		c.value("_id", u.id)
		c.end(doc)
	}
	c.end(at)
}

// updateArgs are the fields of one update statement.
type updateArgs struct {
	q, c          bsonx.Doc
	u, hint       bsonx.Value
	arrayFilters  []bsonx.Doc
	multi, upsert bool
}

func parseUpdateArgs(d bsonx.Doc) (a updateArgs, err error) {
	const cmd = "update.updates"
	seenQ := false
	for it := d.Iter(); it.Next() && err == nil; {
		v := it.Value()
		switch name := string(it.Name()); name {
		case "q":
			seenQ = true
			if v.Type != docType {
				return a, wrongType(cmd, "q", v, "object")
			}
			a.q = v.Doc()
		case "u":
			a.u = v
		case "c":
			a.c, err = document(cmd, "c", v)
		case "multi":
			a.multi, err = flag(cmd, "multi", v, false)
		case "upsert":
			a.upsert, err = flag(cmd, "upsert", v, false)
		case "arrayFilters":
			a.arrayFilters, err = documentsOf(cmd, "arrayFilters", v)
		case "hint":
			a.hint, err = hint(cmd, v)
		case "collation":
			err = checkCollation(cmd, v)
		case "upsertSupplied":
		default:
			err = mongoerr.New(errUnknownField, "BSON field '%s.%s' is an unknown field.", cmd, name)
		}
	}
	switch {
	case err != nil:
		return a, err
	case !seenQ:
		return a, missingField(cmd, "q")
	case a.u.IsMissing():
		return a, missingField(cmd, "u")
	case a.u.Type != docType && a.u.Type != bsonx.TypeArray:
		return a, wrongType(cmd, "u", a.u, "object", "array")
	}
	return a, nil
}

// updateStatement runs one statement.
func (c *call) updateStatement(ctx context.Context, ns store.NS, a updateArgs) (o outcome, err error) {
	if err := c.refuseMulti(a.multi, "multi=true"); err != nil {
		return o, err
	}
	let, err := commandLet("update", c.arg("let"))
	if err != nil {
		return o, err
	}
	if a.c.Len() > 0 {
		let = a.c
	}
	h, err := c.newChange(ns, a.q, nil, let, a.hint)
	if err != nil {
		return o, err
	}
	u, err := h.newUpdater(ctx, a.u, a.arrayFilters, a.upsert)
	if err != nil {
		return o, err
	}
	if a.multi && a.u.Type != bsonx.TypeArray && u.update.IsReplacement() {
		return o, mongoerr.New(mongoerr.FailedToParse, "multi update is not supported for replacement-style update")
	}
	err = u.run(ctx, a.multi)
	return outcome{matched: u.matched, modified: u.modified, upserted: u.upserted}, err
}
