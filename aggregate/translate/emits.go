package translate

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/bson"
)

func collect(sc *scope, out *[]*emitted) {
	for _, n := range sc.nodes {
		if n.emit != nil {
			*out = append(*out, n.emit)
		} else {
			collect(n.loop.body, out)
		}
	}
}

func hasLoop(sc *scope) bool {
	return slices.ContainsFunc(sc.nodes, func(n node) bool { return n.loop != nil })
}

// shape is the common shape of what map emits.
func (b *builder) shape(x *exec, emits []*emitted) shape {
	s := shapeOf(emits[0].value)
	for _, e := range emits[1:] {
		o := shapeOf(e.value)
		if !s.same(o) {
			x.refuse(e.at, RefuseShape, "this emit has other fields in its value than the one at %s", x.pos(emits[0].at))
		}
		for i := range s.kinds {
			s.kinds[i] |= o.kinds[i]
		}
		s.bag = s.bag || o.bag
	}
	for i, p := range s.paths {
		if i > 0 && len(p) > 0 && p[0] == "_id" {
			x.refuse(emits[0].at, RefuseShape, "a server moves the field _id of a value to the front: put it first")
		}
	}
	return s
}

// checks adds a stage that ends the pipeline where the function would throw. It is $redact and no $match: servers put
// neighbouring $match stages together and choose an order of their own, so that a document might be failed that an
// earlier one leaves out, or left out before it fails.
func (b *builder) checks(x *exec, function string, sc *scope) {
	if len(sc.checks) == 0 {
		return
	}
	var e any = "$$KEEP"
	if n := len(sc.checks); n == 1 {
		e = cond(sc.checks[0].bad, sc.checks[0].fail, e)
	} else {
		var branches bson.A
		for _, c := range sc.checks {
			branches = append(branches, bson.D{{Key: "case", Value: c.bad}, {Key: "then", Value: c.fail}})
		}
		e = switchOf(branches, e)
	}
	b.add(doc("$redact", e), x.line(function, nil))
}

func (b *builder) match(live []any, l Line) {
	if e := all2(live...); e != true {
		b.add(doc("$match", doc("$expr", e)), l)
	}
}

// chain writes a map with one emit: $match and $unwind one after the other.
func (b *builder) chain(x *exec, s shape, e *emitted) (key *val, leaves []*val) {
	sc := x.sc
	for {
		b.checks(x, "map", sc)
		n := sc.nodes[slices.IndexFunc(sc.nodes, func(n node) bool { return n.emit != nil || contains(n.loop.body) })]
		if n.emit != nil {
			b.match(n.live, x.line("map", n.emit.at))
			break
		}
		l := n.loop
		b.match(append(slices.Clone(n.live), l.guardOf()), x.line("map", l.at))
		if l.path != "" {
			b.add(doc("$unwind", l.path), x.line("map", l.at))
		} else {
			b.add(doc("$addFields", doc(l.name, l.source)), x.line("map", l.at))
			b.add(doc("$unwind", "$"+l.name), x.line("map", l.at))
		}
		sc = l.body
	}
	for _, p := range s.paths {
		leaves = append(leaves, leafOf(e.value, p))
	}
	return e.key, leaves
}

func (l *loop) guardOf() any {
	if l.path == "" {
		return true
	}
	return l.guard
}

func contains(sc *scope) bool {
	var e []*emitted
	collect(sc, &e)
	return len(e) > 0
}

// general writes all emits of a document as an array, then unwinds it.
func (b *builder) general(x *exec, s shape, emits []*emitted) (key *val, leaves []*val) {
	single := make([]bool, len(s.paths)) // arrays of one element travel as the element
	for i, p := range s.paths {
		single[i] = true
		for _, e := range emits {
			v := leafOf(e.value, p)
			single[i] = single[i] && v.isArr && len(v.arr) == 1
		}
	}
	name := func(i int) string { return fieldOf(s.paths[i]) }
	one := func(e *emitted) any {
		d := bson.D{{Key: "_id", Value: x.ex(e.key)}}
		for i, p := range s.paths {
			v := leafOf(e.value, p)
			if single[i] {
				v = v.arr[0]
			}
			d = append(d, bson.E{Key: name(i), Value: x.ex(v)})
		}
		return d
	}
	var list func(sc *scope) any
	list = func(sc *scope) any {
		var parts bson.A
		for _, n := range sc.nodes {
			live := all2(n.live...)
			if n.emit != nil {
				parts = append(parts, cond(live, bson.A{one(n.emit)}, bson.A{}))
				continue
			}
			l := n.loop
			if !contains(l.body) {
				continue
			}
			var e any
			in := l.body
			if len(in.nodes) == 1 && in.nodes[0].emit != nil && len(in.checks) == 0 {
				input := l.source
				if test := all2(in.nodes[0].live...); test != true {
					input = doc("$filter", bson.D{{Key: "input", Value: input}, {Key: "as", Value: l.name}, {Key: "cond", Value: test}})
				}
				e = doc("$map", bson.D{{Key: "input", Value: input}, {Key: "as", Value: l.name}, {Key: "in", Value: one(in.nodes[0].emit)}})
			} else {
				body := list(in)
				for _, c := range slices.Backward(in.checks) {
					body = cond(c.bad, c.fail, body)
				}
				e = doc("$reduce", bson.D{
					{Key: "input", Value: doc("$map", bson.D{{Key: "input", Value: l.source}, {Key: "as", Value: l.name}, {Key: "in", Value: body}})},
					{Key: "initialValue", Value: bson.A{}},
					{Key: "in", Value: call("$concatArrays", "$$value", "$$this")},
				})
			}
			parts = append(parts, cond(live, e, bson.A{}))
		}
		if len(parts) == 1 {
			return parts[0]
		}
		return doc("$concatArrays", parts)
	}
	b.checks(x, "map", x.sc)
	var lines []Line
	for _, e := range emits {
		lines = append(lines, x.line("map", e.at))
	}
	all := list(x.sc)
	if d, ok := all.(bson.D); ok && d[0].Key == "$concatArrays" && allSingles(d[0].Value.(bson.A)) {
		flat := bson.A{}
		for _, p := range d[0].Value.(bson.A) {
			flat = append(flat, p.(bson.A)...)
		}
		all = flat
	}
	b.add(doc("$project", bson.D{{Key: "_id", Value: int32(0)}, {Key: "emits", Value: all}}), lines...)
	b.add(doc("$unwind", "$emits"), lines...)
	kk := kinds(0)
	for _, e := range emits {
		kk |= e.key.k
	}
	key = &val{path: "$emits._id", k: kk, elem: true, depth: 99}
	for i := range s.paths {
		v := &val{path: "$emits." + name(i), k: s.kinds[i], elem: true, depth: 99}
		if single[i] {
			v.k = 0
			for _, e := range emits {
				v.k |= leafOf(e.value, s.paths[i]).arr[0].k
			}
			v = arrayVal(v)
		}
		leaves = append(leaves, v)
	}
	return key, leaves
}

func allSingles(parts bson.A) bool {
	for _, p := range parts {
		if a, ok := p.(bson.A); !ok || len(a) != 1 {
			return false
		}
	}
	return true
}

// fieldOf names a leaf of the value.
func fieldOf(path []string) string {
	if len(path) == 0 {
		return "value"
	}
	name := strings.Join(path, "_")
	if name == "_id" {
		return "_id_"
	}
	return name
}
