package query

import (
	"mrbench/internal/embedded/bsonx"
)

// Apply appends the projected document to dst and returns the longer slice. Fields keep the
// document's order; those that the document does not have follow in the order asked for.
func (p *Projection) Apply(dst []byte, doc bsonx.Doc) ([]byte, error) {
	w := projector{p: p, doc: doc, pos: -1}
	if p.posPath != "" {
		if p.filter != nil {
			_, pos, err := p.filter.matchPosition(doc)
			if err != nil {
				return dst, err
			}
			w.pos = pos
		}
		if w.pos < 0 {
			return dst, bad("Executor error during find command: positional operator '%s.$' couldn't find a matching element in the array", p.posPath)
		}
	}
	return w.document(dst, doc, p.root, true)
}

type projector struct {
	p   *Projection
	doc bsonx.Doc
	pos int
}

// document projects one document by the paths below n.
func (w *projector) document(dst []byte, d bsonx.Doc, n *projNode, top bool) ([]byte, error) {
	start := len(dst)
	dst = bsonx.BeginDoc(dst)
	var err error
	it := d.Iter()
	for it.Next() {
		name, v := it.Name(), it.Value()
		k := n.kid(name)
		if top && k == nil && string(name) == "_id" {
			if w.p.id {
				dst = appendElem(dst, name, v)
			}
			continue
		}
		if dst, err = w.field(dst, name, v, k); err != nil {
			return dst, err
		}
	}
	for _, k := range n.kids {
		if !hasComputed(k) || !d.Get(k.name).IsMissing() {
			continue
		}
		if dst, err = w.newField(dst, k); err != nil {
			return dst, err
		}
	}
	return bsonx.EndDoc(dst, start), nil
}

func hasComputed(n *projNode) bool {
	if n.leaf {
		return n.op == projExpr
	}
	for _, k := range n.kids {
		if hasComputed(k) {
			return true
		}
	}
	return false
}

// newField appends a computed field that the document does not have.
func (w *projector) newField(dst []byte, n *projNode) ([]byte, error) {
	if n.leaf {
		v, err := n.expr.Eval(w.doc)
		if err != nil || v.IsMissing() {
			return dst, err
		}
		return bsonx.AppendElem(dst, n.name, v), nil
	}
	dst, start := bsonx.BeginElem(dst, typeObject, n.name)
	var err error
	for _, k := range n.kids {
		if hasComputed(k) {
			if dst, err = w.newField(dst, k); err != nil {
				return dst, err
			}
		}
	}
	return bsonx.EndDoc(dst, start), nil
}

// field projects one field; k is what the projection says of it, nil for nothing.
func (w *projector) field(dst []byte, name []byte, v bsonx.Value, k *projNode) ([]byte, error) {
	switch {
	case k == nil:
		if w.p.include {
			return dst, nil
		}
		return appendElem(dst, name, v), nil
	case !k.leaf:
		return w.nested(dst, name, v, k)
	}
	switch k.op {
	case projSlice:
		if v.Type != typeArray {
			return appendElem(dst, name, v), nil
		}
		return appendElem(dst, name, slice(v, k.skip, k.count)), nil
	case projElem:
		m := matcher{pos: -1}
		if !k.elem.test(v, &m) {
			return dst, m.err
		}
		return appendElem(dst, name, bsonx.Array(nth(v, m.pos))), m.err
	case projPositional:
		if v.Type != typeArray {
			return appendElem(dst, name, v), nil
		}
		e := nth(v, w.pos)
		if e.IsMissing() {
			return dst, bad("Executor error during find command: positional operator '%s.$' element mismatch", w.p.posPath)
		}
		return appendElem(dst, name, bsonx.Array(e)), nil
	case projExpr:
		e, err := k.expr.Eval(w.doc)
		if err != nil || e.IsMissing() {
			return dst, err
		}
		return appendElem(dst, name, e), nil
	}
	if w.p.include {
		return appendElem(dst, name, v), nil
	}
	return dst, nil
}

// nested goes into documents, and into documents inside of arrays. Other values have none of the
// named fields: an inclusion drops them, an exclusion leaves them.
func (w *projector) nested(dst []byte, name []byte, v bsonx.Value, n *projNode) ([]byte, error) {
	switch v.Type {
	case typeObject, typeArray:
		dst = append(append(append(dst, byte(v.Type)), name...), 0)
		return w.inside(dst, v, n)
	}
	if w.p.include {
		if hasComputed(n) {
			return w.newField(dst, n)
		}
		return dst, nil
	}
	return appendElem(dst, name, v), nil
}

func (w *projector) inside(dst []byte, v bsonx.Value, n *projNode) ([]byte, error) {
	if v.Type == typeObject {
		return w.document(dst, v.Doc(), n, false)
	}
	start := len(dst)
	dst = bsonx.BeginDoc(dst)
	i := 0
	var err error
	it := v.Elems()
	for it.Next() {
		e := it.Value()
		if e.Type != typeObject && e.Type != typeArray {
			if w.p.include {
				continue
			}
			dst = append(append(dst, byte(e.Type)), bsonx.AppendIndex(nil, i)...)
			dst = append(append(dst, 0), e.Data...)
		} else {
			dst = append(append(dst, byte(e.Type)), bsonx.AppendIndex(nil, i)...)
			if dst, err = w.inside(append(dst, 0), e, n); err != nil {
				return dst, err
			}
		}
		i++
	}
	return bsonx.EndDoc(dst, start), nil
}

func appendElem(dst, name []byte, v bsonx.Value) []byte {
	if v.IsMissing() {
		return dst
	}
	dst = append(append(append(dst, byte(v.Type)), name...), 0)
	return append(dst, v.Data...)
}

// slice cuts an array: skip from the front, or from the back when negative.
func slice(v bsonx.Value, skip, count int64) bsonx.Value {
	n := int64(v.Doc().Len())
	if skip < 0 {
		skip = max(0, n+skip)
	}
	end := n
	if count < n-skip {
		end = skip + count
	}
	b := newArray("")
	i := int64(0)
	it := v.Elems()
	for ; it.Next(); i++ {
		if i >= skip && i < end {
			b.add(it.Value())
		}
	}
	return b.value()
}

// nth is an element of an array, missing when there is none.
func nth(v bsonx.Value, i int) bsonx.Value {
	it := v.Elems()
	for ; it.Next(); i-- {
		if i == 0 {
			return it.Value()
		}
	}
	return bsonx.Value{}
}
