package splitter

import (
	"math"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
)

// decimalNaN is Decimal128's NaN.
var decimalNaN = primitive.NewDecimal128(0x7c00000000000000, 0)

// interval is [lo, hi) of one field, in the order of all types; zero ends are open.
type interval struct {
	key      string
	lo, hi   bson.RawValue
	loOpen   bool // lo itself is outside
	hiClosed bool // hi itself is inside
	present  uint32
}

// equal is the interval of one value.
func equal(key string, v bson.RawValue) interval {
	return interval{key: key, lo: v, hi: v, hiClosed: true}
}

// clauses are filters of which each document of the interval matches one and
// others match none, each within one bracket of types.
func (x interval) clauses() []bson.D {
	var all []bson.D
	for b := minKey; b < brackets; b++ {
		if x.present == 0 || x.present&(1<<b) != 0 {
			all = append(all, x.within(b)...)
		}
	}
	return all
}

// within gives the clauses for the part that lies in one bracket: none, one, or
// two for null and undefined, which no single clause matches.
func (x interval) within(b bracket) []bson.D {
	lo, hi := minKey, maxKey
	if !zero(x.lo) {
		lo = bracketOf(x.lo)
	}
	if !zero(x.hi) {
		hi = bracketOf(x.hi)
	}
	if b < lo || b > hi || b == array {
		return nil
	}
	hasLo := !zero(x.lo) && b == lo
	hasHi := !zero(x.hi) && b == hi
	if b.point() && (hasHi && !x.hiClosed || hasLo && x.loOpen) {
		return nil
	}
	where := func(v any) []bson.D { return []bson.D{{{Key: x.key, Value: v}}} }
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
	var c bson.D
	switch {
	case hasLo && hasHi && x.hiClosed && Compare(x.lo, x.hi) == 0:
		c = bson.D{{Key: "$eq", Value: x.lo}}
	case hasLo && x.loOpen:
		c = bson.D{{Key: "$gt", Value: x.lo}}
	case hasLo:
		c = bson.D{{Key: "$gte", Value: x.lo}}
	case !hasHi && b != regex: // the whole bracket
		c = bson.D{{Key: "$gte", Value: smallest(b)}}
	}
	switch {
	case !hasHi || len(c) > 0 && c[0].Key == "$eq":
	case x.hiClosed:
		c = append(c, bson.E{Key: "$lte", Value: x.hi})
	default:
		c = append(c, bson.E{Key: "$lt", Value: x.hi})
	}
	if b == regex {
		return x.regexes(c)
	}
	return where(c)
}

// regexes needs $expr for a bound: filters refuse to compare with a regular expression.
func (x interval) regexes(bounds bson.D) []bson.D {
	c := bson.D{{Key: x.key, Value: bson.D{{Key: "$type", Value: int32(bson.TypeRegex)}}}}
	var and bson.A
	for _, b := range bounds {
		and = append(and, compare(x.key, b.Key, b.Value))
	}
	if len(and) > 0 {
		c = append(c, bson.E{Key: "$expr", Value: bson.D{{Key: "$and", Value: and}}})
	}
	return []bson.D{c}
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
