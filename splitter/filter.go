package splitter

import (
	"strings"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
)

// Predicate says which form of filter the server can use an index for.
type Predicate int

const (
	// Brackets is $gte/$lt within one type, $or over the types between; every version.
	Brackets Predicate = iota
	// Expr is {$expr: {$and: [{$gte: ["$f", {$literal: lo}]}, …]}} where brackets
	// would need an $or; servers use an index for it from 5.0 on.
	Expr
)

// Filter matches exactly the documents whose field lies in the range, for every
// BSON type, null, missing and NaN. When the range can hold values of one
// bracket only (two numbers, two strings, …) it is the plain {f: {$gte: lo, $lt: hi}}.
// A compound key is always compared by brackets, field by field, in an $or that indexes serve on every version.
// Documents with an array in the field are not provided for.
func (r Range) Filter(p Predicate) bson.D {
	if r.Everything() {
		return bson.D{}
	}
	var clauses []bson.D
	if len(r.Then) > 0 {
		clauses = r.lexicographic()
	} else {
		clauses = interval{key: r.Key, lo: r.Lo, hi: r.Hi, present: r.present}.clauses()
		if p == Expr && len(clauses) > 1 && !positional(r.Key) {
			return r.expr()
		}
	}
	return anyOf(r.Key, clauses)
}

// positional says that a part of a path is a number, which filters take for a place
// in an array too, and expressions do not.
func positional(key string) bool {
	for part := range strings.SplitSeq(key, ".") {
		if part != "" && strings.Trim(part, "0123456789") == "" {
			return true
		}
	}
	return false
}

// anyOf matches what one of the clauses does.
func anyOf(key string, clauses []bson.D) bson.D {
	switch len(clauses) {
	case 0: // nothing can match
		return bson.D{{Key: key, Value: bson.D{{Key: "$in", Value: bson.A{}}}}}
	case 1:
		return clauses[0]
	}
	or := make(bson.A, len(clauses))
	for i, c := range clauses {
		or[i] = c
	}
	return bson.D{{Key: "$or", Value: or}}
}

// expr compares in the order of all types. Inside $expr a missing or undefined
// field is below null, so a bound of null is moved to the end of MinKey, and one of
// NaN to the end of null, where nothing lies between.
func (r Range) expr() bson.D {
	var and bson.A
	if !zero(r.Lo) {
		switch bracketOf(r.Lo) {
		case minKey:
		case nullish:
			and = append(and, compare(r.Key, "$gt", primitive.MinKey{}))
		case nan:
			and = append(and, compare(r.Key, "$gt", nil))
		default:
			and = append(and, compare(r.Key, "$gte", r.Lo))
		}
	}
	if !zero(r.Hi) {
		switch bracketOf(r.Hi) {
		case nullish:
			and = append(and, compare(r.Key, "$lte", primitive.MinKey{}))
		case nan:
			and = append(and, compare(r.Key, "$lte", nil))
		default:
			and = append(and, compare(r.Key, "$lt", r.Hi))
		}
	}
	if len(and) == 0 {
		return bson.D{}
	}
	return bson.D{{Key: "$expr", Value: bson.D{{Key: "$and", Value: and}}}}
}

func compare(key, op string, v any) bson.D {
	return bson.D{{Key: op, Value: bson.A{"$" + key, bson.D{{Key: "$literal", Value: v}}}}}
}
