package translate

import (
	"math"
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
)

func (x *exec) args(n *ast.CallExpression) []*val {
	var out []*val
	for _, a := range n.ArgumentList {
		if _, spread := a.(*ast.SpreadElement); spread {
			x.refuse(a, RefuseSyntax, "spread arguments have no equivalent")
		}
		out = append(out, x.settle(x.eval(a)))
	}
	return out
}

func (x *exec) call(n *ast.CallExpression) *val {
	switch callee := n.Callee.(type) {
	case *ast.DotExpression:
		return x.method(n, callee)
	case *ast.Identifier:
		f := x.lookup(callee)
		if f.fn != nil {
			return x.invoke(f.fn, x.args(n), n)
		}
		if f.sp == spGlobal {
			return x.global(n, f.name)
		}
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
		return x.invoke(x.eval(n.Callee).fn, x.args(n), n)
	}
	x.refuse(n, RefuseCall, "%s is no function with an equivalent", x.text(n.Callee))
	return nil
}

// global is a call of a function that every script knows.
func (x *exec) global(n *ast.CallExpression, name string) *val {
	if name == "print" || name == "printjson" {
		return undef() // writes to the server's log only
	}
	args := x.args(n)
	arg := func(i int) *val {
		if i < len(args) {
			return args[i]
		}
		return undef()
	}
	first := ast.Node(n)
	if len(n.ArgumentList) > 0 {
		first = n.ArgumentList[0]
	}
	switch name {
	case "emit":
		if len(args) != 2 {
			x.refuse(n, RefuseCall, "emit takes a key and a value: a server fails with anything else")
		}
		x.emit(n, arg(0), arg(1))
		return undef()
	case "Number":
		if len(args) == 0 {
			return number(0)
		}
		return x.toNum(args[0], first)
	case "String":
		return x.toStr(arg(0), first, false)
	case "Boolean":
		test, yes, no := x.truthy(arg(0))
		return boolean(test, yes, no)
	case "isNaN", "isFinite":
		v := x.toNum(arg(0), first)
		if f, ok := v.c.(float64); ok && v.isConst {
			return constant((f != f) == (name == "isNaN") && (name == "isNaN" || !math.IsInf(f, 0)))
		}
		if name == "isNaN" {
			return boolean(call("$eq", x.ex(v), nan), nil, nil)
		}
		return boolean(not(call("$in", x.ex(v), bson.A{nan, math.Inf(1), math.Inf(-1)})), nil, nil)
	case "parseFloat":
		return x.parseNumber(arg(0), first, `^\s*`+decimalNumber, true)
	case "parseInt":
		if len(args) > 1 {
			if r, ok := args[1].c.(float64); !ok || r != 10 {
				x.refuse(n, RefuseCall, "parseInt is understood with base 10 only")
			}
		}
		return x.parseNumber(arg(0), first, `^\s*[+-]?[0-9]+`, false)
	case "ISODate", "Date":
		if name == "Date" || len(args) == 0 {
			x.refuse(n, RefuseNow, "%s depends on the time of the run", x.text(n))
		}
		return x.date(args, n)
	case "NumberInt":
		v := x.toNum(arg(0), first)
		return operation("trunc", doc("$trunc", x.ex(v)), kNum, v)
	case "NumberLong", "NumberDecimal":
		if s, ok := arg(0).c.(string); ok && arg(0).isConst && name == "NumberDecimal" {
			if d, err := primitive.ParseDecimal128(s); err == nil {
				return constant(d)
			}
		}
		if f := looseNumber(arg(0).c); arg(0).isConst && name == "NumberLong" && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return constant(int64(f))
		}
	case "ObjectId":
		if s, ok := arg(0).c.(string); ok && arg(0).isConst {
			if id, err := primitive.ObjectIDFromHex(s); err == nil {
				return constant(id)
			}
		}
	}
	x.refuse(n, RefuseCall, "%s has no exact equivalent", x.text(n))
	return nil
}

// method is base.name(…).
func (x *exec) method(n *ast.CallExpression, callee *ast.DotExpression) *val {
	name := callee.Identifier.Name.String()
	if d, ok := callee.Left.(*ast.DotExpression); ok && name == "apply" {
		if v := x.applied(n, d); v != nil {
			return v
		}
	}
	base := x.settle(x.eval(callee.Left))
	switch {
	case base.sp == spGlobal:
		return x.static(n, base.name, name)
	case base.sp == spValues:
		return x.valuesMethod(n, base, name)
	case base.obj != nil && base.obj.vals[name] != nil && base.obj.vals[name].fn != nil:
		return x.invoke(base.obj.vals[name].fn, x.args(n), n)
	case base.fn != nil && name == "call":
		args := x.args(n)
		if len(args) == 0 {
			return x.invoke(base.fn, nil, n)
		}
		return x.invoke(base.fn, args[1:], n)
	case name == "hasOwnProperty" && len(n.ArgumentList) == 1:
		if base.bag {
			return boolean("$$has", nil, nil).made("baghas", base, x.eval(n.ArgumentList[0]))
		}
		k := x.eval(n.ArgumentList[0])
		if k.name == "key" && k.of != nil && sameBase(k.of, base) {
			return constant(true)
		}
		if k.sp == spIndex && sameBase(base, k.of) {
			return constant(true)
		}
		if s, ok := k.c.(string); ok && k.isConst {
			return x.hasField(base, s, n)
		}
	case base.isConst && base.k == kRegex:
		if name == "test" && len(n.ArgumentList) == 1 {
			return x.regexTest(base, x.toStr(x.eval(n.ArgumentList[0]), n.ArgumentList[0], false), n)
		}
	case base.isArr || base.sp == spKeys:
		return x.arrayMethod(n, base, name)
	case base.sp == spNone && base.fn == nil && base.obj == nil:
		return x.dispatch(n, base, name)
	}
	x.refuse(n, RefuseCall, "%s has no exact equivalent", x.text(n))
	return nil
}

