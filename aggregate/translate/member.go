package translate

import (
	"math"
	"slices"

	"github.com/dop251/goja/ast"
	"go.mongodb.org/mongo-driver/bson"
)

// hasField is "name" in v, and v.hasOwnProperty("name").
func (x *exec) hasField(v *val, name string, n ast.Node) *val {
	switch {
	case v.obj != nil && len(v.obj.dyn) == 0:
		_, ok := v.obj.vals[name]
		return constant(ok)
	case v.sp == spThis, v.path != "" && x.kindsOf(v).only(kObj):
		m := x.member(v, name, n, n)
		// A field that holds BSON's undefined is there, too; nothing writes it any more.
		return boolean(not(call("$eq", doc("$type", x.ex(m)), "missing")), nil, nil)
	}
	x.refuse(n, RefuseSyntax, "%s: whether this is an object is not known", x.text(n))
	return nil
}

func (x *exec) bracket(n *ast.BracketExpression) *val {
	base := x.eval(n.Left)
	k := x.eval(n.Member)
	if base.bag {
		return &val{op: "bagget", args: []*val{base, k}, e: "$$bag", k: kAny}
	}
	if k.sp == spIndex {
		return x.element(base, k, n)
	}
	if k.name == "key" && k.of != nil && sameBase(base, k.of) {
		return k.args[0]
	}
	if k.isConst {
		switch c := k.c.(type) {
		case string:
			if f := stringNumber(c); f == f && c != "" && base.obj == nil {
				x.refuse(n, RefuseFieldName, "%s: a number as text may be a position or a field", x.text(n))
			}
			return x.member(base, c, n, n.Left)
		case float64:
			return x.at(base, k, n)
		}
	}
	if k.k.only(kNum) && k.sp == spNone {
		return x.at(base, k, n)
	}
	x.refuse(n, RefuseDynamicField, "%s: which field this is is known only when it runs", x.text(n))
	return nil
}

// at is base[i] for a number.
func (x *exec) at(base, i *val, n *ast.BracketExpression) *val {
	c, isConst := i.c.(float64)
	if isConst && (c < 0 || c != math.Trunc(c)) {
		return undef()
	}
	switch {
	case base.isArr && isConst:
		if int(c) < len(base.arr) {
			return base.arr[int(c)]
		}
		return undef()
	case base.sp == spValues && isConst && c == 0:
		return x.first
	case base.sp != spNone || base.obj != nil:
		x.refuse(n, RefuseSyntax, "%s has no equivalent", x.text(n))
	}
	k := x.kindsOf(base)
	if k.has(kNullish) {
		x.throws(n, x.isKind(base, kNullish), x.ex(base), "%s has to be there", x.text(n.Left))
		x.learn(base, k&^kNullish)
	}
	elem := func(base *val) any {
		if isConst {
			return call("$arrayElemAt", x.ex(base), int32(c))
		}
		return x.bind(i, func(i *val) any {
			e := x.ex(i)
			x.needs(v40)
			return cond(all2(call("$gte", e, int32(0)), call("$eq", e, doc("$trunc", e)), call("$lt", e, int32(math.MaxInt32))),
				call("$arrayElemAt", x.ex(base), doc("$toInt", e)), "$$REMOVE")
		})
	}
	k &^= kNullish
	if k.only(kArr) || x.plain {
		if !k.only(kArr) {
			x.caveat(x.pos(n), CaveatArray, "%s is taken to be an array", shown(base))
		}
		v := expr(elem(base), kAny)
		return v
	}
	if !k.has(kArr|kStr|kObj) || !isConst {
		return expr(x.bind(base, func(base *val) any {
			return cond(doc("$isArray", bson.A{x.ex(base)}), elem(base), x.fail(n, x.ex(base), "%s has to be an array", x.text(n.Left)))
		}), kAny)
	}
	return expr(x.bind(base, func(base *val) any {
		return switchOf(bson.A{
			bson.D{{Key: "case", Value: doc("$isArray", bson.A{x.ex(base)})}, {Key: "then", Value: elem(base)}},
			bson.D{{Key: "case", Value: x.isKind(base, k&(kStr|kObj|kOther))}, {Key: "then", Value: x.fail(n, x.ex(base), "%s has to be an array", x.text(n.Left))}},
		}, "$$REMOVE")
	}), kAny)
}

