package expr

import (
	"strings"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// maxNesting guards the recursion over what clients send.
const maxNesting = 200

type compiler struct {
	scope *Scope
	prog  *program
	ops   map[string]op
	local []localVar
	depth int
	fold  bool
	// functions counts the $functions compiled.
	functions int
}

type localVar struct {
	name string
	slot int
}

// op is one operator: either a function of evaluated arguments with its arity
// (max < 0: any number), or a parser of its own.
type op struct {
	min, max int
	fn       function
	parse    func(c *compiler, name string, arg bsonx.Value) (node, error)
	impure   bool // never folded
}

func (c *compiler) compile(v bsonx.Value) (node, error) {
	if c.depth++; c.depth > maxNesting {
		return nil, errf(mongoerr.Overflow, "expression is nested deeper than %d levels", maxNesting)
	}
	defer func() { c.depth-- }()
	switch v.Type {
	case tString:
		s := v.StrBytes()
		if len(s) > 0 && s[0] == '$' {
			return c.fieldPath(string(s))
		}
	case tDoc:
		return c.object(v.Doc())
	case tArray:
		return c.array(v)
	}
	return &constNode{v.Clone()}, nil
}

func (c *compiler) array(v bsonx.Value) (node, error) {
	vals, err := c.list(v)
	if err != nil {
		return nil, err
	}
	return c.folded(&arrayNode{vals})
}

func (c *compiler) list(v bsonx.Value) ([]node, error) {
	var vals []node
	for it := v.Elems(); it.Next(); {
		n, err := c.compile(it.Value())
		if err != nil {
			return nil, err
		}
		vals = append(vals, n)
	}
	return vals, nil
}

func (c *compiler) object(d bsonx.Doc) (node, error) {
	it := d.Iter()
	if !it.Next() {
		return &constNode{bsonx.DocValue(d).Clone()}, nil
	}
	if name := it.Name(); len(name) > 0 && name[0] == '$' {
		op, arg := string(name), it.Value()
		if it.Next() {
			return nil, errf(15983, "An object representing an expression must have exactly one field: %s", bsonx.DocValue(d))
		}
		return c.operator(op, arg)
	}
	o := &objectNode{}
	seen := map[string]bool{}
	for it = d.Iter(); it.Next(); {
		name := string(it.Name())
		if err := CheckFieldName(name); err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, errf(16406, "duplicate field name specified in object expression: %s", name)
		}
		seen[name] = true
		n, err := c.compile(it.Value())
		if err != nil {
			return nil, err
		}
		o.names, o.vals = append(o.names, name), append(o.vals, n)
	}
	return c.folded(o)
}

func (c *compiler) operator(name string, arg bsonx.Value) (node, error) {
	o, ok := c.ops[name]
	if name == "$toHashedIndexKey" {
		return nil, errf(mongoerr.CommandNotSupported, "%s is not supported by this engine: it has no hashed indexes", name)
	}
	if !ok {
		return nil, errf(mongoerr.InvalidPipelineOperator, "Unrecognized expression '%s'", name)
	}
	if o.parse != nil {
		n, err := o.parse(c, name, arg)
		if err != nil || o.impure {
			return n, err
		}
		return c.folded(n)
	}
	args, err := c.args(name, arg, o.min, o.max)
	if err != nil {
		return nil, err
	}
	n := &callNode{name: name, fn: o.fn, args: args}
	if o.impure {
		return n, nil
	}
	return c.folded(n)
}

