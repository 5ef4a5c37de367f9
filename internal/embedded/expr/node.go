package expr

import "mrbench/internal/embedded/bsonx"

// node is one part of a compiled tree; nodes never change after compiling.
type node interface {
	eval(st *state) (bsonx.Value, error)
	kids() []node
}

type constNode struct{ v bsonx.Value }

func (n *constNode) eval(*state) (bsonx.Value, error) { return n.v, nil }
func (n *constNode) kids() []node                     { return nil }

const slotRoot = -1

// pathNode reads a path of the document (slotRoot) or of a variable.
type pathNode struct {
	slot   int
	parts  []string
	path   string
	finder int // index of the first part's finder
}

func (n *pathNode) kids() []node { return nil }

func (n *pathNode) eval(st *state) (bsonx.Value, error) {
	if n.slot == slotRoot {
		if len(n.parts) == 0 {
			return bsonx.Value{Type: tDoc, Data: st.root}, nil
		}
		return n.inDoc(st, 0, st.root), nil
	}
	v := st.vars[n.slot]
	if len(n.parts) == 0 {
		return v, nil
	}
	return n.in(st, 0, v), nil
}

func (n *pathNode) in(st *state, i int, v bsonx.Value) bsonx.Value {
	switch v.Type {
	case tDoc:
		return n.inDoc(st, i, bsonx.Doc(v.Data))
	case tArray:
		// A path into an array gives the array of what its documents have there.
		w := st.build(tArray)
		it := v.Elems()
		for it.Next() {
			e := it.Value()
			if e.Type != tDoc {
				continue
			}
			if r := n.inDoc(st, i, bsonx.Doc(e.Data)); r.Type != tMissing {
				w.push(r)
			}
		}
		return w.done()
	}
	return missing
}

func (n *pathNode) inDoc(st *state, i int, d bsonx.Doc) bsonx.Value {
	v := st.finders[n.finder+i].Get(d)
	if i == len(n.parts)-1 || v.Type == tMissing {
		return v
	}
	return n.in(st, i+1, v)
}

// objectNode is a document of expressions.
type objectNode struct {
	names []string
	vals  []node
}

func (n *objectNode) kids() []node { return n.vals }

func (n *objectNode) eval(st *state) (bsonx.Value, error) {
	w := st.build(tDoc)
	for i, k := range n.vals {
		v, err := k.eval(st)
		if err != nil {
			w.drop()
			return missing, err
		}
		w.elem(n.names[i], v)
	}
	return w.done(), nil
}

// arrayNode is an array of expressions.
type arrayNode struct{ vals []node }

func (n *arrayNode) kids() []node { return n.vals }

func (n *arrayNode) eval(st *state) (bsonx.Value, error) {
	w := st.build(tArray)
	for _, k := range n.vals {
		v, err := k.eval(st)
		if err != nil {
			w.drop()
			return missing, err
		}
		w.push(v)
	}
	return w.done(), nil
}

// function computes an operator from its evaluated arguments.
type function func(st *state, name string, a []bsonx.Value) (bsonx.Value, error)

// callNode evaluates all arguments, then the function. A nil argument is an
// optional one that was not given.
type callNode struct {
	name string
	fn   function
	args []node
}

func (n *callNode) kids() []node { return n.args }

func (n *callNode) eval(st *state) (bsonx.Value, error) {
	base := len(st.stack)
	for _, k := range n.args {
		v := absent
		if k != nil {
			var err error
			if v, err = k.eval(st); err != nil {
				st.stack = st.stack[:base]
				return missing, err
			}
		}
		st.stack = append(st.stack, v)
	}
	v, err := n.fn(st, n.name, st.stack[base:])
	st.stack = st.stack[:base]
	return v, err
}
