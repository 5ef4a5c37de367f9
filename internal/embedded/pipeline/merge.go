package pipeline

import (
	"context"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/bson/primitive"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/store"
)

func (s *mergeStage) open(r *run, in query.Source) (query.Source, error) {
	return &funcSource{in: in, fn: func(ctx context.Context) (query.Source, error) {
		m := &merger{s: s, r: r}
		return nil, m.run(ctx, in)
	}}, nil
}

// merger writes documents into the target: in batches, or as far as they ascend into a gap of it as tables of their own.
type merger struct {
	s     *mergeStage
	r     *run
	byID  bool
	parts [][]string // of the on fields
	batch block
	bulk  *store.Bulk // what goes into tables, nil when nothing does
	tried bool
}

// mergeBatch is from how many bytes on documents are written: then tables of their own are worth their files.
const mergeBatch = 1 << 20

func (m *merger) run(ctx context.Context, in query.Source) (err error) {
	m.byID = len(m.s.on) == 1 && m.s.on[0] == "_id"
	for _, p := range m.s.on {
		m.parts = append(m.parts, strings.Split(p, "."))
	}
	if !m.byID {
		c := m.r.snap.Collection(m.s.ns)
		if c == nil || m.uniqueIndex(c) == nil {
			return errNoUniqueIndex()
		}
	}
	defer func() {
		if m.bulk != nil {
			m.bulk.Close()
		}
	}()
	var buf []byte
	for {
		docs, err := in.Next(ctx)
		if err != nil {
			return err
		}
		for _, d := range docs {
			if !idFirst(d) {
				buf = appendIDFirst(buf[:0], d)
				d = buf
			}
			if err := m.add(ctx, d); err != nil {
				return err
			}
		}
		if len(docs) == 0 {
			return m.flush(ctx, true)
		}
	}
}

// add takes a document, which it copies.
func (m *merger) add(ctx context.Context, d bsonx.Doc) error {
	if err := m.check(d); err != nil {
		return err
	}
	if m.bulk != nil {
		if ok, err := m.bulk.Add(d); ok || err != nil {
			return err
		}
		if err := m.publish(ctx); err != nil {
			return err
		}
	}
	m.batch.add(d)
	return m.flush(ctx, false)
}

// flush writes the batch if it is large, or, at the end, everything.
func (m *merger) flush(ctx context.Context, end bool) error {
	if !end && len(m.batch.buf) < mergeBatch {
		return nil
	}
	docs := m.batch.docs
	if !end && !m.tried && m.inserts() {
		m.tried = true
		var err error
		if m.bulk, err = m.r.o.DB.NewBulk(ctx, m.s.ns); err != nil {
			return err
		}
		for ok := m.bulk != nil; ok && len(docs) > 0; {
			if ok, err = m.bulk.Add(docs[0]); err != nil {
				return err
			}
			if ok {
				docs = docs[1:]
			}
		}
	}
	if m.bulk != nil && (end || len(docs) > 0) {
		if err := m.publish(ctx); err != nil {
			return err
		}
	}
	if err := m.write(ctx, docs); err != nil {
		return err
	}
	m.batch.reset()
	return nil
}

// publish inserts what went into tables.
func (m *merger) publish(ctx context.Context) error {
	b := m.bulk
	m.bulk = nil
	defer b.Close()
	if ok, err := b.Publish(ctx); ok || err != nil {
		return err
	}
	var batch block // others wrote there meanwhile
	err := b.Each(func(d bsonx.Doc) error {
		if batch.add(d); len(batch.buf) < mergeBatch {
			return nil
		}
		defer batch.reset()
		return m.write(ctx, batch.docs)
	})
	if err != nil {
		return err
	}
	return m.write(ctx, batch.docs)
}

func errNoUniqueIndex() error {
	return errf(51183, "Cannot find index to verify that join fields will be unique")
}

