package translate

import (
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// enter begins a function's body: its variables are known from its beginning on.
func (x *exec) hoist(body []ast.Statement) {
	w := walker{}
	w.statements(body)
	for _, name := range w.declared {
		if _, ok := x.env.cells[name]; !ok {
			x.declare(name, undef())
		}
	}
	for _, f := range w.functions {
		x.declare(f.Name.Name.String(), x.function(f.ParameterList, f.Body.List, nil, f))
	}
}

// invoke is what a call of a function of the job gives.
func (x *exec) invoke(fn *closure, args []*val, n ast.Node) *val {
	x.depth++
	defer func() { x.depth-- }()
	if x.depth > maxDepth {
		x.refuse(n, RefuseSyntax, "nested too deeply, or a function that calls itself")
	}
	this := x.this
	if !fn.arrow {
		x.this = nil
	}
	env0, src, rets, live, dead, known := x.env, x.src, x.st.rets, x.st.live, x.st.dead, x.st.known
	x.env, x.src = &env{cells: map[string]int{}, parent: fn.env}, fn.src
	defer func() {
		x.env, x.src, x.this = env0, src, this
		x.st.rets, x.st.live, x.st.dead, x.st.known = rets, live, dead, known
	}()
	for i, p := range fn.params {
		v := undef()
		if i < len(args) {
			v = args[i]
		}
		x.declare(p, v)
	}
	if fn.result != nil {
		return x.settle(x.eval(fn.result))
	}
	x.hoist(fn.body)
	var list []returned
	x.st.rets = &list
	x.block(fn.body)
	return x.results(list, len(live), x.st.dead)
}

// results combines what a function returns in its branches.
func (x *exec) results(list []returned, base int, whole bool) *val {
	v := undef()
	for i, r := range slices.Backward(list) {
		test := all2(r.live[base:]...)
		if i == len(list)-1 && whole {
			test = true
		}
		v = x.choose(test, boolean(test, nil, nil), r.v, v)
	}
	return v
}

func (x *exec) block(list []ast.Statement) {
	for _, s := range list {
		if x.st.dead {
			return
		}
		x.statement(s)
	}
}

func (x *exec) statement(s ast.Statement) {
	switch s := s.(type) {
	case *ast.EmptyStatement, *ast.FunctionDeclaration:
	case *ast.BlockStatement:
		x.block(s.List)
	case *ast.ExpressionStatement:
		x.eval(s.Expression)
	case *ast.VariableStatement:
		x.bindings(s.List)
	case *ast.LexicalDeclaration:
		x.bindings(s.List)
	case *ast.IfStatement:
		x.ifStatement(s)
	case *ast.ReturnStatement:
		v := undef()
		if s.Argument != nil {
			v = x.settle(x.eval(s.Argument))
		}
		if x.st.rets == nil {
			x.refuse(s, RefuseLoop, "return out of a loop leaves the rest of it out, which has no equivalent")
		}
		*x.st.rets = append(*x.st.rets, returned{live: slices.Clone(x.st.live), v: v, node: s})
		x.st.dead = true
	case *ast.ForStatement:
		x.forStatement(s)
	case *ast.ForInStatement:
		x.forIn(s)
	case *ast.ForOfStatement:
		x.forOf(s)
	case *ast.BranchStatement:
		if s.Token == token.CONTINUE && s.Label == nil {
			x.st.dead = true
			return
		}
		x.refuse(s, RefuseLoop, "%s has no equivalent: a pipeline goes through all elements", s.Token)
	case *ast.SwitchStatement:
		x.switchStatement(s)
	case *ast.ThrowStatement:
		x.throws(s, true, "$_id", "throw is reached")
		x.st.dead = true
	default:
		x.refuse(s, RefuseSyntax, "%s has no equivalent", x.text(s))
	}
}

func (x *exec) bindings(list []*ast.Binding) {
	for _, b := range list {
		id, ok := b.Target.(*ast.Identifier)
		if !ok {
			x.refuse(b, RefuseSyntax, "destructuring has no equivalent")
		}
		v := undef()
		if b.Initializer != nil {
			v = x.settle(x.eval(b.Initializer))
		} else if _, known := x.env.cells[id.Name.String()]; known {
			continue // var without a value keeps what is there
		}
		if c, ok := x.env.cells[id.Name.String()]; ok {
			x.st.store[c] = v
		} else {
			x.declare(id.Name.String(), v)
		}
	}
}

func (x *exec) ifStatement(s *ast.IfStatement) {
	tv := x.eval(s.Test)
	test, yes, no := x.truthy(tv)
	switch test {
	case true:
		x.statement(s.Consequent)
		return
	case false:
		if s.Alternate != nil {
			x.statement(s.Alternate)
		}
		return
	}
	x.branch(test, tv, yes, no, func() { x.statement(s.Consequent) }, func() {
		if s.Alternate != nil {
			x.statement(s.Alternate)
		}
	})
}

// branch runs both sides of a condition and puts together what they leave.
func (x *exec) branch(test any, tv *val, yes, no facts, then, otherwise func()) {
	before := x.st
	run := func(cond any, known facts, fn func()) *state {
		x.st = before.fork()
		x.st.live = append(slices.Clip(x.st.live), cond)
		x.st.known = x.st.known.with(known)
		fn()
		return x.st
	}
	a := run(test, yes, then)
	b := run(not(test), no, otherwise)
	x.st = before
	n := len(before.live)
	switch {
	case a.dead && b.dead:
		before.dead = true
	case a.dead:
		*before = *b
	case b.dead:
		*before = *a
	default:
		for c, va := range a.store {
			vb, ok := b.store[c]
			if !ok || va == vb {
				before.store[c] = va
				continue
			}
			before.store[c] = x.choose(test, tv, va, vb)
		}
		for c, vb := range b.store {
			if _, ok := a.store[c]; !ok {
				before.store[c] = vb
			}
		}
		before.known = a.known.either(b.known)
		if len(a.live) != n+1 || len(b.live) != n+1 {
			before.live = append(slices.Clip(before.live), any2(all2(a.live[n:]...), all2(b.live[n:]...)))
		}
	}
}

// switchStatement is a chain of conditions when each case ends with break, return or continue.
func (x *exec) switchStatement(s *ast.SwitchStatement) {
	d := x.settle(x.eval(s.Discriminant))
	var run func(i int, tests []ast.Expression)
	last := func(list []ast.Statement) ([]ast.Statement, bool) {
		if len(list) == 0 {
			return nil, false
		}
		switch e := list[len(list)-1].(type) {
		case *ast.BranchStatement:
			if e.Token == token.BREAK && e.Label == nil {
				return list[:len(list)-1], true
			}
			return list, true
		case *ast.ReturnStatement, *ast.ThrowStatement:
			return list, true
		case *ast.BlockStatement:
		}
		return list, false
	}
	run = func(i int, tests []ast.Expression) {
		if i == len(s.Body) {
			return
		}
		c := s.Body[i]
		if c.Test == nil {
			if i != len(s.Body)-1 {
				x.refuse(c, RefuseSyntax, "default has to be the last case")
			}
			body, _ := last(c.Consequent)
			x.block(body)
			return
		}
		tests = append(slices.Clip(tests), c.Test)
		if len(c.Consequent) == 0 {
			run(i+1, tests)
			return
		}
		body, ends := last(c.Consequent)
		if !ends && i != len(s.Body)-1 {
			x.refuse(c, RefuseSyntax, "a case that goes on into the next one has no equivalent: end it with break")
		}
		var any []any
		for _, t := range tests {
			v := x.equal(d, x.eval(t), true, t, s.Discriminant, t)
			e, _, _ := x.truthy(v)
			any = append(any, e)
		}
		test := any2(any...)
		switch test {
		case true:
			x.block(body)
			return
		case false:
			run(i+1, nil)
			return
		}
		x.branch(test, boolean(test, nil, nil), nil, nil, func() { x.block(body) }, func() { run(i+1, nil) })
	}
	run(0, nil)
}
