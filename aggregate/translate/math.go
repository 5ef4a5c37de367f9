package translate

import (
	"math"

	"github.com/dop251/goja/ast"
	"go.mongodb.org/mongo-driver/bson"
)

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
	first := undef()
	if len(args) > 0 {
		first = args[0]
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
			v := first
			if v.obj != nil || v.isArr || v.isConst {
				return constant(v.isArr)
			}
			var yes, no facts
			if v.path != "" {
				yes, no = facts{v.path: kArr}, facts{v.path: kAny &^ kArr}
			}
			return boolean(x.isKind(v, kArr), yes, no)
		case "sum":
			if first.sp == spValues {
				return x.valuesSum(n)
			}
			if len(args) == 1 {
				return x.arraySum(first, n)
			}
		case "avg":
			if first.sp == spValues {
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
			v := first
			if x.kindsOf(v).only(kNum) {
				return boolean(all2(call("$eq", x.ex(v), doc("$trunc", x.ex(v))), not(call("$in", x.ex(v), bson.A{nan, math.Inf(1), math.Inf(-1)}))), nil, nil)
			}
		case "isNaN":
			return boolean(all2(x.isKind(first, kNum), call("$eq", x.ex(first), nan)), nil, nil)
		case "parseFloat":
			return x.parseNumber(first, n, `^\s*`+decimalNumber, true)
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
		if g, ok := map[string]func(float64) float64{
			"floor": math.Floor, "ceil": math.Ceil, "abs": math.Abs, "trunc": math.Trunc, "sqrt": math.Sqrt,
			"round": func(f float64) float64 { return math.Floor(f + 0.5) },
		}[name]; ok {
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
