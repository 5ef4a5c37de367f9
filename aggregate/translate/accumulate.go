package translate

import (
	"math"
	"strings"

	"github.com/dop251/goja/ast"
	"go.mongodb.org/mongo-driver/bson"
)

// leaf adds the accumulators of one field.
func (g *grouper) leaf(i int, f reduced, v *val, at ast.Node) {
	x, name := g.x, f.name()
	k := v.k
	ev := func(v *val) any { return x.ex(v) }
	whole := v.isConst && v.k == kNum && isWhole(v.c)
	needFirst := func() {
		g.single = true
		if g.keep && k.has(kUndef) {
			g.first[i] = g.add(name+"_first", doc("$first", doc("v", ev(v)))) + ".v"
			return
		}
		if v.isConst {
			g.first[i] = literal(v.c)
			return
		}
		g.first[i] = g.add(name+"_first", doc("$first", argument(ev(v))))
	}
	mixed := func(e any) any { // a sum beside a value as it came: $type must not take it for a NumberLong
		x.needs(v40)
		return doc("$toDouble", e)
	}
	switch f.op {
	case opSum:
		if whole {
			g.positive[i] = v.c.(float64) > 0
			g.caveat(x.pos(at), CaveatInt, "%s comes back as an integer where mapReduce gives a double", name)
		} else {
			g.caveat(x.pos(at), CaveatRounding, "%s is added up in another order: if there are fractions, the last digits may differ", name)
		}
		if k.only(kNum) && (!f.orZero || v.isConst) {
			g.post[i], g.kinds[i] = g.add(name, doc("$sum", ev(v))), kNum
			return
		}
		if x.plain {
			g.caveat(x.pos(at), CaveatNumber, "%s is taken to be a number: others count as nothing, where mapReduce adds null as 0, makes NaN of a missing field, and joins strings", shownOr(v, name))
			g.caveat(x.pos(at), CaveatSingle, "%s of a key with one value comes as the sum, not as the value itself", name)
			g.post[i], g.kinds[i] = g.add(name, doc("$sum", ev(v))), kNum
			return
		}
		needFirst()
		bad := k & stringy
		if f.orZero {
			bad = k & (stringy &^ 0)
		}
		num := x.bind(v, func(v *val) any {
			nv := narrowed(v, k&^bad)
			var e any
			if nv.k == 0 {
				e = int32(0)
			} else {
				e = ev(x.toNum(nv, at))
			}
			if f.orZero {
				e = x.bind(expr(e, kNum), func(n *val) any { return cond(call("$eq", ev(n), nan), int32(0), ev(n)) })
			}
			if bad != 0 {
				e = cond(x.isKind(v, bad), int32(0), e)
			}
			return e
		})
		sum := mixed(g.add(name, doc("$sum", num)))
		g.post[i] = sum
		if bad != 0 {
			tests := x.bind(v, func(v *val) any {
				test := x.isKind(v, bad)
				if f.orZero && k.has(kStr) {
					test = all2(call("$ne", ev(v), ""), test)
				}
				return cond(test, doc("$type", ev(v)), nil)
			})
			b := g.add(name+"_bad", doc("$max", tests))
			g.post[i] = cond(call("$eq", b, nil), sum, g.failed(at, b, "%s has to be a number where a key has several values", shownOr(v, name)))
		}
		g.kinds[i] = k | kNum
	case opMax, opMin:
		num := x.toNum(v, at)
		op := map[foldOp]string{opMax: "$max", opMin: "$min"}[f.op]
		r := g.add(name, doc(op, ev(num)))
		var e any = r
		if f.op == opMax && !x.plain && !num.isConst {
			e = cond(call("$eq", g.add(name+"_min", doc("$min", ev(num))), nan), nan, r)
		}
		if c, ok := initNumber(f); ok && !math.IsInf(c, 0) {
			e = x.bind(expr(e, kNum), func(v *val) any {
				return cond(call("$eq", ev(v), nan), nan, doc(op, bson.A{ev(v), literal(c)}))
			})
			needFirst()
			e = mixed(e)
		}
		g.post[i], g.kinds[i] = e, kNum
		if !k.only(kNum) {
			if x.plain {
				g.caveat(x.pos(at), CaveatSingle, "%s of a key with one value comes as a number, not as the value itself", name)
				return
			}
			if g.first[i] == nil {
				needFirst()
			}
			g.kinds[i] = k | kNum
		}
	case opGreatest, opLeast:
		g.compared(i, f, v, at, needFirst)
	case opConcat, opUnion:
		g.gathered(i, f, v, at, needFirst)
	case opFirst, opLast:
		op := map[foldOp]string{opFirst: "$first", opLast: "$last"}[f.op]
		g.caveat(x.pos(at), CaveatOrder, "%s is that of the %s document in the job's sort; documents that are equal there come in any order", name, strings.TrimPrefix(op, "$"))
		if g.keep && k.has(kUndef) {
			g.post[i] = g.add(name, doc(op, doc("v", ev(v)))) + ".v"
		} else {
			g.post[i] = g.add(name, doc(op, argument(ev(v))))
		}
		g.kinds[i] = k
	case opConst:
		g.post[i], g.kinds[i] = literal(f.value.c), f.value.k
		if g.post[i] == "$$REMOVE" {
			g.post[i] = nil
		}
		if v.isConst && constEqual(v.c, f.value.c, true) {
			return
		}
		needFirst()
		g.kinds[i] |= k
	}
}

