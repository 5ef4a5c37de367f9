package translate

import (
	"math"
	"strings"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
)

// ex renders v as an expression.
func (x *exec) ex(v *val) any {
	switch {
	case v.isConst:
		return literal(v.c)
	case v.stale:
		panic(conflict{})
	case v.path != "":
		for i, u := range x.unwound {
			if i >= v.depth {
				if u == v.path || strings.HasPrefix(u, v.path+".") || strings.HasPrefix(v.path, u+".") {
					panic(conflict{})
				}
			}
		}
		if x.plain {
			return v.path
		}
		var arrays []any
		anc := v.anc
		if k := x.kindsOf(v); !k.has(kUndef) {
			anc = nil // below an array it would be undefined
		}
		for _, a := range anc {
			if k, ok := x.st.known[a]; !ok || k.has(kArr) {
				arrays = append(arrays, doc("$isArray", bson.A{a}))
			}
		}
		return cond(any2(arrays...), "$$REMOVE", v.path)
	case v.obj != nil:
		return x.objectExpr(v.obj)
	case v.isArr:
		a := bson.A{}
		for _, item := range v.arr {
			e := x.ex(item)
			if e == "$$REMOVE" {
				e = nil
			}
			a = append(a, e)
		}
		return a
	case v.sp == spTypeof:
		return x.typeofExpr(v.of)
	case v.sp == spLength:
		x.refuse(v.at, RefuseLength, "reduce uses how many values it gets: results of an earlier reduce are among them, so that is not how often the key was emitted; emit a count and add it up")
	case v.e != nil:
		return v.e
	}
	x.refuse(nil, RefuseSyntax, "a %s can't be used as a value here", v.describe())
	return nil
}

func (v *val) describe() string {
	switch {
	case v.fn != nil:
		return "function"
	case v.sp == spThis:
		return "document as a whole"
	case v.sp == spPoison:
		return "value that changes from round to round of a loop"
	case v.sp == spGlobal:
		return "built-in (" + v.name + ")"
	case v.sp == spValues:
		return "list of values"
	case v.sp == spIndex:
		return "loop index"
	}
	return "thing of this kind"
}

func (x *exec) objectExpr(o *object) any {
	d := bson.D{}
	for _, name := range o.names {
		v := o.vals[name]
		e := x.ex(v)
		if x.kindsOf(v).has(kUndef) {
			e = orNull(e) // JavaScript keeps the field
		}
		d = append(d, bson.E{Key: name, Value: e})
	}
	if len(o.dyn) == 0 {
		if len(d) == 0 {
			return doc("$literal", d)
		}
		return d
	}
	pairs := bson.A{}
	for _, p := range o.dyn {
		pairs = append(pairs, bson.D{{Key: "k", Value: x.ex(p.k)}, {Key: "v", Value: x.ex(p.v)}})
	}
	dyn := doc("$arrayToObject", bson.A{pairs})
	if len(d) == 0 {
		return dyn
	}
	return call("$mergeObjects", d, dyn)
}

func orNull(e any) any {
	if e == "$$REMOVE" || e == nil {
		return nil
	}
	return call("$ifNull", e, nil)
}

// literal is a constant as an expression.
func literal(c any) any {
	switch c := c.(type) {
	case undefined:
		return "$$REMOVE"
	case string:
		if strings.HasPrefix(c, "$") {
			return doc("$literal", c)
		}
		return c
	case float64:
		if c == math.Trunc(c) && math.Abs(c) < 1<<31 && !(c == 0 && math.Signbit(c)) {
			return int32(c)
		}
		return c
	case bson.D, bson.A:
		return doc("$literal", c)
	}
	return c
}

func kindOfBSON(c any) kinds {
	switch c.(type) {
	case int32, float64:
		return kNum
	case int64:
		return kLong
	case primitive.Decimal128:
		return kDec
	case primitive.DateTime:
		return kDate
	case primitive.ObjectID:
		return kOID
	case primitive.Regex:
		return kRegex
	case bson.A:
		return kArr
	case bson.D:
		return kObj
	case string:
		return kStr
	case bool:
		return kBool
	case nil:
		return kNull
	case primitive.Undefined:
		return kUndef
	}
	return kOther
}

// simple expressions may be written twice.
func simple(e any) bool {
	switch e := e.(type) {
	case bson.D:
		return len(e) == 1 && e[0].Key == "$literal"
	case bson.A:
		return false
	}
	return true
}

// bind makes v cheap to use several times in what fn returns.
func (x *exec) bind(v *val, fn func(*val) any) any {
	e := x.ex(v)
	if simple(e) {
		return fn(v)
	}
	name := x.fresh("v")
	return doc("$let", bson.D{{Key: "vars", Value: doc(name, e)}, {Key: "in", Value: fn(&val{e: "$$" + name, k: x.kindsOf(v), small: v.small})}})
}
