package command

import (
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/store"
)

// listCollections describes the collections and views of a database.
func listCollections(ctx context.Context, c *call) error {
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
	var docs []bsonx.Doc
	for _, coll := range snap.Collections(c.db) {
		full := collectionInfo(coll)
		ok, err := match.Match(full)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if nameOnly {
			full = build(func(w *builder) {
				w.str("name", coll.NS.Coll)
				w.str("type", collectionType(coll))
			})
		}
		docs = append(docs, full)
	}
	return c.listCursor(ctx, c.db+".$cmd.listCollections", docs, c.arg("cursor"))
}

func collectionType(coll *store.Collection) string {
	if coll.IsView() {
		return "view"
	}
	return "collection"
}

func collectionInfo(coll *store.Collection) bsonx.Doc {
	return build(func(w *builder) {
		w.str("name", coll.NS.Coll)
		w.str("type", collectionType(coll))
		options := coll.Options
		if len(options) == 0 {
			options = bsonx.Empty
		}
		w.doc("options", options)
		at := w.startDoc("info")
		w.bool("readOnly", coll.IsView())
		if !coll.IsView() {
			w.uuid("uuid", coll.UUID)
		}
		w.end(at)
		if !coll.IsView() && len(coll.Indexes) > 0 {
			w.doc("idIndex", shownSpec(coll.Indexes[0].Spec))
		}
	})
}
