package command

import (
	"context"
	"slices"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/pipeline"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/store"
)

// updater applies one parsed update to documents, for update and findAndModify.
type updater struct {
	*change
	update *query.Update

	matched, modified int64
	upserted          bsonx.Value // _id of an inserted document
	before, after     bsonx.Doc   // of the last document changed; nil: none
}

// newUpdater parses an update; filter is the statement's.
func (h *change) newUpdater(ctx context.Context, u bsonx.Value, arrayFilters []bsonx.Doc, upsert bool) (*updater, error) {
	if u.Type != bsonx.TypeEmbeddedDocument && u.Type != bsonx.TypeArray {
		return nil, mongoerr.New(mongoerr.FailedToParse, "Update argument must be either an object or an array, got %s", bsonx.TypeName(u.Type))
	}
	parsed, err := query.ParseUpdate(u, arrayFilters, h.read.scope)
	if err != nil {
		return nil, err
	}
	if u.Type == bsonx.TypeArray {
		if err := h.usePipeline(ctx, parsed, u.Doc()); err != nil {
			return nil, err
		}
	}
	up := &updater{change: h, update: parsed}
	h.apply = up.replace
	if upsert {
		h.insert = up.upsert
	}
	return up, nil
}

// usePipeline lets the update run its stages, which the query package can't.
func (h *change) usePipeline(ctx context.Context, u *query.Update, stages bsonx.Doc) error {
	allowed := []string{"$set", "$addFields", "$unset", "$project", "$replaceRoot", "$replaceWith"}
	for it := stages.Iter(); it.Next(); {
		if it.Value().Type != docType {
			return mongoerr.New(mongoerr.TypeMismatch, "Each element of the 'pipeline' array must be an object")
		}
		for st := it.Value().Elems(); st.Next(); {
			if name := string(st.Name()); !slices.Contains(allowed, name) {
				return mongoerr.New(mongoerr.InvalidOptions, "%s is not allowed to be used within an update", name)
			}
		}
	}
	p, err := pipeline.Parse(stages, pipeline.Options{DB: h.c.s.db, NS: h.ns, Let: h.read.let, AllowDiskUse: true})
	if err != nil {
		return err
	}
	u.SetPipeline(func(_, doc bsonx.Doc) (bsonx.Doc, error) { return p.RunOn(ctx, doc) })
	return nil
}

func (u *updater) replace(tx *store.Tx, old bsonx.Doc) error {
	doc, modified, err := u.update.Apply(old, u.filter, false)
	if err != nil {
		return err
	}
	if modified {
		if len(doc) > MaxDocumentBytes {
			return mongoerr.New(errUpdatedTooLarge, "Resulting document after update is larger than %d: %d bytes", MaxDocumentBytes, len(doc))
		}
		if err := tx.Replace(old, doc); err != nil {
			return err
		}
		u.modified++
	}
	u.matched++
	u.before, u.after = old, doc
	return nil
}

func (u *updater) upsert(tx *store.Tx) error {
	seed, err := query.UpsertSeed(u.filter)
	if err != nil {
		return err
	}
	doc, _, err := u.update.Apply(seed, u.filter, true)
	if err != nil {
		return err
	}
	id := doc.Get("_id")
	if !id.IsMissing() {
		if err := checkID(id); err != nil {
			return err
		}
	}
	if first := firstField(doc); first != "_id" {
		if doc, err = rebuild(doc, id); err != nil {
			return err
		}
	}
	if len(doc) > MaxDocumentBytes {
		return mongoerr.New(errUpsertTooLarge, "Document to upsert is larger than %d: %d bytes", MaxDocumentBytes, len(doc))
	}
	if err := tx.Insert(doc); err != nil {
		return err
	}
	u.upserted = doc.Get("_id").Clone()
	u.after = doc
	return nil
}

// run does one statement of update. An upsert of a multi update inserts when it found nothing.
func (u *updater) run(ctx context.Context, multi bool) error {
	if !multi {
		return u.one(ctx)
	}
	found, err := u.many(ctx)
	if err != nil || found || u.insert == nil {
		return err
	}
	return u.one(ctx)
}

func firstField(d bsonx.Doc) string {
	it := d.Iter()
	if !it.Next() {
		return ""
	}
	return string(it.Name())
}