// argument keeps an accumulator from taking an array for a list of arguments.
func argument(e any) any {
	if a, ok := e.(bson.A); ok {
		return call("$concatArrays", a)
	}
	return e
}

func initNumber(f reduced) (float64, bool) {
	if f.init == nil || !f.init.isConst {
		return 0, false
	}
	c, ok := f.init.c.(float64)
	return c, ok
}

func isWhole(c any) bool {
	f, ok := c.(float64)
	return ok && f == math.Trunc(f)
}

func shownOr(v *val, name string) string {
	if v.path != "" && !strings.HasPrefix(v.path, "$emits") {
		return shown(v)
	}
	return name
}

// failed ends the pipeline with a type that $group found.
func (g *grouper) failed(at ast.Node, typ any, format string, args ...any) any {
	e := g.x.fail(at, typ, format, args...).(bson.D)
	list := e[0].Value.(bson.D)[0].Value.(bson.A)
	return doc("$toInt", call("$concat", list[0], call("$ifNull", typ, "")))
}

// compared is the greatest or least by comparison, which is defined among numbers, dates or strings alone.
func (g *grouper) compared(i int, f reduced, v *val, at ast.Node, needFirst func()) {
	x, name, k := g.x, f.name(), v.k
	op := map[foldOp]string{opGreatest: "$max", opLeast: "$min"}[f.op]
	c, hasInit := initNumber(f)
	g.kinds[i] = k
	if x.plain || k.only(kDate) && !hasInit || k.only(kStr) && !hasInit {
		if !k.only(kDate) && !k.only(kNum) && !k.only(kStr) {
			g.caveat(x.pos(at), CaveatType, "%s is taken to be of one type, numbers, dates or strings", shownOr(v, name))
		}
		g.post[i] = g.add(name, doc(op, x.ex(v)))
		if hasInit && !math.IsInf(c, 0) {
			g.post[i] = doc(op, bson.A{g.post[i], literal(c)})
		}
		return
	}
	allowed := []string{"number", "date"}
	class := x.bind(v, func(v *val) any {
		e := x.ex(v)
		var list bson.A
		if k.has(kNum) {
			list = append(list, bson.D{{Key: "case", Value: all2(x.isKind(v, kNum), call("$ne", e, nan))}, {Key: "then", Value: "number"}})
		}
		if k.has(kDate) {
			list = append(list, bson.D{{Key: "case", Value: x.isKind(v, kDate)}, {Key: "then", Value: "date"}})
		}
		if k.has(kStr) && !hasInit {
			list = append(list, bson.D{{Key: "case", Value: x.isKind(v, kStr)}, {Key: "then", Value: "string"}})
		}
		rest := any(call("$concat", "~", doc("$type", e))) // sorts last
		if k.only(kNum) {
			rest = "~NaN"
		}
		return switchOf(list, rest)
	})
	if !hasInit {
		allowed = append(allowed, "string")
	}
	needFirst()
	r := g.add(name, doc(op, x.ex(v)))
	lo, hi := g.add(name+"_type", doc("$min", class)), g.add(name+"_types", doc("$max", class))
	e := any(r)
	if hasInit && !math.IsInf(c, 0) {
		e = doc(op, bson.A{r, literal(c)})
	}
	ok := all2(call("$eq", lo, hi), inList(hi, allowed))
	g.post[i] = cond(ok, e, g.failed(at, hi, "%s has to be numbers alone or dates alone where a key has several values", shownOr(v, name)))
	if k.has(kStr) && !hasInit {
		g.caveat(x.pos(at), CaveatCharacters, "%s orders text by code points; JavaScript orders characters above U+FFFF lower", op)
	}
}

