package command

import (
	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

// maxViewDepth is how many views may stand on each other, as in MongoDB.
const maxViewDepth = 20

// resolveView follows viewOn to a collection and gives the stages that make the view of it.
func resolveView(snap *store.Snap, view *store.Collection) (base store.NS, stages []bsonx.Doc, err error) {
	var levels [][]bsonx.Doc
	base = view.NS
	for coll := view; coll != nil && coll.IsView(); coll = snap.Collection(base) {
		if len(levels) == maxViewDepth {
			return base, nil, mongoerr.New(mongoerr.ViewDepthLimitExceeded, "View depth limit exceeded; maximum depth is %d", maxViewDepth)
		}
		own, err := documentsOf("view", "pipeline", coll.Options.Get("pipeline"))
		if err != nil {
			return base, nil, err
		}
		levels = append(levels, own)
		base = store.NS{DB: base.DB, Coll: coll.Options.Get("viewOn").Str()}
	}
	for i := len(levels) - 1; i >= 0; i-- {
		stages = append(stages, levels[i]...)
	}
	return base, stages, nil
}

// checkView refuses a definition that could not be read: wrong types, or a circle of views.
func checkView(snap *store.Snap, ns store.NS, options bsonx.Doc) error {
	on := options.Get("viewOn")
	if on.Type != bsonx.TypeString {
		return wrongType("create", "viewOn", on, "string")
	}
	if _, err := documentsOf("create", "pipeline", options.Get("pipeline")); err != nil {
		return err
	}
	base := store.NS{DB: ns.DB, Coll: on.Str()}
	if err := checkReadable(base); err != nil {
		return err
	}
	for range maxViewDepth + 1 {
		if base == ns {
			return mongoerr.New(mongoerr.GraphContainsCycle, "View cycle detected at %s", ns)
		}
		coll := snap.Collection(base)
		if coll == nil || !coll.IsView() {
			return nil
		}
		base.Coll = coll.Options.Get("viewOn").Str()
	}
	return mongoerr.New(mongoerr.ViewDepthLimitExceeded, "View depth limit exceeded; maximum depth is %d", maxViewDepth)
}
