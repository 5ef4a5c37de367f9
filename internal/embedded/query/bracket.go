package query

import (
	"math"
	"strings"

	"mrbench/internal/embedded/bsonx"
)

// bracketShown gives the values that explain shows for the ends of a type's bracket, and
// whether the upper one belongs to the bracket (shown with "]").
func bracketShown(canon int) (lo, hi bsonx.Value, closed bool) {
	switch canon {
	case bsonx.CanonNumber:
		return bsonx.Double(math.NaN()), bsonx.Double(math.Inf(1)), true
	case bsonx.CanonString:
		return bsonx.String(""), bsonx.DocValue(bsonx.Empty), false
	case bsonx.CanonDocument:
		return bsonx.DocValue(bsonx.Empty), bsonx.ArrayValue(bsonx.Empty), false
	case bsonx.CanonArray:
		return bsonx.ArrayValue(bsonx.Empty), bsonx.Binary(0, nil), false
	case bsonx.CanonBinary:
		return bsonx.Binary(0, nil), bsonx.ObjectID([12]byte{}), false
	case bsonx.CanonObjectID:
		var top [12]byte
		for i := range top {
			top[i] = 0xff
		}
		return bsonx.ObjectID([12]byte{}), bsonx.ObjectID(top), true
	case bsonx.CanonBool:
		return bsonx.Bool(false), bsonx.Bool(true), true
	case bsonx.CanonDate:
		return bsonx.Date(math.MinInt64), bsonx.Date(math.MaxInt64), true
	case bsonx.CanonTimestamp:
		return bsonx.Timestamp(0, 0), bsonx.Timestamp(math.MaxUint32, math.MaxUint32), true
	case bsonx.CanonRegex:
		return bsonx.Regex("", ""), bsonx.DBPointer("", [12]byte{}), false
	case bsonx.CanonDBPointer:
		return bsonx.DBPointer("", [12]byte{}), bsonx.JavaScript(""), false
	case bsonx.CanonCode:
		return bsonx.JavaScript(""), bsonx.CodeWithScope("", bsonx.Empty), false
	case bsonx.CanonCodeWithScope:
		return bsonx.CodeWithScope("", bsonx.Empty), bsonx.MaxKey(), false
	case bsonx.CanonNull:
		return bsonx.Null(), bsonx.Null(), true
	case bsonx.CanonUndefined:
		return bsonx.Undefined(), bsonx.Undefined(), true
	case bsonx.CanonMinKey:
		return bsonx.MinKey(), bsonx.MinKey(), true
	}
	return bsonx.MaxKey(), bsonx.MaxKey(), true
}

// show writes an interval as explain does: "[1, 5)".
func (iv interval) show(desc bool) string {
	lo, hi := iv.lo, iv.hi
	var b strings.Builder
	open, end := "[", ")"
	if lo.after {
		open = "("
	}
	if hi.after || hi.closedBracket() {
		end = "]"
	}
	if desc {
		// a descending field is walked from its upper end
		lo, hi = hi, lo
		open, end = map[string]string{")": "(", "]": "["}[end], map[string]string{"(": ")", "[": "]"}[open]
	}
	b.WriteString(open)
	b.WriteString(lo.val.String())
	b.WriteString(", ")
	b.WriteString(hi.val.String())
	b.WriteString(end)
	return b.String()
}

// closedBracket: the edge is the end of a bracket whose last value is shown.
func (e edge) closedBracket() bool {
	if e.after || len(e.key) != 1 {
		return false
	}
	canon := bsonx.Canon(e.val.Type)
	_, hi, closed := bracketShown(canon)
	return closed && string(e.key) == string(bsonx.KeyMax(canon)) && bsonx.Compare(hi, e.val) == 0
}
