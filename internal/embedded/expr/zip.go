package expr

import "mrbench/internal/embedded/bsonx"

type zipNode struct {
	inputs   []node
	defaults []node
	longest  bool
}

func (n *zipNode) kids() []node { return append(append([]node{}, n.inputs...), n.defaults...) }

func (n *zipNode) eval(st *state) (bsonx.Value, error) {
	rows := 0
	cols := make([][]bsonx.Value, len(n.inputs))
	dflt := make([]bsonx.Value, len(n.inputs))
	for i, k := range n.inputs {
		v, err := k.eval(st)
		if err != nil {
			return missing, err
		}
		if nullish(v) {
			return null, nil
		}
		if v.Type != tArray {
			return missing, errf(34468, "$zip found a non-array expression in input: %s", v)
		}
		cols[i] = elems(v)
		switch l := len(cols[i]); {
		case i == 0:
			rows = l
		case n.longest:
			rows = max(rows, l)
		default:
			rows = min(rows, l)
		}
	}
	for i := range dflt {
		dflt[i] = null
		if i < len(n.defaults) {
			v, err := n.defaults[i].eval(st)
			if err != nil {
				return missing, err
			}
			dflt[i] = v
		}
	}
	w := st.build(tArray)
	for r := range rows {
		row := st.build(tArray)
		for i, c := range cols {
			if r < len(c) {
				row.push(c[r])
			} else {
				row.push(dflt[i])
			}
		}
		w.push(row.done())
	}
	return w.done(), nil
}

func parseZip(c *compiler, name string, arg bsonx.Value) (node, error) {
	f, err := rawFields(arg, name, 34460, 34464, "inputs", "useLongestLength", "defaults")
	if err != nil {
		return nil, err
	}
	n := &zipNode{}
	in, ok := f["inputs"]
	if ok && in.Type != tArray {
		return nil, errf(34461, "inputs must be an array of expressions, found %s", typeName(in))
	}
	if ok {
		if n.inputs, err = c.list(in); err != nil {
			return nil, err
		}
	}
	if len(n.inputs) == 0 {
		return nil, errf(34465, "$zip requires at least one input array")
	}
	if l, ok := f["useLongestLength"]; ok {
		if l.Type != tBool {
			return nil, errf(34463, "useLongestLength must be a bool, found %s", typeName(l))
		}
		n.longest = l.Bool()
	}
	if d, ok := f["defaults"]; ok {
		if d.Type != tArray {
			return nil, errf(34462, "defaults must be an array of expressions, found %s", typeName(d))
		}
		if !n.longest {
			return nil, errf(34466, "cannot specify defaults unless useLongestLength is true")
		}
		if n.defaults, err = c.list(d); err != nil {
			return nil, err
		}
		if len(n.defaults) != 0 && len(n.defaults) != len(n.inputs) {
			return nil, errf(34467, "defaults and inputs must have the same length")
		}
	}
	return n, nil
}
