package translate

import (
	"math"

	"github.com/dop251/goja/ast"
)

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
