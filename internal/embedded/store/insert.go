package store

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"

	"mrbench/internal/embedded/bsonx"
)

// A chunk of an insert becomes one batch.
const (
	chunkDocs  = 10_000
	chunkBytes = 4 << 20
)

// InsertMany inserts documents that have an _id as their first field and are valid BSON.
// It is the bulk path: keys are encoded without the collection's lock, uniqueness is then proved for
// a whole batch, and waiting for the log does not hold the lock. Ordered stops at the first
// document that fails. errs[i] belongs to docs[i], nil when all went well; n is how many were
// inserted. err is a failure of the whole: what n counts was inserted and acknowledged before it.
func (db *DB) InsertMany(ctx context.Context, ns NS, docs []bsonx.Doc, ordered bool, o WriteOptions) (n int, errs map[int]error, err error) {
	done, err := db.enterWrite()
	if err != nil {
		return 0, nil, err
	}
	defer done()
	var gens []*keyGen
	var of *Collection
	for at := 0; at < len(docs); {
		chunk := cutChunk(docs[at:])
		c, err := db.collection(ctx, ns, o.Create)
		if err != nil {
			return n, errs, err
		}
		if c != of {
			of, gens = c, newKeyGens(c)
		}
		k, failed, err := db.insertChunk(ctx, c, chunk, gens, ordered, o.Sync && at+len(chunk) == len(docs))
		if errors.Is(err, errCatalogChanged) {
			continue
		}
		n += k
		for i, e := range failed {
			if errs == nil {
				errs = map[int]error{}
			}
			errs[at+i] = e
		}
		if err != nil || ordered && len(failed) > 0 {
			if err == nil && o.Sync {
				err = wrapIO(db.fs.syncLogs())
			}
			return n, errs, err
		}
		if at += len(chunk); o.Sync && at == len(docs) && k == 0 {
			// The last chunk wrote nothing, so it did not sync what those before it wrote.
			if err := db.fs.syncLogs(); err != nil {
				return n, errs, wrapIO(err)
			}
		}
	}
	return n, errs, nil
}

func cutChunk(docs []bsonx.Doc) []bsonx.Doc {
	size := 0
	for i, d := range docs {
		size += len(d)
		if i > 0 && (size > chunkBytes || i >= chunkDocs) {
			return docs[:i]
		}
	}
	return docs
}

var errCatalogChanged = errors.New("the collection changed meanwhile")

// insertChunk inserts documents in one batch. errCatalogChanged: nothing was done, look the collection up again.
func (db *DB) insertChunk(ctx context.Context, c *Collection, docs []bsonx.Doc, gens []*keyGen, ordered, sync bool) (n int, failed map[int]error, err error) {
	p := db.prepare(c, docs, gens, nil)
	defer func() { _ = p.batch.Close() }()
	st := c.state
	if err := st.lock.acquire(ctx); err != nil {
		return 0, nil, err
	}
	locked := true
	defer func() {
		if locked {
			st.lock.release()
		}
	}()
	if db.cat.Load().lookup(c.NS) != c {
		return 0, nil, errCatalogChanged
	}
	hit, err := p.collides(db)
	if err != nil {
		return 0, nil, err
	}
	if hit {
		var skip map[int]error
		if failed, skip, err = p.failures(db, ordered); err != nil {
			return 0, nil, err
		}
		_ = p.batch.Close()
		p = db.prepare(c, docs, gens, skip)
	}
	if p.delta.docs == 0 {
		return 0, failed, nil
	}
	if err := db.applyChange(c, p.batch, p.delta, p.masks); err != nil {
		return 0, failed, err
	}
	for _, s := range p.ids {
		if s.to > 0 {
			st.raiseTop(p.at(s)[len(c.prefix):])
		}
	}
	st.lock.release()
	locked = false
	if err := db.acknowledge(p.batch, sync); err != nil {
		return 0, failed, err
	}
	return int(p.delta.docs), failed, nil
}

