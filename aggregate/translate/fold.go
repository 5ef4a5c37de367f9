package translate

import (
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"go.mongodb.org/mongo-driver/bson"
)

// carried are the variables from outside that a loop's body assigns.
func (x *exec) carried(u *walker) []int {
	var cells []int
	for _, name := range u.assigned {
		if c, ok := x.env.find(name); ok && !slices.Contains(cells, c) {
			cells = append(cells, c)
		}
	}
	slices.Sort(cells)
	return cells
}

func (x *exec) poison(cells []int) {
	for _, c := range cells {
		x.st.store[c] = &val{sp: spPoison}
	}
}

// foldLoop is a loop that computes variables from their values in the round before, by $reduce.
func (x *exec) foldLoop(e elements, n ast.Node, u *walker, run func(elem, index *val)) {
	var accs []int
	cells := x.carried(u)
	before := x.st
	for _, c := range cells {
		v := before.store[c]
		if v != nil && v.sp == spNone && v.fn == nil && (!v.isConst || v.k != kUndef) {
			accs = append(accs, c)
		}
	}
	leaves := x.leaves(accs)
	kind := make([]kinds, len(leaves))
	for i, l := range leaves {
		kind[i] = x.kindsOf(l.init)
	}
	item, acc := x.fresh("x"), x.fresh("acc")
	var steps []*val
	var body any
	for range 5 {
		body = x.inline(func() any {
			x.poison(cells)
			rets := x.st.rets
			x.st.rets = nil
			for i := range leaves {
				leaves[i].acc = &val{path: "$$" + acc + leaves[i].suffix(len(leaves)), k: kind[i], elem: true, bag: leaves[i].init.bag}
			}
			x.bindLeaves(accs, leaves)
			elem, index := e.make("$$" + item)
			run(elem, index)
			steps = x.readLeaves(accs, leaves, n)
			x.st.rets = rets
			if len(leaves) == 1 {
				return x.ex(steps[0])
			}
			d := bson.D{}
			for i, l := range leaves {
				d = append(d, bson.E{Key: l.field, Value: x.ex(steps[i])})
			}
			return d
		})
		x.st = before
		stable := true
		for i, s := range steps {
			if k := kind[i] | s.k; k != kind[i] {
				kind[i], stable = k, false
			}
		}
		if stable {
			break
		}
	}
	x.poison(cells)
	if len(leaves) == 0 {
		return
	}
	var init any
	if len(leaves) == 1 {
		init = x.ex(leaves[0].init)
	} else {
		d := bson.D{}
		for _, l := range leaves {
			d = append(d, bson.E{Key: l.field, Value: x.ex(l.init)})
		}
		init = d
	}
	if init == "$$REMOVE" {
		init = nil
	}
	reduced := doc("$reduce", bson.D{
		{Key: "input", Value: e.source},
		{Key: "initialValue", Value: init},
		{Key: "in", Value: doc("$let", bson.D{{Key: "vars", Value: bson.D{{Key: acc, Value: "$$value"}, {Key: item, Value: "$$this"}}}, {Key: "in", Value: body}})},
	})
	for i := range leaves {
		l := &leaves[i]
		v := expr(reduced, kind[i])
		if len(leaves) > 1 {
			r := x.fresh("r")
			v = expr(doc("$let", bson.D{{Key: "vars", Value: doc(r, reduced)}, {Key: "in", Value: "$$" + r + "." + l.field}}), kind[i])
		}
		// What the loop does to an array of reduce's result.
		if s := steps[i]; s.op == "push" && s.args[0] == l.acc && s.args[1].path == "$$"+item {
			v.op, v.args = "concat", []*val{l.init, e.base}
		} else if to, what := unionOf(s); to != nil && to == l.acc && what.path == "$$"+item {
			v.op, v.args = "union", []*val{l.init, e.base}
		} else if l.init.bag && s.op != "" {
			v.op, v.args, v.bag = "bagloop", []*val{l.init, e.base, s}, true
		}
		l.acc = v
	}
	x.bindLeaves(accs, leaves)
}

// leaf is one value that a loop carries: a variable, or a field of an object in one.
type leaf struct {
	cell  int
	path  []string // within the object
	field string
	init  *val
	acc   *val
}

func (l leaf) suffix(n int) string {
	if n == 1 {
		return ""
	}
	return "." + l.field
}

func (x *exec) leaves(cells []int) []leaf {
	var out []leaf
	var walk func(cell int, path []string, v *val)
	walk = func(cell int, path []string, v *val) {
		if v.obj != nil && len(v.obj.dyn) == 0 && !(len(v.obj.names) == 0) {
			for _, name := range v.obj.names {
				walk(cell, append(slices.Clip(path), name), v.obj.vals[name])
			}
			return
		}
		out = append(out, leaf{cell: cell, path: path, field: "v" + itoa(len(out)), init: v})
	}
	for _, c := range cells {
		walk(c, nil, x.st.store[c])
	}
	return out
}

