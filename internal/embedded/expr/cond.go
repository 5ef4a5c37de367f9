package expr

import "mrbench/internal/embedded/bsonx"

type condNode struct{ args [3]node }

func (n *condNode) kids() []node { return n.args[:] }

func (n *condNode) eval(st *state) (bsonx.Value, error) {
	v, err := n.args[0].eval(st)
	if err != nil {
		return missing, err
	}
	if v.Truthy() {
		return n.args[1].eval(st)
	}
	return n.args[2].eval(st)
}

func parseCond(c *compiler, name string, arg bsonx.Value) (node, error) {
	if arg.Type != tDoc {
		args, err := c.args(name, arg, 3, 3)
		if err != nil {
			return nil, err
		}
		return &condNode{[3]node(args)}, nil
	}
	n := &condNode{}
	for it := arg.Elems(); it.Next(); {
		var i int
		switch string(it.Name()) {
		case "if":
			i = 0
		case "then":
			i = 1
		case "else":
			i = 2
		default:
			return nil, errf(17083, "Unrecognized parameter to $cond: %s", it.Name())
		}
		k, err := c.compile(it.Value())
		if err != nil {
			return nil, err
		}
		n.args[i] = k
	}
	for i, k := range n.args {
		if k == nil {
			return nil, errf(codeOf(int32(17080+i)), "Missing '%s' parameter to $cond", []string{"if", "then", "else"}[i])
		}
	}
	return n, nil
}

type ifNullNode struct{ args []node }

func (n *ifNullNode) kids() []node { return n.args }

func (n *ifNullNode) eval(st *state) (bsonx.Value, error) {
	var v bsonx.Value
	for _, k := range n.args {
		var err error
		if v, err = k.eval(st); err != nil || !nullish(v) {
			return v, err
		}
	}
	return v, nil
}

func parseIfNull(c *compiler, name string, arg bsonx.Value) (node, error) {
	args, err := c.args(name, arg, 0, -1)
	if err != nil {
		return nil, err
	}
	if len(args) < 2 {
		return nil, errf(16020, "Expression $ifNull takes at least 2 arguments. %d were passed in.", len(args))
	}
	return &ifNullNode{args}, nil
}

// switchNode: kids are case, then, case, then, …, and the default if there is one.
type switchNode struct{ args []node }

func (n *switchNode) kids() []node { return n.args }

func (n *switchNode) eval(st *state) (bsonx.Value, error) {
	i := 0
	for ; i+1 < len(n.args); i += 2 {
		v, err := n.args[i].eval(st)
		if err != nil {
			return missing, err
		}
		if v.Truthy() {
			return n.args[i+1].eval(st)
		}
	}
	if i < len(n.args) {
		return n.args[i].eval(st)
	}
	return missing, errf(40066, "$switch could not find a matching branch for an input, and no default was specified.")
}

func parseSwitch(c *compiler, _ string, arg bsonx.Value) (node, error) {
	if arg.Type != tDoc {
		return nil, errf(40060, "$switch requires an object as an argument, found: %s", typeName(arg))
	}
	n := &switchNode{}
	var dflt node
	for it := arg.Elems(); it.Next(); {
		switch string(it.Name()) {
		case "branches":
			if it.Value().Type != tArray {
				return nil, errf(40061, "$switch expected an array for 'branches', found: %s", typeName(it.Value()))
			}
			for b := it.Value().Elems(); b.Next(); {
				if err := c.branch(n, b.Value()); err != nil {
					return nil, err
				}
			}
		case "default":
			var err error
			if dflt, err = c.compile(it.Value()); err != nil {
				return nil, err
			}
		default:
			return nil, errf(40067, "$switch found an unknown argument: %s", it.Name())
		}
	}
	if len(n.args) == 0 {
		return nil, errf(40068, "$switch requires at least one branch.")
	}
	if dflt != nil {
		n.args = append(n.args, dflt)
	}
	return n, nil
}

func (c *compiler) branch(n *switchNode, b bsonx.Value) error {
	if b.Type != tDoc {
		return errf(40062, "$switch expected each branch to be an object, found: %s", typeName(b))
	}
	var when, then node
	for it := b.Elems(); it.Next(); {
		k, err := c.compile(it.Value())
		if err != nil {
			return err
		}
		switch string(it.Name()) {
		case "case":
			when = k
		case "then":
			then = k
		default:
			return errf(40063, "$switch found an unknown argument to a branch: %s", it.Name())
		}
	}
	switch {
	case when == nil:
		return errf(40064, "$switch requires each branch have a 'case' expression")
	case then == nil:
		return errf(40065, "$switch requires each branch have a 'then' expression.")
	}
	n.args = append(n.args, when, then)
	return nil
}
