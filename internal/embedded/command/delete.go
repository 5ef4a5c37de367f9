package command

import (
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

// remove is the delete command.
func remove(ctx context.Context, c *call) error {
	ns, err := c.writeNS()
	if err != nil {
		return err
	}
	ordered, err := c.flag("ordered", true)
	if err != nil {
		return err
	}
	statements, err := c.statements("deletes")
	if err != nil {
		return err
	}
	deletes, err := readAll(statements, parseDeleteArgs)
	if err != nil {
		return err
	}
	c.s.counters.ops[opDelete].Add(int64(len(statements)))
	var n int64
	var errs []writeError
	for i, a := range deletes {
		o, done := c.before(i)
		var err error
		if !done {
			o.matched, err = c.deleteStatement(ctx, ns, a)
		}
		if !done {
			c.s.counters.docsDel.Add(o.matched)
		}
		if err == nil {
			n += o.matched
			if !done {
				c.remember(i, o)
			}
			continue
		}
		// A statement that fails partway counts for nothing, in MongoDB too, though what it did stays done.
		if ctx.Err() != nil || wholeCommand(err) {
			return err
		}
		errs = append(errs, writeError{i, err})
		if ordered {
			break
		}
	}
	c.count("n", n)
	c.writeErrors(errs)
	c.retriedIDs()
	return nil
}

// deleteArgs are the fields of one delete statement.
type deleteArgs struct {
	q     bsonx.Doc
	limit int64
	hint  bsonx.Value
}

func parseDeleteArgs(d bsonx.Doc) (a deleteArgs, err error) {
	const cmd = "delete.deletes"
	seenQ, seenLimit := false, false
	for it := d.Iter(); it.Next() && err == nil; {
		v := it.Value()
		switch name := string(it.Name()); name {
		case "q":
			seenQ = true
			if v.Type != docType {
				return a, wrongType(cmd, "q", v, "object")
			}
			a.q = v.Doc()
		case "limit":
			seenLimit = true
			a.limit, err = whole(cmd, "limit", v, 0)
			if f, _ := v.AsFloat(); err == nil && f != 0 && f != 1 {
				err = mongoerr.New(mongoerr.FailedToParse, "The limit field in delete objects must be 0 or 1. Got %s", v)
			}
		case "hint":
			a.hint, err = hint(cmd, v)
		case "collation":
			err = checkCollation(cmd, v)
		default:
			err = mongoerr.New(errUnknownField, "BSON field '%s.%s' is an unknown field.", cmd, name)
		}
	}
	switch {
	case err != nil:
		return a, err
	case !seenQ:
		return a, missingField(cmd, "q")
	case !seenLimit:
		return a, missingField(cmd, "limit")
	}
	return a, nil
}

func (c *call) deleteStatement(ctx context.Context, ns store.NS, a deleteArgs) (n int64, err error) {
	if err := c.refuseMulti(a.limit == 0, "limit=0"); err != nil {
		return 0, err
	}
	let, err := commandLet("delete", c.arg("let"))
	if err != nil {
		return 0, err
	}
	h, err := c.newChange(ns, a.q, nil, let, a.hint)
	if err != nil {
		return 0, err
	}
	h.apply = func(tx *store.Tx, doc bsonx.Doc) error {
		if err := tx.Delete(doc); err != nil {
			return err
		}
		n++
		return nil
	}
	if a.limit == 1 {
		err = h.one(ctx)
		return n, err
	}
	_, err = h.many(ctx)
	return n, err
}
