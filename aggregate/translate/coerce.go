package translate

import (
	"math"
	"strconv"
	"strings"

	"github.com/dop251/goja/ast"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
)

var nan = math.NaN()

func (x *exec) truthyConst(c any) bool {
	switch c := c.(type) {
	case undefined, nil, primitive.Undefined:
		return false
	case bool:
		return c
	case float64:
		return c != 0 && c == c
	case int32:
		return c != 0
	case string:
		return c != ""
	}
	return true
}

// alwaysTrue are the kinds that JavaScript takes for true whatever the value: objects, NumberLong(0) among them.
const alwaysTrue = kLong | kDec | kDate | kOID | kArr | kObj | kRegex | kOther

// truthy is JavaScript's meaning of v as a condition.
func (x *exec) truthy(v *val) (any, facts, facts) {
	if v.isConst {
		return x.truthyConst(v.c), nil, nil
	}
	if v.obj != nil || v.isArr || v.fn != nil || v.sp == spThis || v.sp == spValues {
		return true, nil, nil
	}
	if v.test != nil {
		return v.test, v.yes, v.no
	}
	if v.sp == spTypeof {
		return true, nil, nil
	}
	yes, no := v.yes, v.no
	if v.path != "" {
		yes = facts{v.path: kAny &^ kNullish}.with(yes)
		no = facts{v.path: kAny &^ alwaysTrue}.with(no)
	}
	k := x.kindsOf(v)
	switch {
	case k.only(kBool):
		return x.ex(v), yes, no
	case k.only(alwaysTrue):
		return true, yes, no
	case k.only(kNullish):
		return false, yes, no
	case k.only(kNullish | alwaysTrue):
		return not(call("$eq", orNull(x.ex(v)), nil)), yes, no
	}
	e := x.bind(v, func(v *val) any {
		e := x.ex(v)
		parts := []any{e}
		if k.has(kStr) {
			parts = append(parts, call("$ne", e, ""))
		}
		if k.has(kNum) {
			parts = append(parts, call("$ne", e, nan))
		}
		test := all2(parts...)
		if k.only(kStr) {
			test = call("$ne", e, "")
		}
		return any2(test, x.isKindAmong(v, k, kLong|kDec))
	})
	return e, yes, no
}

// isKindAmong is isKind for a value whose kinds are already known to be k.
func (x *exec) isKindAmong(v *val, k, of kinds) any {
	if !k.has(of) {
		return false
	}
	if x.plain {
		return false
	}
	return inList(doc("$type", x.ex(v)), typeNames(of))
}

// toNum is JavaScript's ToNumber.
func (x *exec) toNum(v *val, n ast.Node) *val {
	if v.isConst {
		switch c := v.c.(type) {
		case undefined:
			return number(nan)
		case nil:
			return number(0)
		case bool:
			if c {
				return number(1)
			}
			return number(0)
		case float64:
			return v
		case string:
			return number(stringNumber(c))
		}
	}
	if v.obj != nil || v.fn != nil {
		return number(nan)
	}
	k := x.kindsOf(v)
	if k.only(kNum) {
		return v
	}
	if x.plain {
		if k.only(kNum | kLong) {
			return v
		}
		if k.has(kNum) && v.path != "" {
			x.caveat(x.pos(n), CaveatNumber, "%s is taken to be a number", shown(v))
			return &val{path: v.path, anc: v.anc, k: kNum}
		}
	}
	if k.only(kNum | kLong | kDate) {
		x.needs(v40)
		return expr(doc("$toDouble", x.ex(v)), kNum)
	}
	return expr(x.bind(v, func(v *val) any {
		e := x.ex(v)
		var branches bson.A
		add := func(of kinds, then any) {
			if k.has(of) {
				branches = append(branches, bson.D{{Key: "case", Value: x.isType(e, k&of)}, {Key: "then", Value: then}})
			}
		}
		if k.has(kStr) {
			add(kStr, x.stringNumberExpr(expr(e, kStr), n))
		}
		add(kDec|kObj|kRegex, nan)
		bad := k.has(kArr | kOID | kOther)
		rest := k &^ (kStr | kDec | kObj | kRegex | kArr | kOID | kOther)
		last := e
		switch {
		case rest == 0 && bad:
			last = x.fail(n, e, "%s has to be a number", x.text(n))
		case rest == 0:
			last = nan
		case rest.only(kNum) && !bad:
		default:
			x.needs(v40)
			to := bson.D{{Key: "input", Value: e}, {Key: "to", Value: "double"}}
			if rest.has(kNullish) {
				var null any = nan
				switch {
				case rest&kNullish == kNull:
					null = int32(0)
				case rest.has(kNull):
					null = cond(call("$eq", doc("$type", e), "null"), int32(0), nan)
				}
				to = append(to, bson.E{Key: "onNull", Value: null})
			}
			if bad {
				onError := x.fail(n, e, "%s has to be a number", x.text(n))
				if k.has(kArr) {
					onError = cond(call("$eq", e, bson.A{}), int32(0), onError)
				}
				to = append(to, bson.E{Key: "onError", Value: onError})
			}
			last = doc("$convert", to)
		}
		return switchOf(branches, last)
	}), kNum)
}

