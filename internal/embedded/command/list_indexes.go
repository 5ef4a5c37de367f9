package command

import (
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// listIndexes describes the indexes of a collection.
func listIndexes(_ context.Context, c *call) error {
	ns, err := c.readNS()
	if err != nil {
		return err
	}
	snap := c.s.db.Snapshot()
	defer func() { _ = snap.Close() }()
	coll := snap.Collection(ns)
	if coll == nil {
		return mongoerr.New(mongoerr.NamespaceNotFound, "ns does not exist: %s", ns)
	}
	if err := requireCollection(ns, coll); err != nil {
		return err
	}
	var specs []bsonx.Doc
	for _, ix := range coll.Indexes {
		specs = append(specs, shownSpec(ix.Spec))
	}
	c.listReply(ns.String(), specs)
	return nil
}

// shownSpec is an index's specification without ns, which newer servers do not give and a rename would belie.
func shownSpec(spec bsonx.Doc) bsonx.Doc {
	if spec.Get("ns").IsMissing() {
		return spec
	}
	return build(func(w *builder) {
		for it := spec.Iter(); it.Next(); {
			if string(it.Name()) != "ns" {
				w.value(string(it.Name()), it.Value())
			}
		}
	})
}
