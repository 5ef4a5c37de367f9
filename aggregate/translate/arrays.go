package translate

import (
	"github.com/dop251/goja/ast"
	"go.mongodb.org/mongo-driver/bson"
)

// arrayMethod is a.name(…) for an array.
func (x *exec) arrayMethod(n *ast.CallExpression, a *val, name string) *val {
	left := n.Callee.(*ast.DotExpression).Left
	arg := func(i int) *val {
		if i < len(n.ArgumentList) {
			return x.settle(x.eval(n.ArgumentList[i]))
		}
		return undef()
	}
	if a.isArr && (name == "forEach" || name == "map") { // written out: no loop is needed
		f := arg(0)
		if f.fn != nil && len(a.arr) <= 20 {
			out := arrayVal()
			for i, item := range a.arr {
				out.arr = append(out.arr, x.invoke(f.fn, []*val{item, number(float64(i))}, n))
			}
			if name == "forEach" {
				return undef()
			}
			return out
		}
	}
	switch name {
	case "push":
		return x.push(n, a, left)
	case "forEach":
		f := arg(0)
		if f.fn == nil {
			break
		}
		u := &walker{}
		u.expr(n.ArgumentList[0])
		var e elements
		if a.isArr {
			e = x.arrayElements(a, x.ex(a))
		} else {
			e = x.each(a, "forEach", left)
		}
		keys := a.sp == spKeys
		run := func(elem, index *val) {
			if keys {
				x.invoke(f.fn, []*val{index, undef()}, n)
				return
			}
			x.invoke(f.fn, []*val{elem, index}, n)
		}
		if x.emits(u, map[string]bool{}) {
			x.emitLoop(e, n, u, run)
		} else {
			x.foldLoop(e, n, u, run)
		}
		return undef()
	case "map", "filter", "some", "every":
		f := arg(0)
		if f.fn == nil || a.sp == spKeys {
			break
		}
		return x.mapped(n, a, name, f.fn)
	case "reduce":
		f := arg(0)
		if f.fn == nil || len(n.ArgumentList) != 2 || a.sp == spKeys {
			break
		}
		return x.reduced(n, a, f.fn, arg(1))
	case "indexOf", "includes":
		v := arg(0)
		if a.sp == spKeys || !x.kindsOf(v).only(kStr|kBool|kNum) && (a.path == "" || !v.elem) {
			break
		}
		if name == "includes" {
			return boolean(call("$in", x.ex(v), x.ex(a)), nil, nil).made("includes", a, v)
		}
		found := call("$indexOfArray", x.ex(a), x.ex(v))
		if x.kindsOf(v).has(kNum) && !v.isConst && x.kindsOf(v).only(kNum) && !x.plain {
			found = cond(call("$eq", x.ex(v), nan), int32(-1), found).(bson.D)
		}
		return operation("indexOf", found, kNum, a, v)
	case "concat":
		b := arg(0)
		if len(n.ArgumentList) != 1 || a.sp == spKeys {
			break
		}
		if a.isArr && b.isArr {
			return arrayVal(append(append([]*val{}, a.arr...), b.arr...)...)
		}
		if !x.kindsOf(b).only(kArr) {
			if b.path == "" || !b.elem {
				break
			}
		}
		return operation("concat", call("$concatArrays", x.ex(a), x.ex(b)), kArr, a, b)
	case "slice":
		from, ok := arg(0).c.(float64)
		if len(n.ArgumentList) == 0 {
			return a
		}
		if ok && len(n.ArgumentList) == 1 && from == 0 {
			return a
		}
		if ok && from < 0 && len(n.ArgumentList) == 1 {
			return operation("slice", call("$slice", x.ex(a), int32(from)), kArr, a)
		}
		if to, okTo := arg(1).c.(float64); ok && okTo && from >= 0 && to > from {
			return operation("slice", call("$slice", x.ex(a), int32(from), int32(to-from)), kArr, a)
		}
	case "join":
		sep := ","
		if len(n.ArgumentList) == 1 {
			s, ok := arg(0).c.(string)
			if !ok {
				break
			}
			sep = s
		}
		if a.sp == spKeys {
			break
		}
		item := x.fresh("x")
		var each any
		each = x.inline(func() any {
			v := &val{path: "$$" + item, k: a.elementKinds(), elem: true}
			if v.k == kStr {
				return x.ex(v)
			}
			return cond(x.isKind(v, kNullish), "", x.ex(x.toStr(narrowed(v, kAny&^kNullish), n, false)))
		})
		list := any(doc("$map", bson.D{{Key: "input", Value: x.ex(a)}, {Key: "as", Value: item}, {Key: "in", Value: each}}))
		if each == "$$"+item {
			list = x.ex(a)
		}
		return operation("join", call("$ifNull", joined(list, literal(sep)), ""), kStr, a)
	}
	x.refuse(n, RefuseCall, "%s has no exact equivalent", x.text(n))
	return nil
}

