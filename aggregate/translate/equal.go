package translate

import (
	"github.com/dop251/goja/ast"
	"go.mongodb.org/mongo-driver/bson"
)

// equal is == and ===.
func (x *exec) equal(a, b *val, strict bool, n, an, bn ast.Node) *val {
	return x.equalTo(a, b, strict, n, an, bn).made("==", a, b)
}

func (x *exec) equalTo(a, b *val, strict bool, n, an, bn ast.Node) *val {
	if a.isConst && !b.isConst {
		a, b, an = b, a, bn
	}
	if a.sp == spTypeof && b.isConst {
		if s, ok := b.c.(string); ok {
			return x.typeofIs(a.of, s)
		}
	}
	if b.sp == spTypeof && a.sp == spTypeof {
		return boolean(call("$eq", x.ex(a), x.ex(b)), nil, nil)
	}
	k := x.kindsOf(a)
	if b.isConst {
		return x.equalConst(a, b, k, strict, an)
	}
	if a.obj != nil || b.obj != nil || a.isArr || b.isArr {
		return constant(false)
	}
	if a.path != "" && sameBase(a, b) {
		if !k.has(kNum) {
			return constant(true)
		}
		return boolean(call("$ne", x.ex(a), nan), nil, nil)
	}
	kb := x.kindsOf(b)
	const plain = kStr | kNum | kBool | kNullish
	if !strict && !(k | kb).only(kStr) && !(k | kb).only(kNum) && !(k | kb).only(kBool) {
		if x.plain {
			x.caveat(x.pos(n), CaveatType, "both sides of %s are taken to be of one type", x.text(n))
		} else {
			e := x.bind(a, func(a *val) any {
				return x.bind(b, func(b *val) any {
					var one []any
					for _, c := range []kinds{kStr, kNum, kBool, kNullish} {
						if k.has(c) && kb.has(c) {
							one = append(one, all2(x.isKind(a, c), x.isKind(b, c)))
						}
					}
					null := any2(x.isKind(a, kNullish), x.isKind(b, kNullish))
					same := any2(one...)
					eq := call("$eq", orNull(x.ex(a)), orNull(x.ex(b)))
					eq2 := all2(eq, call("$ne", x.ex(a), nan))
					return switchOf(bson.A{
						bson.D{{Key: "case", Value: same}, {Key: "then", Value: eq2}},
						bson.D{{Key: "case", Value: null}, {Key: "then", Value: false}},
					}, x.fail(n, x.ex(a), "both sides of %s have to be of one simple type", x.text(n)))
				})
			})
			return boolean(e, nil, nil)
		}
	}
	e := x.bind(a, func(a *val) any {
		parts := []any{call("$eq", x.ex(a), x.ex(b))}
		if k.has(kNum) && kb.has(kNum) {
			parts = append(parts, call("$ne", x.ex(a), nan))
		}
		if k.has(kAny&^plain) && kb.has(kAny&^plain) {
			if x.plain {
				x.caveat(x.pos(n), CaveatType, "%s compares by value; JavaScript compares objects, dates and ids by identity", x.text(n))
			} else {
				parts = append(parts, x.isKind(a, k&plain)) // objects are equal to themselves only
			}
		}
		return all2(parts...)
	})
	return boolean(e, nil, nil)
}

func (x *exec) equalConst(a, b *val, k kinds, strict bool, an ast.Node) *val {
	if a.isConst {
		return constant(constEqual(a.c, b.c, strict))
	}
	if a.obj != nil || a.isArr || a.fn != nil || a.sp == spThis || a.sp == spValues {
		return constant(false)
	}
	at := func(k kinds) facts {
		if a.path == "" {
			return nil
		}
		return facts{a.path: k}
	}
	switch c := b.c.(type) {
	case undefined, nil:
		of := kNullish
		if strict {
			of = b.k
		}
		return boolean(x.isKind(a, of), at(of), at(kAny&^of))
	case string:
		if strict || k.only(kStr|kNullish) {
			return boolean(call("$eq", x.ex(a), literal(c)), at(kStr), nil)
		}
		f := stringNumber(c)
		e := x.bind(a, func(a *val) any {
			eq := call("$eq", x.ex(a), literal(c))
			if x.plain {
				return eq
			}
			var parts []any
			if k.has(kArr) {
				list := bson.A{literal(c), bson.A{literal(c)}} // an array of one element is equal to it
				if c == "" {
					list = append(list, bson.A{}, bson.A{nil})
				}
				if text, ok := numberText(f); ok && text == c && f == f {
					list = append(list, bson.A{literal(f)})
				}
				parts = append(parts, call("$in", x.ex(a), list))
			} else {
				parts = append(parts, eq)
			}
			if f == f && k.has(kNum|kLong|kBool) {
				kk := k & (kNum | kLong | kBool)
				parts = append(parts, all2(x.isKind(a, kk), call("$eq", x.ex(x.toNum(narrowed(a, kk), an)), literal(f))))
			}
			return any2(parts...)
		})
		return boolean(e, nil, nil)
	case float64:
		if c != c {
			return constant(false)
		}
		return x.equalNumber(a, c, k, strict, an, at(kNum))
	case bool:
		if strict || x.plain || k.only(kBool|kNullish) {
			if c && k.only(kBool) {
				return boolean(x.ex(a), at(kBool), nil)
			}
			return boolean(call("$eq", x.ex(a), c), at(kBool), nil)
		}
		f := 0.0
		if c {
			f = 1
		}
		return x.equalNumber(a, f, k, false, an, nil)
	}
	if strict || k.only(kAny&^(kStr|kNum|kBool)) {
		return constant(false) // a new object is equal to nothing
	}
	x.refuse(an, RefuseSyntax, "== with an object that is made here is true of nothing, or of a text by chance")
	return nil
}

func (x *exec) equalNumber(a *val, c float64, k kinds, strict bool, an ast.Node, yes facts) *val {
	if k.only(kNum | kNullish) {
		return boolean(call("$eq", x.ex(a), literal(c)), yes, nil)
	}
	if strict {
		e := x.bind(a, func(a *val) any {
			return all2(call("$eq", x.ex(a), literal(c)), not(x.isKindAmong(a, k, k&(kLong|kDec))))
		})
		return boolean(e, yes, nil)
	}
	if x.plain {
		return boolean(call("$eq", x.ex(a), literal(c)), nil, nil)
	}
	e := x.bind(a, func(a *val) any {
		return all2(not(x.isKind(a, k&(kNullish|kOID|kOther))), call("$eq", x.ex(x.toNum(narrowed(a, k&^(kNullish|kOID|kOther)), an)), literal(c)))
	})
	return boolean(e, nil, nil)
}

func constEqual(a, b any, strict bool) bool {
	_, ua := a.(undefined)
	_, ub := b.(undefined)
	if (a == nil || ua) && (b == nil || ub) {
		return !strict || ua == ub
	}
	if a == nil || ua || b == nil || ub {
		return false
	}
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok {
			return x == y
		}
	case float64:
		if y, ok := b.(float64); ok {
			return x == y
		}
	case bool:
		if y, ok := b.(bool); ok {
			return x == y
		}
	default:
		return false
	}
	if strict {
		return false
	}
	return looseNumber(a) == looseNumber(b)
}

func looseNumber(c any) float64 {
	switch c := c.(type) {
	case string:
		return stringNumber(c)
	case float64:
		return c
	case bool:
		if c {
			return 1
		}
		return 0
	}
	return nan
}
