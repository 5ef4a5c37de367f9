package translate

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/dop251/goja/ast"
)

// classify tells what one field of the result is.
func (x *exec) classify(v *val, path []string, k kinds, at ast.Node) reduced {
	r := reduced{path: path, at: at}
	dotted := ""
	if len(path) > 0 {
		dotted = "." + strings.Join(path, ".")
	}
	switch {
	case v == nil:
		return r
	case v.sp == spLength:
		x.refuse(at, RefuseLength, "%s counts the values: results of an earlier reduce are among them, so that is not how often the key was emitted; emit a count and add it up", r.name())
	case v.fold != nil:
		return x.classifyFold(r, v.fold, dotted)
	case v.path == "$$first"+dotted:
		r.op = opFirst
		return r
	case v.path == "$$item"+dotted:
		r.op = opLast
		return r
	case v.isConst:
		r.op, r.value = opConst, v
		return r
	case v.isArr && len(v.arr) == 0, v.obj != nil, v.isArr:
		x.refuse(at, RefuseShape, "%s has another shape in reduce than in map", r.name())
	}
	r.op, r.value = opDerived, v
	return r
}

// checkDerived makes sure that a computed field is made of folded ones alone.
func (x *exec) checkDerived(r reduced, a *algebra) {
	known := func(p string) bool {
		if p == "$$key" {
			return true
		}
		_, ok := a.folds[p]
		return ok
	}
	var bad string
	eachString(x.ex(r.value), func(s string) {
		for _, root := range []string{"$$item", "$$first", "$$fold", "$$key", "$$acc"} {
			if (s == root || strings.HasPrefix(s, root+".")) && !known(s) {
				bad = s
			}
		}
	})
	if bad != "" {
		x.refuse(r.at, RefuseFold, "%s is computed from something that is not in the result, so reducing results again gives something else: return that, too, and compute %s in finalize", r.name(), r.name())
	}
}

func (x *exec) classifyFold(r reduced, f *fold, dotted string) reduced {
	s := f.step
	item := func(v *val) bool {
		if v.path == "$$item"+dotted {
			return true
		}
		if v.op == "||" && len(v.args) == 2 && v.args[0].path == "$$item"+dotted && v.args[1].isConst {
			if c, ok := v.args[1].c.(float64); ok && c == 0 {
				r.orZero = true
				return true
			}
		}
		return false
	}
	isAcc := func(v *val) bool { return v == f.acc || v.path != "" && v.path == f.acc.path }
	firstInit := f.init.path == "$$first"+dotted
	numInit, isNum := f.init.c.(float64)
	isNum = isNum && f.init.isConst
	if !firstInit {
		r.init = f.init
	}
	if isAcc(s) {
		if f.init.isConst {
			r.op, r.value = opConst, f.init
			return r
		}
		if firstInit {
			r.op = opFirst
			return r
		}
	}
	if f.acc.bag || f.init.bag {
		if ok := x.classifyBag(f, "$$item"+dotted); ok {
			r.op = opBag
			return r
		}
	}
	switch s.op {
	case "+":
		a, b := s.args[0], s.args[1]
		if !isAcc(a) && isAcc(b) {
			a, b = b, a
		}
		if !isAcc(a) {
			break
		}
		if b.isConst && !item(b) {
			if b.k == kNum {
				x.refuse(r.at, RefuseLength, "%s counts the values: results of an earlier reduce are among them, so that is not how often the key was emitted; emit a count and add it up", r.name())
			}
			break
		}
		if !item(b) {
			x.refuseOther(r, b)
		}
		if !firstInit && !(isNum && numInit == 0) {
			if f.init.k.only(kStr) {
				x.refuse(r.at, RefuseOrder, "%s joins texts in the order of the values, which nothing defines", r.name())
			}
			x.refuse(r.at, RefuseFold, "%s begins with something other than 0, which is added again each time results are reduced again", r.name())
		}
		r.op = opSum
		return r
	case "max", "min":
		if len(s.args) == 2 {
			a, b := s.args[0], s.args[1]
			if !isAcc(a) {
				a, b = b, a
			}
			if isAcc(a) && !item(b) {
				x.refuseOther(r, b)
			}
			if isAcc(a) && (firstInit || isNum) {
				r.op = map[string]foldOp{"max": opMax, "min": opMin}[s.op]
				return r
			}
		}
	case "?:":
		if op, ok := comparison(s, isAcc, item); ok {
			if firstInit || isNum || f.init.isConst && f.init.k.only(kNullish) {
				r.op = op
				return r
			}
		}
	case "concat", "union":
		if isAcc(s.args[0]) && item(s.args[1]) && f.init.isArr && len(f.init.arr) == 0 {
			r.op = map[string]foldOp{"concat": opConcat, "union": opUnion}[s.op]
			return r
		}
	case "push":
		x.refuse(r.at, RefuseShape, "%s gathers the values as they are: a result of an earlier reduce would become one element; emit an array and concatenate", r.name())
	}
	if item(s) {
		r.op = opLast
		return r
	}
	if acc, _ := unionOf(s); acc != nil {
		x.refuse(r.at, RefuseShape, "%s gathers the values as they are: a result of an earlier reduce would become one element; emit an array and merge", r.name())
	}
	x.refuse(r.at, RefuseFold, "what happens to %s with each value is no sum, minimum, maximum, concatenation or union that gives the same for results that are reduced again", r.name())
	return r
}