// push adds to an array that the function made.
func (x *exec) push(n *ast.CallExpression, a *val, left ast.Expression) *val {
	if len(n.ArgumentList) != 1 {
		x.refuse(n, RefuseCall, "push is understood with one argument")
	}
	v := x.settle(x.eval(n.ArgumentList[0]))
	if a.isArr {
		x.store(left, arrayVal(append(append([]*val{}, a.arr...), v)...), n)
		return undef()
	}
	if !a.elem && a.e == nil || a.path != "" && !isAcc(a.path) {
		x.refuse(n, RefuseThis, "%s is changed: a pipeline never changes the document while it reads it", x.text(left))
	}
	x.store(left, operation("push", call("$concatArrays", x.ex(a), bson.A{x.ex(v)}), kArr, a, v), n)
	return undef()
}

func isAcc(p string) bool { return len(p) > 5 && p[:5] == "$$acc" }

// mapped is map, filter, some and every.
func (x *exec) mapped(n *ast.CallExpression, a *val, name string, f *closure) *val {
	item := x.fresh("x")
	k := a.elementKinds()
	var e any
	var out *val
	body := x.inline(func() any {
		x.st.rets = nil
		out = x.invoke(f, []*val{{path: "$$" + item, k: k, elem: true}}, n)
		if name == "map" {
			e := x.ex(out)
			if x.kindsOf(out).has(kUndef) {
				e = orNull(e)
			}
			return e
		}
		test, _, _ := x.truthy(out)
		return test
	})
	input := x.ex(a)
	each := doc("$map", bson.D{{Key: "input", Value: input}, {Key: "as", Value: item}, {Key: "in", Value: body}})
	switch name {
	case "map":
		e = each
	case "filter":
		return operation(a.op, doc("$filter", bson.D{{Key: "input", Value: input}, {Key: "as", Value: item}, {Key: "cond", Value: body}}), kArr)
	case "some":
		return boolean(doc("$anyElementTrue", bson.A{each}), nil, nil)
	case "every":
		return boolean(doc("$allElementsTrue", bson.A{each}), nil, nil)
	}
	v := expr(e, kArr)
	if x.kindsOf(out).only(kStr) {
		v.op = "split" // elements are strings
	}
	return v
}

// reduced is a.reduce(f, init).
func (x *exec) reduced(n *ast.CallExpression, a *val, f *closure, init *val) *val {
	if init.obj != nil || init.fn != nil || init.sp != spNone {
		x.refuse(n, RefuseCall, "reduce of an array into an object has no equivalent here")
	}
	return x.folded(x.each(a, "forEach", n), init, func(acc, item *val) *val { return x.invoke(f, []*val{acc, item}, n) })
}

// folded is $reduce with a step whose kinds are found by trying.
func (x *exec) folded(e elements, init *val, step func(acc, item *val) *val) *val {
	acc, item := x.fresh("acc"), x.fresh("x")
	k := init.k
	var body any
	for range 5 {
		var v *val
		body = x.inline(func() any {
			x.st.rets = nil
			elem, _ := e.make("$$" + item)
			v = step(&val{path: "$$" + acc, k: k, elem: true}, elem)
			return x.ex(v)
		})
		if v.k.only(k) {
			break
		}
		k |= v.k
	}
	in := x.ex(init)
	if in == "$$REMOVE" {
		in = nil
	}
	return expr(doc("$reduce", bson.D{
		{Key: "input", Value: e.source},
		{Key: "initialValue", Value: in},
		{Key: "in", Value: doc("$let", bson.D{{Key: "vars", Value: bson.D{{Key: acc, Value: "$$value"}, {Key: item, Value: "$$this"}}}, {Key: "in", Value: body}})},
	}), k)
}

// arraySum is Array.sum of an array in the document: null when it is empty, else added up from the first on.
func (x *exec) arraySum(a *val, n *ast.CallExpression) *val {
	e := x.each(a, "forEach", n.ArgumentList[0])
	if s, ok := e.source.(string); !ok || s == "" {
		e.source = x.ex(a)
	}
	list := e.source
	zero := number(0)
	sum := x.folded(e, zero, func(acc, item *val) *val {
		return x.add(acc, narrowed(item, item.k), n, n)
	})
	one := call("$arrayElemAt", list, int32(0))
	size := doc("$size", list)
	return expr(switchOf(bson.A{
		bson.D{{Key: "case", Value: call("$eq", size, int32(0))}, {Key: "then", Value: nil}},
		bson.D{{Key: "case", Value: call("$eq", size, int32(1))}, {Key: "then", Value: one}},
	}, sum.e), kAny)
}
