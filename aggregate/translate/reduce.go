package translate

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
)

// foldOp is what reduce does with one field of the values.
type foldOp uint8

const (
	opSum foldOp = iota
	opMax        // Math.max
	opMin
	opGreatest // by comparison
	opLeast
	opConcat
	opUnion
	opFirst
	opLast
	opConst
	opBag     // sums under names found in the data
	opDerived // computed from other fields of the result
)

// algebra is reduce, understood field by field.
type algebra struct {
	fields []reduced
	// folds are found by the path that derived values know them by.
	folds map[string]int
}

type reduced struct {
	path   []string // within the value; empty: the value itself
	op     foldOp
	orZero bool // each value is taken || 0
	init   *val // what the fold begins with; nil: the first value
	value  *val // of opConst and opDerived
	at     ast.Node
}

func (r reduced) name() string {
	if len(r.path) == 0 {
		return "value"
	}
	return strings.Join(r.path, "_")
}

// shape is what map emits as values: the leaves, or one value.
type shape struct {
	paths [][]string
	kinds []kinds
	bag   bool
}

func shapeOf(v *val) shape {
	var s shape
	var walk func(path []string, v *val)
	walk = func(path []string, v *val) {
		if v.obj != nil && len(v.obj.dyn) == 0 && len(v.obj.names) > 0 {
			for _, name := range v.obj.names {
				walk(append(slices.Clip(path), name), v.obj.vals[name])
			}
			return
		}
		s.paths = append(s.paths, path)
		s.kinds = append(s.kinds, v.k)
		s.bag = s.bag || v.obj != nil
	}
	walk(nil, v)
	return s
}

// same says that two emits have the same fields, in the same order.
func (s shape) same(o shape) bool {
	return slices.EqualFunc(s.paths, o.paths, slices.Equal[[]string])
}

// value makes a value of this shape whose leaves are paths below root.
func (s shape) value(root string, kind func(i int) kinds) *val {
	if len(s.paths) == 1 && len(s.paths[0]) == 0 {
		return &val{path: root, k: kind(0), elem: true}
	}
	v := objectVal(newObject())
	v.shaped = true
	for i, p := range s.paths {
		o := v.obj
		for _, name := range p[:len(p)-1] {
			if o.vals[name] == nil {
				inner := objectVal(newObject())
				inner.shaped = true
				o.set(name, inner)
			}
			o = o.vals[name].obj
		}
		o.set(p[len(p)-1], &val{path: root + "." + strings.Join(p, "."), k: kind(i), elem: true})
	}
	return v
}

// analyze understands reduce for values of a shape.
func (x *exec) analyze(fn source, s shape, sorted bool) *algebra {
	kept := x.caveats
	x.sc = &scope{}
	kind := func(i int) kinds {
		if s.kinds[i].only(kArr | kObj) {
			return s.kinds[i]
		}
		return s.kinds[i] | kNum // what it becomes when it is reduced
	}
	x.item, x.first = s.value("$$item", kind), s.value("$$first", kind)
	c := &closure{params: fn.Params, body: fn.Body, result: fn.Result, src: fn}
	key := &val{path: "$$key", k: kAny &^ kUndef, elem: true}
	res := x.invoke(c, []*val{key, {sp: spValues}}, nil)
	if res.isConst && res.k == kUndef {
		x.refuse(nil, RefuseShape, "reduce returns nothing")
	}
	a := &algebra{folds: map[string]int{}}
	derived := false
	for i, p := range s.paths {
		r := x.classify(leafOf(res, p), p, s.kinds[i], returnOf(fn))
		if leafOf(res, p) == nil {
			x.refuse(returnOf(fn), RefuseShape, "map emits a field %s and reduce does not return it", strings.Join(p, "."))
		}
		if (r.op == opFirst || r.op == opLast) && !sorted {
			x.refuse(returnOf(fn), RefuseOrder, "%s is the first or last of the values, and without a sort in the job nothing says which that is", r.name())
		}
		derived = derived || r.op == opDerived
		a.fields = append(a.fields, r)
		if v := leafOf(res, p); v.fold != nil {
			a.folds[v.path] = i
		}
	}
	if extra := extraLeaf(res, s, nil); extra != "" {
		x.refuse(returnOf(fn), RefuseShape, "reduce returns a field %s that map does not emit: a key with one emit would not have it", extra)
	}
	if len(s.paths) == 1 && len(s.paths[0]) == 0 && (res.isArr || res.k.only(kArr)) {
		x.refuse(returnOf(fn), RefuseArray, "reduce returns an array, which servers refuse: put it into a field of an object")
	}
	for _, f := range a.fields {
		if f.op == opDerived {
			x.checkDerived(f, a, fn)
		}
	}
	if !derived {
		x.caveats = kept
	} else if len(x.sc.checks) > 0 {
		x.refuse(returnOf(fn), RefuseFold, "reduce throws for some values, which is not understood beside computed fields")
	}
	return a
}

