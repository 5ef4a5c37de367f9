package splitter

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"strings"

	"go.mongodb.org/mongo-driver/bson"
)

// bracket is a group of BSON types whose values a filter compares with one
// another, in MongoDB's sort order. NaN is a bracket of its own: it sorts below
// every number, but $lt and $gte of a number never match it.
type bracket uint8

const (
	minKey  bracket = iota
	nullish         // null, undefined and missing: one key for mapReduce
	nan
	number
	text // strings and symbols
	object
	array
	binData
	objectID
	boolean
	date
	timestamp
	regex
	dbPointer
	javascript
	codeScope
	maxKey
	brackets // how many
)

// point says that all values of the bracket are one key.
func (b bracket) point() bool { return b == minKey || b == nullish || b == nan || b == maxKey }

func bracketOf(v bson.RawValue) bracket {
	switch v.Type {
	case bson.TypeMinKey:
		return minKey
	case bson.TypeNull, bson.TypeUndefined:
		return nullish
	case bson.TypeDouble:
		if math.IsNaN(v.Double()) {
			return nan
		}
		return number
	case bson.TypeDecimal128:
		if v.Decimal128().IsNaN() {
			return nan
		}
		return number
	case bson.TypeInt32, bson.TypeInt64:
		return number
	case bson.TypeString, bson.TypeSymbol:
		return text
	case bson.TypeEmbeddedDocument:
		return object
	case bson.TypeArray:
		return array
	case bson.TypeBinary:
		return binData
	case bson.TypeObjectID:
		return objectID
	case bson.TypeBoolean:
		return boolean
	case bson.TypeDateTime:
		return date
	case bson.TypeTimestamp:
		return timestamp
	case bson.TypeRegex:
		return regex
	case bson.TypeDBPointer:
		return dbPointer
	case bson.TypeJavaScript:
		return javascript
	case bson.TypeCodeWithScope:
		return codeScope
	default:
		return maxKey
	}
}

// Compare orders two values as MongoDB sorts them, except that null and
// undefined are equal, as range bounds have them.
func Compare(a, b bson.RawValue) int {
	x, y := bracketOf(a), bracketOf(b)
	if x != y {
		return cmp.Compare(x, y)
	}
	return compareWithin(x, a, b)
}

func compareWithin(b bracket, x, y bson.RawValue) int {
	switch b {
	case number:
		return compareNumbers(x, y)
	case text:
		return strings.Compare(textOf(x), textOf(y))
	case object, array:
		return compareDocuments(bson.Raw(x.Value), bson.Raw(y.Value))
	case binData:
		// length, then subtype, then bytes; the value starts with the length
		n, m := binary.LittleEndian.Uint32(x.Value), binary.LittleEndian.Uint32(y.Value)
		return cmp.Or(cmp.Compare(n, m), bytes.Compare(x.Value[4:], y.Value[4:]))
	case boolean:
		return cmp.Compare(x.Value[0], y.Value[0])
	case date:
		return cmp.Compare(x.DateTime(), y.DateTime())
	case timestamp:
		return cmp.Compare(binary.LittleEndian.Uint64(x.Value), binary.LittleEndian.Uint64(y.Value))
	case regex:
		p, o := x.Regex()
		q, r := y.Regex()
		return cmp.Or(strings.Compare(p, q), strings.Compare(o, r))
	case dbPointer:
		return cmp.Or(cmp.Compare(len(x.Value), len(y.Value)), bytes.Compare(x.Value, y.Value))
	case javascript:
		return strings.Compare(x.JavaScript(), y.JavaScript())
	case codeScope:
		c, s := x.CodeWithScope()
		d, t := y.CodeWithScope()
		return cmp.Or(strings.Compare(c, d), compareDocuments(s, t))
	case objectID:
		return bytes.Compare(x.Value, y.Value)
	default:
		return 0
	}
}

func textOf(v bson.RawValue) string {
	if v.Type == bson.TypeSymbol {
		return v.Symbol()
	}
	return v.StringValue()
}

// compareDocuments goes field by field: type, then name, then value; a prefix is smaller.
func compareDocuments(a, b bson.Raw) int {
	x, _ := a.Elements()
	y, _ := b.Elements()
	for i := range min(len(x), len(y)) {
		v, w := x[i].Value(), y[i].Value()
		if c := cmp.Compare(nestedRank(v), nestedRank(w)); c != 0 {
			return c
		}
		if c := strings.Compare(x[i].Key(), y[i].Key()); c != 0 {
			return c
		}
		if c := Compare(v, w); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(x), len(y))
}

// nestedRank is the order of types inside a document, where undefined is below
// null and NaN is a number.
func nestedRank(v bson.RawValue) int {
	switch b := bracketOf(v); {
	case v.Type == bson.TypeUndefined:
		return int(nullish)*2 - 1
	case b == nan:
		return int(number) * 2
	default:
		return int(b) * 2
	}
}