// member is base.name.
func (x *exec) member(base *val, name string, n, left ast.Node) *val {
	switch base.op {
	case "?:", "||", "&&":
		if v := x.memberOfChoice(base, name, n, left); v != nil {
			return v
		}
	}
	switch {
	case base.obj != nil:
		if v, ok := base.obj.vals[name]; ok {
			return v
		}
		if len(base.obj.dyn) > 0 {
			x.refuse(n, RefuseDynamicField, "%s: which fields the object has is known only when it runs", x.text(n))
		}
		if base.shaped {
			x.refuse(n, RefuseShape, "%s: map emits no field %s in its values", x.text(n), name)
		}
		return undef()
	case base.sp == spThis:
		p := base.path
		if p == "" {
			p = "$" + x.fieldName(name, n)
		} else {
			p += "." + x.fieldName(name, n)
		}
		x.used = append(x.used, p)
		return pathVal(p, kAny)
	case base.sp == spValues:
		if name == "length" {
			return &val{sp: spLength, k: kNum, at: n}
		}
	case base.sp == spGlobal:
		if base.name == "Math" {
			if c, ok := map[string]float64{"PI": math.Pi, "E": math.E, "LN2": math.Ln2, "LN10": math.Ln10, "SQRT2": math.Sqrt2}[name]; ok {
				return number(c)
			}
		}
		if base.name == "Number" {
			if c, ok := map[string]float64{"MAX_VALUE": math.MaxFloat64, "MIN_VALUE": math.SmallestNonzeroFloat64, "POSITIVE_INFINITY": math.Inf(1), "NEGATIVE_INFINITY": math.Inf(-1), "MAX_SAFE_INTEGER": 1<<53 - 1}[name]; ok {
				return number(c)
			}
		}
	case base.isArr && name == "length":
		return number(float64(len(base.arr)))
	case base.isConst && name == "length":
		if s, ok := base.c.(string); ok {
			return number(float64(len([]rune(s))))
		}
	case base.sp == spKeys && name == "length":
		return operation("size", doc("$size", doc("$objectToArray", x.ex(base.of))), kNum)
	}
	if base.sp != spNone || base.fn != nil || base.isArr || base.isConst && base.k.only(kNullish) {
		x.refuse(n, RefuseSyntax, "%s has no equivalent", x.text(n))
	}
	k := x.kindsOf(base)
	if k.has(kNullish) {
		if x.plain {
			if base.path != "" {
				x.caveat(x.pos(n), CaveatParent, "%s is taken to be there always", shown(base))
			}
		} else {
			x.throws(n, x.isKind(base, kNullish), x.ex(base), "%s has to be there", x.text(left))
		}
		x.learn(base, k&^kNullish)
		k &^= kNullish
	}
	if name == "length" {
		return x.length(base, k, n)
	}
	if base.path == "" {
		x.names++
		if k.only(kObj) || x.plain {
			v := fmtVar(x.names)
			return expr(doc("$let", bson.D{{Key: "vars", Value: doc(v, x.ex(base))}, {Key: "in", Value: "$$" + v + "." + x.fieldName(name, n)}}), kAny)
		}
		v := fmtVar(x.names)
		return expr(doc("$let", bson.D{{Key: "vars", Value: doc(v, x.ex(base))}, {Key: "in", Value: cond(doc("$isArray", bson.A{"$$" + v}), "$$REMOVE", "$$"+v+"."+x.fieldName(name, n))}}), kAny)
	}
	p := &val{path: base.path + "." + x.fieldName(name, n), anc: base.anc, k: kAny, elem: base.elem, depth: base.depth}
	x.used = append(x.used, p.path)
	if k.has(kArr) {
		if x.plain {
			x.caveat(x.pos(n), CaveatParent, "%s is taken to be a document, not an array of some", shown(base))
		} else {
			p.anc = append(slices.Clip(base.anc), base.path)
		}
	}
	return p
}

// memberOfChoice looks into both sides of a || b and its like.
func (x *exec) memberOfChoice(base *val, name string, n, left ast.Node) *val {
	var tv, a, b *val
	switch base.op {
	case "?:":
		tv, a, b = base.args[0], base.args[1], base.args[2]
	case "||":
		tv, a, b = base.args[0], base.args[0], base.args[1]
	case "&&":
		tv, a, b = base.args[0], base.args[1], base.args[0]
	}
	if tv == nil || !renderable(tv) {
		return nil
	}
	if !(a.path != "" || a.obj != nil || a.isConst) && !(b.path != "" || b.obj != nil || b.isConst) {
		return nil
	}
	test, yes, no := x.truthy(tv)
	var va, vb *val
	x.under(test, yes, func() { va = x.settle(x.member(a, name, n, left)) })
	x.under(not(test), no, func() { vb = x.settle(x.member(b, name, n, left)) })
	return x.choose(test, tv, va, vb)
}

func fmtVar(n int) string { return "v" + itoa(n) }

// length is base.length.
func (x *exec) length(base *val, k kinds, n ast.Node) *val {
	chars := func(base *val) any {
		x.caveat(x.pos(n), CaveatCharacters, "%s counts characters; JavaScript counts those above U+FFFF twice", x.text(n))
		return doc("$strLenCP", x.ex(base))
	}
	switch {
	case k.only(kArr):
		return operation("length", doc("$size", x.ex(base)), kNum, base)
	case k.only(kStr):
		return operation("length", chars(base), kNum, base)
	case x.plain:
		x.caveat(x.pos(n), CaveatArray, "%s is taken to be an array", shown(base))
		return operation("length", doc("$size", x.ex(base)), kNum, base)
	}
	out := kNum
	e := x.bind(base, func(base *val) any {
		var b bson.A
		if k.has(kArr) {
			b = append(b, bson.D{{Key: "case", Value: doc("$isArray", bson.A{x.ex(base)})}, {Key: "then", Value: doc("$size", x.ex(base))}})
		}
		if k.has(kStr) {
			b = append(b, bson.D{{Key: "case", Value: x.isKind(base, kStr)}, {Key: "then", Value: chars(base)}})
		}
		if k.has(kObj | kOther) {
			b = append(b, bson.D{{Key: "case", Value: x.isKind(base, k&(kObj|kOther))}, {Key: "then", Value: x.fail(n, x.ex(base), "%s of an object is a field of that name", x.text(n))}})
		}
		if k.has(kAny &^ (kArr | kStr | kObj | kOther)) {
			out |= kUndef
			return switchOf(b, "$$REMOVE")
		}
		if len(b) == 1 {
			return b[0].(bson.D)[1].Value
		}
		return switchOf(b[:len(b)-1], b[len(b)-1].(bson.D)[1].Value)
	})
	return operation("length", e, out, base)
}
