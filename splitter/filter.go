package splitter

import (
	"math"

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

// decimalNaN is Decimal128's NaN.
var decimalNaN = primitive.NewDecimal128(0x7c00000000000000, 0)

// Filter matches exactly the documents whose field lies in the range, for every
// BSON type, null, missing and NaN. When the range can hold values of one
// bracket only (two numbers, two strings, …) it is the plain {f: {$gte: lo, $lt: hi}}.
// Documents with an array in the field are not provided for.
func (r Range) Filter(p Predicate) bson.D {
	if r.Everything() {
		return bson.D{}
	}
	var clauses bson.A
	for b := minKey; b < brackets; b++ {
		if r.present != 0 && r.present&(1<<b) == 0 {
			continue
		}
		clauses = append(clauses, r.within(b)...)
	}
	switch {
	case len(clauses) == 0: // nothing can match
		return bson.D{{Key: r.Key, Value: bson.D{{Key: "$in", Value: bson.A{}}}}}
	case len(clauses) == 1:
		return clauses[0].(bson.D)
	case p == Expr:
		return r.expr()
	default:
		return bson.D{{Key: "$or", Value: clauses}}
	}
}

// within gives the clauses for the part of the range that lies in one bracket: none, one, or
// two for null and undefined, which no single clause matches.
func (r Range) within(b bracket) bson.A {
	lo, hi := minKey, maxKey
	if !zero(r.Lo) {
		lo = bracketOf(r.Lo)
	}
	if !zero(r.Hi) {
		hi = bracketOf(r.Hi)
	}
	if b < lo || b > hi || b == array || (b.point() && !zero(r.Hi) && b == hi) {
		return nil
	}
	where := func(v any) bson.A { return bson.A{bson.D{{Key: r.Key, Value: v}}} }
	switch b {
	case minKey:
		return where(bson.D{{Key: "$eq", Value: primitive.MinKey{}}})
	case maxKey:
		return where(bson.D{{Key: "$eq", Value: primitive.MaxKey{}}})
	case nullish:
		return append(where(bson.D{{Key: "$eq", Value: nil}}), where(bson.D{{Key: "$type", Value: int32(bson.TypeUndefined)}})...)
	case nan:
		return where(bson.D{{Key: "$in", Value: bson.A{math.NaN(), decimalNaN}}})
	}
	hasLo := !zero(r.Lo) && b == lo
	hasHi := !zero(r.Hi) && b == hi
	if b == regex {
		return r.withinRegex(hasLo, hasHi)
	}
	var c bson.D
	if hasLo {
		c = append(c, bson.E{Key: "$gte", Value: r.Lo})
	} else if !hasHi { // the whole bracket
		c = append(c, bson.E{Key: "$gte", Value: smallest(b)})
	}
	if hasHi {
		c = append(c, bson.E{Key: "$lt", Value: r.Hi})
	}
	return where(c)
}

// withinRegex needs $expr for a bound: filters refuse to compare with a regular expression.
func (r Range) withinRegex(hasLo, hasHi bool) bson.A {
	c := bson.D{{Key: r.Key, Value: bson.D{{Key: "$type", Value: int32(bson.TypeRegex)}}}}
	var and bson.A
	if hasLo {
		and = append(and, r.compare("$gte", r.Lo))
	}
	if hasHi {
		and = append(and, r.compare("$lt", r.Hi))
	}
	if len(and) > 0 {
		c = append(c, bson.E{Key: "$expr", Value: bson.D{{Key: "$and", Value: and}}})
	}
	return bson.A{c}
}

// smallest is the least value of a bracket.
func smallest(b bracket) any {
	switch b {
	case number:
		return math.Inf(-1)
	case text:
		return ""
	case object:
		return bson.D{}
	case binData:
		return primitive.Binary{}
	case objectID:
		return primitive.ObjectID{}
	case boolean:
		return false
	case date:
		return primitive.DateTime(math.MinInt64)
	case timestamp:
		return primitive.Timestamp{}
	case dbPointer:
		return primitive.DBPointer{}
	case javascript:
		return primitive.JavaScript("")
	default: // codeScope; the others have no least value that a filter takes
		return primitive.CodeWithScope{Scope: bson.D{}}
	}
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
			and = append(and, r.compare("$gt", primitive.MinKey{}))
		case nan:
			and = append(and, r.compare("$gt", nil))
		default:
			and = append(and, r.compare("$gte", r.Lo))
		}
	}
	if !zero(r.Hi) {
		switch bracketOf(r.Hi) {
		case nullish:
			and = append(and, r.compare("$lte", primitive.MinKey{}))
		case nan:
			and = append(and, r.compare("$lte", nil))
		default:
			and = append(and, r.compare("$lt", r.Hi))
		}
	}
	if len(and) == 0 {
		return bson.D{}
	}
	return bson.D{{Key: "$expr", Value: bson.D{{Key: "$and", Value: and}}}}
}

func (r Range) compare(op string, v any) bson.D {
	return bson.D{{Key: op, Value: bson.A{"$" + r.Key, bson.D{{Key: "$literal", Value: v}}}}}
}
