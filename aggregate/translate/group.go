package translate

import (
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
			g.bag(f, key, leaves[i], at, alg)
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
func (g *grouper) bag(f reduced, key, v *val, at ast.Node, alg *algebra) {
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
