package translate

import (
	"math"
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"go.mongodb.org/mongo-driver/bson"
)

// stringy kinds make + join texts.
const stringy = kAny &^ (kUndef | kNull | kBool | kNum | kLong)

func (x *exec) add(a, b *val, an, bn ast.Node) *val {
	if ca, ok := a.c.(float64); ok && a.isConst && b.isConst {
		if cb, ok := b.c.(float64); ok {
			return number(ca + cb)
		}
	}
	if a.isConst && b.isConst && (a.k | b.k).has(kStr) {
		s, t := x.toStr(a, an, true), x.toStr(b, bn, true)
		if s.isConst && t.isConst {
			return constant(s.c.(string) + t.c.(string))
		}
	}
	ka, kb := x.kindsOf(a), x.kindsOf(b)
	if x.plain { // a field beside a number is taken for a number, beside a string for a string
		switch {
		case ka.has(stringy) && !ka.only(kStr) && !kb.has(stringy), kb.has(stringy) && !kb.only(kStr) && !ka.has(stringy):
			return operation("+", call("$add", x.ex(x.toNum(a, an)), x.ex(x.toNum(b, bn))), kNum, a, b)
		case ka.has(stringy) && kb.has(stringy) && !ka.only(kStr) && !kb.only(kStr):
			return operation("+", call("$add", x.ex(x.toNum(a, an)), x.ex(x.toNum(b, bn))), kNum, a, b)
		}
	}
	switch {
	case !ka.has(stringy) && !kb.has(stringy):
		v := operation("+", x.sum(x.ex(x.toNum(a, an)), x.ex(x.toNum(b, bn))), kNum, a, b)
		v.small = isSmall(a) && isSmall(b)
		return v
	case ka.only(kStr) || kb.only(kStr):
		return operation("+", x.join(x.ex(x.toStr(a, an, true)), x.ex(x.toStr(b, bn, true))), kStr, a, b)
	case ka.only(stringy) || kb.only(stringy):
		return operation("+", x.join(x.ex(x.toStr(a, an, true)), x.ex(x.toStr(b, bn, true))), kStr, a, b)
	}
	e := x.bind(a, func(a *val) any {
		return x.bind(b, func(b *val) any {
			text := any2(x.isKind(a, ka&stringy), x.isKind(b, kb&stringy))
			num := func(v *val, k kinds, n ast.Node) any {
				return x.ex(x.toNum(narrowed(v, k&^stringy), n))
			}
			return cond(text,
				x.join(x.ex(x.toStr(a, an, true)), x.ex(x.toStr(b, bn, true))),
				x.sum(num(a, ka, an), num(b, kb, bn)))
		})
	})
	return operation("+", e, kNum|kStr, a, b)
}

// isSmall says that the server has v as an int.
func isSmall(v *val) bool {
	c, ok := v.c.(float64)
	return v.small || ok && v.isConst && c == float64(int16(c))
}

// narrowed is v with fewer kinds.
func narrowed(v *val, k kinds) *val {
	c := *v
	c.k = k
	return &c
}

// sum and join flatten what is nested on the left, which changes nothing: both work from left to right.
func (x *exec) sum(a, b any) any { return chain("$add", a, b) }

func (x *exec) join(a, b any) any { return chain("$concat", a, b) }

func chain(op string, a, b any) any {
	if d, ok := a.(bson.D); ok && len(d) == 1 && d[0].Key == op {
		return doc(op, append(slices.Clone(d[0].Value.(bson.A)), b))
	}
	return call(op, a, b)
}