// uniqueIndex finds one over exactly the on fields.
func (m *merger) uniqueIndex(c *store.Collection) *store.Index {
	for _, ix := range c.Indexes {
		if !ix.Unique || ix.Partial != nil || len(ix.Fields) != len(m.s.on) {
			continue
		}
		if !slices.ContainsFunc(ix.Fields, func(f store.IndexField) bool { return !slices.Contains(m.s.on, f.Path) }) {
			return ix
		}
	}
	return nil
}

func idFirst(d bsonx.Doc) bool {
	it := d.Iter()
	return it.Next() && string(it.Name()) == "_id"
}

// appendIDFirst appends d with an _id in front, a new ObjectId if it has none.
func appendIDFirst(dst []byte, d bsonx.Doc) []byte {
	if idFirst(d) {
		return append(dst, d...)
	}
	id := d.Get("_id")
	if id.IsMissing() {
		id = bsonx.ObjectID(primitive.NewObjectID())
	}
	start := len(dst)
	dst = bsonx.AppendElem(bsonx.BeginDoc(dst), "_id", id)
	for it := d.Iter(); it.Next(); {
		if string(it.Name()) != "_id" {
			dst = appendRaw(dst, it.Name(), it.Value())
		}
	}
	return bsonx.EndDoc(dst, start)
}

func (m *merger) check(d bsonx.Doc) error {
	if err := m.checkOn(d); err != nil {
		return err
	}
	return storable(d)
}

// inserts reports whether documents that are not there yet go the way of an insert.
func (m *merger) inserts() bool { return m.byID && m.s.notMatched == insertDoc }

func (m *merger) write(ctx context.Context, docs []bsonx.Doc) error {
	if len(docs) == 0 {
		return nil
	}
	if !m.inserts() {
		return m.apply(ctx, docs, nil)
	}
	_, errs, err := m.r.o.DB.InsertMany(ctx, m.s.ns, docs, false, store.WriteOptions{Create: true})
	if err != nil {
		return err
	}
	if len(errs) == 0 {
		return nil
	}
	var again []bsonx.Doc
	var why []error
	for i, d := range docs {
		switch err := errs[i]; {
		case err == nil:
		case mongoerr.CodeOf(err) != mongoerr.DuplicateKey:
			return err
		case m.s.matched == failMatched:
			return err
		default:
			again, why = append(again, d), append(why, err)
		}
	}
	return m.apply(ctx, again, why)
}

func (m *merger) checkOn(d bsonx.Doc) error {
	for i, p := range m.parts {
		v := getPath(d, p)
		if v.IsNullish() && m.s.on[i] != "_id" || v.Type == tArray {
			return errf(51132, "$merge write error: 'on' field '%s' cannot be missing, null, undefined or an array", m.s.on[i])
		}
	}
	return nil
}

// apply looks each document up and does what the modes say. why[i] is the error of inserting docs[i], to be given when
// its _id turns out not to be the cause.
func (m *merger) apply(ctx context.Context, docs []bsonx.Doc, why []error) error {
	for len(docs) > 0 {
		n := m.distinct(docs)
		err := m.r.o.DB.Write(ctx, m.s.ns, store.WriteOptions{Create: m.s.notMatched == insertDoc}, func(tx *store.Tx) error {
			for i, d := range docs[:n] {
				var cause error
				if why != nil {
					cause = why[i]
				}
				if err := m.one(ctx, tx, d, cause); err != nil {
					return err
				}
			}
			return nil
		})
		if mongoerr.CodeOf(err) == mongoerr.NamespaceNotFound && m.s.notMatched == discardDoc {
			err = nil
		}
		if err != nil {
			return err
		}
		docs = docs[n:]
		if why != nil {
			why = why[n:]
		}
	}
	return nil
}