func (x *exec) refuseOther(r reduced, b *val) {
	if strings.HasPrefix(b.path, "$$item") {
		x.refuse(r.at, RefuseShape, "%s is made of the values' %s: a result that is reduced again has it under the name %s", r.name(), strings.TrimPrefix(b.path, "$$item."), r.name())
	}
	x.refuse(r.at, RefuseFold, "%s is made of something computed from each value: a result that is reduced again would be computed on once more", r.name())
}

// comparison recognizes test ? item : acc for the greatest and the least.
func comparison(s *val, isAcc func(*val) bool, item func(*val) bool) (foldOp, bool) {
	test, a, b := s.args[0], s.args[1], s.args[2]
	takes := true // the item is taken when the test holds
	switch {
	case item(a) && isAcc(b):
	case isAcc(a) && item(b):
		takes = false
	default:
		return 0, false
	}
	for test.op == "!" && takes {
		test, takes = test.args[0], false
	}
	if test.op == "||" && takes { // acc === null || item > acc
		l, r := test.args[0], test.args[1]
		null := func(v *val) bool {
			return v.op == "==" && isAcc(v.args[0]) && v.args[1].isConst && v.args[1].k.only(kNullish) || v.op == "!" && isAcc(v.args[0])
		}
		switch {
		case null(l):
			test = r
		case null(r):
			test = l
		}
	}
	more, ok := map[string]bool{"$gt": true, "$gte": true, "$lt": false, "$lte": false}[test.op]
	if !ok {
		return 0, false
	}
	switch {
	case item(test.args[0]) && isAcc(test.args[1]):
	case isAcc(test.args[0]) && item(test.args[1]):
		more = !more
	default:
		return 0, false
	}
	if more == takes {
		return opGreatest, true
	}
	return opLeast, true
}

// eachString calls fn for every string in an expression.
func eachString(e any, fn func(string)) {
	v := reflect.ValueOf(e)
	switch v.Kind() {
	case reflect.String:
		fn(fmt.Sprint(e))
	case reflect.Slice:
		for i := range v.Len() {
			item := v.Index(i)
			if item.Kind() == reflect.Struct {
				eachString(item.FieldByName("Value").Interface(), fn)
				continue
			}
			eachString(item.Interface(), fn)
		}
	case reflect.Interface:
		if !v.IsNil() {
			eachString(v.Elem().Interface(), fn)
		}
	}
}
