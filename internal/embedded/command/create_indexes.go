package command

import (
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

// createIndexes builds indexes, one after the other.
func createIndexes(ctx context.Context, c *call) error {
	ns, err := c.writeNS()
	if err != nil {
		return err
	}
	specs, err := c.indexSpecs()
	if err != nil {
		return err
	}
	existed, before, err := c.indexCount(ns)
	if err != nil {
		return err
	}
	made := 0
	for i, spec := range specs {
		c.op.progress("Index Build: "+spec.Get("name").Str(), int64(i), int64(len(specs)))
		had, err := c.s.db.CreateIndex(ctx, ns, spec)
		if err != nil {
			return err
		}
		if !had {
			made++
		}
	}
	_, after, err := c.indexCount(ns)
	if err != nil {
		return err
	}
	if made > 0 || !existed {
		c.bool("createdCollectionAutomatically", !existed)
	}
	c.int32("numIndexesBefore", int32(before))
	c.int32("numIndexesAfter", int32(after))
	if made == 0 {
		c.str("note", "all indexes already exist")
	}
	return nil
}

// indexCount is the number of indexes; a collection that is to be made comes with the one on _id.
func (c *call) indexCount(ns store.NS) (exists bool, n int, err error) {
	snap := c.s.db.Snapshot()
	defer func() { _ = snap.Close() }()
	coll := snap.Collection(ns)
	if coll == nil {
		return false, 1, nil
	}
	return true, len(coll.Indexes), requireCollection(ns, coll)
}

func (c *call) indexSpecs() ([]bsonx.Doc, error) {
	list := c.arg("indexes")
	if list.IsMissing() {
		return nil, missingField("createIndexes", "indexes")
	}
	docs, err := documentsOf("createIndexes", "indexes", list)
	if err != nil {
		return nil, err
	}
	if len(docs) == 0 {
		return nil, mongoerr.New(mongoerr.BadValue, "Must specify at least one index to create")
	}
	for i, d := range docs {
		if docs[i], err = indexSpec(d); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

// indexSpec checks one specification and gives it as it is kept: v, key, name, then its options.
func indexSpec(d bsonx.Doc) (bsonx.Doc, error) {
	key, name := d.Get("key"), d.Get("name")
	switch {
	case key.IsMissing():
		return nil, mongoerr.New(mongoerr.FailedToParse, "The 'key' field is a required property of an index specification")
	case key.Type != docType:
		return nil, wrongType("createIndexes.indexes", "key", key, "object")
	case name.IsMissing():
		return nil, mongoerr.New(mongoerr.FailedToParse, "The 'name' field is a required property of an index specification")
	case name.Type != bsonx.TypeString:
		return nil, wrongType("createIndexes.indexes", "name", name, "string")
	}
	if err := checkIndexKey(key.Doc(), name.Str()); err != nil {
		return nil, err
	}
	var w builder
	at := w.startTop()
	w.int32("v", 2)
	w.doc("key", key.Doc())
	w.value("name", name)
	for it := d.Iter(); it.Next(); {
		if err := indexOption(&w, string(it.Name()), it.Value()); err != nil {
			return nil, err
		}
	}
	w.end(at)
	return bsonx.Doc(w.b), nil
}

func checkIndexKey(key bsonx.Doc, name string) error {
	n := 0
	for it := key.Iter(); it.Next(); n++ {
		v := it.Value()
		if v.Type == bsonx.TypeString {
			return mongoerr.New(mongoerr.CannotCreateIndex, "index type %q of field %s is not supported: only 1 and -1 are", v.Str(), it.Name())
		}
		f, ok := v.AsFloat()
		if !ok || f == 0 || f != f {
			return mongoerr.New(mongoerr.CannotCreateIndex, "Values in v:2 index key pattern must be numbers, not zero: %s", bsonx.DocValue(key))
		}
		if len(it.Name()) == 0 {
			return mongoerr.New(mongoerr.CannotCreateIndex, "Index keys cannot be an empty field.")
		}
	}
	switch {
	case n == 0:
		return mongoerr.New(mongoerr.CannotCreateIndex, "Index keys cannot be empty.")
	case name == "" || name == "*":
		return mongoerr.New(mongoerr.CannotCreateIndex, "The index name '%s' is not valid", name)
	}
	return nil
}

// indexOption keeps one option, or says why it can't.
func indexOption(w *builder, name string, v bsonx.Value) error {
	switch name {
	case "key", "name", "v", "ns", "background", "storageEngine":
	case "unique", "sparse", "hidden":
		on, err := flag("createIndexes.indexes", name, v, false)
		if err != nil {
			return err
		}
		if on && name == "hidden" {
			return mongoerr.New(mongoerr.CannotCreateIndex, "hidden indexes are not supported")
		}
		if on {
			w.bool(name, true)
		}
	case "partialFilterExpression":
		if v.Type != docType {
			return wrongType("createIndexes.indexes", name, v, "object")
		}
		w.value(name, v)
	case "expireAfterSeconds":
		return mongoerr.New(mongoerr.CannotCreateIndex, "expireAfterSeconds is not supported: documents do not expire here")
	case "collation":
		return checkCollation("createIndexes.indexes", v)
	case "weights", "default_language", "language_override", "textIndexVersion", "2dsphereIndexVersion", "bits", "min", "max",
		"bucketSize", "wildcardProjection":
		return mongoerr.New(mongoerr.CannotCreateIndex, "index option %s is not supported", name)
	default:
		return mongoerr.New(mongoerr.InvalidIndexSpecification, "The field '%s' is not valid for an index specification", name)
	}
	return nil
}
