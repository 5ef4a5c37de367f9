package translate

import (
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
)

// foldOp is what reduce does with one field of the values.
type foldOp uint8

const (
	opSum foldOp = iota
	opMax        // Math.max
	opMin
	opGreatest // by comparison
	opLeast
	opConcat
	opUnion
	opFirst
	opLast
	opConst
	opBag     // sums under names found in the data
	opDerived // computed from other fields of the result
)

// algebra is reduce, understood field by field.
type algebra struct {
	fields []reduced
	// folds are found by the path that derived values know them by.
	folds map[string]int
}

type reduced struct {
	path   []string // within the value; empty: the value itself
	op     foldOp
	orZero bool // each value is taken || 0
	init   *val // what the fold begins with; nil: the first value
	value  *val // of opConst and opDerived
	at     ast.Node
}

func (r reduced) name() string {
	if len(r.path) == 0 {
		return "value"
	}
	return strings.Join(r.path, "_")
}

// shape is what map emits as values: the leaves, or one value.
type shape struct {
	paths [][]string
	kinds []kinds
	bag   bool
}

func shapeOf(v *val) shape {
	var s shape
	var walk func(path []string, v *val)
	walk = func(path []string, v *val) {
		if v.obj != nil && len(v.obj.dyn) == 0 && len(v.obj.names) > 0 {
			for _, name := range v.obj.names {
				walk(append(slices.Clip(path), name), v.obj.vals[name])
			}
			return
		}
		s.paths = append(s.paths, path)
		s.kinds = append(s.kinds, v.k)
		s.bag = s.bag || v.obj != nil
	}
	walk(nil, v)
	return s
}

// same says that two emits have the same fields, in the same order.
func (s shape) same(o shape) bool {
	return slices.EqualFunc(s.paths, o.paths, slices.Equal[[]string])
}

// value makes a value of this shape whose leaves are paths below root.
func (s shape) value(root string, kind func(i int) kinds) *val {
	if len(s.paths) == 1 && len(s.paths[0]) == 0 {
		return &val{path: root, k: kind(0), elem: true}
	}
	v := objectVal(newObject())
	v.shaped = true
	for i, p := range s.paths {
		o := v.obj
		for _, name := range p[:len(p)-1] {
			if o.vals[name] == nil {
				inner := objectVal(newObject())
				inner.shaped = true
				o.set(name, inner)
			}
			o = o.vals[name].obj
		}
		o.set(p[len(p)-1], &val{path: root + "." + strings.Join(p, "."), k: kind(i), elem: true})
	}
	return v
}

// analyze understands reduce for values of a shape.
func (x *exec) analyze(fn source, s shape, sorted bool) *algebra {
	kept := x.caveats
	x.sc = &scope{}
	kind := func(i int) kinds {
		if s.kinds[i].only(kArr | kObj) {
			return s.kinds[i]
		}
		return s.kinds[i] | kNum // what it becomes when it is reduced
	}
	x.item, x.first = s.value("$$item", kind), s.value("$$first", kind)
	c := &closure{params: fn.Params, body: fn.Body, result: fn.Result, src: fn}
	key := &val{path: "$$key", k: kAny &^ kUndef, elem: true}
	res := x.invoke(c, []*val{key, {sp: spValues}}, nil)
	if res.isConst && res.k == kUndef {
		x.refuse(nil, RefuseShape, "reduce returns nothing")
	}
	a := &algebra{folds: map[string]int{}}
	derived := false
	for i, p := range s.paths {
		r := x.classify(leafOf(res, p), p, s.kinds[i], returnOf(fn))
		if leafOf(res, p) == nil {
			x.refuse(returnOf(fn), RefuseShape, "map emits a field %s and reduce does not return it", strings.Join(p, "."))
		}
		if (r.op == opFirst || r.op == opLast) && !sorted {
			x.refuse(returnOf(fn), RefuseOrder, "%s is the first or last of the values, and without a sort in the job nothing says which that is", r.name())
		}
		derived = derived || r.op == opDerived
		a.fields = append(a.fields, r)
		if v := leafOf(res, p); v.fold != nil {
			a.folds[v.path] = i
		}
	}
	if extra := extraLeaf(res, s, nil); extra != "" {
		x.refuse(returnOf(fn), RefuseShape, "reduce returns a field %s that map does not emit: a key with one emit would not have it", extra)
	}
	if len(s.paths) == 1 && len(s.paths[0]) == 0 && (res.isArr || res.k.only(kArr)) {
		x.refuse(returnOf(fn), RefuseArray, "reduce returns an array, which servers refuse: put it into a field of an object")
	}
	for _, f := range a.fields {
		if f.op == opDerived {
			x.checkDerived(f, a)
		}
	}
	if !derived {
		x.caveats = kept
	} else if len(x.sc.checks) > 0 {
		x.refuse(returnOf(fn), RefuseFold, "reduce throws for some values, which is not understood beside computed fields")
	}
	return a
}

func leafOf(v *val, path []string) *val {
	for _, name := range path {
		if v == nil || v.obj == nil {
			return nil
		}
		v = v.obj.vals[name]
	}
	return v
}

// extraLeaf names a field of v that the shape does not have.
func extraLeaf(v *val, s shape, path []string) string {
	if v.obj == nil || len(v.obj.names) == 0 {
		return ""
	}
	for _, name := range v.obj.names {
		p := append(slices.Clip(path), name)
		if !slices.ContainsFunc(s.paths, func(q []string) bool { return len(q) >= len(p) && slices.Equal(q[:len(p)], p) }) {
			return strings.Join(p, ".")
		}
		if e := extraLeaf(v.obj.vals[name], s, p); e != "" {
			return e
		}
	}
	return ""
}

// returnOf is where a function's result is returned, for messages.
func returnOf(fn source) ast.Node {
	var last ast.Node
	for _, s := range fn.Body {
		if r, ok := s.(*ast.ReturnStatement); ok {
			last = r
		}
	}
	if last == nil && fn.Result != nil {
		return fn.Result
	}
	return last
}
