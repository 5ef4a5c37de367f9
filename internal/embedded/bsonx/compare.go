package bsonx

import (
	"bytes"
	"cmp"

	"go.mongodb.org/mongo-driver/bson/bsontype"
)

// Ranks of the types in the sort order, as Canon gives them.
const (
	CanonMinKey        = -1
	CanonUndefined     = 0
	CanonNull          = 5 // and missing
	CanonNumber        = 10
	CanonString        = 15 // and symbol
	CanonDocument      = 20
	CanonArray         = 25
	CanonBinary        = 30
	CanonObjectID      = 35
	CanonBool          = 40
	CanonDate          = 45
	CanonTimestamp     = 47
	CanonRegex         = 50
	CanonDBPointer     = 55
	CanonCode          = 60
	CanonCodeWithScope = 65
	CanonMaxKey        = 127
)

// Canon is the rank of a type's bracket in the sort order; types of one bracket compare with each other
// in filters ($lt and friends never cross brackets).
//
// A missing field ranks with null, and undefined is a bracket of its own below
// it: so a server sorts them, and so they stand in an index. (A filter on null
// also matches undefined; that is the filter's business.)
func Canon(t Type) int { return int(canon[t]) }

var canon = func() (c [256]int8) {
	for i := range c {
		c[i] = CanonMaxKey
	}
	for t, r := range map[Type]int8{
		bsontype.MinKey: CanonMinKey, bsontype.Undefined: CanonUndefined, bsontype.Null: CanonNull, Missing: CanonNull,
		bsontype.Double: CanonNumber, bsontype.Int32: CanonNumber, bsontype.Int64: CanonNumber, bsontype.Decimal128: CanonNumber,
		bsontype.String: CanonString, bsontype.Symbol: CanonString, bsontype.EmbeddedDocument: CanonDocument,
		bsontype.Array: CanonArray, bsontype.Binary: CanonBinary, bsontype.ObjectID: CanonObjectID,
		bsontype.Boolean: CanonBool, bsontype.DateTime: CanonDate, bsontype.Timestamp: CanonTimestamp,
		bsontype.Regex: CanonRegex, bsontype.DBPointer: CanonDBPointer, bsontype.JavaScript: CanonCode,
		bsontype.CodeWithScope: CanonCodeWithScope, bsontype.MaxKey: CanonMaxKey,
	} {
		c[t] = r
	}
	return c
}()

// Compare orders two values as MongoDB sorts: MinKey, undefined, null and missing, numbers (NaN first),
// strings and symbols, documents, arrays, binary (length, subtype, bytes), ObjectId, booleans, dates,
// timestamps, regex, DBPointer, code, code with scope, MaxKey. Numbers compare by exact value across
// their types. Missing equals null; see CompareAgg for expressions.
func Compare(a, b Value) int {
	if ca, cb := canon[a.Type], canon[b.Type]; ca != cb {
		return cmp.Compare(ca, cb)
	}
	return compareSame(a, b)
}

// CompareAgg is Compare for aggregation expressions, where a missing value is
// below null and equal to undefined.
func CompareAgg(a, b Value) int {
	ca, cb := canon[a.Type], canon[b.Type]
	if a.Type == Missing {
		ca = CanonUndefined
	}
	if b.Type == Missing {
		cb = CanonUndefined
	}
	if ca != cb {
		return cmp.Compare(ca, cb)
	}
	return compareSame(a, b)
}

// Equal reports whether Compare finds no difference.
func Equal(a, b Value) bool { return Compare(a, b) == 0 }

// compareSame orders two values of one bracket.
func compareSame(a, b Value) int {
	switch a.Type {
	case bsontype.Int32, bsontype.Double, bsontype.Int64, bsontype.Decimal128:
		return compareNumbers(a, b)
	case bsontype.String, bsontype.Symbol, bsontype.JavaScript:
		return bytes.Compare(a.StrBytes(), b.StrBytes())
	case bsontype.EmbeddedDocument:
		return CompareDocs(a.Data, b.Data)
	case bsontype.Array:
		return compareArrays(a.Data, b.Data)
	case bsontype.Binary, bsontype.DBPointer:
		// The length comes first; what follows is subtype and bytes, or namespace and id.
		if c := cmp.Compare(len(a.Data), len(b.Data)); c != 0 {
			return c
		}
		return bytes.Compare(a.Data[4:], b.Data[4:])
	case bsontype.ObjectID, bsontype.Boolean:
		return bytes.Compare(a.Data, b.Data)
	case bsontype.DateTime:
		return cmp.Compare(a.Int64(), b.Int64())
	case bsontype.Timestamp:
		return cmp.Compare(uint64(a.Int64()), uint64(b.Int64()))
	case bsontype.Regex:
		// A NUL ends each part, so the bytes sort as pattern, then options.
		return bytes.Compare(a.Data, b.Data)
	case bsontype.CodeWithScope:
		ca, sa := a.codeWithScope()
		cb, sb := b.codeWithScope()
		if c := bytes.Compare(ca, cb); c != 0 {
			return c
		}
		return CompareDocs(sa, sb)
	}
	return 0 // null, undefined, missing, MinKey, MaxKey
}

// CompareDocs compares element by element: canonical type, then name, then
// value. A document that ends first is smaller.
func CompareDocs(a, b Doc) int { return compareElems(a, b, true) }

// compareArrays is CompareDocs without the names, which are positions.
func compareArrays(a, b Doc) int { return compareElems(a, b, false) }

func compareElems(a, b Doc, names bool) int {
	ia, ib := a.Iter(), b.Iter()
	for {
		na, nb := ia.Next(), ib.Next()
		if !na || !nb {
			switch {
			case na:
				return 1
			case nb:
				return -1
			}
			return 0
		}
		if ca, cb := canon[ia.val.Type], canon[ib.val.Type]; ca != cb {
			return cmp.Compare(ca, cb)
		}
		if names {
			if c := bytes.Compare(ia.name, ib.name); c != 0 {
				return c
			}
		}
		if c := compareSame(ia.val, ib.val); c != 0 {
			return c
		}
	}
}
