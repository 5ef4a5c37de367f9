package pipeline

import (
	"encoding/binary"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// pushColumn is $push and, with a set of what is there, $addToSet.
type pushColumn struct {
	r     reader
	elems [][]byte // [type][uvarint length][data]… by group
	held  int64
	set   *groupTable // of (group, value), for $addToSet
	key   []byte
	buf   []byte
}

func (c *pushColumn) resize(n int) { c.elems = grow(c.elems, n) }

func (c *pushColumn) bytes() int64 {
	n := 24*int64(cap(c.elems)) + c.held
	if c.set != nil {
		n += c.set.bytes()
	}
	return n
}

func (c *pushColumn) reset() {
	c.elems, c.held = wipe(c.elems), 0
	if c.set != nil {
		c.set.reset()
	}
}

func (c *pushColumn) clone() column {
	n := &pushColumn{r: c.r.clone()}
	if c.set != nil {
		n.set = &groupTable{}
	}
	return n
}

func (c *pushColumn) update(ids []uint32, docs []bsonx.Doc) error {
	for i, g := range ids {
		v, err := c.r.get(docs[i])
		if err != nil {
			return err
		}
		c.add(g, v)
	}
	return nil
}

func (c *pushColumn) add(g uint32, v bsonx.Value) {
	if v.IsMissing() {
		return
	}
	if c.set != nil {
		c.key = binary.BigEndian.AppendUint32(c.key[:0], g)
		c.key = bsonx.AppendKey(c.key, v, false)
		n := c.set.len()
		if c.set.findRaw(c.key, bsonx.Value{}) < uint32(n) {
			return
		}
	}
	before := cap(c.elems[g])
	c.elems[g] = putValue(c.elems[g], v)
	c.held += int64(cap(c.elems[g]) - before)
}

func (c *pushColumn) result(g uint32) (bsonx.Value, error) {
	b := bsonx.BeginDoc(c.buf[:0])
	i := 0
	for rest := c.elems[g]; len(rest) > 0; i++ {
		v, r, err := takeValue(rest)
		if err != nil {
			return null, err
		}
		rest = r
		b = bsonx.AppendElem(b, indexName(i), v)
	}
	b = bsonx.EndDoc(b, 0)
	c.buf = b
	if len(b) > maxDocument {
		return null, errTooLarge(len(b))
	}
	return bsonx.Value{Type: tArray, Data: b}, nil
}

func (c *pushColumn) partial(dst []byte, g uint32) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(c.elems[g])))
	return append(dst, c.elems[g]...)
}

func (c *pushColumn) merge(g uint32, src []byte) ([]byte, error) {
	n, rest, err := takeUvarint(src)
	if err != nil || uint64(len(rest)) < n {
		return nil, errPartial
	}
	for in := rest[:n]; len(in) > 0; {
		v, r, err := takeValue(in)
		if err != nil {
			return nil, err
		}
		in = r
		c.add(g, v)
	}
	return rest[n:], nil
}

// mergeObjectsColumn is $mergeObjects: a document per group.
type mergeObjectsColumn struct {
	r    reader
	docs []bsonx.Doc
	held int64
}

func (c *mergeObjectsColumn) resize(n int)  { c.docs = grow(c.docs, n) }
func (c *mergeObjectsColumn) bytes() int64  { return 24*int64(cap(c.docs)) + c.held }
func (c *mergeObjectsColumn) reset()        { c.docs, c.held = wipe(c.docs), 0 }
func (c *mergeObjectsColumn) clone() column { return &mergeObjectsColumn{r: c.r.clone()} }

func (c *mergeObjectsColumn) update(ids []uint32, docs []bsonx.Doc) error {
	for i, g := range ids {
		v, err := c.r.get(docs[i])
		if err == nil {
			err = c.add(g, v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *mergeObjectsColumn) add(g uint32, v bsonx.Value) error {
	if v.IsNullish() {
		return nil
	}
	if v.Type != tDoc {
		return errf(mongoerr.Code(40400), "$mergeObjects requires object inputs, but input %s is of type %s", v, typeName(v))
	}
	c.held -= int64(len(c.docs[g]))
	if len(c.docs[g]) <= len(bsonx.Empty) {
		c.docs[g] = append(bsonx.Doc(nil), v.Data...)
	} else {
		c.docs[g] = mergeDocs(c.docs[g], v.Doc())
	}
	c.held += int64(len(c.docs[g]))
	return nil
}

func (c *mergeObjectsColumn) result(g uint32) (bsonx.Value, error) {
	if c.docs[g] == nil {
		return bsonx.DocValue(bsonx.Empty), nil
	}
	return bsonx.DocValue(c.docs[g]), nil
}

func (c *mergeObjectsColumn) partial(dst []byte, g uint32) []byte {
	v, _ := c.result(g)
	return putValue(dst, v)
}

func (c *mergeObjectsColumn) merge(g uint32, src []byte) ([]byte, error) {
	v, rest, err := takeValue(src)
	if err != nil {
		return nil, err
	}
	return rest, c.add(g, v)
}

// mergeDocs is a with the fields of b over it.
func mergeDocs(a, b bsonx.Doc) []byte {
	dst := bsonx.BeginDoc(nil)
	it := a.Iter()
	for it.Next() {
		v := it.Value()
		if n := b.Get(string(it.Name())); !n.IsMissing() {
			v = n
		}
		dst = appendRaw(dst, it.Name(), v)
	}
	it = b.Iter()
	for it.Next() {
		if a.Get(string(it.Name())).IsMissing() {
			dst = appendRaw(dst, it.Name(), it.Value())
		}
	}
	return bsonx.EndDoc(dst, 0)
}