// args compiles an operator's argument list: an array, or one value standing for a list of one.
func (c *compiler) args(name string, arg bsonx.Value, lo, hi int) ([]node, error) {
	var args []node
	var err error
	if arg.Type == tArray {
		args, err = c.list(arg)
	} else {
		var n node
		n, err = c.compile(arg)
		args = []node{n}
	}
	if err != nil {
		return nil, err
	}
	n := len(args)
	switch {
	case lo == hi && n != lo:
		return nil, errf(16020, "Expression %s takes exactly %d arguments. %d were passed in.", name, lo, n)
	case n < lo && hi < 0:
		return nil, errf(28667, "Expression %s takes at least %d arguments, and %d were passed in.", name, lo, n)
	case n < lo || hi >= 0 && n > hi:
		return nil, errf(28667, "Expression %s takes at least %d arguments, and at most %d, but %d were passed in.", name, lo, hi, n)
	}
	return args, nil
}

// folded evaluates a node all of whose children are constants. An operator that fails then fails the pipeline,
// whether or not a document would ever reach it, as MongoDB's optimizer does; what only binds or chooses
// ($let, $map, $switch) stays for the documents.
func (c *compiler) folded(n node) (node, error) {
	if !c.fold {
		return n, nil
	}
	for _, k := range n.kids() {
		if k == nil {
			continue
		}
		if _, ok := k.(*constNode); !ok {
			return n, nil
		}
	}
	st := &state{vars: make([]bsonx.Value, c.prog.slots)}
	v, err := n.eval(st)
	if err == nil {
		return &constNode{v.Clone()}, nil
	}
	switch n.(type) {
	case *callNode, *convertNode:
		return nil, err
	}
	return n, nil
}

// bind makes a variable for the parts compiled until the returned function is called.
func (c *compiler) bind(name string) (slot int, unbind func()) {
	slot = c.prog.slots
	c.prog.slots++
	n := len(c.local)
	c.local = append(c.local, localVar{name, slot})
	return slot, func() { c.local = c.local[:n] }
}

func (c *compiler) fieldPath(s string) (node, error) {
	if s == "$" {
		return nil, errf(16872, "'$' by itself is not a valid FieldPath")
	}
	if s[1] != '$' {
		parts, err := SplitPath(s[1:])
		if err != nil {
			return nil, err
		}
		return c.variable("CURRENT", parts)
	}
	name, rest, dotted := strings.Cut(s[2:], ".")
	if err := checkVarRead(name); err != nil {
		return nil, err
	}
	var parts []string
	if dotted {
		var err error
		if parts, err = SplitPath(name + "." + rest); err == nil {
			parts = parts[1:]
		} else {
			return nil, err
		}
	}
	return c.variable(name, parts)
}

func (c *compiler) variable(name string, parts []string) (node, error) {
	slot := slotRoot
	for i := len(c.local) - 1; i >= 0; i-- {
		if c.local[i].name == name {
			return c.pathOf(c.local[i].slot, parts), nil
		}
	}
	if f := c.scope.find(name); f != nil {
		if !f.bound {
			if len(parts) == 0 {
				return &constNode{f.val}, nil
			}
			return c.inConst(f.val, parts), nil
		}
		i, ok := c.prog.bound[name]
		if !ok {
			if c.prog.bound == nil {
				c.prog.bound = map[string]int{}
			}
			i = c.prog.slots
			c.prog.slots++
			c.prog.bound[name] = i
		}
		return c.pathOf(i, parts), nil
	}
	switch name {
	case "ROOT", "CURRENT":
		return c.pathOf(slot, parts), nil
	case "REMOVE":
		return &constNode{missing}, nil
	case "NOW":
		return c.inConst(Now(), parts), nil
	}
	return nil, errf(17276, "Use of undefined variable: %s", name)
}

func (c *compiler) pathOf(slot int, parts []string) *pathNode {
	n := &pathNode{slot: slot, parts: parts, path: strings.Join(parts, "."), finder: len(c.prog.fields)}
	c.prog.fields = append(c.prog.fields, parts...)
	return n
}

func (c *compiler) inConst(v bsonx.Value, parts []string) node {
	p := &program{fields: parts}
	n := &pathNode{parts: parts}
	if len(parts) == 0 {
		return &constNode{v}
	}
	return &constNode{n.in(p.newState(), 0, v).Clone()}
}