func leafOf(v *val, path []string) *val {
	for _, name := range path {
		if v == nil || v.obj == nil {
			return nil
		}
		v = v.obj.vals[name]
	}
	return v
}

// extraLeaf names a field of v that the shape does not have.
func extraLeaf(v *val, s shape, path []string) string {
	if v.obj == nil || len(v.obj.names) == 0 {
		return ""
	}
	for _, name := range v.obj.names {
		p := append(slices.Clip(path), name)
		if !slices.ContainsFunc(s.paths, func(q []string) bool { return len(q) >= len(p) && slices.Equal(q[:len(p)], p) }) {
			return strings.Join(p, ".")
		}
		if e := extraLeaf(v.obj.vals[name], s, p); e != "" {
			return e
		}
	}
	return ""
}

// returnOf is where a function's result is returned, for messages.
func returnOf(fn source) ast.Node {
	var last ast.Node
	for _, s := range fn.Body {
		if r, ok := s.(*ast.ReturnStatement); ok {
			last = r
		}
	}
	if last == nil && fn.Result != nil {
		return fn.Result
	}
	return last
}

// classify tells what one field of the result is.
func (x *exec) classify(v *val, path []string, k kinds, at ast.Node) reduced {
	r := reduced{path: path, at: at}
	dotted := ""
	if len(path) > 0 {
		dotted = "." + strings.Join(path, ".")
	}
	switch {
	case v == nil:
		return r
	case v.sp == spLength:
		x.refuse(at, RefuseLength, "%s counts the values: results of an earlier reduce are among them, so that is not how often the key was emitted; emit a count and add it up", r.name())
	case v.fold != nil:
		return x.classifyFold(r, v.fold, dotted, k)
	case v.path == "$$first"+dotted:
		r.op = opFirst
		return r
	case v.path == "$$item"+dotted:
		r.op = opLast
		return r
	case v.isConst:
		r.op, r.value = opConst, v
		return r
	case v.isArr && len(v.arr) == 0, v.obj != nil, v.isArr:
		x.refuse(at, RefuseShape, "%s has another shape in reduce than in map", r.name())
	}
	r.op, r.value = opDerived, v
	return r
}

// checkDerived makes sure that a computed field is made of folded ones alone.
func (x *exec) checkDerived(r reduced, a *algebra, fn source) {
	known := func(p string) bool {
		if p == "$$key" {
			return true
		}
		_, ok := a.folds[p]
		return ok
	}
	var bad string
	eachString(x.ex(r.value), func(s string) {
		for _, root := range []string{"$$item", "$$first", "$$fold", "$$key", "$$acc"} {
			if (s == root || strings.HasPrefix(s, root+".")) && !known(s) {
				bad = s
			}
		}
	})
	if bad != "" {
		x.refuse(r.at, RefuseFold, "%s is computed from something that is not in the result, so reducing results again gives something else: return that, too, and compute %s in finalize", r.name(), r.name())
	}
}

