package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// WriteOptions of one write command.
type WriteOptions struct {
	Sync   bool // j: true: on stable storage before return; otherwise in the operating system, and on storage within 100 ms
	Create bool // create the collection when it is missing
}

// collection returns the latest description, creating the collection if wanted.
func (db *DB) collection(ctx context.Context, ns NS, create bool) (*Collection, error) {
	for {
		if c := db.cat.Load().lookup(ns); c != nil {
			if c.IsView() {
				return nil, mongoerr.New(mongoerr.CommandNotSupportedOnView, "Namespace %s is a view, not a collection", ns)
			}
			return c, nil
		}
		if !create {
			return nil, mongoerr.New(mongoerr.NamespaceNotFound, "ns does not exist: %s", ns)
		}
		if err := db.create(ctx, ns, nil); err != nil && mongoerr.CodeOf(err) != mongoerr.NamespaceExists {
			return nil, err
		}
	}
}

// lockCollection returns the latest description with its lock held.
func (db *DB) lockCollection(ctx context.Context, ns NS, create bool) (*Collection, error) {
	for {
		c, err := db.collection(ctx, ns, create)
		if err != nil {
			return nil, err
		}
		if err := c.state.lock.acquire(ctx); err != nil {
			return nil, err
		}
		if now := db.cat.Load().lookup(ns); now != nil && now.id == c.id {
			return now, nil
		}
		c.state.lock.release()
	}
}

// Write runs fn with the collection's latest state. All that it did becomes visible and durable at once when
// it returns nil; nothing does when it returns an error. Writers of one collection
// take turns; readers are never blocked. NamespaceNotFound when the collection is missing and not to be
// created, CommandNotSupportedOnView for a view.
// fn must not call other methods of DB that write to the same collection.
func (db *DB) Write(ctx context.Context, ns NS, o WriteOptions, fn func(*Tx) error) error {
	done, err := db.enterWrite()
	if err != nil {
		return err
	}
	defer done()
	c, err := db.lockCollection(ctx, ns, o.Create)
	if err != nil {
		return err
	}
	tx := &Tx{db: db, c: c, batch: db.p.NewIndexedBatch(), gens: newKeyGens(c), masks: make([]uint64, len(c.Indexes)-1)}
	defer func() { _ = tx.batch.Close() }()
	err = func() error {
		defer c.state.lock.release()
		defer tx.end()
		if err := fn(tx); err != nil {
			return err
		}
		if tx.batch.Empty() {
			return nil
		}
		if err := db.applyChange(c, tx.batch, tx.delta, tx.masks); err != nil {
			return err
		}
		if tx.top != nil {
			c.state.raiseTop(tx.top)
		}
		return nil
	}()
	if err != nil || tx.batch.Empty() {
		return err
	}
	return db.acknowledge(tx.batch, o.Sync)
}

// applyChange applies a batch of document changes with its counters, marking indexes multikey
// where that is new. The collection's lock is held.
func (db *DB) applyChange(c *Collection, b *pebble.Batch, delta counters, masks []uint64) error {
	count := c.state.count.clone()
	count.add(delta)
	_ = b.Set(counterKey(c.id), c.state.base(count), nil)
	fresh := false
	for i, m := range masks {
		fresh = fresh || m&^c.Indexes[i+1].multikeyMask() != 0
	}
	var err error
	if fresh {
		err = db.applyMultikey(c, b, masks)
	} else {
		err = db.apply(b)
	}
	if err == nil {
		c.state.count = count
	}
	return err
}

func (db *DB) applyMultikey(c *Collection, b *pebble.Batch, masks []uint64) error {
	if err := db.ddl.acquire(context.Background()); err != nil {
		return err
	}
	defer db.ddl.release()
	indexes := append([]*Index(nil), c.Indexes...)
	for i, m := range masks {
		indexes[i+1] = indexes[i+1].withMultikey(m)
	}
	next := c.with(indexes)
	_ = b.Set(catalogKey(c.NS), catalogValue(next), nil)
	return db.publish(b, func(cat *catalog) *catalog { return cat.change(nil, next) })
}

