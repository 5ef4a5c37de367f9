package translate

import (
	"math"
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"go.mongodb.org/mongo-driver/bson"
)

// grouper makes $group's accumulators and what becomes of them.
type grouper struct {
	*builder
	x        *exec // of map: places of the values
	rx       *exec // of reduce
	s        shape
	acc      bson.D
	names    map[string]bool
	single   bool  // a field needs to know how many values there were
	post     []any // what each leaf is after $group, for two values and more
	first    []any // for one value
	kinds    []kinds
	positive []bool // sums of positive constants
	keep     bool   // finalize tells undefined from null
}

func (g *grouper) add(name string, e any) string {
	base := name
	for i := 2; g.names[name]; i++ {
		name = base + "_" + itoa(i)
	}
	g.names[name] = true
	g.acc = append(g.acc, bson.E{Key: name, Value: e})
	return "$" + name
}

// group adds $group and what makes {_id, value} of it.
func (b *builder) group(x, rx *exec, s shape, alg *algebra, key *val, leaves []*val, emits []*emitted) {
	g := &grouper{builder: b, x: x, rx: rx, s: s, names: map[string]bool{"_id": true}, keep: b.fns[2] != nil}
	g.kinds, g.positive = make([]kinds, len(leaves)), make([]bool, len(leaves))
	g.post, g.first = make([]any, len(leaves)), make([]any, len(leaves))
	at := emits[0].at
	if key.k.has(kArr | kRegex) {
		b.caveat(x.pos(at), CaveatArrayKey, "the key may be an array or a regular expression: a mapReduce that writes to a collection fails then, the pipeline groups by it")
	}
	if key.obj != nil {
		for _, name := range key.obj.names {
			if v := key.obj.vals[name]; v.k.has(kUndef) {
				b.caveat(x.pos(at), CaveatUndefinedKey, "%s of the key missing and %s null are one key here; mapReduce keeps undefined and null apart within a key", name, name)
			}
		}
	}
	for i, f := range alg.fields {
		if f.op != opDerived && f.op != opBag {
			g.leaf(i, f, leaves[i], at)
		}
	}
	for i, f := range alg.fields {
		switch f.op {
		case opDerived:
			g.derived(i, f, alg, leaves[i])
		case opBag:
			g.bag(i, f, key, leaves[i], at, alg)
			return
		}
	}
	// Leaves as expressions over what $group gives.
	n := ""
	if g.single {
		n = g.add("n", doc("$sum", int32(1)))
	}
	vals := make([]*val, len(leaves))
	simple := true
	for i := range leaves {
		e := g.post[i]
		if g.first[i] != nil {
			e = cond(call("$eq", n, int32(1)), g.first[i], e)
		}
		vals[i] = expr(e, g.kinds[i])
		if p, ok := e.(string); ok && strings.HasPrefix(p, "$") {
			vals[i] = &val{path: p, k: g.kinds[i], elem: true, depth: 99, nonzero: g.positive[i]}
		} else {
			simple = false
		}
	}
	lines := []Line{}
	for _, e := range emits {
		lines = append(lines, x.line("map", e.at))
	}
	lines = append(lines, rx.line("reduce", returnOf(b.fns[1])))
	b.add(doc("$group", append(bson.D{{Key: "_id", Value: g.key(key)}}, g.acc...)), lines...)
	value := s.assemble(vals)
	if b.fns[2] == nil && simple && len(vals) == 1 && vals[0].path == "$value" && len(g.acc) == 1 {
		return // {_id, value} already
	}
	b.finish(value, rx)
}

// assemble puts leaves back into the shape.
func (s shape) assemble(leaves []*val) *val {
	if len(s.paths) == 1 && len(s.paths[0]) == 0 {
		return leaves[0]
	}
	v := objectVal(newObject())
	for i, p := range s.paths {
		o := v.obj
		for _, name := range p[:len(p)-1] {
			if o.vals[name] == nil {
				o.set(name, objectVal(newObject()))
			}
			o = o.vals[name].obj
		}
		o.set(p[len(p)-1], leaves[i])
	}
	return v
}

