package store

import (
	"bytes"
	"context"
	"fmt"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/spill"
)

// ValidateReport is what Validate found. Errors is empty for a sound collection.
type ValidateReport struct {
	Documents    int64
	InvalidDocs  int64
	KeysPerIndex map[string]int64
	Errors       []string
}

const (
	maxReported    = 100
	validateMemory = 64 << 20
	maxDocDepth    = 250
)

// Validate checks a collection in both directions, as of now: every document has its entries in every index, every
// entry its document, and the counters agree. NamespaceNotFound when it does not exist.
func (db *DB) Validate(ctx context.Context, ns NS) (*ValidateReport, error) {
	s := db.Snapshot()
	defer s.Close()
	c := s.Collection(ns)
	if c == nil {
		return nil, mongoerr.New(mongoerr.NamespaceNotFound, "ns does not exist: %s", ns)
	}
	v := &validation{ctx: ctx, s: s, c: c, r: &ValidateReport{KeysPerIndex: map[string]int64{}}}
	if err := v.records(); err != nil {
		return nil, err
	}
	for _, ix := range c.Indexes[1:] {
		if err := v.index(ix); err != nil {
			return nil, err
		}
	}
	return v.r, nil
}

type validation struct {
	ctx   context.Context
	s     *Snap
	c     *Collection
	r     *ValidateReport
	steps int
}

func (v *validation) report(format string, args ...any) {
	if len(v.r.Errors) < maxReported {
		v.r.Errors = append(v.r.Errors, fmt.Sprintf(format, args...))
	}
}

func (v *validation) interrupted() error {
	if v.steps++; v.steps%1024 == 0 && v.ctx.Err() != nil {
		return context.Cause(v.ctx)
	}
	return nil
}

func (v *validation) records() error {
	var size int64
	var key []byte
	it := v.s.Records(v.c, nil, false)
	defer it.Close()
	for it.Next() {
		if err := v.interrupted(); err != nil {
			return err
		}
		v.r.Documents++
		size += int64(len(it.Doc()))
		if err := bsonx.Validate(it.Doc(), maxDocDepth); err != nil {
			v.r.InvalidDocs++
			v.report("document with key %x: %v", it.IDKey(), err)
			continue
		}
		key = bsonx.AppendKey(key[:0], idOf(it.Doc()), false)
		if !bytes.Equal(key, it.IDKey()) {
			v.r.InvalidDocs++
			v.report("document with _id %s is stored under another key", idOf(it.Doc()))
		}
	}
	if err := it.Err(); err != nil {
		return err
	}
	v.r.KeysPerIndex["_id_"] = v.r.Documents
	if st := v.s.Stats(v.c); st.Documents != v.r.Documents || st.Bytes != size {
		v.report("counters say %d documents of %d bytes, there are %d of %d", st.Documents, st.Bytes, v.r.Documents, size)
	}
	return nil
}

// index compares the entries that the documents ask for with those there are.
func (v *validation) index(ix *Index) (err error) {
	want := spill.NewSorter(v.s.db.SpillOptions(validateMemory))
	defer func() {
		if err2 := want.Close(); err == nil {
			err = err2
		}
	}()
	if err := v.wanted(ix, want); err != nil {
		return err
	}
	w, err := want.Sort()
	if err != nil {
		return err
	}
	sc := v.s.newScan(ix.prefix, ix.end, nil, false)
	defer func() { _ = sc.close() }()
	var n, size int64
	have, more := sc.step(), w.Next()
	for have || more {
		if err := v.interrupted(); err != nil {
			return err
		}
		order := 0
		switch {
		case !have:
			order = 1
		case !more:
			order = -1
		default:
			order = bytes.Compare(sc.key(), w.Key())
		}
		switch {
		case order > 0:
			v.report("index %s lacks the entry %x of a document", ix.Name, w.Key())
		case order < 0:
			v.report("index %s has the entry %x that no document asks for", ix.Name, sc.key())
		case !bytes.Equal(sc.value(), w.Value()):
			v.report("index %s has the entry %x with the value %x, want %x", ix.Name, sc.key(), sc.value(), w.Value())
		}
		if order <= 0 {
			n++
			size += int64(len(sc.prefix) + len(sc.key()) + len(sc.value()))
			have = sc.step()
		}
		if order >= 0 {
			more = w.Next()
		}
	}
	if sc.err != nil {
		return fmt.Errorf("reading index %s of %s: %w", ix.Name, v.c.NS, sc.err)
	}
	if err := w.Err(); err != nil {
		return err
	}
	v.r.KeysPerIndex[ix.Name] = n
	st := v.s.Stats(v.c)
	if st.Entries[ix.Name] != n || st.IndexBytes[ix.Name] != size {
		v.report("counters of index %s say %d entries of %d bytes, there are %d of %d",
			ix.Name, st.Entries[ix.Name], st.IndexBytes[ix.Name], n, size)
	}
	return nil
}

func (v *validation) wanted(ix *Index, want *spill.Sorter) error {
	g := newKeyGen(ix)
	var key, value, idBits []byte
	it := v.s.Records(v.c, nil, false)
	defer it.Close()
	for it.Next() {
		if err := v.interrupted(); err != nil {
			return err
		}
		if bsonx.Validate(it.Doc(), maxDocDepth) != nil {
			continue
		}
		if err := g.make(it.Doc()); err != nil {
			v.report("index %s: document with key %x: %v", ix.Name, it.IDKey(), err)
			continue
		}
		if g.mask&^ix.multikeyMask() != 0 {
			v.report("index %s is not marked multikey for the document with key %x", ix.Name, it.IDKey())
		}
		idBits = bsonx.TrimTypeBits(bsonx.AppendTypeBits(idBits[:0], idOf(it.Doc())))
		for k := range g.keys {
			key = append(key[:0], g.key(k)...)
			if ix.Unique {
				value = appendUniqueValue(value[:0], g.bits(k), idBits, it.IDKey())
			} else {
				key = append(key, it.IDKey()...)
				value = appendEntryValue(value[:0], g.bits(k), idBits)
			}
			if err := want.Add(key, value); err != nil {
				return err
			}
		}
	}
	return it.Err()
}