// isType tests an expression's type without asking what is known of it.
func (x *exec) isType(e any, k kinds) any {
	if k == kArr {
		return doc("$isArray", bson.A{e})
	}
	return inList(doc("$type", e), typeNames(k))
}

func switchOf(branches bson.A, last any) any {
	switch len(branches) {
	case 0:
		return last
	case 1:
		b := branches[0].(bson.D)
		return cond(b[0].Value, b[1].Value, last)
	}
	return doc("$switch", bson.D{{Key: "branches", Value: branches}, {Key: "default", Value: last}})
}

// stringNumber is Number(s).
func stringNumber(s string) float64 {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0
	}
	switch s {
	case "Infinity", "+Infinity":
		return math.Inf(1)
	case "-Infinity":
		return math.Inf(-1)
	}
	if strings.ContainsAny(s, "xXoObBpP_iInN") {
		if n, err := strconv.ParseUint(s, 0, 64); err == nil && s[0] == '0' && !strings.Contains(s, "_") {
			return float64(n)
		}
		return nan
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && f == 0 {
		return nan
	}
	return f
}

const decimalNumber = `[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?`

// stringNumberExpr is Number(s) of a string. Hexadecimal and the like end the pipeline.
func (x *exec) stringNumberExpr(v *val, n ast.Node) any {
	x.needs(v42)
	return x.bind(v, func(v *val) any {
		e := x.ex(v)
		trimmed := doc("$trim", doc("input", e))
		match := func(re string) any {
			return doc("$regexMatch", bson.D{{Key: "input", Value: e}, {Key: "regex", Value: re}})
		}
		return switchOf(bson.A{
			bson.D{{Key: "case", Value: match(`^\s*` + decimalNumber + `\s*$`)}, {Key: "then", Value: x.parsed(trimmed, e, n)}},
			bson.D{{Key: "case", Value: call("$eq", trimmed, "")}, {Key: "then", Value: int32(0)}},
			bson.D{{Key: "case", Value: match(`^\s*(0[xXoObB][0-9a-fA-F]+|[+-]?Infinity)\s*$`)}, {Key: "then", Value: x.fail(n, e, "%s has to be a decimal number", x.text(n))}},
		}, nan)
	})
}

// parsed is a text that looks like a number as one. What is too large ends the pipeline.
func (x *exec) parsed(text, shown any, n ast.Node) any {
	return doc("$convert", bson.D{
		{Key: "input", Value: text}, {Key: "to", Value: "double"}, {Key: "onError", Value: x.fail(n, shown, "%s has to be a decimal number", x.text(n))},
	})
}

