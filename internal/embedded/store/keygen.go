package store

import (
	"bytes"
	"slices"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// keyGen makes the entries of one index for one document after the other. Not
// safe for concurrent use: it keeps buffers and remembers where fields stood.
type keyGen struct {
	ix      *Index
	finders []*bsonx.Finder // of undotted paths, else nil
	state   []fieldState    // a stack of frames of len(ix.Fields)
	buf     []byte          // keys and bits of the current document
	tb      []byte          // bits of the key being made
	keys    []genKey
	mask    uint64 // multikey fields of the current document
}

// genKey is where an entry's key (encoded fields) and type bits stand in buf.
type genKey struct{ k0, k1, t1 int }

// fieldState is how far a field's path has been followed.
type fieldState struct {
	ctx  bsonx.Doc // where rest starts; nil: nowhere
	rest []string
	val  bsonx.Value
	done bool
}

func newKeyGen(ix *Index) *keyGen {
	g := &keyGen{ix: ix, finders: make([]*bsonx.Finder, len(ix.Fields))}
	for i, p := range ix.paths {
		if len(p) == 1 {
			g.finders[i] = bsonx.NewFinder(p[0])
		}
	}
	return g
}

func newKeyGens(c *Collection) []*keyGen {
	gens := make([]*keyGen, 0, len(c.Indexes)-1)
	for _, ix := range c.Indexes[1:] {
		gens = append(gens, newKeyGen(ix))
	}
	return gens
}

func (g *keyGen) key(i int) []byte  { return g.buf[g.keys[i].k0:g.keys[i].k1] }
func (g *keyGen) bits(i int) []byte { return g.buf[g.keys[i].k1:g.keys[i].t1] }

// make leaves the document's entries in g.keys, ordered and without doubles, and
// the multikey fields in g.mask. Error 171 when two fields go through different arrays.
func (g *keyGen) make(d bsonx.Doc) error {
	g.buf, g.keys, g.mask = g.buf[:0], g.keys[:0], 0
	if g.ix.pred != nil && !g.ix.pred(d) {
		return nil
	}
	n := len(g.ix.Fields)
	if n == 1 && g.finders[0] != nil {
		if v := g.finders[0].Get(d); !isArray(v) {
			if !g.ix.Sparse || !v.IsMissing() {
				g.buf = bsonx.AppendKey(g.buf, v, g.ix.Fields[0].Desc)
				g.tb = bsonx.AppendTypeBits(g.tb[:0], v)
				g.finish(0)
			}
			return nil
		}
	}
	g.state = g.state[:0]
	for i := range n {
		g.state = append(g.state, fieldState{ctx: d, rest: g.ix.paths[i]})
	}
	if err := g.expand(0); err != nil {
		return err
	}
	if len(g.keys) > 1 {
		slices.SortStableFunc(g.keys, func(a, b genKey) int {
			return bytes.Compare(g.buf[a.k0:a.k1], g.buf[b.k0:b.k1])
		})
		g.keys = slices.CompactFunc(g.keys, func(a, b genKey) bool {
			return bytes.Equal(g.buf[a.k0:a.k1], g.buf[b.k0:b.k1])
		})
	}
	return nil
}

// finish adds the key that was appended to buf at k0, with the bits in tb.
func (g *keyGen) finish(k0 int) {
	k1 := len(g.buf)
	g.buf = append(g.buf, bsonx.TrimTypeBits(g.tb)...)
	g.keys = append(g.keys, genKey{k0, k1, len(g.buf)})
}

// expand follows the paths of the frame that starts at state[at] as far as
// they go without an array; then it emits, or goes on for each element of the array
// that they all met.
func (g *keyGen) expand(at int) error {
	n := len(g.ix.Fields)
	var arr bsonx.Value
	arrField := ""
	var inArr uint64
	for i := range n {
		f := &g.state[at+i]
		if f.done {
			continue
		}
		v, rest := walkToArray(f.ctx, f.rest)
		if !isArray(v) {
			f.done, f.val = true, v
			continue
		}
		name := f.rest[len(f.rest)-len(rest)-1]
		if arr.IsMissing() {
			arr, arrField = v, name
		} else if &arr.Data[0] != &v.Data[0] {
			return mongoerr.New(mongoerr.CannotIndexParallelArrays, "cannot index parallel arrays [%s] [%s]", name, arrField)
		}
		inArr |= 1 << i
		f.rest = rest
	}
	if inArr == 0 {
		g.emit(g.state[at : at+n])
		return nil
	}
	g.mask |= inArr
	// A path that goes on with the number of an element means that element, not each of them.
	each := inArr
	for i := range n {
		f := &g.state[at+i]
		if inArr&(1<<i) != 0 && len(f.rest) > 0 && allDigits(f.rest[0]) && !arr.Doc().Get(f.rest[0]).IsMissing() {
			f.ctx = arr.Doc()
			each &^= 1 << i
		}
	}
	if each == 0 {
		return g.expand(at)
	}
	it := arr.Elems()
	elem := bsonx.Value{Type: bsonx.TypeUndefined} // what an empty array is indexed as
	for more, first := it.Next(), true; more || first; more, first = it.Next(), false {
		if more {
			elem = it.Value()
		}
		g.state = append(g.state[:at+n], g.state[at:at+n]...)
		for i := range n {
			if each&(1<<i) == 0 {
				continue
			}
			f := &g.state[at+n+i]
			switch {
			case len(f.rest) == 0:
				f.done, f.val = true, elem
			case isDocument(elem):
				f.ctx = elem.Doc()
			default:
				f.ctx = nil
			}
		}
		if err := g.expand(at + n); err != nil {
			return err
		}
	}
	return nil
}

func (g *keyGen) emit(fields []fieldState) {
	if g.ix.Sparse && !slices.ContainsFunc(fields, func(f fieldState) bool { return !f.val.IsMissing() }) {
		return
	}
	k0 := len(g.buf)
	g.tb = g.tb[:0]
	for i, f := range fields {
		g.buf = bsonx.AppendKey(g.buf, f.val, g.ix.Fields[i].Desc)
		g.tb = bsonx.AppendTypeBits(g.tb, f.val)
	}
	g.finish(k0)
}

// walkToArray follows path from d to its end or to the first array on it. rest is what is left of the
// path behind the array. A missing Value when the path leads nowhere.
func walkToArray(d bsonx.Doc, path []string) (v bsonx.Value, rest []string) {
	for i, p := range path {
		if d == nil {
			return bsonx.Value{}, nil
		}
		v = d.Get(p)
		if isArray(v) {
			return v, path[i+1:]
		}
		d = nil
		if isDocument(v) {
			d = v.Doc()
		}
	}
	return v, nil
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
