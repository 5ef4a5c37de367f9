package command

import (
	"bytes"
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

// dropIndexes removes indexes by name, by key, several by name, or all but that on _id.
func dropIndexes(ctx context.Context, c *call) error {
	ns, err := c.writeNS()
	if err != nil {
		return err
	}
	snap := c.s.db.Snapshot()
	defer func() { _ = snap.Close() }()
	coll := snap.Collection(ns)
	if coll == nil {
		return mongoerr.New(mongoerr.NamespaceNotFound, "ns not found %s", ns)
	}
	if err := requireCollection(ns, coll); err != nil {
		return err
	}
	index := c.arg("index")
	names, err := indexesToDrop(coll, index)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := c.s.db.DropIndex(ctx, ns, name); err != nil {
			return err
		}
	}
	c.int32("nIndexesWas", int32(len(coll.Indexes)))
	if index.Type == bsonx.TypeString && index.Str() == "*" {
		c.str("msg", "non-_id indexes dropped for collection")
	}
	return nil
}

func indexesToDrop(coll *store.Collection, v bsonx.Value) (names []string, err error) {
	switch v.Type {
	case bsonx.TypeString:
		if v.Str() != "*" {
			return droppable(coll, v.Str())
		}
		for _, ix := range coll.Indexes {
			if !ix.IsID() {
				names = append(names, ix.Name)
			}
		}
		return names, nil
	case bsonx.TypeArray:
		for it := v.Elems(); it.Next(); {
			if it.Value().Type != bsonx.TypeString {
				return nil, wrongType("dropIndexes", "index", it.Value(), "string")
			}
			one, err := droppable(coll, it.Value().Str())
			if err != nil {
				return nil, err
			}
			names = append(names, one...)
		}
		return names, nil
	case docType:
		for _, ix := range coll.Indexes {
			if key := ix.Spec.Get("key"); key.Type == docType && (bytes.Equal(key.Data, v.Data) || bsonx.Equal(key, v)) {
				return droppable(coll, ix.Name)
			}
		}
		return nil, mongoerr.New(mongoerr.IndexNotFound, "can't find index with key: %s", v)
	}
	return nil, mongoerr.New(mongoerr.IndexNotFound, "invalid index name spec: index is a name, a key pattern, an array of names or \"*\", not %s", v)
}

func droppable(coll *store.Collection, name string) ([]string, error) {
	ix := coll.IndexByName(name)
	switch {
	case ix == nil:
		return nil, mongoerr.New(mongoerr.IndexNotFound, "index not found with name [%s]", name)
	case ix.IsID():
		return nil, mongoerr.New(mongoerr.InvalidOptions, "cannot drop _id index")
	}
	return []string{name}, nil
}
