package translate

import (
	"math"

	"github.com/dop251/goja/ast"
	"go.mongodb.org/mongo-driver/bson"
)

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
			num := e
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
