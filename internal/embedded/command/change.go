package command

import (
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/store"
)

// Documents that one transaction of a multi update or delete changes. More make fewer commits, but keep
// other writers of the collection waiting longer.
const changeChunk = 1000

// change is a statement that changes documents: the read that finds them and what is done to each.
// Finding happens on a snapshot, without a lock; each document is read again and matched again
// under the collection's write lock before it is changed.
type change struct {
	c      *call
	ns     store.NS
	read   read
	filter *query.Filter

	// apply changes doc, the current version.
	apply func(tx *store.Tx, doc bsonx.Doc) error
	// insert, of an upsert, adds a document when there is none to change.
	insert func(tx *store.Tx) error
}

// newChange parses the filter of a statement.
func (c *call) newChange(ns store.NS, filter, sort, let bsonx.Doc, hint bsonx.Value) (*change, error) {
	h := &change{c: c, ns: ns, read: read{ns: ns, filter: filter, sort: sort, let: let, hint: hint, needs: []string{"_id"}}}
	if err := h.read.parse(); err != nil {
		return nil, err
	}
	h.filter = h.read.parsedFilter
	return h, nil
}

// one changes the first document that matches, or inserts.
func (h *change) one(ctx context.Context) error {
	defer h.read.watch(ctx)()
	h.read.limit = 1
	id, err := h.first(ctx, nil)
	if err != nil || id == nil && h.insert == nil {
		return err
	}
	return h.write(ctx, func(tx *store.Tx) error {
		doc, err := h.current(tx, id)
		if err == nil && doc == nil { // none, or it changed since: look again, now that nobody else writes
			if id, err = h.first(ctx, tx); err == nil {
				doc, err = h.current(tx, id)
			}
		}
		switch {
		case err != nil:
			return err
		case doc != nil:
			return h.apply(tx, doc)
		case h.insert != nil:
			return h.insert(tx)
		}
		return nil
	})
}

// first gives the encoded _id of the first match in a fresh snapshot, or in tx's; nil if there is none.
func (h *change) first(ctx context.Context, tx *store.Tx) ([]byte, error) {
	var snap *store.Snap
	if tx != nil {
		snap = tx.Snap()
	} else {
		snap = h.c.s.db.Snapshot()
		defer func() { _ = snap.Close() }()
	}
	src, err := h.open(ctx, snap)
	if err != nil || src == nil {
		return nil, err
	}
	defer func() { _ = src.Close() }()
	block, err := src.Next(ctx)
	if err != nil || len(block) == 0 {
		return nil, err
	}
	return bsonx.AppendKey(nil, block[0].Get("_id"), false), nil
}

func (h *change) open(ctx context.Context, snap *store.Snap) (query.Source, error) {
	if err := requireCollection(h.ns, snap.Collection(h.ns)); err != nil {
		return nil, err
	}
	return h.read.open(ctx, h.c.s, snap)
}

// many changes every document that matches. It reports whether there was one. An error leaves
// what was changed before it.
func (h *change) many(ctx context.Context) (found bool, err error) {
	defer h.read.watch(ctx)()
	snap := h.c.s.db.Snapshot()
	defer func() { _ = snap.Close() }()
	src, err := h.open(ctx, snap)
	if err != nil || src == nil {
		return false, err
	}
	defer func() { _ = src.Close() }()
	var ids keyList
	for {
		block, err := src.Next(ctx)
		if err != nil {
			return found, err
		}
		for _, d := range block {
			ids.add(d.Get("_id"))
		}
		if ids.len() >= changeChunk || len(block) == 0 && ids.len() > 0 {
			found = true
			if err := h.chunk(ctx, &ids); err != nil {
				return found, err
			}
		}
		if len(block) == 0 {
			return found, nil
		}
	}
}

// chunk changes the documents of ids in one transaction and empties ids.
func (h *change) chunk(ctx context.Context, ids *keyList) error {
	var failed error
	err := h.write(ctx, func(tx *store.Tx) error {
		for i := range ids.len() {
			if failed = ctx.Err(); failed != nil {
				return nil
			}
			doc, err := h.current(tx, ids.at(i))
			if err == nil && doc != nil {
				err = h.apply(tx, doc)
			}
			if err != nil {
				failed = err // keep the changes before it
				return nil
			}
		}
		return nil
	})
	ids.reset()
	if err == nil {
		err = failed
	}
	return err
}

// current is the latest version of a document if it still matches.
func (h *change) current(tx *store.Tx, id []byte) (bsonx.Doc, error) {
	if id == nil {
		return nil, nil
	}
	doc, err := tx.Get(id)
	if err != nil || doc == nil {
		return nil, err
	}
	if ok, err := h.filter.Match(doc); !ok || err != nil {
		return nil, err
	}
	return doc, nil
}

// write runs fn on the collection; one that was dropped meanwhile has nothing to change.
func (h *change) write(ctx context.Context, fn func(*store.Tx) error) error {
	err := h.c.s.db.Write(ctx, h.ns, h.c.writeOptions(h.insert != nil), fn)
	if h.insert == nil && mongoerr.CodeOf(err) == mongoerr.NamespaceNotFound {
		return nil
	}
	return err
}

// refuseView answers a write to a view.
func (c *call) refuseView(ns store.NS) error {
	snap := c.s.db.Snapshot()
	defer func() { _ = snap.Close() }()
	return requireCollection(ns, snap.Collection(ns))
}

// keyList holds encoded keys back to back.
type keyList struct {
	bytes []byte
	ends  []int
}

func (k *keyList) add(v bsonx.Value) {
	k.bytes = bsonx.AppendKey(k.bytes, v, false)
	k.ends = append(k.ends, len(k.bytes))
}

func (k *keyList) len() int { return len(k.ends) }

func (k *keyList) at(i int) []byte {
	from := 0
	if i > 0 {
		from = k.ends[i-1]
	}
	return k.bytes[from:k.ends[i]]
}

func (k *keyList) reset() { k.bytes, k.ends = k.bytes[:0], k.ends[:0] }

// commandLet is a write command's let (or a statement's own constants, c).
func commandLet(cmd string, v bsonx.Value) (bsonx.Doc, error) {
	if v.Type != bsonx.Missing && v.Type != bsonx.TypeEmbeddedDocument {
		return nil, wrongType(cmd, "let", v, "object")
	}
	return document(cmd, "let", v)
}
