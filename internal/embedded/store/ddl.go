package store

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// Create makes an empty collection. NamespaceExists when there is one.
func (db *DB) Create(ctx context.Context, ns NS, options bsonx.Doc) error {
	done, err := db.enterWrite()
	if err != nil {
		return err
	}
	defer done()
	return db.create(ctx, ns, options)
}

func (db *DB) create(ctx context.Context, ns NS, options bsonx.Doc) error {
	b := db.p.NewBatch()
	defer func() { _ = b.Close() }()
	err := func() error {
		if err := db.ddl.acquire(ctx); err != nil {
			return err
		}
		defer db.ddl.release()
		if db.cat.Load().lookup(ns) != nil {
			return mongoerr.New(mongoerr.NamespaceExists, "a collection '%s' already exists", ns)
		}
		id := db.takeID()
		c := newCollection(id, ns, uuid.New(), bytes.Clone(orEmpty(options)), newCollState(id))
		c.state.topKnown = true
		_ = b.Set(catalogKey(ns), catalogValue(c), nil)
		return db.publish(b, func(cat *catalog) *catalog { return cat.change(nil, c) })
	}()
	if err != nil {
		return err
	}
	return db.acknowledge(b, false)
}

// takeID returns an id never used before; it is written with the next published batch. ddl is held.
func (db *DB) takeID() uint64 {
	id := db.nextID
	db.nextID++
	return id
}

// reserve takes ids for data that is to be published later and notes them, on
// stable storage, so that Open finds what was never published.
func (db *DB) reserve(ctx context.Context, n int) ([]uint64, error) {
	ids := make([]uint64, n)
	if n == 0 {
		return ids, nil
	}
	b := db.p.NewBatch()
	defer func() { _ = b.Close() }()
	err := func() error {
		if err := db.ddl.acquire(ctx); err != nil {
			return err
		}
		defer db.ddl.release()
		for i := range ids {
			ids[i] = db.takeID()
			_ = b.Set(pendingKey(ids[i]), nil, nil)
		}
		return db.publish(b, func(c *catalog) *catalog { return c })
	}()
	if err != nil {
		return nil, err
	}
	return ids, db.acknowledge(b, true)
}

// discard removes what was written under reserved ids. A failure leaves it to the next Open.
func (db *DB) discard(ids []uint64) {
	b := db.p.NewBatch()
	defer func() { _ = b.Close() }()
	for _, id := range ids {
		deleteID(b, id)
	}
	if err := db.apply(b); err == nil {
		_ = db.acknowledge(b, false)
	}
}

// deleteCollection adds to a batch all that removes a collection.
func deleteCollection(b *pebble.Batch, c *Collection) {
	_ = b.Delete(catalogKey(c.NS), nil)
	deleteID(b, c.id)
	for _, ix := range c.Indexes[1:] {
		deleteID(b, ix.id)
	}
}

// lockAll locks the states of the namespaces that exist, in id order, and returns their latest descriptions.
// pick chooses them from a catalog; it is asked again when they changed while waiting.
func (db *DB) lockAll(ctx context.Context, pick func(*catalog) []*Collection) (colls []*Collection, unlock func(), err error) {
	for {
		colls = pick(db.cat.Load())
		slices.SortFunc(colls, func(a, b *Collection) int { return cmp.Compare(a.id, b.id) })
		colls = slices.Compact(colls)
		locked := 0
		unlock = func() {
			for _, c := range colls[:locked] {
				c.state.lock.release()
			}
		}
		for _, c := range colls {
			if err := c.state.lock.acquire(ctx); err != nil {
				unlock()
				return nil, nil, err
			}
			locked++
		}
		now := pick(db.cat.Load())
		slices.SortFunc(now, func(a, b *Collection) int { return cmp.Compare(a.id, b.id) })
		now = slices.Compact(now)
		if slices.EqualFunc(colls, now, func(a, b *Collection) bool { return a.id == b.id }) {
			return now, unlock, nil
		}
		unlock()
	}
}

func pickNS(names ...NS) func(*catalog) []*Collection {
	return func(cat *catalog) []*Collection {
		var colls []*Collection
		for _, ns := range names {
			if c := cat.lookup(ns); c != nil {
				colls = append(colls, c)
			}
		}
		return colls
	}
}

// Drop removes a collection and says how many indexes it had. NamespaceNotFound when there is none. Its space is
// given back in the background.
func (db *DB) Drop(ctx context.Context, ns NS) (nIndexes int, err error) {
	done, err := db.enterWrite()
	if err != nil {
		return 0, err
	}
	defer done()
	n, err := db.dropAll(ctx, pickNS(ns), func(colls []*Collection) error {
		if len(colls) == 0 {
			return mongoerr.New(mongoerr.NamespaceNotFound, "ns not found")
		}
		nIndexes = len(colls[0].Indexes)
		return nil
	})
	if err != nil || n == 0 {
		return 0, err
	}
	return nIndexes, nil
}

// DropDatabase removes all collections of a database. One that does not exist is no error.
func (db *DB) DropDatabase(ctx context.Context, name string) error {
	done, err := db.enterWrite()
	if err != nil {
		return err
	}
	defer done()
	_, err = db.dropAll(ctx, func(cat *catalog) []*Collection {
		colls := make([]*Collection, 0, len(cat.dbs[name]))
		for _, c := range cat.dbs[name] {
			colls = append(colls, c)
		}
		return colls
	}, func([]*Collection) error { return nil })
	return err
}