// Tx writes to one collection. A method that returns an error has changed nothing, so the caller
// may go on.
type Tx struct {
	db    *DB
	c     *Collection
	batch *pebble.Batch
	gens  []*keyGen
	masks []uint64
	delta counters
	top   []byte // the greatest encoded _id inserted
	snap  *Snap
	bits  []byte
}

func (tx *Tx) end() {
	if tx.snap != nil {
		_ = tx.snap.Close()
	}
}

// Collection is the collection as of now.
func (tx *Tx) Collection() *Collection { return tx.c }

// Bytes is the size of what the Tx has changed so far. A write may change 1 GiB at most and holds it in memory, so
// a command that changes many documents does it in several writes.
func (tx *Tx) Bytes() int { return tx.batch.Len() }

// Snap is a view of the state before this Tx, for planning and for finding the documents to change. It
// ends with the Tx.
func (tx *Tx) Snap() *Snap {
	if tx.snap == nil {
		tx.snap = tx.db.Snapshot()
	}
	return tx.snap
}

// Get reads the latest version, own writes included; nil if there is none. The result is a copy.
func (tx *Tx) Get(idKey []byte) (bsonx.Doc, error) {
	v, err := tx.get(tx.c.recordKey(nil, idKey))
	return bsonx.Doc(v), err
}

func (tx *Tx) get(key []byte) ([]byte, error) {
	v, closer, err := tx.batch.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v = append(make([]byte, 0, len(v)), v...)
	return v, closer.Close()
}

// Insert adds a document that has an _id and is valid BSON. DuplicateKey when its _id or a unique key is there.
func (tx *Tx) Insert(doc bsonx.Doc) error {
	id := idOf(doc)
	idKey := bsonx.AppendKey(nil, id, false)
	recordKey := tx.c.recordKey(nil, idKey)
	st := tx.c.state
	if err := st.findTop(tx.db, tx.c); err != nil {
		return err
	}
	top := st.top
	if bytes.Compare(tx.top, top) > 0 {
		top = tx.top
	}
	if bytes.Compare(idKey, top) <= 0 {
		old, err := tx.get(recordKey)
		if err != nil {
			return err
		}
		if old != nil {
			return dupID(tx.c.NS, id)
		}
	}
	for _, g := range tx.gens {
		if err := g.make(doc); err != nil {
			return err
		}
		if err := tx.checkUnique(g, idKey); err != nil {
			return err
		}
	}
	_ = tx.batch.Set(recordKey, doc, nil)
	tx.bits = bsonx.TrimTypeBits(bsonx.AppendTypeBits(tx.bits[:0], id))
	for n, g := range tx.gens {
		tx.masks[n] |= g.mask
		for k := range g.keys {
			tx.count(g.ix, 1, setEntry(tx.batch, g, k, idKey, tx.bits))
		}
	}
	if bytes.Compare(idKey, tx.top) > 0 {
		tx.top = idKey
	}
	tx.delta.docs++
	tx.delta.bytes += int64(len(doc))
	return nil
}

func (tx *Tx) count(ix *Index, entries, size int) {
	c := tx.delta.index(ix.id)
	c.entries += int64(entries)
	c.bytes += int64(size)
}

// checkUnique reports a key of the generator that another document has.
func (tx *Tx) checkUnique(g *keyGen, idKey []byte) error {
	if !g.ix.Unique {
		return nil
	}
	for k := range g.keys {
		v, err := tx.get(append(append([]byte(nil), g.ix.prefix...), g.key(k)...))
		if err != nil {
			return err
		}
		if v == nil {
			continue
		}
		_, _, other, err := splitUniqueValue(v)
		if err != nil {
			return err
		}
		if !bytes.Equal(other, idKey) {
			return dupKeyOf(tx.c.NS, g.ix, g.key(k), g.bits(k))
		}
	}
	return nil
}

