package translate

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"go.mongodb.org/mongo-driver/bson"
)

// loopMode is how emitting loops are written.
type loopMode uint8

const (
	modePath    loopMode = iota // $unwind of the array's own path
	modeTemp                    // $unwind of a copy
	modeGeneral                 // an array of all emits of a document, then $unwind
)

// node is an emit, or a loop with emits in it. live has to hold within the scope around it.
type node struct {
	live []any
	emit *emitted
	loop *loop
}

type emitted struct {
	key, value *val
	at         ast.Node
}

type loop struct {
	source any    // the array, as an expression
	path   string // its path in modePath
	guard  any    // in modePath: what has to hold for it to be an array
	name   string // of the element
	body   *scope
	at     ast.Node
}

func itoa(n int) string { return strconv.Itoa(n) }

// forStatement is for (i = 0; i < a.length; i++).
func (x *exec) forStatement(s *ast.ForStatement) {
	bad := func() {
		x.refuse(s, RefuseLoop, "a loop with an equivalent is for (var i = 0; i < array.length; i++), for…in, for…of or forEach")
	}
	switch i := s.Initializer.(type) {
	case *ast.ForLoopInitializerVarDeclList:
		x.bindings(i.List)
	case *ast.ForLoopInitializerLexicalDecl:
		x.bindings(i.LexicalDeclaration.List)
	case *ast.ForLoopInitializerExpression:
		x.eval(i.Expression)
	}
	test, ok := s.Test.(*ast.BinaryExpression)
	if !ok || test.Operator != token.LESS && test.Operator != token.NOT_EQUAL && test.Operator != token.STRICT_NOT_EQUAL {
		bad()
	}
	id, ok := test.Left.(*ast.Identifier)
	if !ok || !increments(s.Update, id.Name.String()) || slices.Contains(uses(s.Body).assigned, id.Name.String()) {
		bad()
	}
	cell, ok := x.env.find(id.Name.String())
	if !ok {
		bad()
	}
	start := x.st.store[cell]
	from, isConst := start.c.(float64)
	if !isConst || from != 0 && from != 1 {
		bad()
	}
	base, n := x.lengthOf(test.Right)
	if base == nil || from == 1 && base.sp != spValues {
		bad()
	}
	if base.sp == spValues {
		x.foldValues(int(from), func(elem *val) {
			x.st.store[cell] = &val{sp: spIndex, of: base, args: []*val{elem}, k: kNum, name: "i"}
			x.statement(s.Body)
		}, uses(s.Body), s)
		return
	}
	x.loop(x.each(base, "for", n), s, s.Body, func(_, index *val) { x.st.store[cell] = index })
}

// lengthOf finds the array whose length an expression is.
func (x *exec) lengthOf(e ast.Expression) (*val, ast.Node) {
	if d, ok := e.(*ast.DotExpression); ok && d.Identifier.Name.String() == "length" {
		base := x.eval(d.Left)
		if base.sp == spValues || base.sp == spKeys || base.sp == spNone && base.obj == nil && !base.isConst {
			return base, d.Left
		}
		return nil, nil
	}
	if id, ok := e.(*ast.Identifier); ok {
		v := x.eval(id)
		if v.sp == spLength {
			return &val{sp: spValues}, id
		}
		if v.op == "length" {
			return v.args[0], id
		}
	}
	return nil, nil
}

func increments(e ast.Expression, name string) bool {
	is := func(e ast.Expression) bool {
		id, ok := e.(*ast.Identifier)
		return ok && id.Name.String() == name
	}
	switch e := e.(type) {
	case *ast.UnaryExpression:
		return e.Operator == token.INCREMENT && is(e.Operand)
	case *ast.AssignExpression:
		one, ok := e.Right.(*ast.NumberLiteral)
		return ok && e.Operator == token.PLUS && one.Literal == "1" && is(e.Left)
	}
	return false
}

func (x *exec) intoName(i ast.ForInto, n ast.Node) string {
	var e ast.Node
	switch i := i.(type) {
	case *ast.ForIntoVar:
		e = i.Binding.Target
	case *ast.ForDeclaration:
		e = i.Target
	case *ast.ForIntoExpression:
		e = i.Expression
	}
	id, ok := e.(*ast.Identifier)
	if !ok {
		x.refuse(n, RefuseSyntax, "a loop's variable has to be a plain name")
	}
	name := id.Name.String()
	if _, ok := x.env.find(name); !ok {
		x.declare(name, undef())
	}
	return name
}

func (x *exec) forIn(s *ast.ForInStatement) {
	name := x.intoName(s.Into, s)
	cell, _ := x.env.find(name)
	base := x.eval(s.Source)
	if base.sp == spValues {
		x.foldValues(0, func(elem *val) {
			x.st.store[cell] = &val{sp: spIndex, of: base, args: []*val{elem}, k: kStr, name: "i"}
			x.statement(s.Body)
		}, uses(s.Body), s)
		return
	}
	if base.isConst && base.k.only(kNullish) {
		return
	}
	named := mentionedOtherwise(s.Body, name, x.text(s.Source), x)
	x.loop(x.pairs(base, named, s.Source), s, s.Body, func(_, index *val) { x.st.store[cell] = index })
}