// finish adds finalize, or just the value.
func (b *builder) finish(value *val, rx *exec) {
	if b.fns[2] == nil {
		e := rx.ex(value)
		if rx.kindsOf(value).has(kUndef) {
			e = orNull(e)
		}
		if p, ok := e.(string); ok && p == "$value" {
			return
		}
		b.add(doc("$project", doc("value", projected(e))), rx.line("reduce", returnOf(b.fns[1])))
		return
	}
	fn := b.fns[2]
	fx := b.exec(fn)
	fx.sc = &scope{}
	c := &closure{params: fn.Params, body: fn.Body, result: fn.Result, src: fn}
	key := &val{path: "$_id", k: kAny &^ kUndef, elem: true, depth: 99}
	v := fx.invoke(c, []*val{key, value}, nil)
	if v.sp != spNone || v.fn != nil {
		fx.refuse(returnOf(fn), RefuseFinalize, "finalize returns a %s", v.describe())
	}
	e := fx.ex(v)
	if fx.kindsOf(v).has(kUndef) {
		e = orNull(e)
	}
	b.checks(fx, "finalize", fx.sc)
	if p, ok := e.(string); ok && p == "$value" {
		return
	}
	b.add(doc("$project", doc("value", projected(e))), fx.line("finalize", returnOf(fn)))
}

// projected keeps $project from taking a number or a boolean for a yes or no.
func projected(e any) any {
	switch e := e.(type) {
	case string:
		return e
	case bson.D:
		if len(e) > 0 && strings.HasPrefix(e[0].Key, "$") {
			return e
		}
		out := make(bson.D, len(e))
		for i, f := range e {
			out[i] = bson.E{Key: f.Key, Value: projected(f.Value)}
		}
		return out
	case bson.A:
		return e
	}
	return doc("$literal", e)
}