// toStr is JavaScript's ToString; concat says that it is for +, where NumberLong counts as its number.
func (x *exec) toStr(v *val, n ast.Node, concat bool) *val {
	if v.isConst {
		switch c := v.c.(type) {
		case undefined:
			return constant("undefined")
		case nil:
			return constant("null")
		case bool:
			return constant(strconv.FormatBool(c))
		case float64:
			if s, ok := numberText(c); ok {
				return constant(s)
			}
		case string:
			return v
		}
	}
	if v.sp == spTypeof {
		return expr(x.ex(v), kStr)
	}
	k := x.kindsOf(v)
	if k.only(kStr) {
		return v
	}
	if v.obj != nil || v.fn != nil || v.isArr {
		x.refuse(n, RefuseSyntax, "%s as text has no equivalent", x.text(n))
	}
	if x.plain && k.has(kStr) && v.path != "" && k.has(kNum) {
		x.caveat(x.pos(n), CaveatString, "%s is taken to be a string", shown(v))
		return &val{path: v.path, anc: v.anc, k: kStr}
	}
	return expr(x.bind(v, func(v *val) any {
		e := x.ex(v)
		var branches bson.A
		add := func(of kinds, then func() any) {
			if k.has(of) {
				branches = append(branches, bson.D{{Key: "case", Value: x.isType(e, k&of)}, {Key: "then", Value: then()}})
			}
		}
		add(kStr, func() any { return e })
		add(kUndef, func() any { return "undefined" })
		add(kNull, func() any { return "null" })
		add(kBool, func() any { return cond(e, "true", "false") })
		bad := kDate | kArr | kObj | kDec | kRegex | kOther | kOID
		if !concat {
			bad |= kLong
		}
		if k.has(bad) {
			add(bad, func() any { return x.fail(n, e, "%s has to be a string or a number", x.text(n)) })
		}
		if !k.has(kNum | kLong&^bad) {
			if len(branches) == 1 {
				return branches[0].(bson.D)[1].Value
			}
			last := branches[len(branches)-1].(bson.D)[1].Value
			return switchOf(branches[:len(branches)-1], last)
		}
		return switchOf(branches, x.numberTextExpr(&val{e: e, k: k & (kNum | kLong), small: v.small}, n))
	}), kStr)
}

// numberText is a number as JavaScript writes it, where Go writes it alike.
func numberText(f float64) (string, bool) {
	switch {
	case f != f:
		return "NaN", true
	case math.IsInf(f, 0):
		if f > 0 {
			return "Infinity", true
		}
		return "-Infinity", true
	case f == 0:
		return "0", true
	case math.Abs(f) >= 1e21 || math.Abs(f) < 1e-6:
		return "", false
	}
	return strconv.FormatFloat(f, 'f', -1, 64), true
}

// numberTextExpr is a number as text.
func (x *exec) numberTextExpr(v *val, n ast.Node) any {
	x.needs(v40)
	if v.small {
		return doc("$toString", x.ex(v))
	}
	return x.bind(v, func(v *val) any {
		e := x.ex(v)
		size := doc("$abs", e)
		whole := all2(call("$eq", e, doc("$trunc", e)), call("$lt", size, 1e15))
		text := doc("$toString", doc("$toLong", e))
		if x.plain {
			return text
		}
		x.caveat(x.pos(n), CaveatNumberText, "a fraction in %s is written by the server", x.text(n))
		return switchOf(bson.A{
			bson.D{{Key: "case", Value: call("$eq", e, nan)}, {Key: "then", Value: "NaN"}},
			bson.D{{Key: "case", Value: whole}, {Key: "then", Value: text}},
			bson.D{{Key: "case", Value: all2(call("$gte", size, 1e-6), call("$lt", size, 1e15))}, {Key: "then", Value: doc("$toString", e)}},
		}, x.fail(n, e, "%s has to be a number between 1e-6 and 1e15", x.text(n)))
	})
}

// shown is how a person knows a path.
func shown(v *val) string {
	if v.path == "" {
		return "this value"
	}
	return strings.TrimLeft(v.path, "$")
}

// toInt32 is x | 0.
func (x *exec) toInt32(v *val, n ast.Node) *val {
	v = x.toNum(v, n)
	if v.isConst {
		if f, ok := v.c.(float64); ok {
			if f != f || math.IsInf(f, 0) {
				return number(0)
			}
			return number(float64(int32(uint32(int64(math.Mod(f, 1<<32))))))
		}
	}
	return expr(x.bind(v, func(v *val) any {
		e := x.ex(v)
		if x.plain {
			return doc("$trunc", e)
		}
		return switchOf(bson.A{
			bson.D{{Key: "case", Value: call("$lt", doc("$abs", e), int64(1<<31))}, {Key: "then", Value: doc("$trunc", cond(call("$eq", e, nan), int32(0), e))}},
			bson.D{{Key: "case", Value: call("$in", e, bson.A{math.Inf(1), math.Inf(-1)})}, {Key: "then", Value: int32(0)}},
		}, x.fail(n, e, "%s has to be below 2^31", x.text(n)))
	}), kNum)
}
