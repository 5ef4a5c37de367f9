package command

import (
	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// parseWriteConcern checks {w, j, fsync, wtimeout} for a server that stands alone.
func (c *call) parseWriteConcern(v bsonx.Value) error {
	if v.Type != bsonx.TypeEmbeddedDocument {
		return wrongType(c.cmd.name, "writeConcern", v, "object")
	}
	d := v.Doc()
	j, err := flag(c.cmd.name, "writeConcern.j", d.Get("j"), false)
	if err != nil {
		return err
	}
	fsync, err := flag(c.cmd.name, "writeConcern.fsync", d.Get("fsync"), false)
	if err != nil {
		return err
	}
	if j && fsync {
		return mongoerr.New(mongoerr.FailedToParse, "fsync and j options cannot be used together")
	}
	c.g.journal = j || fsync
	return c.parseW(d.Get("w"))
}

func (c *call) parseW(w bsonx.Value) error {
	if w.IsMissing() {
		return nil
	}
	if w.Type == bsonx.TypeString {
		if s := w.Str(); s != "majority" && s != "" {
			return mongoerr.New(mongoerr.UnknownReplWriteConcern, "No write concern mode named '%s' found in replica set configuration", s)
		}
		return nil
	}
	n, ok := w.TruncInt64()
	switch {
	case !ok:
		return mongoerr.New(mongoerr.FailedToParse, "w has to be a number or string")
	case n < 0 || n > 50:
		return mongoerr.New(mongoerr.FailedToParse, "w has to be a non-negative number and not greater than 50; found: %d", n)
	case n > 1:
		return mongoerr.New(mongoerr.BadValue, "cannot use 'w' > 1 when a host is not replicated")
	}
	c.g.awaited = n > 0
	return nil
}
