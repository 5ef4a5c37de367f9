package expr

import "mrbench/internal/embedded/bsonx"

// logicNode is $and or $or; it stops at the first argument that decides.
type logicNode struct {
	name string
	args []node
	stop bool // the truth that ends it
}

func (n *logicNode) kids() []node { return n.args }

func (n *logicNode) eval(st *state) (bsonx.Value, error) {
	for _, k := range n.args {
		v, err := k.eval(st)
		if err != nil {
			return missing, err
		}
		if v.Truthy() == n.stop {
			return boolean(n.stop), nil
		}
	}
	return boolean(!n.stop), nil
}

func logic(stop bool) op {
	return op{parse: func(c *compiler, name string, arg bsonx.Value) (node, error) {
		args, err := c.args(name, arg, 0, -1)
		if err != nil {
			return nil, err
		}
		return &logicNode{name: name, args: args, stop: stop}, nil
	}}
}

func opNot(_ *state, _ string, a []bsonx.Value) (bsonx.Value, error) {
	return boolean(!a[0].Truthy()), nil
}
