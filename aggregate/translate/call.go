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
	an := func(i int) ast.Node {
		if i < len(n.ArgumentList) {
			return n.ArgumentList[i]
		}
		return n
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
		return x.toNum(args[0], an(0))
	case "String":
		return x.toStr(arg(0), an(0), false)
	case "Boolean":
		test, yes, no := x.truthy(arg(0))
		return boolean(test, yes, no)
	case "isNaN", "isFinite":
		v := x.toNum(arg(0), an(0))
		if f, ok := v.c.(float64); ok && v.isConst {
			return constant((f != f) == (name == "isNaN") && (name == "isNaN" || !math.IsInf(f, 0)))
		}
		if name == "isNaN" {
			return boolean(call("$eq", x.ex(v), nan), nil, nil)
		}
		return boolean(not(call("$in", x.ex(v), bson.A{nan, math.Inf(1), math.Inf(-1)})), nil, nil)
	case "parseFloat":
		return x.parseNumber(arg(0), an(0), `^\s*`+decimalNumber, true)
	case "parseInt":
		if len(args) > 1 {
			if r, ok := args[1].c.(float64); !ok || r != 10 {
				x.refuse(n, RefuseCall, "parseInt is understood with base 10 only")
			}
		}
		return x.parseNumber(arg(0), an(0), `^\s*[+-]?[0-9]+`, false)
	case "ISODate", "Date":
		if name == "Date" || len(args) == 0 {
			x.refuse(n, RefuseNow, "%s depends on the time of the run", x.text(n))
		}
		return x.date(args, n)
	case "NumberInt":
		v := x.toNum(arg(0), an(0))
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

// parseNumber is parseFloat and parseInt: a number at the beginning of a text.
func (x *exec) parseNumber(v *val, n ast.Node, re string, fraction bool) *val {
	k := x.kindsOf(v)
	if v.isConst && !k.only(kNum) {
		v = x.toStr(v, n, false)
		k = kStr
	}
	if x.plain && k.has(kNum) && v.path != "" {
		x.caveat(x.pos(n), CaveatNumber, "%s is taken to be a number", shown(v))
		v, k = narrowed(v, kNum), kNum
	}
	e := x.bind(v, func(v *val) any {
		e := x.ex(v)
		var b bson.A
		add := func(of kinds, then any) {
			b = append(b, bson.D{{Key: "case", Value: x.isType(e, k&of)}, {Key: "then", Value: then}})
		}
		if k.has(kStr) {
			x.needs(v42)
			found := doc("$regexFind", bson.D{{Key: "input", Value: e}, {Key: "regex", Value: re}})
			m := x.fresh("m")
			then := any(doc("$let", bson.D{{Key: "vars", Value: doc(m, found)}, {Key: "in", Value: cond(
				call("$eq", call("$ifNull", "$$"+m, nil), nil), nan, x.parsed(doc("$trim", doc("input", "$$"+m+".match")), e, n))}}))
			odd := `^\s*[+-]?Infinity`
			if !fraction {
				odd = `^\s*[+-]?0[xX]`
			}
			then = cond(doc("$regexMatch", bson.D{{Key: "input", Value: e}, {Key: "regex", Value: odd}}), x.fail(n, e, "%s has to be a decimal number", x.text(n)), then)
			add(kStr, then)
		}
		if k.has(kNum) {
			num := any(e)
			if !fraction {
				num = switchOf(bson.A{
					bson.D{{Key: "case", Value: call("$in", e, bson.A{nan, math.Inf(1), math.Inf(-1)})}, {Key: "then", Value: nan}},
					bson.D{{Key: "case", Value: any2(call("$eq", e, int32(0)), all2(call("$gte", doc("$abs", e), 1e-6), call("$lt", doc("$abs", e), 1e21)))}, {Key: "then", Value: doc("$trunc", e)}},
				}, x.fail(n, e, "%s has to be a number between 1e-6 and 1e21", x.text(n)))
			}
			if k.only(kNum) {
				return num
			}
			add(kNum, num)
		}
		// All but arrays become a text that does not begin with a number, "NumberLong(5)" for one.
		if bad := kArr | kOther; k.has(bad) {
			add(bad, x.fail(n, e, "%s has to be a number or a string", x.text(n)))
			return switchOf(b, nan)
		}
		if k&^(kStr|kNum) != 0 {
			return switchOf(b, nan)
		}
		return switchOf(b[:len(b)-1], b[len(b)-1].(bson.D)[1].Value)
	})
	return expr(e, kNum)
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

// applied is Math.max.apply(null, array) and the like.
func (x *exec) applied(n *ast.CallExpression, f *ast.DotExpression) *val {
	id, ok := f.Left.(*ast.Identifier)
	name := f.Identifier.Name.String()
	if !ok || id.Name.String() != "Math" || name != "max" && name != "min" || len(n.ArgumentList) != 2 {
		return nil
	}
	list := x.eval(n.ArgumentList[1])
	if list.sp == spValues {
		return x.valuesExtreme(name, n)
	}
	if list.isArr {
		return x.extreme(name, list.arr, n)
	}
	return nil
}

// static is Math.floor, Array.sum and the like.
func (x *exec) static(n *ast.CallExpression, object, name string) *val {
	if object == "Math" && (name == "max" || name == "min") && len(n.ArgumentList) == 1 {
		if s, ok := n.ArgumentList[0].(*ast.SpreadElement); ok {
			if v := x.eval(s.Expression); v.sp == spValues {
				return x.valuesExtreme(name, n)
			}
		}
	}
	args := x.args(n)
	arg := func(i int) *val {
		if i < len(args) {
			return args[i]
		}
		return undef()
	}
	switch object {
	case "Math":
		return x.math(n, name, args)
	case "Date":
		switch name {
		case "now":
			x.refuse(n, RefuseNow, "Date.now() depends on the time of the run")
		case "UTC":
			x.needs(v40)
			return expr(doc("$toDouble", x.ex(x.dateFromParts(args, n))), kNum)
		}
	case "Array":
		switch name {
		case "isArray":
			v := arg(0)
			if v.obj != nil || v.isArr || v.isConst {
				return constant(v.isArr)
			}
			var yes, no facts
			if v.path != "" {
				yes, no = facts{v.path: kArr}, facts{v.path: kAny &^ kArr}
			}
			return boolean(x.isKind(v, kArr), yes, no)
		case "sum":
			if arg(0).sp == spValues {
				return x.valuesSum(n)
			}
			return x.arraySum(arg(0), n)
		case "avg":
			if arg(0).sp == spValues {
				x.refuse(n, RefuseFold, "an average of averages is no average: reduce sum and count, and divide in finalize")
			}
		}
	case "Object":
		if name == "keys" && len(args) == 1 {
			return &val{sp: spKeys, of: args[0], k: kArr}
		}
	case "Number":
		switch name {
		case "isInteger":
			v := arg(0)
			if x.kindsOf(v).only(kNum) {
				return boolean(all2(call("$eq", x.ex(v), doc("$trunc", x.ex(v))), not(call("$in", x.ex(v), bson.A{nan, math.Inf(1), math.Inf(-1)}))), nil, nil)
			}
		case "isNaN":
			return boolean(all2(x.isKind(arg(0), kNum), call("$eq", x.ex(arg(0)), nan)), nil, nil)
		case "parseFloat":
			return x.parseNumber(arg(0), n, `^\s*`+decimalNumber, true)
		}
	}
	x.refuse(n, RefuseCall, "%s has no exact equivalent", x.text(n))
	return nil
}

// math is Math.name(…).
func (x *exec) math(n *ast.CallExpression, name string, args []*val) *val {
	if name == "random" {
		x.refuse(n, RefuseRandom, "Math.random gives another answer each time")
	}
	if name == "max" || name == "min" {
		return x.extreme(name, args, n)
	}
	if len(args) == 0 {
		return number(nan)
	}
	v := x.toNum(args[0], n.ArgumentList[0])
	if f, ok := v.c.(float64); ok && v.isConst {
		if g, ok := map[string]func(float64) float64{"floor": math.Floor, "ceil": math.Ceil, "abs": math.Abs, "trunc": math.Trunc, "sqrt": math.Sqrt,
			"round": func(f float64) float64 { return math.Floor(f + 0.5) }}[name]; ok {
			return number(g(f))
		}
	}
	one := func(op string) *val { return operation(name, doc(op, x.ex(v)), kNum, v) }
	switch name {
	case "floor":
		return one("$floor")
	case "ceil":
		return one("$ceil")
	case "abs":
		return one("$abs")
	case "trunc":
		return one("$trunc")
	case "exp":
		return one("$exp")
	case "round": // halves go up
		return operation(name, x.bind(v, func(v *val) any {
			e := x.ex(v)
			down := doc("$floor", e)
			return cond(call("$gte", call("$subtract", e, down), 0.5), doc("$ceil", e), down)
		}), kNum, v)
	case "sqrt", "log", "log10":
		op := map[string]string{"sqrt": "$sqrt", "log": "$ln", "log10": "$log10"}[name]
		return operation(name, x.bind(v, func(v *val) any {
			e := x.ex(v)
			bad := bson.A{bson.D{{Key: "case", Value: call("$lt", e, int32(0))}, {Key: "then", Value: nan}}}
			if name != "sqrt" {
				bad = append(bad, bson.D{{Key: "case", Value: call("$eq", e, int32(0))}, {Key: "then", Value: math.Inf(-1)}})
			}
			return switchOf(bad, doc(op, e))
		}), kNum, v)
	case "pow":
		if len(args) == 2 {
			if p, ok := args[1].c.(float64); ok && p >= 0 {
				return operation(name, call("$pow", x.ex(v), literal(p)), kNum, v, args[1])
			}
		}
	}
	x.refuse(n, RefuseCall, "%s has no exact equivalent", x.text(n))
	return nil
}

// extreme is Math.max and Math.min, which are NaN as soon as one argument is.
func (x *exec) extreme(name string, args []*val, n *ast.CallExpression) *val {
	if len(args) == 0 {
		if name == "max" {
			return number(math.Inf(-1))
		}
		return number(math.Inf(1))
	}
	nums := bson.A{}
	var used []*val
	for i, a := range args {
		var at ast.Node = n
		if i < len(n.ArgumentList) {
			at = n.ArgumentList[i]
		}
		v := x.toNum(a, at)
		used = append(used, a)
		nums = append(nums, x.ex(v))
	}
	least := doc("$min", nums) // NaN is the least
	if name == "min" {
		return operation("min", least, kNum, used...)
	}
	if x.plain {
		return operation("max", doc("$max", nums), kNum, used...)
	}
	return operation("max", cond(call("$eq", least, nan), nan, doc("$max", nums)), kNum, used...)
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
