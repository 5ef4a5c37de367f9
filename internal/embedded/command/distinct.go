package command

import (
	"context"
	"strconv"
	"strings"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

// distinct lists the different values of one path.
func distinct(ctx context.Context, c *call) error {
	r, key, err := c.parseDistinct()
	if err != nil {
		return err
	}
	snap := c.s.db.Snapshot()
	defer func() { _ = snap.Close() }()
	d := distinctValues{w: &c.builder, path: strings.Split(key, "."), seen: map[string]struct{}{}}
	at := c.startArray("values")
	d.start = len(c.b)
	if coll := snap.Collection(r.ns); coll != nil && r.skippable(coll, key) != nil {
		err = d.skipThrough(ctx, snap, coll, r.skippable(coll, key))
	} else {
		err = d.read(ctx, c.s, snap, r)
	}
	c.end(at)
	return err
}

func (c *call) parseDistinct() (*read, string, error) {
	key, err := c.text("key")
	if err != nil {
		return nil, "", err
	}
	r := &read{needs: []string{key}}
	if r.ns, err = c.readNS(); err != nil {
		return nil, "", err
	}
	if r.filter, err = c.document("query"); err != nil {
		return nil, "", err
	}
	if r.hint, err = hint("distinct", c.arg("hint")); err != nil {
		return nil, "", err
	}
	if key == "" || strings.IndexByte(key, 0) >= 0 {
		return nil, "", mongoerr.New(mongoerr.BadValue, "distinct needs a key that names a field, got %q", key)
	}
	return r, key, r.parse()
}

// skippable is an index whose entries alone tell the distinct values, one seek for each; nil if there is none.
func (r *read) skippable(coll *store.Collection, key string) *store.Index {
	if coll.IsView() || !r.parsedFilter.Empty() || !r.hint.IsMissing() {
		return nil
	}
	for _, ix := range coll.Indexes {
		if ix.Fields[0].Path == key && !ix.IsMultikey() && len(ix.Partial) == 0 && !ix.Hashed {
			return ix
		}
	}
	return nil
}

// distinctValues appends each value that it has not seen yet to an array.
type distinctValues struct {
	w     *builder
	start int
	path  []string
	seen  map[string]struct{} // encoded keys
	n     int
	key   []byte
}

func (d *distinctValues) add(v bsonx.Value) error {
	d.key = bsonx.AppendKey(d.key[:0], v, false)
	if _, ok := d.seen[string(d.key)]; ok {
		return nil
	}
	d.seen[string(d.key)] = struct{}{}
	return d.append(v)
}

func (d *distinctValues) append(v bsonx.Value) error {
	d.w.elem(d.n, v)
	d.n++
	if len(d.w.b)-d.start > MaxDocumentBytes {
		return mongoerr.New(errDistinctTooBig, "distinct too big, 16mb cap")
	}
	return nil
}

func (d *distinctValues) read(ctx context.Context, s *Server, snap *store.Snap, r *read) error {
	defer r.watch(ctx)()
	src, err := r.open(ctx, s, snap)
	if err != nil || src == nil {
		return err
	}
	_, err = drain(ctx, src, func(doc bsonx.Doc) error {
		return eachAt(bsonx.DocValue(doc), d.path, d.add)
	})
	return err
}

// skipThrough seeks from one value of the index to the next.
func (d *distinctValues) skipThrough(ctx context.Context, snap *store.Snap, coll *store.Collection, ix *store.Index) (err error) {
	it := snap.Entries(coll, ix, nil, false)
	defer func() {
		if e := it.Close(); err == nil {
			err = e
		}
	}()
	desc := ix.Fields[0].Desc
	for it.Next() {
		v, rest, _, err := bsonx.DecodeKey(it.Key(), it.TypeBits(), desc)
		if err != nil {
			return err
		}
		key := it.Key()[:len(it.Key())-len(rest)]
		if v.IsMissing() {
			continue // absent fields share null's key: there may be a null among their entries
		}
		if err := d.append(v); err != nil {
			return err
		}
		d.key = successor(append(d.key[:0], key...))
		it.SeekGE(d.key)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return it.Err()
}

// successor is the smallest key above every key that starts with k. Encodings never end in a run of 0xff alone.
func successor(k []byte) []byte {
	for i := len(k) - 1; i >= 0; i-- {
		if k[i] != 0xff {
			k[i]++
			return k[:i+1]
		}
	}
	return append(k, 0xff)
}

// eachAt calls fn for every value at a path, through arrays, with the elements of an array at its end.
func eachAt(v bsonx.Value, path []string, fn func(bsonx.Value) error) error {
	if len(path) == 0 {
		return eachElement(v, fn)
	}
	switch v.Type {
	case bsonx.TypeEmbeddedDocument:
		if f := v.Doc().Get(path[0]); !f.IsMissing() {
			return eachAt(f, path[1:], fn)
		}
	case bsonx.TypeArray:
		if _, err := strconv.ParseUint(path[0], 10, 32); err == nil {
			if f := v.Doc().Get(path[0]); !f.IsMissing() {
				return eachAt(f, path[1:], fn)
			}
		}
		for it := v.Elems(); it.Next(); {
			if e := it.Value(); e.Type == bsonx.TypeEmbeddedDocument {
				if err := eachAt(e, path, fn); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func eachElement(v bsonx.Value, fn func(bsonx.Value) error) error {
	if v.Type != bsonx.TypeArray {
		return fn(v)
	}
	for it := v.Elems(); it.Next(); {
		if err := fn(it.Value()); err != nil {
			return err
		}
	}
	return nil
}
