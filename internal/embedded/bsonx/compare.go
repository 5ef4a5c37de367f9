package bsonx

import (
	"bytes"
	"cmp"
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
		TypeMinKey: CanonMinKey, TypeUndefined: CanonUndefined, TypeNull: CanonNull, Missing: CanonNull,
		TypeDouble: CanonNumber, TypeInt32: CanonNumber, TypeInt64: CanonNumber, TypeDecimal128: CanonNumber,
		TypeString: CanonString, TypeSymbol: CanonString, TypeEmbeddedDocument: CanonDocument,
		TypeArray: CanonArray, TypeBinary: CanonBinary, TypeObjectID: CanonObjectID,
		TypeBoolean: CanonBool, TypeDateTime: CanonDate, TypeTimestamp: CanonTimestamp,
		TypeRegex: CanonRegex, TypeDBPointer: CanonDBPointer, TypeJavaScript: CanonCode,
		TypeCodeWithScope: CanonCodeWithScope, TypeMaxKey: CanonMaxKey,
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
	case TypeInt32, TypeDouble, TypeInt64, TypeDecimal128:
		return compareNumbers(a, b)
	case TypeString, TypeSymbol, TypeJavaScript:
		return bytes.Compare(a.StrBytes(), b.StrBytes())
	case TypeEmbeddedDocument:
		return CompareDocs(a.Data, b.Data)
	case TypeArray:
		return compareArrays(a.Data, b.Data)
	case TypeBinary, TypeDBPointer:
		// The length comes first; what follows is subtype and bytes, or namespace and id.
		if c := cmp.Compare(len(a.Data), len(b.Data)); c != 0 {
			return c
		}
		return bytes.Compare(a.Data[4:], b.Data[4:])
	case TypeObjectID, TypeBoolean:
		return bytes.Compare(a.Data, b.Data)
	case TypeDateTime:
		return cmp.Compare(a.Int64(), b.Int64())
	case TypeTimestamp:
		return cmp.Compare(uint64(a.Int64()), uint64(b.Int64()))
	case TypeRegex:
		// A NUL ends each part, so the bytes sort as pattern, then options.
		return bytes.Compare(a.Data, b.Data)
	case TypeCodeWithScope:
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
		if ca, cb := canon[ia.Type()], canon[ib.Type()]; ca != cb {
			return cmp.Compare(ca, cb)
		}
		if names {
			if c := bytes.Compare(ia.Name(), ib.Name()); c != 0 {
				return c
			}
		}
		if c := compareSame(ia.Value(), ib.Value()); c != 0 {
			return c
		}
	}
}
