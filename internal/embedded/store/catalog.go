package store

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"

	"mrbench/internal/embedded/bsonx"
)

// catalog is one version of what exists. It never changes: with and without
// return new versions that share what did not change.
type catalog struct {
	dbs map[string]map[string]*Collection
}

func (c *catalog) lookup(ns NS) *Collection { return c.dbs[ns.DB][ns.Coll] }

// change returns a version without the namespaces of drop and with the collections of add.
func (c *catalog) change(drop []NS, add ...*Collection) *catalog {
	n := &catalog{dbs: maps.Clone(c.dbs)}
	copied := map[string]bool{}
	colls := func(db string) map[string]*Collection {
		if !copied[db] {
			copied[db] = true
			n.dbs[db] = maps.Clone(n.dbs[db])
			if n.dbs[db] == nil {
				n.dbs[db] = map[string]*Collection{}
			}
		}
		return n.dbs[db]
	}
	for _, ns := range drop {
		delete(colls(ns.DB), ns.Coll)
	}
	for _, a := range add {
		colls(a.NS.DB)[a.NS.Coll] = a
	}
	for db := range copied {
		if len(n.dbs[db]) == 0 {
			delete(n.dbs, db)
		}
	}
	return n
}

// catalogValue is a collection's record in the catalog keyspace:
// {id, uuid, options, indexes: [{id, mk, spec}]}; _id_ is implied.
func catalogValue(c *Collection) []byte {
	i, b := bsoncore.AppendDocumentStart(nil)
	b = bsoncore.AppendInt64Element(b, "id", int64(c.id))
	b = bsoncore.AppendBinaryElement(b, "uuid", 4, c.UUID[:])
	b = bsoncore.AppendDocumentElement(b, "options", bsoncore.Document(orEmpty(c.Options)))
	var a int32
	a, b = bsoncore.AppendArrayElementStart(b, "indexes")
	for n, ix := range c.Indexes[1:] {
		var e int32
		e, b = bsoncore.AppendDocumentElementStart(b, fmt.Sprint(n))
		b = bsoncore.AppendInt64Element(b, "id", int64(ix.id))
		b = bsoncore.AppendInt64Element(b, "mk", int64(ix.multikeyMask()))
		b = bsoncore.AppendDocumentElement(b, "spec", bsoncore.Document(ix.Spec))
		b, _ = bsoncore.AppendDocumentEnd(b, e)
	}
	b, _ = bsoncore.AppendArrayEnd(b, a)
	b, _ = bsoncore.AppendDocumentEnd(b, i)
	return b
}

func orEmpty(d bsonx.Doc) bsonx.Doc {
	if len(d) < 5 {
		return bsonx.Empty
	}
	return d
}

// readCatalogValue decodes a collection's record.
func (db *DB) readCatalogValue(ns NS, raw []byte) (*Collection, error) {
	if err := bsonx.Validate(raw, 1000); err != nil {
		return nil, fmt.Errorf("catalog record of %s: %w", ns, err)
	}
	d := bsonx.Doc(slices.Clone(raw))
	id := uint64(d.Get("id").Int64())
	var uuid [16]byte
	_, u := d.Get("uuid").Binary()
	copy(uuid[:], u)
	c := newCollection(id, ns, uuid, d.Get("options").Doc(), newCollState(id))
	for it := d.Get("indexes").Elems(); it.Next(); {
		e := it.Value().Doc()
		ix, err := db.parseIndex(ns, e.Get("spec").Doc())
		if err != nil {
			return nil, fmt.Errorf("catalog record of %s: %w", ns, err)
		}
		ix.setID(uint64(e.Get("id").Int64()))
		ix = ix.withMultikey(uint64(e.Get("mk").Int64()))
		c.Indexes = append(c.Indexes, ix)
	}
	return c, nil
}

// loadCatalog reads the catalog keyspace and the counters.
func (db *DB) loadCatalog() (*catalog, error) {
	cat := &catalog{dbs: map[string]map[string]*Collection{}}
	byID := map[uint64]*Collection{}
	err := db.eachKey([]byte{spaceCatalog}, func(k, v []byte) error {
		name := string(k[1:])
		for i := range len(name) {
			if name[i] != 0 {
				continue
			}
			ns := NS{DB: name[:i], Coll: name[i+1:]}
			c, err := db.readCatalogValue(ns, v)
			if err != nil {
				return err
			}
			if cat.dbs[ns.DB] == nil {
				cat.dbs[ns.DB] = map[string]*Collection{}
			}
			cat.dbs[ns.DB][ns.Coll] = c
			byID[c.id] = c
			return nil
		}
		return fmt.Errorf("catalog key %q: %w", k, errCorrupt)
	})
	if err != nil {
		return nil, err
	}
	err = db.eachKey([]byte{spaceCounter}, func(k, v []byte) error {
		id, _ := readID(k[1:])
		if c := byID[id]; c != nil {
			return c.state.load(k[len(counterKey(id)):], v)
		}
		return nil
	})
	return cat, err
}

// eachKey walks all keys with a prefix in the latest state.
func (db *DB) eachKey(prefix []byte, fn func(k, v []byte) error) error {
	return eachOf(db.p, prefix, fn)
}

func eachOf(r pebble.Reader, prefix []byte, fn func(k, v []byte) error) error {
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: successor(prefix)})
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err == nil {
			err = fn(it.Key(), v)
		}
		if err != nil {
			it.Close()
			return err
		}
	}
	if err := it.Error(); err != nil {
		it.Close()
		return err
	}
	return it.Close()
}

// isDocument reports whether v is an embedded document.
func isDocument(v bsonx.Value) bool { return v.Type == bsonx.TypeEmbeddedDocument }
