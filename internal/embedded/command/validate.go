package command

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
	"mrbench/internal/embedded/wire"
)

// validate checks that a collection and its indexes agree. full also reads every value of every document.
func validate(ctx context.Context, c *call) error {
	ns, err := c.readNS()
	if err != nil {
		return err
	}
	full, err := c.flag("full", false)
	if err != nil {
		return err
	}
	snap := c.s.db.Snapshot()
	defer func() { _ = snap.Close() }()
	coll := snap.Collection(ns)
	if coll == nil {
		return mongoerr.New(mongoerr.NamespaceNotFound, "Collection '%s' does not exist to validate.", ns)
	}
	if err := requireCollection(ns, coll); err != nil {
		return err
	}
	rep, err := c.s.db.Validate(ctx, ns)
	if err != nil {
		return err
	}
	var warnings []string
	if full {
		if err := validateValues(ctx, snap, coll, rep); err != nil {
			return err
		}
	} else {
		warnings = append(warnings, "Some checks omitted for speed. use {full:true} option to do more thorough scan.")
	}
	c.validateReply(ns, rep, warnings)
	return nil
}

func (c *call) validateReply(ns store.NS, rep *store.ValidateReport, warnings []string) {
	c.str("ns", ns.String())
	c.int64("nInvalidDocuments", rep.InvalidDocs)
	c.count("nrecords", rep.Documents)
	c.int32("nIndexes", int32(len(rep.KeysPerIndex)))
	at := c.startDoc("keysPerIndex")
	for _, name := range slices.Sorted(maps.Keys(rep.KeysPerIndex)) {
		c.count(name, rep.KeysPerIndex[name])
	}
	c.end(at)
	c.bool("valid", len(rep.Errors) == 0 && rep.InvalidDocs == 0)
	c.strings("warnings", warnings)
	c.strings("errors", rep.Errors)
}

// validateValues looks into the documents themselves: structure at every level, and text that is UTF-8.
func validateValues(ctx context.Context, snap *store.Snap, coll *store.Collection, rep *store.ValidateReport) (err error) {
	it := snap.Records(coll, nil, false)
	defer func() {
		if e := it.Close(); err == nil {
			err = e
		}
	}()
	for n := 0; it.Next(); n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		doc := it.Doc()
		fault := bsonx.Validate(doc, wire.MaxDepth)
		if fault == nil {
			fault = validText(doc)
		}
		if fault != nil {
			rep.InvalidDocs++
			rep.Errors = append(rep.Errors, fmt.Sprintf("document with _id %s: %v", doc.Get("_id"), fault))
		}
	}
	return it.Err()
}

func validText(d bsonx.Doc) error {
	for it := d.Iter(); it.Next(); {
		v := it.Value()
		switch v.Type {
		case bsonx.TypeString:
			if !utf8.Valid(v.StrBytes()) {
				return fmt.Errorf("field %q is not valid UTF-8", it.Name())
			}
		case bsonx.TypeEmbeddedDocument, bsonx.TypeArray:
			if err := validText(v.Doc()); err != nil {
				return err
			}
		}
	}
	return nil
}
