package expr

import "mrbench/internal/embedded/bsonx"

type letNode struct {
	slots []int
	vals  []node
	in    node
}

func (n *letNode) kids() []node { return append(append([]node{}, n.vals...), n.in) }

func (n *letNode) eval(st *state) (bsonx.Value, error) {
	for i, k := range n.vals {
		v, err := k.eval(st)
		if err != nil {
			return missing, err
		}
		st.vars[n.slots[i]] = v
	}
	return n.in.eval(st)
}

func parseLet(c *compiler, name string, arg bsonx.Value) (node, error) {
	f, err := rawFields(arg, name, 16874, 16875, "vars", "in")
	if err != nil {
		return nil, err
	}
	vars, ok := f["vars"]
	if !ok {
		return nil, errf(16876, "Missing 'vars' parameter to $let")
	}
	in, ok := f["in"]
	if !ok {
		return nil, errf(16877, "Missing 'in' parameter to $let")
	}
	if vars.Type != tDoc {
		return nil, errf(10065, "invalid parameter: expected an object (vars)")
	}
	n := &letNode{}
	var names []string
	for it := vars.Elems(); it.Next(); {
		v := string(it.Name())
		if err := CheckVarName(v); err != nil {
			return nil, err
		}
		k, err := c.compile(it.Value())
		if err != nil {
			return nil, err
		}
		names, n.vals = append(names, v), append(n.vals, k)
	}
	// All values are outside of the new variables' reach, so bind after compiling them.
	var undo []func()
	for _, v := range names {
		slot, u := c.bind(v)
		n.slots, undo = append(n.slots, slot), append(undo, u)
	}
	n.in, err = c.compile(in)
	for i := len(undo) - 1; i >= 0; i-- {
		undo[i]()
	}
	return n, err
}

func parseLiteral(_ *compiler, _ string, arg bsonx.Value) (node, error) {
	return &constNode{arg.Clone()}, nil
}
