package translate

import (
	"go.mongodb.org/mongo-driver/bson"
)

// cond, all2, any2 and not fold what is constant.
func cond(test, a, b any) any {
	switch test {
	case true:
		return a
	case false:
		return b
	}
	if a == true && b == false {
		return test
	}
	return call("$cond", test, a, b)
}

func all2(list ...any) any { return junction("$and", true, list) }

func any2(list ...any) any { return junction("$or", false, list) }

func junction(op string, neutral bool, list []any) any {
	var out bson.A
	for _, e := range list {
		switch e {
		case neutral:
			continue
		case !neutral:
			return !neutral
		}
		if d, ok := e.(bson.D); ok && len(d) == 1 && d[0].Key == op {
			out = append(out, d[0].Value.(bson.A)...)
			continue
		}
		out = append(out, e)
	}
	switch len(out) {
	case 0:
		return neutral
	case 1:
		return out[0]
	}
	return doc(op, out)
}

func not(e any) any {
	switch e {
	case true:
		return false
	case false:
		return true
	}
	if d, ok := e.(bson.D); ok && len(d) == 1 {
		if a, isArray := d[0].Value.(bson.A); isArray {
			switch d[0].Key {
			case "$not":
				return a[0]
			case "$eq":
				return doc("$ne", a)
			case "$ne":
				return doc("$eq", a)
			case "$or", "$and":
				var list []any
				for _, e := range a {
					list = append(list, not(e))
				}
				if d[0].Key == "$or" {
					return all2(list...)
				}
				return any2(list...)
			}
		}
	}
	return call("$not", e)
}

// isKind tests the type of an expression.
func (x *exec) isKind(v *val, k kinds) any {
	have := x.kindsOf(v)
	switch {
	case have.only(k):
		return true
	case !have.has(k):
		return false
	}
	e := x.ex(v)
	if have&k == have&kNullish && k&have == kNullish&have {
		return call("$eq", orNull(e), nil)
	}
	if have&k == kArr {
		return doc("$isArray", bson.A{e})
	}
	yes, no := typeNames(have&k), typeNames(have&^k)
	if len(no) < len(yes) {
		return not(inList(doc("$type", e), no))
	}
	return inList(doc("$type", e), yes)
}

func inList(e any, list []string) any {
	if len(list) == 1 {
		return call("$eq", e, list[0])
	}
	a := bson.A{}
	for _, s := range list {
		a = append(a, s)
	}
	return call("$in", e, a)
}
