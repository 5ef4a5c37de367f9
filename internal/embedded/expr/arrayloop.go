package expr

import (
	"mrbench/internal/embedded/bsonx"
)

// loopNode is $map or $filter: body runs once for each element, bound to slot.
type loopNode struct {
	name  string
	input node
	body  node
	limit node // $filter's, may be nil
	slot  int
}

func (n *loopNode) kids() []node {
	if n.limit != nil {
		return []node{n.input, n.body, n.limit}
	}
	return []node{n.input, n.body}
}

func (n *loopNode) eval(st *state) (bsonx.Value, error) {
	in, err := n.input.eval(st)
	if err != nil {
		return missing, err
	}
	if nullish(in) {
		return null, nil
	}
	if in.Type != tArray {
		if n.name == "$map" {
			return missing, errf(16883, "input to $map must be an array not %s", typeName(in))
		}
		return missing, errf(28651, "input to $filter must be an array not %s", typeName(in))
	}
	left := int64(-1)
	if n.limit != nil {
		if left, err = n.filterLimit(st); err != nil {
			return missing, err
		}
	}
	w := st.build(tArray)
	for it := in.Elems(); it.Next() && left != 0; {
		st.vars[n.slot] = it.Value()
		v, err := n.body.eval(st)
		if err != nil {
			w.drop()
			return missing, err
		}
		if n.name == "$map" {
			w.push(v)
		} else if v.Truthy() {
			w.push(it.Value())
			left--
		}
	}
	return w.done(), nil
}

func (n *loopNode) filterLimit(st *state) (int64, error) {
	v, err := n.limit.eval(st)
	if err != nil || nullish(v) {
		return -1, err
	}
	l, ok := whole32(v)
	if !ok {
		return 0, errf(327391, "$filter: limit must be represented as a 32-bit integral value: %s", v)
	}
	if l <= 0 {
		return 0, errf(327392, "$filter: limit must be greater than 0: %d", l)
	}
	return int64(l), nil
}

func (c *compiler) loop(name string, f map[string]bsonx.Value, body bsonx.Value) (*loopNode, error) {
	n := &loopNode{name: name}
	var err error
	if n.input, err = c.compile(f["input"]); err != nil {
		return nil, err
	}
	as := "this"
	if v, ok := f["as"]; ok {
		if as = ""; v.Type == tString {
			as = v.Str()
		}
		if err := CheckVarName(as); err != nil {
			return nil, err
		}
	}
	slot, unbind := c.bind(as)
	n.slot = slot
	n.body, err = c.compile(body)
	unbind()
	return n, err
}

func parseMap(c *compiler, name string, arg bsonx.Value) (node, error) {
	f, err := rawFields(arg, name, 16878, 16879, "input", "as", "in")
	if err != nil {
		return nil, err
	}
	if _, ok := f["input"]; !ok {
		return nil, errf(16880, "Missing 'input' parameter to $map")
	}
	in, ok := f["in"]
	if !ok {
		return nil, errf(16882, "Missing 'in' parameter to $map")
	}
	return c.loop(name, f, in)
}

func parseFilter(c *compiler, name string, arg bsonx.Value) (node, error) {
	f, err := rawFields(arg, name, 28646, 28647, "input", "as", "cond", "limit")
	if err != nil {
		return nil, err
	}
	if _, ok := f["input"]; !ok {
		return nil, errf(28648, "Missing 'input' parameter to $filter")
	}
	cond, ok := f["cond"]
	if !ok {
		return nil, errf(28650, "Missing 'cond' parameter to $filter")
	}
	n, err := c.loop(name, f, cond)
	if err != nil {
		return nil, err
	}
	if l, ok := f["limit"]; ok {
		if n.limit, err = c.compile(l); err != nil {
			return nil, err
		}
	}
	return n, nil
}

type reduceNode struct {
	input, initial, body node
	this, value          int
}

func (n *reduceNode) kids() []node { return []node{n.input, n.initial, n.body} }

func (n *reduceNode) eval(st *state) (bsonx.Value, error) {
	in, err := n.input.eval(st)
	if err != nil {
		return missing, err
	}
	if nullish(in) {
		return null, nil
	}
	if in.Type != tArray {
		return missing, errf(40080, "$reduce requires that 'input' be an array, found: %s", in)
	}
	acc, err := n.initial.eval(st)
	if err != nil {
		return missing, err
	}
	it := in.Elems()
	for it.Next() {
		st.vars[n.this], st.vars[n.value] = it.Value(), acc
		if acc, err = n.body.eval(st); err != nil {
			return missing, err
		}
	}
	return acc, nil
}

func parseReduce(c *compiler, name string, arg bsonx.Value) (node, error) {
	f, err := rawFields(arg, name, 40075, 40076, "input", "initialValue", "in")
	if err != nil {
		return nil, err
	}
	for i, p := range []string{"input", "initialValue", "in"} {
		if _, ok := f[p]; !ok {
			return nil, errf(codeOf(int32(40077+i)), "$reduce requires '%s' to be specified", p)
		}
	}
	n := &reduceNode{}
	if n.input, err = c.compile(f["input"]); err != nil {
		return nil, err
	}
	if n.initial, err = c.compile(f["initialValue"]); err != nil {
		return nil, err
	}
	var u1, u2 func()
	n.this, u1 = c.bind("this")
	n.value, u2 = c.bind("value")
	n.body, err = c.compile(f["in"])
	u2()
	u1()
	return n, err
}