// bindLeaves gives the variables the values that stand for one round.
func (x *exec) bindLeaves(cells []int, leaves []leaf) {
	for _, c := range cells {
		var root *val
		for _, l := range leaves {
			if l.cell != c {
				continue
			}
			if len(l.path) == 0 {
				root = l.acc
				continue
			}
			if root == nil {
				root = objectVal(newObject())
			}
			o := root.obj
			for _, name := range l.path[:len(l.path)-1] {
				if o.vals[name] == nil {
					o.set(name, objectVal(newObject()))
				}
				o = o.vals[name].obj
			}
			o.set(l.path[len(l.path)-1], l.acc)
		}
		x.st.store[c] = root
	}
}

// readLeaves takes the values after a round. A variable must have kept its shape.
func (x *exec) readLeaves(cells []int, leaves []leaf, n ast.Node) []*val {
	var out []*val
	for _, l := range leaves {
		v := x.st.store[l.cell]
		for _, name := range l.path {
			if v == nil || v.obj == nil || v.obj.vals[name] == nil {
				x.refuse(n, RefuseFold, "the loop gives an object other fields in each round")
			}
			v = v.obj.vals[name]
		}
		if v.obj != nil && len(l.path) > 0 || v.sp == spPoison || v.fn != nil {
			x.refuse(n, RefuseFold, "the loop gives a value another shape in each round")
		}
		out = append(out, v)
	}
	for _, c := range cells {
		v := x.st.store[c]
		if v.obj != nil && x.countLeaves(v) != countOf(leaves, c) {
			x.refuse(n, RefuseFold, "the loop adds fields to an object")
		}
	}
	return out
}

func (x *exec) countLeaves(v *val) int {
	if v.obj == nil || len(v.obj.names) == 0 {
		return 1
	}
	n := 0
	for _, f := range v.obj.vals {
		n += x.countLeaves(f)
	}
	return n
}

func countOf(leaves []leaf, cell int) int {
	n := 0
	for _, l := range leaves {
		if l.cell == cell {
			n++
		}
	}
	return n
}

// foldValues is a loop over reduce's values: what it makes of each variable is kept for the analysis of reduce.
func (x *exec) foldValues(from int, run func(elem *val), u *walker, n ast.Node) {
	if x.item == nil {
		x.refuse(n, RefuseLoop, "there are no values to go through here")
	}
	var accs []int
	cells := x.carried(u)
	before := x.st
	for _, c := range cells {
		v := before.store[c]
		if v != nil && v.fn == nil && v.sp != spPoison && v.sp != spIndex {
			accs = append(accs, c)
		}
	}
	leaves := x.leaves(accs)
	for i := range leaves {
		leaves[i].acc = &val{path: "$$acc." + x.fresh("a"), k: leaves[i].init.k | kNum, elem: true, bag: isBag(leaves[i].init)}
		if leaves[i].init.isArr {
			leaves[i].acc.k = kArr
		}
	}
	x.st = before.fork()
	x.poison(cells)
	x.bindLeaves(accs, leaves)
	x.st.rets = nil
	run(x.item)
	steps := x.readLeaves(accs, leaves, n)
	dead := len(x.st.live) > len(before.live)
	x.st = before
	if dead {
		// continue in some rounds: what is assigned before it counts, so the state at the end is not all.
		x.refuse(n, RefuseLoop, "continue in a loop over the values: use if … else")
	}
	x.poison(cells)
	for i := range leaves {
		l := &leaves[i]
		f := &fold{init: l.init, acc: l.acc, step: steps[i]}
		if from == 1 && !l.init.mentions(func(v *val) bool { return v == x.first || strings.HasPrefix(v.path, "$$first") }) && steps[i] != l.acc {
			x.refuse(n, RefuseFold, "the first of the values is left out")
		}
		l.acc = &val{path: "$$fold." + x.fresh("f"), k: l.acc.k | steps[i].k, elem: true, fold: f}
	}
	x.bindLeaves(accs, leaves)
}

// isBag is an empty object: its fields get their names from the data.
func isBag(v *val) bool { return v.bag || v.obj != nil && len(v.obj.names) == 0 && len(v.obj.dyn) == 0 }

// unionOf recognizes: if (acc.indexOf(v) < 0) acc.push(v).
func unionOf(s *val) (acc, what *val) {
	if s.op != "?:" {
		return nil, nil
	}
	test, a, b := s.args[0], s.args[1], s.args[2]
	neg := false
	for test.op == "!" {
		test, neg = test.args[0], !neg
	}
	var in *val // acc.indexOf(v)
	absent := false
	switch test.op {
	case "==", "$lt", "$gte", "$gt":
		in = test.args[0]
		c, ok := test.args[1].c.(float64)
		if in.op != "indexOf" && test.args[0].isConst {
			in = test.args[1]
			c, ok = test.args[0].c.(float64)
		}
		if !ok {
			return nil, nil
		}
		switch {
		case test.op == "==" && c == -1, test.op == "$lt" && c == 0:
			absent = true
		case test.op == "$gte" && c == 0, test.op == "$gt" && c == -1:
		default:
			return nil, nil
		}
	case "indexOf", "includes":
		in = test
		if test.op == "indexOf" {
			return nil, nil
		}
	default:
		return nil, nil
	}
	if in == nil || in.op != "indexOf" && in.op != "includes" {
		return nil, nil
	}
	if neg {
		absent = !absent
	}
	if !absent {
		a, b = b, a
	}
	if a.op == "push" && a.args[0] == b && in.args[0] == b && sameBase(in.args[1], a.args[1]) {
		return b, a.args[1]
	}
	return nil, nil
}