func (x *exec) classifyFold(r reduced, f *fold, dotted string, k kinds) reduced {
	s := f.step
	item := func(v *val) bool {
		if v.path == "$$item"+dotted {
			return true
		}
		if v.op == "||" && len(v.args) == 2 && v.args[0].path == "$$item"+dotted && v.args[1].isConst {
			if c, ok := v.args[1].c.(float64); ok && c == 0 {
				r.orZero = true
				return true
			}
		}
		return false
	}
	isAcc := func(v *val) bool { return v == f.acc || v.path != "" && v.path == f.acc.path }
	firstInit := f.init.path == "$$first"+dotted
	numInit, isNum := f.init.c.(float64)
	isNum = isNum && f.init.isConst
	if !firstInit {
		r.init = f.init
	}
	if isAcc(s) {
		if f.init.isConst {
			r.op, r.value = opConst, f.init
			return r
		}
		if firstInit {
			r.op = opFirst
			return r
		}
	}
	if f.acc.bag || f.init.bag {
		if ok := x.classifyBag(f, "$$item"+dotted); ok {
			r.op = opBag
			return r
		}
	}
	switch s.op {
	case "+":
		a, b := s.args[0], s.args[1]
		if !isAcc(a) && isAcc(b) {
			a, b = b, a
		}
		if !isAcc(a) {
			break
		}
		if b.isConst && !item(b) {
			if b.k == kNum {
				x.refuse(r.at, RefuseLength, "%s counts the values: results of an earlier reduce are among them, so that is not how often the key was emitted; emit a count and add it up", r.name())
			}
			break
		}
		if !item(b) {
			x.refuseOther(r, b)
		}
		if !firstInit && !(isNum && numInit == 0) {
			if f.init.k.only(kStr) {
				x.refuse(r.at, RefuseOrder, "%s joins texts in the order of the values, which nothing defines", r.name())
			}
			x.refuse(r.at, RefuseFold, "%s begins with something other than 0, which is added again each time results are reduced again", r.name())
		}
		r.op = opSum
		return r
	case "max", "min":
		if len(s.args) == 2 {
			a, b := s.args[0], s.args[1]
			if !isAcc(a) {
				a, b = b, a
			}
			if isAcc(a) && !item(b) {
				x.refuseOther(r, b)
			}
			if isAcc(a) && (firstInit || isNum) {
				r.op = map[string]foldOp{"max": opMax, "min": opMin}[s.op]
				return r
			}
		}
	case "?:":
		if op, ok := comparison(s, isAcc, item); ok {
			if firstInit || isNum || f.init.isConst && f.init.k.only(kNullish) {
				r.op = op
				return r
			}
		}
	case "concat", "union":
		if isAcc(s.args[0]) && item(s.args[1]) && f.init.isArr && len(f.init.arr) == 0 {
			r.op = map[string]foldOp{"concat": opConcat, "union": opUnion}[s.op]
			return r
		}
	case "push":
		x.refuse(r.at, RefuseShape, "%s gathers the values as they are: a result of an earlier reduce would become one element; emit an array and concatenate", r.name())
	}
	if item(s) {
		r.op = opLast
		return r
	}
	if acc, _ := unionOf(s); acc != nil {
		x.refuse(r.at, RefuseShape, "%s gathers the values as they are: a result of an earlier reduce would become one element; emit an array and merge", r.name())
	}
	x.refuse(r.at, RefuseFold, "what happens to %s with each value is no sum, minimum, maximum, concatenation or union that gives the same for results that are reduced again", r.name())
	return r
}

func (x *exec) refuseOther(r reduced, b *val) {
	if strings.HasPrefix(b.path, "$$item") {
		x.refuse(r.at, RefuseShape, "%s is made of the values' %s: a result that is reduced again has it under the name %s", r.name(), strings.TrimPrefix(b.path, "$$item."), r.name())
	}
	x.refuse(r.at, RefuseFold, "%s is made of something computed from each value: a result that is reduced again would be computed on once more", r.name())
}

// comparison recognizes test ? item : acc for the greatest and the least.
func comparison(s *val, isAcc func(*val) bool, item func(*val) bool) (foldOp, bool) {
	test, a, b := s.args[0], s.args[1], s.args[2]
	takes := true // the item is taken when the test holds
	switch {
	case item(a) && isAcc(b):
	case isAcc(a) && item(b):
		takes = false
	default:
		return 0, false
	}
	for test.op == "!" && takes {
		test, takes = test.args[0], false
	}
	if test.op == "||" && takes { // acc === null || item > acc
		l, r := test.args[0], test.args[1]
		null := func(v *val) bool {
			return v.op == "==" && isAcc(v.args[0]) && v.args[1].isConst && v.args[1].k.only(kNullish) || v.op == "!" && isAcc(v.args[0])
		}
		switch {
		case null(l):
			test = r
		case null(r):
			test = l
		}
	}
	more, ok := map[string]bool{"$gt": true, "$gte": true, "$lt": false, "$lte": false}[test.op]
	if !ok {
		return 0, false
	}
	switch {
	case item(test.args[0]) && isAcc(test.args[1]):
	case isAcc(test.args[0]) && item(test.args[1]):
		more = !more
	default:
		return 0, false
	}
	if more == takes {
		return opGreatest, true
	}
	return opLeast, true
}

// classifyBag recognizes acc[k] = (acc[k] || 0) + item[k] in a loop over the names in item.
func (x *exec) classifyBag(f *fold, item string) bool {
	s := f.step
	if s.op != "bagloop" || s.args[1].path != item {
		return false
	}
	return bagStep(s.args[2])
}

