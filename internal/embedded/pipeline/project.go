package pipeline

import (
	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/query"
)

// projMode is what a projection does with fields that it does not name.
type projMode uint8

const (
	include projMode = iota // drop them
	exclude                 // keep them
	add                     // keep them, set the named ones ($addFields)
)

// projNode is a projection of one level of documents.
type projNode struct {
	mode   projMode
	fields []projField
	byName map[string]int // when there are many
	done   []bool         // scratch of apply
	// computes: some field here or below is computed.
	computes bool
}

type projField struct {
	name string
	kind projKind
	e    *expr.Expr
	sub  *projNode
}

type projKind uint8

const (
	keepField projKind = iota
	dropField
	computeField
	nestField
)

// manyFields is from where on a map beats looking at each name.
const manyFields = 8

func (n *projNode) find(name []byte) int {
	if n.byName != nil {
		if i, ok := n.byName[string(name)]; ok {
			return i
		}
		return -1
	}
	for i := range n.fields {
		if n.fields[i].name == string(name) {
			return i
		}
	}
	return -1
}

// seal prepares a finished tree.
func (n *projNode) seal() {
	n.done = make([]bool, len(n.fields))
	if len(n.fields) > manyFields {
		n.byName = make(map[string]int, len(n.fields))
	}
	for i := range n.fields {
		f := &n.fields[i]
		if n.byName != nil {
			n.byName[f.name] = i
		}
		switch f.kind {
		case computeField:
			n.computes = true
		case nestField:
			f.sub.seal()
			n.computes = n.computes || f.sub.computes
		}
	}
}

// apply appends the projected document; root is the whole input that expressions see.
func (n *projNode) apply(dst []byte, d, root bsonx.Doc) ([]byte, error) {
	start := len(dst)
	dst = bsonx.BeginDoc(dst)
	clear(n.done)
	var err error
	it := d.Iter()
	for it.Next() {
		i := n.find(it.Name())
		if i < 0 {
			if n.mode != include {
				dst = appendRaw(dst, it.Name(), it.Value())
			}
			continue
		}
		f := &n.fields[i]
		switch f.kind {
		case keepField:
			dst = appendRaw(dst, it.Name(), it.Value())
		case computeField:
			// $addFields sets the field where it stands; a $project puts it behind the kept ones
			if n.mode == add && !n.done[i] {
				n.done[i] = true
				if dst, err = appendComputed(dst, f, root); err != nil {
					return dst, err
				}
			}
		case nestField:
			var ok bool
			if dst, ok, err = f.sub.value(dst, f.name, it.Value(), root); err != nil {
				return dst, err
			}
			n.done[i] = n.done[i] || ok
		}
	}
	if n.computes {
		for i := range n.fields {
			f := &n.fields[i]
			switch {
			case n.done[i]:
			case f.kind == computeField:
				if dst, err = appendComputed(dst, f, root); err != nil {
					return dst, err
				}
			case f.kind == nestField && f.sub.computes:
				if dst, err = f.sub.fresh(dst, f.name, root); err != nil {
					return dst, err
				}
			}
		}
	}
	return bsonx.EndDoc(dst, start), nil
}

// value appends what becomes of an existing value; ok is false when nothing was appended.
func (n *projNode) value(dst []byte, name string, v bsonx.Value, root bsonx.Doc) (_ []byte, ok bool, err error) {
	switch v.Type {
	case tDoc:
		dst = appendHeader(dst, name)
		dst, err = n.apply(dst, v.Doc(), root)
		return dst, true, err
	case tArray:
		var start int
		dst, start = bsonx.BeginElem(dst, tArray, name)
		dst, err = n.array(dst, v, root)
		return bsonx.EndDoc(dst, start), true, err
	}
	switch {
	case n.mode == exclude:
		return bsonx.AppendElem(dst, name, v), true, nil
	case n.computes:
		dst, err = n.fresh(dst, name, root)
		return dst, true, err
	case n.mode == add:
		return bsonx.AppendElem(dst, name, v), true, nil
	}
	return dst, false, nil
}

func (n *projNode) array(dst []byte, v bsonx.Value, root bsonx.Doc) ([]byte, error) {
	i := 0
	it := v.Elems()
	for it.Next() {
		var ok bool
		var err error
		if dst, ok, err = n.value(dst, indexName(i), it.Value(), root); err != nil {
			return dst, err
		}
		if ok {
			i++
		}
	}
	return dst, nil
}

// fresh appends a document of the computed fields alone.
func (n *projNode) fresh(dst []byte, name string, root bsonx.Doc) ([]byte, error) {
	dst = appendHeader(dst, name)
	return n.apply(dst, bsonx.Empty, root)
}

func appendComputed(dst []byte, f *projField, root bsonx.Doc) ([]byte, error) {
	v, err := f.e.Eval(root)
	if err != nil || v.IsMissing() {
		return dst, err
	}
	return bsonx.AppendElem(dst, f.name, v), nil
}

// projectStage is $project, $addFields, $set or $unset.
type projectStage struct {
	name string
	root *projNode
}

func (s *projectStage) open(_ *run, in query.Source) (query.Source, error) {
	return &mapSource{in: in, fn: func(dst []byte, d bsonx.Doc) ([]byte, error) {
		return s.root.apply(dst, d, d)
	}}, nil
}

func (s *projectStage) deps(d *deps) bool {
	s.root.deps(d, "")
	if s.root.mode == include {
		return true
	}
	s.root.paths("", func(p string, k projKind) {
		if k == computeField {
			d.hidden = append(d.hidden, p)
		}
	})
	return false
}

func (n *projNode) deps(d *deps, prefix string) {
	for i := range n.fields {
		f := &n.fields[i]
		switch f.kind {
		case keepField:
			d.add(prefix + f.name)
		case computeField:
			d.expr(f.e)
		case nestField:
			if f.sub.computes && prefix+f.name != "" {
				// whether a computed field lands in a document, an array or replaces a scalar depends on the value
				d.add(prefix + f.name)
			}
			f.sub.deps(d, prefix+f.name+".")
		}
	}
}

// paths visits the named paths.
func (n *projNode) paths(prefix string, visit func(path string, k projKind)) {
	for i := range n.fields {
		f := &n.fields[i]
		if f.kind == nestField {
			f.sub.paths(prefix+f.name+".", visit)
			continue
		}
		visit(prefix+f.name, f.kind)
	}
}

// keeps: the paths mean the same before and after the stage.
func (s *projectStage) keeps(paths []string) bool {
	for _, p := range paths {
		kept := s.root.mode != include
		touched := false
		s.root.paths("", func(q string, k projKind) {
			switch {
			case k == keepField && expr.Prefixed(p, []string{q}):
				kept = true
			case k != keepField && overlap(p, q):
				touched = true
			}
		})
		if !kept || touched {
			return false
		}
	}
	return true
}