// arithmetic is - * / % **.
func (x *exec) arithmetic(op token.Token, a, b *val, n, an, bn ast.Node) *val {
	a, b = x.toNum(a, an), x.toNum(b, bn)
	ca, okA := a.c.(float64)
	cb, okB := b.c.(float64)
	if okA && okB {
		if f, ok := compute(op, ca, cb); ok {
			return number(f)
		}
	}
	ea := x.ex(a)
	switch op {
	case token.MINUS:
		return operation("-", call("$subtract", ea, x.ex(b)), kNum, a, b)
	case token.MULTIPLY:
		return operation("*", call("$multiply", ea, x.ex(b)), kNum, a, b)
	case token.SLASH, token.REMAINDER:
		name := map[token.Token]string{token.SLASH: "$divide", token.REMAINDER: "$mod"}[op]
		if okB && cb != 0 && cb == cb || b.nonzero {
			return operation(name, call(name, ea, x.ex(b)), kNum, a, b)
		}
		x.caveat(x.pos(n), CaveatZero, "%s divides by -0 as by 0", x.text(n))
		e := x.bind(b, func(b *val) any {
			by := x.ex(b)
			return x.bind(a, func(a *val) any {
				ea := x.ex(a)
				var byZero any = nan
				if op == token.SLASH {
					byZero = switchOf(bson.A{
						bson.D{{Key: "case", Value: call("$gt", ea, int32(0))}, {Key: "then", Value: math.Inf(1)}},
						bson.D{{Key: "case", Value: all2(call("$lt", ea, int32(0)), call("$ne", ea, nan))}, {Key: "then", Value: math.Inf(-1)}},
					}, nan)
					if okA && ca > 0 {
						byZero = math.Inf(1)
					}
				}
				return cond(call("$eq", by, int32(0)), byZero, call(name, ea, by))
			})
		})
		return operation(name, e, kNum, a, b)
	case token.EXPONENT:
		if okB && cb >= 0 {
			return operation("**", call("$pow", ea, x.ex(b)), kNum, a, b)
		}
	}
	x.refuse(n, RefuseSyntax, "operator %s has no exact equivalent here", op)
	return nil
}

func compute(op token.Token, a, b float64) (float64, bool) {
	switch op {
	case token.MINUS:
		return a - b, true
	case token.MULTIPLY:
		return a * b, true
	case token.SLASH:
		return a / b, true
	case token.REMAINDER:
		return math.Mod(a, b), true
	case token.EXPONENT:
		return math.Pow(a, b), true
	}
	return 0, false
}

func boolean(e any, yes, no facts) *val {
	if b, ok := e.(bool); ok {
		return constant(b)
	}
	return &val{e: e, k: kBool, test: e, yes: yes, no: no}
}

// less is < > <= >=; op is the server's.
func (x *exec) less(op string, a, b *val, n, an, bn ast.Node) *val {
	ka, kb := x.kindsOf(a), x.kindsOf(b)
	if ka.only(kStr) && kb.only(kStr) {
		x.caveat(x.pos(n), CaveatCharacters, "%s orders text by code points; JavaScript orders characters above U+FFFF lower", x.text(n))
		return boolean(call(op, x.ex(a), x.ex(b)), nil, nil).made(op, a, b)
	}
	if ka.only(kDate) && kb.only(kDate) {
		return boolean(call(op, x.ex(a), x.ex(b)), nil, nil).made(op, a, b)
	}
	if x.plain && (ka == kAny || kb == kAny) && (ka.only(kStr) || kb.only(kStr) || ka.only(kDate) || kb.only(kDate) || ka == kb) {
		x.caveat(x.pos(n), CaveatType, "both sides of %s are taken to be of one type", x.text(n))
		return boolean(call(op, x.ex(a), x.ex(b)), nil, nil).made(op, a, b)
	}
	numeric := func(a, b *val) any {
		a, b = x.toNum(a, an), x.toNum(b, bn)
		if a.isConst && b.isConst {
			fa, fb := a.c.(float64), b.c.(float64)
			return map[string]bool{"$lt": fa < fb, "$lte": fa <= fb, "$gt": fa > fb, "$gte": fa >= fb}[op]
		}
		low := a // NaN is below all numbers in the server, and in no order in JavaScript
		if op == "$gt" || op == "$gte" {
			low = b
		}
		if low.isConst {
			if f := low.c.(float64); f != f {
				return false
			}
			return call(op, x.ex(a), x.ex(b))
		}
		e := x.bind(low, func(l *val) any {
			cmp := call(op, x.ex(l), x.ex(b))
			if low == b {
				cmp = call(op, x.ex(a), x.ex(l))
			}
			if x.plain {
				return cmp
			}
			return all2(call("$ne", x.ex(l), nan), cmp)
		})
		return e
	}
	if x.plain || !ka.has(kStr) || !kb.has(kStr) {
		return boolean(numeric(a, b), nil, nil).made(op, a, b)
	}
	e := x.bind(a, func(a *val) any {
		return x.bind(b, func(b *val) any {
			return cond(all2(x.isKind(a, kStr), x.isKind(b, kStr)), call(op, x.ex(a), x.ex(b)), numeric(a, b))
		})
	})
	return boolean(e, nil, nil).made(op, a, b)
}