var (
	stringMethods = []string{"toLowerCase", "toUpperCase", "trim", "substr", "substring", "charAt", "split", "match", "replace", "startsWith", "endsWith", "search", "charCodeAt", "localeCompare", "trimStart", "trimEnd", "padStart", "padEnd", "repeat"}
	arrayMethods  = []string{"forEach", "map", "filter", "reduce", "some", "every", "join", "push", "reverse", "sort", "pop", "shift", "find", "splice"}
	bothMethods   = []string{"indexOf", "includes", "slice", "concat"}
)

// dispatch calls a method on a value whose kind decides what it is. A value without the method makes JavaScript throw.
func (x *exec) dispatch(n *ast.CallExpression, base *val, name string) *val {
	k := x.kindsOf(base)
	left := n.Callee.(*ast.DotExpression).Left
	want := func(of kinds, id string) *val {
		if k.only(of) {
			return base
		}
		if !k.has(of) {
			x.refuse(n, RefuseCall, "%s: a value of this type has no method %s", x.text(n), name)
		}
		if x.plain {
			x.caveat(x.pos(n), id, "%s is taken to be of the type that has %s", shown(base), name)
		} else {
			what := map[kinds]string{kStr: "a string", kArr: "an array", kDate: "a date", kOID: "an ObjectId"}[of]
			x.throws(n, not(x.isKind(base, of)), x.ex(base), "%s has to be %s", x.text(left), what)
		}
		x.learn(base, of)
		return narrowed(base, of)
	}
	switch {
	case slices.Contains(stringMethods, name):
		return x.stringMethod(n, want(kStr, CaveatString), name)
	case slices.Contains(arrayMethods, name):
		return x.arrayMethod(n, want(kArr, CaveatArray), name)
	case slices.Contains(bothMethods, name):
		if k.only(kStr) || base.isConst {
			return x.stringMethod(n, base, name)
		}
		if k.only(kArr) {
			return x.arrayMethod(n, base, name)
		}
		if !x.plain && (k.has(kStr) && k.has(kArr)) {
			x.throws(n, not(x.isKind(base, kStr|kArr)), x.ex(base), "%s has to be a string or an array", x.text(left))
			x.learn(base, kStr|kArr)
			k &= kStr | kArr
			s := x.stringMethod(n, narrowed(base, kStr), name)
			a := x.arrayMethod(n, narrowed(base, kArr), name)
			test := x.isKind(base, kArr)
			v := x.choose(test, boolean(test, nil, nil), a, s)
			return v
		}
		if k.has(kStr) {
			return x.stringMethod(n, want(kStr, CaveatString), name)
		}
		return x.arrayMethod(n, want(kArr, CaveatArray), name)
	case strings.HasPrefix(name, "get") && name != "getTimestamp" || name == "toISOString" || name == "toJSON":
		return x.dateMethod(n, want(kDate, CaveatType), name)
	case name == "getTimestamp":
		x.needs(v40)
		return expr(doc("$toDate", x.ex(want(kOID, CaveatType))), kDate)
	case name == "valueOf" && k.only(kDate|kNum|kStr|kBool):
		if k.only(kDate) {
			return x.dateMethod(n, base, "getTime")
		}
		return base
	case name == "toNumber" && k.only(kLong|kNum):
		return x.toNum(base, n)
	case name == "toString" && len(n.ArgumentList) == 0:
		if k.has(kNullish) {
			x.throws(n, x.isKind(base, kNullish), x.ex(base), "%s has to be there", x.text(left))
			x.learn(base, k&^kNullish)
			base = narrowed(base, k&^kNullish)
		}
		return x.toStr(base, n, false)
	}
	x.refuse(n, RefuseCall, "%s has no exact equivalent", x.text(n))
	return nil
}

// emit notes an emit.
func (x *exec) emit(n ast.Node, key, value *val) {
	if !x.mapping {
		x.refuse(n, RefuseCall, "emit outside of map")
	}
	if value.sp == spThis || key.sp == spThis {
		x.refuse(n, RefuseSyntax, "emitting the document as a whole is not understood: emit the fields that are needed")
	}
	x.sc.nodes = append(x.sc.nodes, node{
		live: append(slices.Clone(x.st.live), x.conds...),
		emit: &emitted{key: x.freeze(key), value: x.freeze(value), at: n},
	})
}

// freeze renders a value while what is known here holds.
func (x *exec) freeze(v *val) *val {
	switch {
	case v.obj != nil:
		o := newObject()
		for _, name := range v.obj.names {
			o.set(name, x.freeze(v.obj.vals[name]))
		}
		for _, p := range v.obj.dyn {
			o.dyn = append(o.dyn, pair{x.freeze(p.k), x.freeze(p.v)})
		}
		return objectVal(o)
	case v.isArr:
		a := arrayVal()
		for _, item := range v.arr {
			a.arr = append(a.arr, x.freeze(item))
		}
		return a
	case v.isConst:
		return v
	}
	e := x.ex(v)
	k := x.kindsOf(v)
	if p, ok := e.(string); ok && p == v.path {
		return &val{path: p, k: k, elem: true}
	}
	return expr(e, k)
}
