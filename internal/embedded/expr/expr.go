package expr

import (
	"strings"

	"mrbench/internal/embedded/bsonx"
)

// Expr is a compiled expression. Eval may reuse buffers inside the Expr: one
// goroutine at a time; Clone for another.
type Expr struct {
	n    node
	prog *program
	st   *state
}

// program is what all clones and parts of an expression share.
type program struct {
	fields []string // one per finder
	slots  int      // variables
	bound  map[string]int
}

// Compile parses any expression: "$a.b", {$add: […]}, a document of expressions,
// a literal. Errors carry MongoDB's codes (168 unknown operator, 16020 wrong
// number of arguments, 17276 undefined variable, …). Constant parts are folded.
func Compile(v bsonx.Value, s *Scope) (*Expr, error) {
	return compileWith(v, s, true)
}

func compileWith(v bsonx.Value, s *Scope, fold bool) (*Expr, error) {
	c := &compiler{scope: s, prog: &program{}, ops: operators(), fold: fold}
	n, err := c.compile(v)
	if err != nil {
		return nil, err
	}
	return &Expr{n: n, prog: c.prog, st: c.prog.newState()}, nil
}

// Const is an expression with that value.
func Const(v bsonx.Value) *Expr {
	p := &program{}
	return &Expr{n: &constNode{v.Clone()}, prog: p, st: p.newState()}
}

func (p *program) newState() *state {
	st := &state{vars: make([]bsonx.Value, p.slots)}
	for _, name := range p.fields {
		st.finders = append(st.finders, bsonx.NewFinder(name))
	}
	return st
}

// Eval computes the expression for a document. A missing result has type
// bsonx.Missing. The result may alias root or buffers of the Expr: it is valid
// until the next Eval.
func (e *Expr) Eval(root bsonx.Doc) (bsonx.Value, error) {
	e.st.reset(root)
	return e.n.eval(e.st)
}

// Bind sets a variable of Scope.WithBound for the following Evals. The value
// must stay unchanged as long.
func (e *Expr) Bind(name string, v bsonx.Value) {
	if i, ok := e.prog.bound[name]; ok {
		e.st.vars[i] = v
	}
}

// Clone gives an Expr for another goroutine.
func (e *Expr) Clone() *Expr {
	st := e.prog.newState()
	copy(st.vars, e.st.vars)
	return &Expr{n: e.n, prog: e.prog, st: st}
}

// Constant is the value when it does not depend on the document.
func (e *Expr) Constant() (bsonx.Value, bool) {
	if c, ok := e.n.(*constNode); ok {
		return c.v, true
	}
	return missing, false
}

// FieldPath is the dotted path when the expression is just "$path" (or "$$ROOT.path").
func (e *Expr) FieldPath() (string, bool) {
	if p, ok := e.n.(*pathNode); ok && p.slot == slotRoot && len(p.parts) > 0 {
		return p.path, true
	}
	return "", false
}

// Object gives the fields when it is a document of expressions, as a $group's
// _id of several parts.
func (e *Expr) Object() (names []string, fields []*Expr, ok bool) {
	o, ok := e.n.(*objectNode)
	if !ok {
		return nil, nil, false
	}
	return o.names, e.parts(o.vals), true
}

// Operator gives the operator and its arguments when it is one ("$and", "$gte",
// …), for planners.
func (e *Expr) Operator() (name string, args []*Expr, ok bool) {
	switch n := e.n.(type) {
	case *callNode:
		return n.name, e.parts(n.args), true
	case *cmpNode:
		return n.name, e.parts(n.args[:]), true
	case *logicNode:
		return n.name, e.parts(n.args), true
	}
	return "", nil, false
}

func (e *Expr) parts(ns []node) []*Expr {
	out := make([]*Expr, len(ns))
	for i, n := range ns {
		if n == nil {
			n = &constNode{missing}
		}
		out[i] = &Expr{n: n, prog: e.prog, st: e.st}
	}
	return out
}

// Deps collects the dotted paths that Eval may read; whole is true when it may
// read anything ($$ROOT).
func (e *Expr) Deps(add func(path string)) (whole bool) {
	return deps(e.n, add)
}

func deps(n node, add func(string)) (whole bool) {
	if p, ok := n.(*pathNode); ok && p.slot == slotRoot {
		if len(p.parts) == 0 {
			return true
		}
		add(p.path)
		return false
	}
	for _, k := range n.kids() {
		if k != nil && deps(k, add) {
			whole = true
		}
	}
	return whole
}

// Prefixed reports whether path is one of parents or lies below one.
func Prefixed(path string, parents []string) bool {
	for _, p := range parents {
		if path == p || strings.HasPrefix(path, p) && path[len(p)] == '.' {
			return true
		}
	}
	return false
}
