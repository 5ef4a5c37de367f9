package store

import (
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"

	"mrbench/internal/embedded/bsonx"
)

// NS names a collection.
type NS struct{ DB, Coll string }

// String is "db.coll".
func (n NS) String() string { return n.DB + "." + n.Coll }

// Collection is the description of a collection in one version of the catalog.
// It never changes; a changed catalog holds new ones.
type Collection struct {
	NS      NS
	UUID    [16]byte
	Options bsonx.Doc // as given to create (capped, validator, viewOn, pipeline, …), may be empty
	Indexes []*Index  // Indexes[0] is _id_

	id     uint64
	prefix []byte // of the record keys
	end    []byte // the first key after them
	state  *collState
}

// IsView reports whether the options hold viewOn.
func (c *Collection) IsView() bool {
	return len(c.Options) > 5 && !c.Options.Get("viewOn").IsMissing()
}

// IndexByName returns the index of that name, nil if there is none.
func (c *Collection) IndexByName(name string) *Index {
	for _, ix := range c.Indexes {
		if ix.Name == name {
			return ix
		}
	}
	return nil
}

// recordKey appends the key of the record with that encoded _id.
func (c *Collection) recordKey(dst, idKey []byte) []byte {
	return append(append(dst, c.prefix...), idKey...)
}

func newCollection(id uint64, ns NS, uuid [16]byte, options bsonx.Doc, st *collState) *Collection {
	c := &Collection{NS: ns, UUID: uuid, Options: options, id: id, state: st}
	c.prefix = recordPrefix(id)
	c.end = successor(c.prefix)
	c.Indexes = []*Index{idIndex(ns)}
	return c
}

// with returns a copy that the caller may change before it is published.
func (c *Collection) with(indexes []*Index) *Collection {
	n := *c
	n.Indexes = indexes
	return &n
}

// Index is one index. The key of an entry is the encodings (bsonx.AppendKey) of
// its fields, in order.
type Index struct {
	Name    string
	Fields  []IndexField
	Spec    bsonx.Doc // as listIndexes shows it
	Unique  bool
	Sparse  bool
	Partial bsonx.Doc // nil if none
	Hashed  bool      // never: hashed indexes are refused
	// MultikeyFields[i]: some document had an array in field i or on its path.
	// Persistent; set with the first such write and never taken back.
	MultikeyFields []bool

	id     uint64 // 0 for _id_, which has no entries of its own
	prefix []byte
	end    []byte
	paths  [][]string
	pred   func(bsonx.Doc) bool // of Partial; nil if none
}

// IndexField is one field of an index; Path may be dotted.
type IndexField struct {
	Path string
	Desc bool
}

// IsID reports whether this is the index on _id that every collection has.
func (ix *Index) IsID() bool { return ix.id == 0 }

// IsMultikey reports whether any field is multikey.
func (ix *Index) IsMultikey() bool {
	for _, m := range ix.MultikeyFields {
		if m {
			return true
		}
	}
	return false
}

func (ix *Index) setID(id uint64) {
	ix.id = id
	ix.prefix = entryPrefix(id)
	ix.end = successor(ix.prefix)
}

// withMultikey returns a copy with the fields of the mask marked too.
func (ix *Index) withMultikey(mask uint64) *Index {
	n := *ix
	n.MultikeyFields = append([]bool(nil), ix.MultikeyFields...)
	for i := range n.MultikeyFields {
		if mask&(1<<i) != 0 {
			n.MultikeyFields[i] = true
		}
	}
	return &n
}

// multikeyMask is MultikeyFields as bits.
func (ix *Index) multikeyMask() uint64 {
	var m uint64
	for i, b := range ix.MultikeyFields {
		if b {
			m |= 1 << i
		}
	}
	return m
}

func idIndex(ns NS) *Index {
	i, spec := bsoncore.AppendDocumentStart(nil)
	spec = bsoncore.AppendInt32Element(spec, "v", 2)
	spec = bsoncore.AppendDocumentElement(spec, "key", bsoncore.NewDocumentBuilder().AppendInt32("_id", 1).Build())
	spec = bsoncore.AppendStringElement(spec, "name", "_id_")
	spec = bsoncore.AppendStringElement(spec, "ns", ns.String())
	spec, _ = bsoncore.AppendDocumentEnd(spec, i)
	return &Index{
		Name:           "_id_",
		Fields:         []IndexField{{Path: "_id"}},
		Spec:           spec,
		MultikeyFields: []bool{false},
		paths:          [][]string{{"_id"}},
	}
}

// idOf returns the _id of a document; it is the first field unless the document came in some other way.
func idOf(d bsonx.Doc) bsonx.Value {
	it := d.Iter()
	if it.Next() && string(it.Name()) == "_id" {
		return it.Value()
	}
	return d.Get("_id")
}

func isArray(v bsonx.Value) bool { return v.Type == bsonx.TypeArray }