// distinct is how many documents from the front differ in their on fields: a transaction finds by
// an index only what was there before it.
func (m *merger) distinct(docs []bsonx.Doc) int {
	if m.byID {
		return len(docs)
	}
	var t groupTable
	var key []byte
	for i, d := range docs {
		key = key[:0]
		for _, p := range m.parts {
			key = bsonx.AppendKey(key, getPath(d, p), false)
		}
		if t.findRaw(key, bsonx.Value{}) != uint32(i) {
			return i
		}
	}
	return len(docs)
}

func (m *merger) one(ctx context.Context, tx *store.Tx, d bsonx.Doc, cause error) error {
	old, err := m.find(tx, d)
	if err != nil {
		return err
	}
	if old == nil {
		switch {
		case cause != nil:
			return cause
		case m.s.notMatched == insertDoc:
			return tx.Insert(d)
		case m.s.notMatched == failNotMatched:
			return errf(13113, "$merge could not find a matching document in the target collection for at least one document in the source collection")
		}
		return nil
	}
	switch m.s.matched {
	case keepExisting:
		return nil
	case failMatched:
		return errf(mongoerr.DuplicateKey, "E11000 duplicate key error collection: %s: $merge found a document with the same key", m.s.ns)
	}
	next, err := m.next(ctx, old, d)
	if err == nil {
		err = storable(next)
	}
	if err != nil {
		return err
	}
	return tx.Replace(old, next)
}

func (m *merger) find(tx *store.Tx, d bsonx.Doc) (bsonx.Doc, error) {
	if m.byID {
		return tx.Get(bsonx.AppendKey(nil, d.Get("_id"), false))
	}
	c := tx.Collection()
	ix := m.uniqueIndex(c)
	if ix == nil {
		return nil, errNoUniqueIndex()
	}
	var key []byte
	for _, f := range ix.Fields {
		key = bsonx.AppendKey(key, getPath(d, strings.Split(f.Path, ".")), f.Desc)
	}
	it := tx.Snap().Entries(c, ix, []store.Bound{{Lo: key, Hi: bsonx.KeySuccessor(key)}}, false)
	defer it.Close()
	if !it.Next() {
		return nil, it.Err()
	}
	return tx.Get(append([]byte(nil), it.IDKey()...))
}

// next is what the target's document becomes.
func (m *merger) next(ctx context.Context, old, d bsonx.Doc) (bsonx.Doc, error) {
	id := old.Get("_id")
	var next bsonx.Doc
	switch m.s.matched {
	case runPipeline:
		scope := m.s.ps.scope.With("new", bsonx.DocValue(d))
		for _, v := range m.s.vars {
			val, err := v.e.Eval(d)
			if err != nil {
				return nil, err
			}
			scope = scope.With(v.name, val)
		}
		p, err := m.s.ps.nested(m.s.pipe, *m.s.ps.o, scope, false)
		if err != nil {
			return nil, err
		}
		if next, err = p.RunOn(ctx, old); err != nil {
			return nil, err
		}
		if next.Get("_id").IsMissing() {
			next = mergeDocs(makeDoc("_id", id).Doc(), next)
		}
		next = appendIDFirst(nil, next)
	case replaceDoc:
		next = m.keepID(d, id)
	default:
		next = mergeDocs(old, m.keepID(d, id))
	}
	if bsonx.CompareAgg(next.Get("_id"), id) != 0 {
		return nil, errf(mongoerr.ImmutableField, "$merge failed to update the matching document, did you attempt to modify the _id or the shard key? :: caused by :: "+
			"Performing an update on the path '_id' would modify the immutable field '_id'")
	}
	return next, nil
}

// keepID puts the target's _id into d when d's own was made up here or d is found by its _id.
func (m *merger) keepID(d bsonx.Doc, id bsonx.Value) bsonx.Doc {
	if m.byID {
		return d
	}
	own := d.Get("_id")
	if bsonx.CompareAgg(own, id) == 0 {
		return d
	}
	return mergeDocs(d, makeDoc("_id", id).Doc())
}
