package command

import (
	"context"

	"mrbench/internal/embedded/auth"
	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/store"
)

// listDatabases lists the databases that hold a collection, with their sizes.
func listDatabases(_ context.Context, c *call) error {
	nameOnly, err := c.flag("nameOnly", false)
	if err != nil {
		return err
	}
	filter, err := c.document("filter")
	if err != nil {
		return err
	}
	match, err := query.ParseFilter(filter, &expr.Scope{})
	if err != nil {
		return err
	}
	snap := c.s.db.Snapshot()
	defer func() { _ = snap.Close() }()
	total := int64(0)
	n := 0
	at := c.startArray("databases")
	for _, name := range snap.Databases() {
		if !c.may(name, auth.All) {
			continue
		}
		full, size := databaseInfo(snap, name)
		ok, err := match.Match(full)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		total += size
		if nameOnly {
			full = build(func(w *builder) { w.str("name", name) })
		}
		c.elem(n, bsonx.DocValue(full))
		n++
	}
	c.end(at)
	if !nameOnly {
		c.count("totalSize", total)
		c.count("totalSizeMb", total>>20)
	}
	return nil
}

func databaseInfo(snap *store.Snap, name string) (bsonx.Doc, int64) {
	var size int64
	for _, coll := range snap.Collections(name) {
		size += snap.Stats(coll).StorageSize
	}
	return build(func(w *builder) {
		w.str("name", name)
		w.count("sizeOnDisk", size)
		w.bool("empty", false)
	}), size
}