func (db *DB) dropAll(ctx context.Context, pick func(*catalog) []*Collection, check func([]*Collection) error) (int, error) {
	colls, unlock, err := db.lockAll(ctx, pick)
	if err != nil {
		return 0, err
	}
	b := db.p.NewBatch()
	defer func() { _ = b.Close() }()
	err = func() error {
		defer unlock()
		if err := check(colls); err != nil || len(colls) == 0 {
			return err
		}
		if err := db.ddl.acquire(ctx); err != nil {
			return err
		}
		defer db.ddl.release()
		names := make([]NS, len(colls))
		for i, c := range colls {
			names[i] = c.NS
			deleteCollection(b, c)
		}
		return db.publish(b, func(cat *catalog) *catalog { return cat.change(names) })
	}()
	if err != nil || len(colls) == 0 {
		return 0, err
	}
	return len(colls), db.acknowledge(b, false)
}

// Rename gives a collection another name, in another database too; the data stays where it is.
// NamespaceNotFound, NamespaceExists when the target is there and not to be dropped.
func (db *DB) Rename(ctx context.Context, from, to NS, dropTarget bool) error {
	done, err := db.enterWrite()
	if err != nil {
		return err
	}
	defer done()
	if from == to {
		return mongoerr.New(mongoerr.IllegalOperation, "can't rename a collection to itself")
	}
	_, unlock, err := db.lockAll(ctx, pickNS(from, to))
	if err != nil {
		return err
	}
	b := db.p.NewBatch()
	defer func() { _ = b.Close() }()
	err = func() error {
		defer unlock()
		if err := db.ddl.acquire(ctx); err != nil {
			return err
		}
		defer db.ddl.release()
		cat := db.cat.Load()
		c, target := cat.lookup(from), cat.lookup(to)
		switch {
		case c == nil:
			return mongoerr.New(mongoerr.NamespaceNotFound, "source namespace does not exist")
		case target != nil && !dropTarget:
			return mongoerr.New(mongoerr.NamespaceExists, "target namespace exists")
		case target != nil:
			deleteCollection(b, target)
		}
		next := renamed(c, to)
		_ = b.Delete(catalogKey(from), nil)
		_ = b.Set(catalogKey(to), catalogValue(next), nil)
		return db.publish(b, func(cat *catalog) *catalog { return cat.change([]NS{from, to}, next) })
	}()
	if err != nil {
		return err
	}
	return db.acknowledge(b, false)
}

// renamed is a description under another name, which the index specifications show too.
func renamed(c *Collection, to NS) *Collection {
	indexes := make([]*Index, len(c.Indexes))
	for i, ix := range c.Indexes {
		n := *ix
		n.Spec = respec(ix.Spec, to)
		indexes[i] = &n
	}
	next := c.with(indexes)
	next.NS = to
	return next
}

func respec(spec bsonx.Doc, ns NS) bsonx.Doc {
	i, b := bsoncore.AppendDocumentStart(nil)
	for it := spec.Iter(); it.Next(); {
		if string(it.Name()) == "ns" {
			b = bsoncore.AppendStringElement(b, "ns", ns.String())
			continue
		}
		b = bsonx.AppendElem(b, string(it.Name()), it.Value())
	}
	b, _ = bsoncore.AppendDocumentEnd(b, i)
	return b
}

// DropIndex removes an index. IndexNotFound (27), InvalidOptions (72) for the one on _id.
func (db *DB) DropIndex(ctx context.Context, ns NS, name string) error {
	done, err := db.enterWrite()
	if err != nil {
		return err
	}
	defer done()
	c, err := db.lockCollection(ctx, ns, false)
	if err != nil {
		return err
	}
	b := db.p.NewBatch()
	defer func() { _ = b.Close() }()
	err = func() error {
		defer c.state.lock.release()
		ix := c.IndexByName(name)
		if ix == nil {
			return mongoerr.New(mongoerr.IndexNotFound, "index not found with name [%s]", name)
		}
		if ix.IsID() {
			return mongoerr.New(mongoerr.InvalidOptions, "cannot drop _id index")
		}
		next := c.with(slices.DeleteFunc(slices.Clone(c.Indexes), func(o *Index) bool { return o == ix }))
		count := c.state.count.clone()
		count.drop(ix.id)
		deleteID(b, ix.id)
		return db.publishCollection(ctx, b, next, count)
	}()
	if err != nil {
		return err
	}
	return db.acknowledge(b, false)
}

// publishCollection publishes a changed description with its counters. The collection's lock is held.
func (db *DB) publishCollection(ctx context.Context, b *pebble.Batch, next *Collection, count counters) error {
	if err := db.ddl.acquire(ctx); err != nil {
		return err
	}
	defer db.ddl.release()
	_ = b.Set(catalogKey(next.NS), catalogValue(next), nil)
	_ = b.Set(counterKey(next.id), next.state.base(count), nil)
	err := db.publish(b, func(cat *catalog) *catalog { return cat.change(nil, next) })
	if err == nil {
		next.state.count = count
	}
	return err
}
