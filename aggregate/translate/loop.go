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

// elements is what a loop goes through.
type elements struct {
	base *val
	// source is an array expression; elem and index are one round's values.
	source any
	path   string // when source is just that path
	make   func(name string) (elem, index *val)
}

// element is base[i] where i counts a loop over base.
func (x *exec) element(base, i *val, n ast.Node) *val {
	if i.of != nil && i.args != nil && sameBase(base, i.of) {
		return i.args[0]
	}
	if i.name == "in" { // for (k in a) with b[k]
		x.refuse(n, RefuseDynamicField, "%s: which field this is is known only when it runs", x.text(n))
	}
	x.refuse(n, RefuseLoop, "%s: the loop goes through another array", x.text(n))
	return nil
}

func sameBase(a, b *val) bool {
	if a == b || a.sp == spThis && b.sp == spThis || a.sp == spValues && b.sp == spValues {
		return true
	}
	return a.sp == spNone && b.sp == spNone && a.path == b.path && a.elem == b.elem && reflect.DeepEqual(a.e, b.e) && (a.path != "" || a.e != nil)
}

// each is a loop over the elements of an array; how is the construct, which decides what is thrown for other values.
func (x *exec) each(base *val, how string, n ast.Node) elements {
	if base.sp == spKeys {
		return x.pairs(base.of, true, n)
	}
	if base.sp != spNone || base.fn != nil || base.obj != nil || base.isConst {
		x.refuse(n, RefuseLoop, "%s is nothing that a loop with an equivalent goes through", x.text(n))
	}
	k := x.kindsOf(base)
	source := x.ex(base)
	if !k.only(kArr) {
		if x.plain {
			x.caveat(x.pos(n), CaveatArray, "%s is taken to be an array, or missing or null", shown(base))
			source = call("$ifNull", source, bson.A{})
			if base.path != "" && x.mode == modePath && how != "fold" {
				return x.arrayElements(base, x.ex(base))
			}
			return x.arrayElements(base, source)
		}
		bad := k & (kNullish | kStr | kObj)
		if how == "forEach" || how == "of" {
			bad = k &^ kArr // has no such method, or is a text or an object that iterates in its own way
		}
		if bad.has(kNullish) || bad != 0 {
			x.throws(n, x.isKind(base, bad), x.ex(base), "%s has to be an array", x.text(n))
			x.learn(base, k&^bad)
			k &^= bad
		}
		if !k.only(kArr) {
			source = cond(doc("$isArray", bson.A{x.ex(base)}), x.ex(base), bson.A{})
		}
	}
	return x.arrayElements(base, source)
}

func (x *exec) arrayElements(base *val, source any) elements {
	e := elements{base: base, source: source}
	if p, ok := source.(string); ok && strings.HasPrefix(p, "$") && !strings.HasPrefix(p, "$$") {
		e.path = p
	} else if base.path != "" && strings.HasPrefix(base.path, "$") && !strings.HasPrefix(base.path, "$$") {
		e.path = base.path // guarded by a $match in front
	}
	e.make = func(name string) (*val, *val) {
		elem := &val{path: name, k: base.elementKinds(), elem: true}
		return elem, &val{sp: spIndex, of: base, args: []*val{elem}, k: kNum, name: "i"}
	}
	return e
}

// elementKinds are what an array made by a method holds.
func (v *val) elementKinds() kinds {
	if v.op == "split" || v.op == "match" {
		return kStr
	}
	return kAny
}