// gathered is concatenation and union of arrays.
func (g *grouper) gathered(i int, f reduced, v *val, at ast.Node, needFirst func()) {
	x, name := g.x, f.name()
	g.kinds[i] = kArr
	path := strings.Join(f.path, ".")
	g.caveat(x.pos(at), CaveatMemory, "all of %s of a key is gathered in one array, which must fit into 16 MB", name)
	if f.op == opConcat {
		g.caveat(x.pos(at), CaveatOrder, "%s has its elements in the order in which documents come", name)
		g.res.Unordered = append(g.res.Unordered, path)
		if v.isArr && len(v.arr) == 1 {
			e := x.ex(v.arr[0])
			if v.arr[0].k.has(kUndef) {
				e = orNull(e)
			}
			g.post[i] = g.add(name, doc("$push", e))
			return
		}
		r := g.add(name, doc("$push", argument(x.ex(v))))
		g.post[i] = doc("$reduce", bson.D{{Key: "input", Value: r}, {Key: "initialValue", Value: bson.A{}}, {Key: "in", Value: call("$concatArrays", "$$value", "$$this")}})
		if v.isArr || v.k.only(kArr) {
			return
		}
		if x.plain {
			g.caveat(x.pos(at), CaveatArray, "%s is taken to be an array", shownOr(v, name))
			return
		}
		needFirst()
		bad := g.add(name+"_bad", doc("$max", x.bind(v, func(v *val) any { return cond(x.isKind(v, kArr), nil, doc("$type", x.ex(v))) })))
		g.post[i] = cond(call("$eq", bad, nil), g.post[i], g.failed(at, bad, "%s has to be an array", shownOr(v, name)))
		g.kinds[i] = v.k
		return
	}
	g.caveat(x.pos(at), CaveatSetOrder, "%s has its elements in any order", name)
	g.res.Unordered = append(g.res.Unordered, path)
	if !v.isArr || len(v.arr) != 1 {
		g.rx.refuse(f.at, RefuseFold, "a union of arrays is understood when map emits arrays of one element")
	}
	item := v.arr[0]
	g.post[i] = g.add(name, doc("$addToSet", x.ex(item)))
	if item.k.only(kStr | kBool | kNull) {
		return
	}
	if x.plain {
		g.caveat(x.pos(at), CaveatType, "elements of %s are taken to be strings or numbers", name)
		return
	}
	class := x.bind(item, func(v *val) any {
		return cond(any2(x.isKind(v, kStr|kBool|kNull), all2(x.isKind(v, kNum), call("$ne", x.ex(v), nan))), nil, doc("$type", x.ex(v)))
	})
	needFirst()
	bad := g.add(name+"_bad", doc("$max", class))
	g.post[i] = cond(call("$eq", bad, nil), g.post[i], g.failed(at, bad, "elements of %s have to be strings or numbers where a key has several values", name))
}
