package splitter

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/bson"
)

// matches is how a 4.0 server evaluates the filters that Range makes, for a
// document with these fields (a zero value: missing) and no array.
func matches(filter bson.D, doc map[string]bson.RawValue) bool {
	for _, e := range filter {
		ok := true
		switch e.Key {
		case "$or":
			ok = false
			for _, c := range e.Value.(bson.A) {
				ok = ok || matches(c.(bson.D), doc)
			}
		case "$and":
			for _, c := range e.Value.(bson.A) {
				ok = ok && matches(c.(bson.D), doc)
			}
		case "$expr":
			ok = exprMatches(e.Value.(bson.D), doc)
		default:
			for _, c := range e.Value.(bson.D) {
				ok = ok && operatorMatches(c.Key, c.Value, doc[e.Key])
			}
		}
		if !ok {
			return false
		}
	}
	return true
}

// operatorMatches compares within the bound's own type.
func operatorMatches(op string, bound any, v bson.RawValue) bool {
	switch op {
	case "$in":
		for _, b := range bound.(bson.A) {
			if operatorMatches("$eq", b, v) {
				return true
			}
		}
		return false
	case "$type":
		return int32(v.Type) == bound.(int32)
	}
	b := raw(bound)
	if b.Type == bson.TypeRegex {
		panic("Can't have RegEx as arg to predicate over field")
	}
	if b.Type == bson.TypeMinKey || b.Type == bson.TypeMaxKey {
		if op != "$eq" {
			panic("bounds of MinKey and MaxKey are not used")
		}
		return v.Type == b.Type
	}
	if b.Type == bson.TypeNull {
		return op == "$eq" && (zero(v) || v.Type == bson.TypeNull)
	}
	if zero(v) || bracketOf(v) != bracketOf(b) {
		return false
	}
	if bracketOf(b) == nan {
		return op == "$eq" || op == "$gte"
	}
	c := Compare(v, b)
	switch op {
	case "$eq":
		return c == 0
	case "$gt":
		return c > 0
	case "$gte":
		return c >= 0
	case "$lt":
		return c < 0
	case "$lte":
		return c <= 0
	}
	panic("unknown operator " + op)
}

// exprMatches compares in the order of all types, where missing and undefined are below null.
func exprMatches(c bson.D, doc map[string]bson.RawValue) bool {
	args := c[0].Value.(bson.A)
	if c[0].Key == "$and" {
		for _, a := range args {
			if !exprMatches(a.(bson.D), doc) {
				return false
			}
		}
		return true
	}
	v := doc[strings.TrimPrefix(args[0].(string), "$")]
	b := raw(args[1].(bson.D)[0].Value)
	rank := func(v bson.RawValue) int {
		if zero(v) {
			return int(nullish)*2 - 1
		}
		return nestedRank(v)
	}
	order := rank(v) - rank(b)
	if order == 0 && !zero(v) {
		order = Compare(v, b)
	}
	switch c[0].Key {
	case "$gt":
		return order > 0
	case "$gte":
		return order >= 0
	case "$lt":
		return order < 0
	case "$lte":
		return order <= 0
	case "$eq":
		return order == 0
	}
	panic(fmt.Sprint("unknown operator ", c[0].Key))
}