// pairs is a loop over the names in base; values says that names are used for nothing else than to read the fields.
func (x *exec) pairs(base *val, named bool, n ast.Node) elements {
	e := elements{base: base}
	if base.sp == spThis {
		if x.mode != modeGeneral {
			panic(conflict{})
		}
		e.source = doc("$objectToArray", "$$ROOT")
		e.make = keyed(base)
		return e
	}
	if base.sp != spNone || base.fn != nil || base.isArr || base.isConst || base.obj != nil {
		x.refuse(n, RefuseLoop, "%s is nothing that a loop with an equivalent goes through", x.text(n))
	}
	k := x.kindsOf(base)
	if x.plain {
		if !named {
			x.caveat(x.pos(n), CaveatArray, "%s is taken to be an array, or missing or null", shown(base))
			return x.arrayElements(base, call("$ifNull", x.ex(base), bson.A{}))
		}
		x.caveat(x.pos(n), CaveatParent, "%s is taken to be a document, or missing or null", shown(base))
		e.source = doc("$objectToArray", call("$ifNull", x.ex(base), doc("$literal", bson.D{})))
		e.make = keyed(base)
		return e
	}
	if bad := k & (kStr | kOther); bad != 0 {
		x.throws(n, x.isKind(base, bad), x.ex(base), "%s has to be an array or an object", x.text(n))
		x.learn(base, k&^bad)
		k &^= bad
	}
	if !named {
		e.source = x.bind(base, func(base *val) any {
			b := x.ex(base)
			var list bson.A
			if k.has(kArr) {
				list = append(list, bson.D{{Key: "case", Value: doc("$isArray", bson.A{b})}, {Key: "then", Value: b}})
			}
			if k.has(kObj) {
				v := doc("$map", bson.D{{Key: "input", Value: doc("$objectToArray", b)}, {Key: "as", Value: "f"}, {Key: "in", Value: "$$f.v"}})
				list = append(list, bson.D{{Key: "case", Value: x.isKind(base, kObj)}, {Key: "then", Value: v}})
			}
			if len(list) == 1 && k.only(kArr|kObj) {
				return list[0].(bson.D)[1].Value
			}
			return switchOf(list, bson.A{})
		})
		e.make = func(name string) (*val, *val) {
			elem := &val{path: name, k: kAny, elem: true}
			return elem, &val{sp: spIndex, of: base, args: []*val{elem}, name: "in", k: kStr}
		}
		return e
	}
	e.source = x.bind(base, func(base *val) any {
		b := x.ex(base)
		var list bson.A
		if k.has(kObj) {
			list = append(list, bson.D{{Key: "case", Value: x.isKind(base, kObj)}, {Key: "then", Value: doc("$objectToArray", b)}})
		}
		if k.has(kArr) {
			x.needs(v40)
			i := bson.D{{Key: "k", Value: doc("$toString", "$$i")}, {Key: "v", Value: call("$arrayElemAt", b, "$$i")}}
			list = append(list, bson.D{{Key: "case", Value: doc("$isArray", bson.A{b})}, {Key: "then", Value: doc("$map", bson.D{
				{Key: "input", Value: call("$range", int32(0), doc("$size", b))}, {Key: "as", Value: "i"}, {Key: "in", Value: i},
			})}})
		}
		if len(list) == 1 && (k.only(kObj) || k.only(kArr)) {
			return list[0].(bson.D)[1].Value
		}
		return switchOf(list, bson.A{})
	})
	e.make = keyed(base)
	return e
}

func keyed(base *val) func(string) (*val, *val) {
	return func(name string) (*val, *val) {
		elem := &val{path: name + ".v", k: kAny, elem: true}
		index := &val{path: name + ".k", k: kStr, elem: true, sp: spNone, of: base, args: []*val{elem}, name: "key"}
		return elem, index
	}
}

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

// carried are the variables from outside that a loop's body assigns.
func (x *exec) carried(u *walker) []int {
	var cells []int
	for _, name := range u.assigned {
		if c, ok := x.env.find(name); ok && !slices.Contains(cells, c) {
			cells = append(cells, c)
		}
	}
	slices.Sort(cells)
	return cells
}

