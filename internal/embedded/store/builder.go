package store

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/spill"
)

// Builder fills a collection that nobody sees until Publish puts it in the place of
// another: mapReduce's replace output, $out. Documents whose _ids ascend go straight into tables;
// others are sorted first. Not safe for concurrent use.
type Builder struct {
	db    *DB
	ns    NS
	keep  bool
	c     *Collection
	ids   []uint64 // reserved: the collection's, then those of its indexes
	table *tableWriter
	late  *spill.Sorter // documents that came out of order; nil if none did
	last  []byte
	key   []byte
	count counters
	err   error // makes every further call fail
	done  func()
	end   sync.Once
}

// NewBuilder prepares a hidden collection that Publish will put at ns. keepIndexes: it then gets the indexes and
// options that the collection at ns has at that time.
func (db *DB) NewBuilder(ctx context.Context, ns NS, keepIndexes bool) (*Builder, error) {
	done, err := db.enterWrite()
	if err != nil {
		return nil, err
	}
	ids, err := db.reserve(ctx, 1)
	if err != nil {
		done()
		return nil, err
	}
	b := &Builder{db: db, ns: ns, keep: keepIndexes, ids: ids, table: &tableWriter{db: db}, done: done}
	b.c = newCollection(ids[0], ns, uuid.New(), bsonx.Empty, newCollState(ids[0]))
	b.c.state.topKnown = true
	return b, nil
}

// Add copies a document; one without _id gets an ObjectId as its first field.
func (b *Builder) Add(doc bsonx.Doc) error {
	if b.err != nil {
		return b.err
	}
	id := idOf(doc)
	if id.IsMissing() {
		doc = withObjectID(doc)
		id = idOf(doc)
	}
	b.key = bsonx.AppendKey(append(b.key[:0], b.c.prefix...), id, false)
	b.count.docs++
	b.count.bytes += int64(len(doc))
	switch c := bytes.Compare(b.key, b.last); {
	case c > 0:
		b.last = append(b.last[:0], b.key...)
		b.err = b.table.set(b.key, doc)
	case c == 0:
		b.err = dupID(b.ns, id)
	default:
		if b.late == nil {
			b.late = spill.NewSorter(b.db.SpillOptions(buildMemory))
		}
		b.err = wrapIO(b.late.Add(b.key, doc))
	}
	return b.err
}

func withObjectID(doc bsonx.Doc) bsonx.Doc {
	i, d := bsoncore.AppendDocumentStart(make([]byte, 0, len(doc)+17))
	d = bsoncore.AppendObjectIDElement(d, "_id", primitive.NewObjectID())
	d = append(d, doc[4:len(doc)-1]...)
	d, _ = bsoncore.AppendDocumentEnd(d, i)
	return d
}

// Publish puts the collection in the place of ns, dropping what was there, in one step. DuplicateKey when two
// documents have one _id or a unique index would be violated; nothing is published then.
func (b *Builder) Publish(ctx context.Context) error {
	if b.err != nil {
		return b.err
	}
	b.err = errors.New("the builder has published or failed")
	batch := b.db.p.NewBatch()
	defer func() { _ = batch.Close() }()
	err := b.publish(ctx, batch)
	if err != nil {
		_ = b.Abort()
		return err
	}
	b.finish()
	return b.db.acknowledge(batch, false)
}

func (b *Builder) publish(ctx context.Context, batch *pebble.Batch) error {
	if err := b.table.ingest(ctx); err != nil {
		return err
	}
	if err := b.addLate(ctx); err != nil {
		return err
	}
	for {
		// A collection that appears at ns meanwhile is replaced like one that was there before.
		if err := b.replace(ctx, batch); !errors.Is(err, errCatalogChanged) {
			return err
		}
	}
}

func (b *Builder) replace(ctx context.Context, batch *pebble.Batch) error {
	batch.Reset()
	colls, unlock, err := b.db.lockAll(ctx, pickNS(b.ns))
	if err != nil {
		return err
	}
	defer unlock()
	if len(colls) > 0 {
		if b.keep {
			if err := b.buildIndexes(ctx, colls[0]); err != nil {
				return err
			}
		}
		deleteCollection(batch, colls[0])
	}
	b.c.state.count = b.count
	for _, id := range b.ids {
		_ = batch.Delete(pendingKey(id), nil)
	}
	if err := b.db.ddl.acquire(ctx); err != nil {
		return err
	}
	defer b.db.ddl.release()
	if len(colls) == 0 && b.db.cat.Load().lookup(b.ns) != nil {
		return errCatalogChanged
	}
	_ = batch.Set(catalogKey(b.ns), catalogValue(b.c), nil)
	_ = batch.Set(counterKey(b.c.id), b.count.encode(nil), nil)
	b.c.state.topKnown = false
	return b.db.publish(batch, func(cat *catalog) *catalog { return cat.change([]NS{b.ns}, b.c) })
}

// addLate sorts the documents that came out of order into tables of their own.
func (b *Builder) addLate(ctx context.Context) (err error) {
	if b.late == nil {
		return nil
	}
	it, err := b.late.Sort()
	if err != nil {
		return wrapIO(err)
	}
	there, err := b.db.p.NewIter(&pebble.IterOptions{LowerBound: b.c.prefix, UpperBound: b.c.end})
	if err != nil {
		return err
	}
	defer func() {
		if err2 := there.Close(); err == nil {
			err = err2
		}
	}()
	t := &tableWriter{db: b.db}
	defer t.abort()
	var last []byte
	ok := there.First()
	for n := 0; it.Next(); n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		k := it.Key()
		if ok && bytes.Compare(there.Key(), k) < 0 {
			ok = there.SeekGE(k)
		}
		if bytes.Equal(last, k) || ok && bytes.Equal(there.Key(), k) {
			return dupID(b.ns, idOf(it.Value()))
		}
		last = append(last[:0], k...)
		if err := t.set(k, it.Value()); err != nil {
			return err
		}
	}
	if err := errors.Join(it.Err(), there.Error()); err != nil {
		return wrapIO(err)
	}
	return t.ingest(ctx)
}

// buildIndexes gives the hidden collection the indexes and options of old.
func (b *Builder) buildIndexes(ctx context.Context, old *Collection) error {
	b.c = b.c.with(b.c.Indexes)
	b.c.Options = old.Options
	if len(old.Indexes) == 1 {
		return nil
	}
	ids, err := b.db.reserve(ctx, len(old.Indexes)-1)
	b.ids = append(b.ids, ids...)
	if err != nil {
		return err
	}
	for i, o := range old.Indexes[1:] {
		ix := *o
		ix.MultikeyFields = make([]bool, len(o.Fields))
		ix.setID(ids[i])
		n, mask, err := b.db.buildIndex(ctx, b.c, &ix)
		if err != nil {
			return err
		}
		*b.count.index(ix.id) = n
		b.c.Indexes = append(b.c.Indexes[:len(b.c.Indexes):len(b.c.Indexes)], ix.withMultikey(mask))
	}
	return nil
}

// finish gives back what the builder holds besides its data.
func (b *Builder) finish() {
	b.end.Do(func() {
		b.table.abort()
		if b.late != nil {
			_ = b.late.Close()
		}
		b.done()
	})
}

// Abort removes everything. Idempotent; no effect after Publish.
func (b *Builder) Abort() error {
	b.end.Do(func() {
		if b.err == nil {
			b.err = errors.New("the builder was aborted")
		}
		b.table.abort()
		if b.late != nil {
			_ = b.late.Close()
		}
		b.db.discard(b.ids)
		b.done()
	})
	return nil
}