// Replace puts a document in the place of old, which has the same _id.
func (tx *Tx) Replace(old, doc bsonx.Doc) error {
	id := idOf(doc)
	idKey := bsonx.AppendKey(nil, id, false)
	oldGens := newKeyGens(tx.c)
	for n, g := range tx.gens {
		if err := oldGens[n].make(old); err != nil {
			return err
		}
		if err := g.make(doc); err != nil {
			return err
		}
		if err := tx.checkUnique(g, idKey); err != nil {
			return err
		}
	}
	_ = tx.batch.Set(tx.c.recordKey(nil, idKey), doc, nil)
	tx.delta.bytes += int64(len(doc)) - int64(len(old))
	oldBits := bsonx.TrimTypeBits(bsonx.AppendTypeBits(nil, idOf(old)))
	tx.bits = bsonx.TrimTypeBits(bsonx.AppendTypeBits(tx.bits[:0], id))
	sameID := bytes.Equal(oldBits, tx.bits)
	for n, g := range tx.gens {
		tx.masks[n] |= g.mask
		o := oldGens[n]
		i, j := 0, 0 // both lists are in key order
		for i < len(o.keys) || j < len(g.keys) {
			c := 0
			switch {
			case i == len(o.keys):
				c = 1
			case j == len(g.keys):
				c = -1
			default:
				c = bytes.Compare(o.key(i), g.key(j))
			}
			switch {
			case c < 0:
				tx.deleteEntry(o, i, idKey, oldBits)
				i++
			case c > 0:
				tx.count(g.ix, 1, setEntry(tx.batch, g, j, idKey, tx.bits))
				j++
			default:
				if !sameID || !bytes.Equal(o.bits(i), g.bits(j)) {
					tx.count(g.ix, 0, setEntry(tx.batch, g, j, idKey, tx.bits)-entrySize(o, i, idKey, oldBits))
				}
				i++
				j++
			}
		}
	}
	return nil
}

// Delete removes a document as it was read.
func (tx *Tx) Delete(old bsonx.Doc) error {
	id := idOf(old)
	idKey := bsonx.AppendKey(nil, id, false)
	for _, g := range tx.gens {
		if err := g.make(old); err != nil {
			return err
		}
	}
	tx.bits = bsonx.TrimTypeBits(bsonx.AppendTypeBits(tx.bits[:0], id))
	_ = tx.batch.Delete(tx.c.recordKey(nil, idKey), nil)
	for _, g := range tx.gens {
		for k := range g.keys {
			tx.deleteEntry(g, k, idKey, tx.bits)
		}
	}
	tx.delta.docs--
	tx.delta.bytes -= int64(len(old))
	return nil
}

func (tx *Tx) deleteEntry(g *keyGen, k int, idKey, idBits []byte) {
	key := append(append([]byte(nil), g.ix.prefix...), g.key(k)...)
	if !g.ix.Unique {
		key = append(key, idKey...)
	}
	_ = tx.batch.Delete(key, nil)
	tx.count(g.ix, -1, -entrySize(g, k, idKey, idBits))
}

// entrySize is what setEntry returns for the same entry.
func entrySize(g *keyGen, k int, idKey, idBits []byte) int {
	n := len(g.ix.prefix) + len(g.key(k)) + len(idKey)
	bits := len(g.bits(k))
	switch {
	case g.ix.Unique:
		return n + uvarintLen(bits) + bits + uvarintLen(len(idBits)) + len(idBits)
	case bits > 0 || len(idBits) > 0:
		return n + uvarintLen(bits) + bits + len(idBits)
	}
	return n
}

func uvarintLen(n int) int { return len(binary.AppendUvarint(nil, uint64(n))) }