func bagStep(s *val) bool {
	key := func(v *val) bool { return v.name == "key" }
	value := func(v *val) bool {
		return v.elem && strings.HasSuffix(v.path, ".v") || v.op == "||" && v.args[0].elem && strings.HasSuffix(v.args[0].path, ".v")
	}
	get := func(v *val) bool {
		if v.op == "||" && len(v.args) == 2 && v.args[1].isConst && v.args[1].c == float64(0) {
			v = v.args[0]
		}
		if v.op == "?:" && v.args[0].op == "baghas" && v.args[1].op == "bagget" && v.args[2].isConst && v.args[2].c == float64(0) {
			return true
		}
		return v.op == "bagget" && key(v.args[1])
	}
	plus := func(v *val) bool {
		return v.op == "+" && (get(v.args[0]) && value(v.args[1]) || get(v.args[1]) && value(v.args[0]))
	}
	set := func(v *val) *val {
		if v.op == "bagset" && key(v.args[1]) {
			return v.args[2]
		}
		return nil
	}
	if v := set(s); v != nil {
		return plus(v)
	}
	if s.op != "?:" {
		return false
	}
	test, a, b := s.args[0], set(s.args[1]), set(s.args[2])
	neg := false
	for test.op == "!" {
		test, neg = test.args[0], !neg
	}
	if test.op == "==" && test.args[0].op == "bagget" && test.args[1].isConst && test.args[1].k.only(kNullish) {
		test, neg = test.args[0], !neg
	}
	if test.op != "bagget" && test.op != "baghas" {
		return false
	}
	if neg {
		a, b = b, a
	}
	return a != nil && b != nil && plus(a) && value(b)
}

// valuesSum is Array.sum(values).
func (x *exec) valuesSum(n ast.Node) *val {
	if x.item == nil || x.item.obj != nil {
		x.refuse(n, RefuseShape, "map emits objects, and Array.sum of objects is text: add up their fields")
	}
	acc := &val{path: "$$acc." + x.fresh("a"), k: kAny, elem: true}
	return &val{path: "$$fold." + x.fresh("f"), k: kAny, elem: true, fold: &fold{init: number(0), acc: acc, step: operation("+", "$$acc", kNum, acc, x.item)}}
}

// valuesExtreme is Math.max.apply(null, values).
func (x *exec) valuesExtreme(name string, n ast.Node) *val {
	if x.item == nil || x.item.obj != nil {
		x.refuse(n, RefuseShape, "map emits objects, and the greatest of objects is no number: compare their fields")
	}
	acc := &val{path: "$$acc." + x.fresh("a"), k: kNum, elem: true}
	init := number(math.Inf(-1))
	if name == "min" {
		init = number(math.Inf(1))
	}
	return &val{path: "$$fold." + x.fresh("f"), k: kNum, elem: true, fold: &fold{init: init, acc: acc, step: operation(name, "$$acc", kNum, acc, x.item)}}
}

// valuesMethod is values.forEach and values.reduce.
func (x *exec) valuesMethod(n *ast.CallExpression, base *val, name string) *val {
	arg := func(i int) *val {
		if i < len(n.ArgumentList) {
			return x.settle(x.eval(n.ArgumentList[i]))
		}
		return nil
	}
	f := arg(0)
	u := &walker{}
	if len(n.ArgumentList) > 0 {
		u.expr(n.ArgumentList[0])
	}
	switch {
	case name == "forEach" && f != nil && f.fn != nil:
		x.foldValues(0, func(elem *val) {
			x.invoke(f.fn, []*val{elem, {sp: spIndex, of: base, args: []*val{elem}, k: kNum, name: "i"}}, n)
		}, u, n)
		return undef()
	case name == "reduce" && f != nil && f.fn != nil:
		init := arg(1)
		from := 0
		if init == nil {
			init, from = x.first, 1
		}
		// The accumulator is a variable of a loop.
		name := x.fresh("·")
		x.declare(name, init)
		c, _ := x.env.find(name)
		u.assigned = append(u.assigned, name)
		x.foldValues(from, func(elem *val) { x.st.store[c] = x.invoke(f.fn, []*val{x.st.store[c], elem}, n) }, u, n)
		return x.st.store[c]
	case name == "sort", name == "reverse", name == "join", name == "slice", name == "shift", name == "pop":
		x.refuse(n, RefuseOrder, "%s: the order of the values, and how many there are at a time, is not defined", x.text(n))
	}
	x.refuse(n, RefuseFold, "%s has no equivalent: use a loop, forEach, reduce or Array.sum", x.text(n))
	return nil
}

// eachString calls fn for every string in an expression.
func eachString(e any, fn func(string)) {
	v := reflect.ValueOf(e)
	switch v.Kind() {
	case reflect.String:
		fn(fmt.Sprint(e))
	case reflect.Slice:
		for i := range v.Len() {
			item := v.Index(i)
			if item.Kind() == reflect.Struct {
				eachString(item.FieldByName("Value").Interface(), fn)
				continue
			}
			eachString(item.Interface(), fn)
		}
	case reflect.Interface:
		if !v.IsNil() {
			eachString(v.Elem().Interface(), fn)
		}
	}
}