var errSkipped = errors.New("behind the document that failed")

// failures finds which documents can't be inserted, as if they were inserted one after the other. skip
// also names those that are not to be tried.
func (p *prepared) failures(db *DB, ordered bool) (failed, skip map[int]error, err error) {
	stored := map[int]error{} // by what is stored already
	if err := p.storedIDs(db, stored); err != nil {
		return nil, nil, err
	}
	storedUnique := make([]map[int]int, len(p.unique)) // document → its key that is stored
	for n, u := range p.unique {
		storedUnique[n] = map[int]int{}
		if err := p.storedUnique(db, u, storedUnique[n]); err != nil {
			return nil, nil, err
		}
	}
	failed = map[int]error{}
	ids := map[string]bool{}
	keys := make([]map[string]bool, len(p.unique))
	next := make([]int, len(p.unique))
	for n := range keys {
		keys[n] = map[string]bool{}
	}
	for i := range p.docs {
		e := p.fail[i]
		var id string
		if e == nil {
			id = string(p.at(p.ids[i]))
			if e = stored[i]; e == nil && ids[id] {
				e = p.dupID(i)
			}
		}
		for n, u := range p.unique {
			from := next[n]
			for next[n] < len(u.keys) && u.keys[next[n]].doc == i {
				next[n]++
			}
			for k := from; k < next[n] && e == nil; k++ {
				if _, hit := storedUnique[n][k]; hit || keys[n][string(p.at(u.keys[k].span))] {
					e = p.dupUnique(u, k)
				}
			}
		}
		if e != nil {
			failed[i] = e
			if ordered {
				skip = maps.Clone(failed)
				for j := i + 1; j < len(p.docs); j++ {
					skip[j] = errSkipped
				}
				return failed, skip, nil
			}
			continue
		}
		ids[id] = true
		for n, u := range p.unique {
			for k := next[n] - 1; k >= 0 && u.keys[k].doc == i; k-- {
				keys[n][string(p.at(u.keys[k].span))] = true
			}
		}
	}
	return failed, failed, nil
}

func (p *prepared) storedIDs(db *DB, stored map[int]error) error {
	type ref struct {
		key []byte
		doc int
	}
	var refs []ref
	for i, s := range p.ids {
		if s.to > 0 {
			refs = append(refs, ref{p.at(s), i})
		}
	}
	slices.SortStableFunc(refs, func(a, b ref) int { return bytes.Compare(a.key, b.key) })
	keys := make([][]byte, len(refs))
	for i, r := range refs {
		keys[i] = r.key
	}
	return db.walkPresent(keys, func(i int) bool {
		stored[refs[i].doc] = p.dupID(refs[i].doc)
		return true
	})
}

func (p *prepared) storedUnique(db *DB, u uniqueKeys, stored map[int]int) error {
	order := make([]int, len(u.keys))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return bytes.Compare(p.at(u.keys[a].span), p.at(u.keys[b].span))
	})
	keys := make([][]byte, len(order))
	for i, k := range order {
		keys[i] = p.at(u.keys[k].span)
	}
	return db.walkPresent(keys, func(i int) bool {
		stored[order[i]] = u.keys[order[i]].doc
		return true
	})
}

func (p *prepared) dupID(i int) error {
	return dupID(p.c.NS, idOf(p.docs[i]))
}

func (p *prepared) dupUnique(u uniqueKeys, k int) error {
	g := p.gens[u.gen]
	key := p.at(u.keys[k].span)[len(g.ix.prefix):]
	if err := g.make(p.docs[u.keys[k].doc]); err != nil {
		return err
	}
	for i := range g.keys {
		if bytes.Equal(g.key(i), key) {
			return dupKeyOf(p.c.NS, g.ix, key, g.bits(i))
		}
	}
	return dupKeyOf(p.c.NS, g.ix, key, nil)
}
