package translate

import (
	"reflect"
	"strings"

	"github.com/dop251/goja/ast"
	"go.mongodb.org/mongo-driver/bson"
)

// elements is what a loop goes through.
type elements struct {
	base *val
	// source is an array expression; elem and index are one round's values.
	source any
	path   string // when source is just that path
	make   func(name string) (elem, index *val)
}

// element is base[i] where i counts a loop over base.
func (x *exec) element(base, i *val, n ast.Node) *val {
	if i.of != nil && i.args != nil && sameBase(base, i.of) {
		return i.args[0]
	}
	if i.name == "in" { // for (k in a) with b[k]
		x.refuse(n, RefuseDynamicField, "%s: which field this is is known only when it runs", x.text(n))
	}
	x.refuse(n, RefuseLoop, "%s: the loop goes through another array", x.text(n))
	return nil
}

func sameBase(a, b *val) bool {
	if a == b || a.sp == spThis && b.sp == spThis || a.sp == spValues && b.sp == spValues {
		return true
	}
	return a.sp == spNone && b.sp == spNone && a.path == b.path && a.elem == b.elem && reflect.DeepEqual(a.e, b.e) && (a.path != "" || a.e != nil)
}

// each is a loop over the elements of an array; how is the construct, which decides what is thrown for other values.
func (x *exec) each(base *val, how string, n ast.Node) elements {
	if base.sp == spKeys {
		return x.pairs(base.of, true, n)
	}
	if base.sp != spNone || base.fn != nil || base.obj != nil || base.isConst {
		x.refuse(n, RefuseLoop, "%s is nothing that a loop with an equivalent goes through", x.text(n))
	}
	k := x.kindsOf(base)
	source := x.ex(base)
	if !k.only(kArr) {
		if x.plain {
			x.caveat(x.pos(n), CaveatArray, "%s is taken to be an array, or missing or null", shown(base))
			source = call("$ifNull", source, bson.A{})
			if base.path != "" && x.mode == modePath && how != "fold" {
				return x.arrayElements(base, x.ex(base))
			}
			return x.arrayElements(base, source)
		}
		bad := k & (kNullish | kStr | kObj)
		if how == "forEach" || how == "of" {
			bad = k &^ kArr // has no such method, or is a text or an object that iterates in its own way
		}
		if bad.has(kNullish) || bad != 0 {
			x.throws(n, x.isKind(base, bad), x.ex(base), "%s has to be an array", x.text(n))
			x.learn(base, k&^bad)
			k &^= bad
		}
		if !k.only(kArr) {
			source = cond(doc("$isArray", bson.A{x.ex(base)}), x.ex(base), bson.A{})
		}
	}
	return x.arrayElements(base, source)
}

func (x *exec) arrayElements(base *val, source any) elements {
	e := elements{base: base, source: source}
	if p, ok := source.(string); ok && strings.HasPrefix(p, "$") && !strings.HasPrefix(p, "$$") {
		e.path = p
	} else if base.path != "" && strings.HasPrefix(base.path, "$") && !strings.HasPrefix(base.path, "$$") {
		e.path = base.path // guarded by a $match in front
	}
	e.make = func(name string) (*val, *val) {
		elem := &val{path: name, k: base.elementKinds(), elem: true}
		return elem, &val{sp: spIndex, of: base, args: []*val{elem}, k: kNum, name: "i"}
	}
	return e
}

// elementKinds are what an array made by a method holds.
func (v *val) elementKinds() kinds {
	if v.op == "split" || v.op == "match" {
		return kStr
	}
	return kAny
}

// pairs is a loop over the names in base; values says that names are used for nothing else than to read the fields.
func (x *exec) pairs(base *val, named bool, n ast.Node) elements {
	e := elements{base: base}
	if base.sp == spThis {
		if x.mode != modeGeneral {
			panic(conflict{})
		}
		e.source = doc("$objectToArray", "$$ROOT")
		e.make = keyed(base)
		return e
	}
	if base.sp != spNone || base.fn != nil || base.isArr || base.isConst || base.obj != nil {
		x.refuse(n, RefuseLoop, "%s is nothing that a loop with an equivalent goes through", x.text(n))
	}
	k := x.kindsOf(base)
	if x.plain {
		if !named {
			x.caveat(x.pos(n), CaveatArray, "%s is taken to be an array, or missing or null", shown(base))
			return x.arrayElements(base, call("$ifNull", x.ex(base), bson.A{}))
		}
		x.caveat(x.pos(n), CaveatParent, "%s is taken to be a document, or missing or null", shown(base))
		e.source = doc("$objectToArray", call("$ifNull", x.ex(base), doc("$literal", bson.D{})))
		e.make = keyed(base)
		return e
	}
	if bad := k & (kStr | kOther); bad != 0 {
		x.throws(n, x.isKind(base, bad), x.ex(base), "%s has to be an array or an object", x.text(n))
		x.learn(base, k&^bad)
		k &^= bad
	}
	if !named {
		e.source = x.bind(base, func(base *val) any {
			b := x.ex(base)
			var list bson.A
			if k.has(kArr) {
				list = append(list, bson.D{{Key: "case", Value: doc("$isArray", bson.A{b})}, {Key: "then", Value: b}})
			}
			if k.has(kObj) {
				v := doc("$map", bson.D{{Key: "input", Value: doc("$objectToArray", b)}, {Key: "as", Value: "f"}, {Key: "in", Value: "$$f.v"}})
				list = append(list, bson.D{{Key: "case", Value: x.isKind(base, kObj)}, {Key: "then", Value: v}})
			}
			if len(list) == 1 && k.only(kArr|kObj) {
				return list[0].(bson.D)[1].Value
			}
			return switchOf(list, bson.A{})
		})
		e.make = func(name string) (*val, *val) {
			elem := &val{path: name, k: kAny, elem: true}
			return elem, &val{sp: spIndex, of: base, args: []*val{elem}, name: "in", k: kStr}
		}
		return e
	}
	e.source = x.bind(base, func(base *val) any {
		b := x.ex(base)
		var list bson.A
		if k.has(kObj) {
			list = append(list, bson.D{{Key: "case", Value: x.isKind(base, kObj)}, {Key: "then", Value: doc("$objectToArray", b)}})
		}
		if k.has(kArr) {
			x.needs(v40)
			i := bson.D{{Key: "k", Value: doc("$toString", "$$i")}, {Key: "v", Value: call("$arrayElemAt", b, "$$i")}}
			list = append(list, bson.D{{Key: "case", Value: doc("$isArray", bson.A{b})}, {Key: "then", Value: doc("$map", bson.D{
				{Key: "input", Value: call("$range", int32(0), doc("$size", b))}, {Key: "as", Value: "i"}, {Key: "in", Value: i},
			})}})
		}
		if len(list) == 1 && (k.only(kObj) || k.only(kArr)) {
			return list[0].(bson.D)[1].Value
		}
		return switchOf(list, bson.A{})
	})
	e.make = keyed(base)
	return e
}

func keyed(base *val) func(string) (*val, *val) {
	return func(name string) (*val, *val) {
		elem := &val{path: name + ".v", k: kAny, elem: true}
		index := &val{path: name + ".k", k: kStr, elem: true, sp: spNone, of: base, args: []*val{elem}, name: "key"}
		return elem, index
	}
}