// key is the key as $group takes it. A key without fields must not be taken for a document of expressions.
func (g *grouper) key(k *val) any {
	e := g.x.ex(k)
	if e == "$$REMOVE" {
		return nil
	}
	return e
}

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
		if k.only(kNum) && !(f.orZero && !v.isConst) {
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

// derived computes a field from the folded ones.
func (g *grouper) derived(i int, f reduced, alg *algebra, v *val) {
	g.single = true
	e := substitute(g.rx.ex(f.value), func(s string) (any, bool) {
		if s == "$$key" {
			return "$_id", true
		}
		if j, ok := alg.folds[s]; ok {
			return g.post[j], true
		}
		return nil, false
	})
	g.post[i] = orNull(e)
	g.kinds[i] = f.value.k | v.k
	if v.isConst {
		g.first[i] = literal(v.c)
		if g.first[i] == "$$REMOVE" {
			g.first[i] = nil
		}
	}
	if g.first[i] == nil {
		g.first[i] = g.add(f.name()+"_first", doc("$first", argument(g.x.ex(v))))
	}
}

// substitute replaces strings of an expression.
func substitute(e any, with func(string) (any, bool)) any {
	switch e := e.(type) {
	case string:
		if to, ok := with(e); ok {
			return to
		}
	case bson.D:
		out := make(bson.D, len(e))
		for i, f := range e {
			out[i] = bson.E{Key: f.Key, Value: substitute(f.Value, with)}
		}
		return out
	case bson.A:
		out := make(bson.A, len(e))
		for i, f := range e {
			out[i] = substitute(f, with)
		}
		return out
	}
	return e
}

// bag groups twice: by key and name, then by key.
func (g *grouper) bag(i int, f reduced, key, v *val, at ast.Node, alg *algebra) {
	x := g.x
	if len(alg.fields) > 1 {
		g.rx.refuse(f.at, RefuseFold, "sums over the fields of an object are understood when the object is the whole value, or its only field")
	}
	name := f.name()
	path := strings.Join(f.path, ".")
	g.res.Unordered = append(g.res.Unordered, path)
	g.caveat(x.pos(at), CaveatSetOrder, "%s has its fields in any order", name)
	g.caveat(x.pos(at), CaveatRounding, "%s is added up in another order: if there are fractions, the last digits may differ", name)
	line, rline := x.line("map", at), g.rx.line("reduce", returnOf(g.fns[1]))
	input := any(doc("$objectToArray", x.ex(v)))
	item := kAny
	if v.obj != nil && len(v.obj.names) == 0 && len(v.obj.dyn) == 1 {
		p := v.obj.dyn[0]
		input = bson.A{bson.D{{Key: "k", Value: x.ex(p.k)}, {Key: "v", Value: x.ex(p.v)}}}
		item = p.v.k
	}
	if !item.only(kNum) || v.obj == nil && !v.k.only(kObj) {
		if !x.plain {
			g.rx.refuse(f.at, RefuseFold, "sums over the fields of an object are understood when map makes the object, with numbers: {[this.name]: 1}")
		}
		g.caveat(x.pos(at), CaveatNumber, "the fields of %s are taken to be numbers", shownOr(v, name))
		g.caveat(x.pos(at), CaveatSingle, "%s of a key with one value comes as sums", name)
	}
	g.builder.add(doc("$project", bson.D{{Key: "_id", Value: int32(0)}, {Key: "key", Value: projected(g.key(key))}, {Key: "pair", Value: input}}), line)
	g.builder.add(doc("$unwind", bson.D{{Key: "path", Value: "$pair"}, {Key: "preserveNullAndEmptyArrays", Value: true}}), line)
	g.builder.add(doc("$group", bson.D{{Key: "_id", Value: bson.D{{Key: "key", Value: "$key"}, {Key: "name", Value: "$pair.k"}}}, {Key: "sum", Value: doc("$sum", "$pair.v")}}), rline)
	pair := cond(call("$eq", doc("$type", "$_id.name"), "missing"), "$$REMOVE", bson.D{{Key: "k", Value: "$_id.name"}, {Key: "v", Value: "$sum"}})
	g.builder.add(doc("$group", bson.D{{Key: "_id", Value: "$_id.key"}, {Key: "pairs", Value: doc("$push", pair)}}), rline)
	bagVal := expr(doc("$arrayToObject", "$pairs"), kObj)
	leaves := []*val{bagVal}
	g.finish(g.s.assemble(leaves), g.rx)
}

// output adds the stage that the job's out asks for.
func (b *builder) output(alg *algebra) {
	o := b.job.Out
	if o.Mode == "" {
		return
	}
	var into any = o.Collection
	if o.Database != "" {
		into = bson.D{{Key: "db", Value: o.Database}, {Key: "coll", Value: o.Collection}}
	}
	line := b.option("out")
	switch o.Mode {
	case "replace":
		if o.Database != "" {
			b.needs(v44)
		}
		b.res.Out = &Stage{doc("$out", into), []Line{line}}
	case "merge":
		b.needs(v42)
		b.res.Out = &Stage{doc("$merge", bson.D{{Key: "into", Value: into}, {Key: "whenMatched", Value: "replace"}}), []Line{line}}
	case "reduce":
		b.res.Out = b.mergeReduce(into, line, alg)
	}
}

// mergeReduce combines a result with the document that the target has.
func (b *builder) mergeReduce(into any, line Line, alg *algebra) *Stage {
	rx := b.exec(b.fns[1])
	b.needs(v42)
	bad := func(why string) {
		rx.refuse(returnOf(b.fns[1]), RefuseOut, "out reduce: %s can't be combined with what the target has", why)
	}
	if b.fns[2] != nil {
		bad("a finalized result")
	}
	value := bson.D{}
	var whole any
	for _, f := range alg.fields {
		suffix := ""
		if len(f.path) > 0 {
			suffix = "." + strings.Join(f.path, ".")
		}
		old, now := "$value"+suffix, "$$new.value"+suffix
		var e any
		switch f.op {
		case opSum:
			e = call("$add", now, old)
		case opMax, opGreatest:
			e = doc("$max", bson.A{now, old})
		case opMin, opLeast:
			e = doc("$min", bson.A{now, old})
		case opConcat:
			e = call("$concatArrays", now, old)
		case opUnion:
			e = call("$setUnion", now, old)
		case opFirst:
			e = now
		case opLast:
			e = old
		case opConst:
			e = literal(f.value.c)
		default:
			bad(f.name())
		}
		if len(f.path) == 0 {
			whole = e
			continue
		}
		value = setPath(value, f.path, e)
	}
	if whole == nil {
		whole = value
	}
	b.caveat(rx.pos(returnOf(b.fns[1])), CaveatMerge, "values that the target has already are taken to be of the kind that this job writes")
	return &Stage{doc("$merge", bson.D{{Key: "into", Value: into}, {Key: "whenMatched", Value: bson.A{doc("$set", doc("value", whole))}}}), []Line{line, rx.line("reduce", returnOf(b.fns[1]))}}
}

func setPath(d bson.D, path []string, e any) bson.D {
	i := slices.IndexFunc(d, func(f bson.E) bool { return f.Key == path[0] })
	if len(path) == 1 {
		return append(d, bson.E{Key: path[0], Value: e})
	}
	if i < 0 {
		d = append(d, bson.E{Key: path[0], Value: bson.D{}})
		i = len(d) - 1
	}
	d[i].Value = setPath(d[i].Value.(bson.D), path[1:], e)
	return d
}