func (v *val) made(op string, args ...*val) *val {
	v.op, v.args = op, args
	return v
}

// typeofIs is typeof v === s.
func (x *exec) typeofIs(v *val, s string) *val {
	of, ok := map[string]kinds{
		"number": kNum, "string": kStr, "boolean": kBool, "undefined": kUndef, "function": 0, "symbol": 0,
		"object": kAny &^ (kNum | kStr | kBool | kUndef),
	}[s]
	if !ok {
		return constant(false)
	}
	if v.fn != nil || v.sp == spGlobal {
		return constant(s == "function")
	}
	if v.obj != nil || v.isArr || v.sp == spThis {
		return constant(s == "object")
	}
	yes, no := facts{}, facts{}
	if v.path != "" {
		yes[v.path], no[v.path] = of, kAny&^of
	}
	return boolean(x.isKind(v, of), yes, no)
}

func (x *exec) typeofExpr(v *val) any {
	k := x.kindsOf(v)
	if v.obj != nil || v.isArr || v.sp == spThis {
		return "object"
	}
	return x.bind(v, func(v *val) any {
		var b bson.A
		last := any("object")
		for _, c := range []struct {
			k kinds
			s string
		}{{kNum, "number"}, {kStr, "string"}, {kBool, "boolean"}, {kUndef, "undefined"}} {
			if k.only(c.k) {
				return c.s
			}
			if k.has(c.k) {
				b = append(b, bson.D{{Key: "case", Value: x.isKind(v, c.k)}, {Key: "then", Value: c.s}})
			}
		}
		return switchOf(b, last)
	})
}

// choose is test ? a : b, with what is known of each side.
func (x *exec) choose(test any, tv *val, a, b *val) *val {
	switch test {
	case true:
		return a
	case false:
		return b
	}
	if a == b {
		return a
	}
	if a.isConst && b.isConst && kindsEqual(a, b) {
		return a
	}
	if a.obj != nil && b.obj != nil && slices.Equal(a.obj.names, b.obj.names) && len(a.obj.dyn)+len(b.obj.dyn) == 0 {
		o := newObject()
		for _, name := range a.obj.names {
			o.set(name, x.choose(test, tv, a.obj.vals[name], b.obj.vals[name]))
		}
		return objectVal(o)
	}
	v := &val{op: "?:", args: []*val{tv, a, b}, k: x.kindsOf(a) | x.kindsOf(b)}
	if !renderable(a) || !renderable(b) {
		v.sp, v.name = spPoison, "branch"
		return v
	}
	v.e = cond(test, x.ex(a), x.ex(b))
	return v
}

func kindsEqual(a, b *val) bool { return a.k == b.k && constEqual(a.c, b.c, true) }

func renderable(v *val) bool {
	if v.fn != nil {
		return false
	}
	switch v.sp {
	case spNone, spTypeof:
		return true
	}
	return false
}