func (x *exec) poison(cells []int) {
	for _, c := range cells {
		x.st.store[c] = &val{sp: spPoison}
	}
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

// foldLoop is a loop that computes variables from their values in the round before, by $reduce.
func (x *exec) foldLoop(e elements, n ast.Node, u *walker, run func(elem, index *val)) {
	var accs []int
	cells := x.carried(u)
	before := x.st
	for _, c := range cells {
		v := before.store[c]
		if v != nil && v.sp == spNone && v.fn == nil && !(v.isConst && v.k == kUndef) {
			accs = append(accs, c)
		}
	}
	leaves := x.leaves(accs)
	kind := make([]kinds, len(leaves))
	for i, l := range leaves {
		kind[i] = x.kindsOf(l.init)
	}
	item, acc := x.fresh("x"), x.fresh("acc")
	var steps []*val
	var body any
	for range 5 {
		body = x.inline(func() any {
			x.poison(cells)
			rets := x.st.rets
			x.st.rets = nil
			for i := range leaves {
				leaves[i].acc = &val{path: "$$" + acc + leaves[i].suffix(len(leaves)), k: kind[i], elem: true, bag: leaves[i].init.bag}
			}
			x.bindLeaves(accs, leaves)
			elem, index := e.make("$$" + item)
			run(elem, index)
			steps = x.readLeaves(accs, leaves, n)
			x.st.rets = rets
			if len(leaves) == 1 {
				return x.ex(steps[0])
			}
			d := bson.D{}
			for i, l := range leaves {
				d = append(d, bson.E{Key: l.field, Value: x.ex(steps[i])})
			}
			return d
		})
		x.st = before
		stable := true
		for i, s := range steps {
			if k := kind[i] | s.k; k != kind[i] {
				kind[i], stable = k, false
			}
		}
		if stable {
			break
		}
	}
	x.poison(cells)
	if len(leaves) == 0 {
		return
	}
	var init any
	if len(leaves) == 1 {
		init = x.ex(leaves[0].init)
	} else {
		d := bson.D{}
		for _, l := range leaves {
			d = append(d, bson.E{Key: l.field, Value: x.ex(l.init)})
		}
		init = d
	}
	if init == "$$REMOVE" {
		init = nil
	}
	reduced := doc("$reduce", bson.D{
		{Key: "input", Value: e.source}, {Key: "initialValue", Value: init},
		{Key: "in", Value: doc("$let", bson.D{{Key: "vars", Value: bson.D{{Key: acc, Value: "$$value"}, {Key: item, Value: "$$this"}}}, {Key: "in", Value: body}})},
	})
	for i := range leaves {
		l := &leaves[i]
		v := expr(reduced, kind[i])
		if len(leaves) > 1 {
			r := x.fresh("r")
			v = expr(doc("$let", bson.D{{Key: "vars", Value: doc(r, reduced)}, {Key: "in", Value: "$$" + r + "." + l.field}}), kind[i])
		}
		// What the loop does to an array of reduce's result.
		if s := steps[i]; s.op == "push" && s.args[0] == l.acc && s.args[1].path == "$$"+item {
			v.op, v.args = "concat", []*val{l.init, e.base}
		} else if to, what := unionOf(s); to != nil && to == l.acc && what.path == "$$"+item {
			v.op, v.args = "union", []*val{l.init, e.base}
		} else if l.init.bag && s.op != "" {
			v.op, v.args, v.bag = "bagloop", []*val{l.init, e.base, s}, true
		}
		l.acc = v
	}
	x.bindLeaves(accs, leaves)
}

// leaf is one value that a loop carries: a variable, or a field of an object in one.
type leaf struct {
	cell  int
	path  []string // within the object
	field string
	init  *val
	acc   *val
}

func (l leaf) suffix(n int) string {
	if n == 1 {
		return ""
	}
	return "." + l.field
}

func (x *exec) leaves(cells []int) []leaf {
	var out []leaf
	var walk func(cell int, path []string, v *val)
	walk = func(cell int, path []string, v *val) {
		if v.obj != nil && len(v.obj.dyn) == 0 && !(len(v.obj.names) == 0) {
			for _, name := range v.obj.names {
				walk(cell, append(slices.Clip(path), name), v.obj.vals[name])
			}
			return
		}
		out = append(out, leaf{cell: cell, path: path, field: "v" + itoa(len(out)), init: v})
	}
	for _, c := range cells {
		walk(c, nil, x.st.store[c])
	}
	return out
}

// bindLeaves gives the variables the values that stand for one round.
func (x *exec) bindLeaves(cells []int, leaves []leaf) {
	for _, c := range cells {
		var root *val
		for _, l := range leaves {
			if l.cell != c {
				continue
			}
			if len(l.path) == 0 {
				root = l.acc
				continue
			}
			if root == nil {
				root = objectVal(newObject())
			}
			o := root.obj
			for _, name := range l.path[:len(l.path)-1] {
				if o.vals[name] == nil {
					o.set(name, objectVal(newObject()))
				}
				o = o.vals[name].obj
			}
			o.set(l.path[len(l.path)-1], l.acc)
		}
		x.st.store[c] = root
	}
}

// readLeaves takes the values after a round. A variable must have kept its shape.
func (x *exec) readLeaves(cells []int, leaves []leaf, n ast.Node) []*val {
	var out []*val
	for _, l := range leaves {
		v := x.st.store[l.cell]
		for _, name := range l.path {
			if v == nil || v.obj == nil || v.obj.vals[name] == nil {
				x.refuse(n, RefuseFold, "the loop gives an object other fields in each round")
			}
			v = v.obj.vals[name]
		}
		if v.obj != nil && len(l.path) > 0 || v.sp == spPoison || v.fn != nil {
			x.refuse(n, RefuseFold, "the loop gives a value another shape in each round")
		}
		out = append(out, v)
	}
	for _, c := range cells {
		v := x.st.store[c]
		if v.obj != nil && x.countLeaves(v) != countOf(leaves, c) {
			x.refuse(n, RefuseFold, "the loop adds fields to an object")
		}
	}
	return out
}

func (x *exec) countLeaves(v *val) int {
	if v.obj == nil || len(v.obj.names) == 0 {
		return 1
	}
	n := 0
	for _, f := range v.obj.vals {
		n += x.countLeaves(f)
	}
	return n
}

func countOf(leaves []leaf, cell int) int {
	n := 0
	for _, l := range leaves {
		if l.cell == cell {
			n++
		}
	}
	return n
}

// foldValues is a loop over reduce's values: what it makes of each variable is kept for the analysis of reduce.
func (x *exec) foldValues(from int, run func(elem *val), u *walker, n ast.Node) {
	if x.item == nil {
		x.refuse(n, RefuseLoop, "there are no values to go through here")
	}
	var accs []int
	cells := x.carried(u)
	before := x.st
	for _, c := range cells {
		v := before.store[c]
		if v != nil && v.fn == nil && v.sp != spPoison && v.sp != spIndex {
			accs = append(accs, c)
		}
	}
	leaves := x.leaves(accs)
	for i := range leaves {
		leaves[i].acc = &val{path: "$$acc." + x.fresh("a"), k: leaves[i].init.k | kNum, elem: true, bag: isBag(leaves[i].init)}
		if leaves[i].init.isArr {
			leaves[i].acc.k = kArr
		}
	}
	x.st = before.fork()
	x.poison(cells)
	x.bindLeaves(accs, leaves)
	x.st.rets = nil
	run(x.item)
	steps := x.readLeaves(accs, leaves, n)
	dead := len(x.st.live) > len(before.live)
	x.st = before
	if dead {
		// continue in some rounds: what is assigned before it counts, so the state at the end is not all.
		x.refuse(n, RefuseLoop, "continue in a loop over the values: use if … else")
	}
	x.poison(cells)
	for i := range leaves {
		l := &leaves[i]
		f := &fold{init: l.init, acc: l.acc, step: steps[i]}
		if from == 1 && !l.init.mentions(func(v *val) bool { return v == x.first || strings.HasPrefix(v.path, "$$first") }) && steps[i] != l.acc {
			x.refuse(n, RefuseFold, "the first of the values is left out")
		}
		l.acc = &val{path: "$$fold." + x.fresh("f"), k: l.acc.k | steps[i].k, elem: true, fold: f}
	}
	x.bindLeaves(accs, leaves)
}

// isBag is an empty object: its fields get their names from the data.
func isBag(v *val) bool { return v.bag || v.obj != nil && len(v.obj.names) == 0 && len(v.obj.dyn) == 0 }

// unionOf recognizes: if (acc.indexOf(v) < 0) acc.push(v).
func unionOf(s *val) (acc, what *val) {
	if s.op != "?:" {
		return nil, nil
	}
	test, a, b := s.args[0], s.args[1], s.args[2]
	neg := false
	for test.op == "!" {
		test, neg = test.args[0], !neg
	}
	var in *val // acc.indexOf(v)
	absent := false
	switch test.op {
	case "==", "$lt", "$gte", "$gt":
		in = test.args[0]
		c, ok := test.args[1].c.(float64)
		if in.op != "indexOf" && test.args[0].isConst {
			in = test.args[1]
			c, ok = test.args[0].c.(float64)
		}
		if !ok {
			return nil, nil
		}
		switch {
		case test.op == "==" && c == -1, test.op == "$lt" && c == 0:
			absent = true
		case test.op == "$gte" && c == 0, test.op == "$gt" && c == -1:
		default:
			return nil, nil
		}
	case "indexOf", "includes":
		in = test
		if test.op == "indexOf" {
			return nil, nil
		}
	default:
		return nil, nil
	}
	if in == nil || in.op != "indexOf" && in.op != "includes" {
		return nil, nil
	}
	if neg {
		absent = !absent
	}
	if !absent {
		a, b = b, a
	}
	if a.op == "push" && a.args[0] == b && in.args[0] == b && sameBase(in.args[1], a.args[1]) {
		return b, a.args[1]
	}
	return nil, nil
}