// mentionedOtherwise says whether a loop variable is used for anything else than base[name].
func mentionedOtherwise(body ast.Statement, name, base string, x *exec) bool {
	all := 0
	for _, c := range uses(body).called {
		if c == name {
			all++
		}
	}
	text := strings.Join(strings.Fields(x.src.Source(body)), " ")
	return all > strings.Count(text, base+"["+name+"]")
}

func (x *exec) forOf(s *ast.ForOfStatement) {
	name := x.intoName(s.Into, s)
	cell, _ := x.env.find(name)
	base := x.eval(s.Source)
	if base.sp == spValues {
		x.foldValues(0, func(elem *val) { x.st.store[cell] = elem; x.statement(s.Body) }, uses(s.Body), s)
		return
	}
	keys := base.sp == spKeys
	x.loop(x.each(base, "of", s.Source), s, s.Body, func(elem, index *val) {
		x.st.store[cell] = elem
		if keys {
			x.st.store[cell] = index
		}
	})
}

// loop runs a body for each element: with emits as part of the pipeline, without as a computation.
func (x *exec) loop(e elements, n ast.Node, body ast.Statement, bind func(elem, index *val)) {
	u := uses(body)
	run := func(elem, index *val) {
		bind(elem, index)
		x.statement(body)
	}
	if x.emits(u, map[string]bool{}) {
		x.emitLoop(e, n, u, run)
		return
	}
	x.foldLoop(e, n, u, run)
}

// emits says whether code calls emit, itself or through a function of the job.
func (x *exec) emits(u *walker, seen map[string]bool) bool {
	for _, name := range u.called {
		if name == "emit" {
			return true
		}
		if seen[name] {
			continue
		}
		seen[name] = true
		if c, ok := x.env.find(name); ok {
			if v := x.st.store[c]; v != nil && v.fn != nil {
				w := &walker{}
				w.function(v.fn.body)
				w.expr(v.fn.result)
				if x.emits(w, seen) {
					return true
				}
			}
		}
	}
	return false
}

// emitLoop is a loop with emits in it.
func (x *exec) emitLoop(e elements, n ast.Node, u *walker, run func(elem, index *val)) {
	if x.item != nil {
		x.refuse(n, RefuseCall, "emit outside of map")
	}
	l := &loop{source: e.source, at: n, body: &scope{parent: x.sc}, guard: true}
	var path string
	switch x.mode {
	case modePath:
		if e.path == "" {
			panic(conflict{})
		}
		l.path, path = e.path, e.path
		if e.source != any(e.path) && !x.plain {
			l.guard = doc("$isArray", bson.A{e.source})
			if d, ok := e.source.(bson.D); ok && d[0].Key == "$cond" {
				if a := d[0].Value.(bson.A); len(a) == 3 && reflect.DeepEqual(a[2], bson.A{}) {
					l.guard = a[0]
				}
			}
		}
	case modeTemp:
		l.name = x.fresh("_item")
		path = "$" + l.name
	default:
		l.name = x.fresh("item")
		path = "$$" + l.name
	}
	live := append(slices.Clone(x.st.live), x.conds...)
	before, sc, conds := x.st, x.sc, x.conds
	x.st = before.fork()
	x.st.live, x.st.rets = nil, nil
	x.sc, x.conds = l.body, nil
	unwound := x.unwound
	if l.path != "" {
		for _, u := range x.unwound {
			if u == l.path {
				panic(conflict{})
			}
		}
		x.unwound = append(slices.Clip(x.unwound), l.path)
		known := facts{}
		for p, k := range x.st.known {
			if p != l.path && !strings.HasPrefix(p, l.path+".") {
				known[p] = k
			}
		}
		x.st.known = known
		for c, v := range x.st.store {
			if v.reads(l.path) {
				s := *v
				s.stale = true
				x.st.store[c] = &s
			}
		}
	}
	cells := x.carried(u)
	x.poison(cells)
	elem, index := e.make(path)
	elem.depth, index.depth = len(x.unwound), len(x.unwound)
	run(elem, index)
	x.st, x.sc, x.conds, x.unwound = before, sc, conds, unwound
	x.poison(cells)
	x.sc.nodes = append(x.sc.nodes, node{live: live, loop: l})
}

// reads says whether a rendered value reads a path, or what is above or below it.
func (v *val) reads(path string) bool {
	return v.mentions(func(v *val) bool {
		return readsPath(v.e, path) || readsPath(v.test, path)
	})
}

func readsPath(e any, path string) bool {
	switch e := e.(type) {
	case string:
		return e == path || strings.HasPrefix(path, e+".") && strings.HasPrefix(e, "$") || strings.HasPrefix(e, path+".")
	case bson.D:
		for _, f := range e {
			if readsPath(f.Value, path) {
				return true
			}
		}
	case bson.A:
		for _, f := range e {
			if readsPath(f, path) {
				return true
			}
		}
	}
	return false
}
