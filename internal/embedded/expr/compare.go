package expr

import "mrbench/internal/embedded/bsonx"

// cmpNode is one of the comparison operators.
type cmpNode struct {
	name       string
	args       [2]node
	lt, eq, gt bool // what an order of -1, 0, 1 answers
}

func (n *cmpNode) kids() []node { return n.args[:] }

func (n *cmpNode) eval(st *state) (bsonx.Value, error) {
	a, err := n.args[0].eval(st)
	if err != nil {
		return missing, err
	}
	b, err := n.args[1].eval(st)
	if err != nil {
		return missing, err
	}
	switch c := compare(a, b); {
	case n.name == "$cmp":
		return st.i32(int32(c)), nil
	case c < 0:
		return boolean(n.lt), nil
	case c > 0:
		return boolean(n.gt), nil
	}
	return boolean(n.eq), nil
}

func compare(a, b bsonx.Value) int {
	if a.Type == tInt32 && b.Type == tInt32 {
		x, y := a.Int32(), b.Int32()
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	}
	return bsonx.CompareAgg(a, b)
}

func comparison(lt, eq, gt bool) op {
	return op{parse: func(c *compiler, name string, arg bsonx.Value) (node, error) {
		args, err := c.args(name, arg, 2, 2)
		if err != nil {
			return nil, err
		}
		return &cmpNode{name: name, args: [2]node(args), lt: lt, eq: eq, gt: gt}, nil
	}}
}
