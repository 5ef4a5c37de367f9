package bsonx

import (
	"bytes"
	"encoding/binary"
)

// The layout of a key. Each value begins with a lead byte that ranks its type
// (for a number also its sign and magnitude) and ends by itself, so no key is
// a prefix of another:
//
//	MinKey, undefined, null or missing, MaxKey: nothing follows
//	number     see key_number.go
//	string     bytes with 00 → 01 01 and 01 → 01 02, then 00; code likewise
//	document   for each element its type's lead, name 00, value; then 00
//	array      values, then 00
//	binary     length (one byte, or FF and four), subtype, bytes
//	ObjectId, date, timestamp  12 or 8 bytes, big endian, dates with the sign flipped
//	regex      pattern 00 options 00
//	DBPointer  length of the namespace (four bytes), namespace, ObjectId
//	code with scope  code as a string, then the scope as a document
//
// Leads are neither 00 nor FF, nor is anything that may follow a lead's 00.
const (
	leadMinKey        = 10
	leadUndefined     = 15
	leadNull          = 20
	leadNaN           = 30
	leadNegHuge       = 31 // at most -2^63
	leadNegSmall      = 40 // between -1 and 0; 39 … 32 have a whole part of 1 … 8 bytes
	leadZero          = 41
	leadPosSmall      = 42
	leadPosHuge       = 51
	leadString        = 60
	leadDocument      = 70
	leadArray         = 80
	leadBinary        = 90
	leadObjectID      = 100
	leadFalse         = 110
	leadTrue          = 111
	leadDate          = 120
	leadTimestamp     = 130
	leadRegex         = 140
	leadDBPointer     = 150
	leadCode          = 160
	leadCodeWithScope = 170
	leadMaxKey        = 240
)

// AppendKey appends v's encoding: bytes.Compare of two encodings is Compare of the values
// (and 0 exactly when Compare is 0). No encoding is a prefix of another, so
// encodings may be concatenated. desc inverts every byte.
//
// v must come from a document that passed Validate, or from a constructor.
func AppendKey(dst []byte, v Value, desc bool) []byte {
	start := len(dst)
	switch v.Type {
	case TypeInt32:
		dst = appendIntKey(dst, int64(v.Int32()))
	case TypeObjectID:
		dst = append(append(dst, leadObjectID), v.Data...)
	case TypeString:
		dst = appendTextKey(append(dst, leadString), v.StrBytes())
	case TypeDouble:
		dst = appendFloatKey(dst, v.Double())
	default:
		dst = appendKey(dst, v)
	}
	if desc {
		invert(dst[start:])
	}
	return dst
}

// AppendKeyInt64 is AppendKey of an integer of either size.
func AppendKeyInt64(dst []byte, n int64, desc bool) []byte {
	start := len(dst)
	dst = appendIntKey(dst, n)
	if desc {
		invert(dst[start:])
	}
	return dst
}

// AppendKeyDouble is AppendKey of a double.
func AppendKeyDouble(dst []byte, f float64, desc bool) []byte {
	start := len(dst)
	dst = appendFloatKey(dst, f)
	if desc {
		invert(dst[start:])
	}
	return dst
}

// AppendKeyString is AppendKey of a string.
func AppendKeyString(dst []byte, s string, desc bool) []byte {
	start := len(dst)
	dst = appendTextKey(append(dst, leadString), s)
	if desc {
		invert(dst[start:])
	}
	return dst
}

// AppendKeyDoc is AppendKey of a document.
func AppendKeyDoc(dst []byte, d Doc, desc bool) []byte { return AppendKey(dst, DocValue(d), desc) }

func appendKey(dst []byte, v Value) []byte {
	switch v.Type {
	case TypeInt32, TypeInt64, TypeDouble, TypeDecimal128:
		return appendNumberKey(dst, v)
	case TypeString, TypeSymbol:
		return appendTextKey(append(dst, leadString), v.StrBytes())
	case TypeObjectID:
		return append(append(dst, leadObjectID), v.Data...)
	case TypeNull, Missing:
		return append(dst, leadNull)
	case TypeUndefined:
		return append(dst, leadUndefined)
	case TypeBoolean:
		return append(dst, leadFalse+v.Data[0])
	case TypeDateTime:
		return binary.BigEndian.AppendUint64(append(dst, leadDate), uint64(v.Int64())^1<<63)
	case TypeTimestamp:
		return binary.BigEndian.AppendUint64(append(dst, leadTimestamp), uint64(v.Int64()))
	case TypeEmbeddedDocument:
		return appendDocKey(append(dst, leadDocument), v.Data)
	case TypeArray:
		dst = append(dst, leadArray)
		it := v.Elems()
		for it.Next() {
			dst = appendKey(dst, it.Value())
		}
		return append(dst, 0)
	case TypeBinary:
		return appendBinaryKey(append(dst, leadBinary), v.Data)
	case TypeRegex:
		return append(append(dst, leadRegex), v.Data...)
	case TypeDBPointer:
		n := len(v.Data) - 12 - 5
		dst = binary.BigEndian.AppendUint32(append(dst, leadDBPointer), uint32(n))
		return append(append(dst, v.Data[4:4+n]...), v.Data[4+n+1:]...)
	case TypeJavaScript:
		return appendTextKey(append(dst, leadCode), v.StrBytes())
	case TypeCodeWithScope:
		code, scope := v.codeWithScope()
		return appendDocKey(appendTextKey(append(dst, leadCodeWithScope), code), scope)
	case TypeMinKey:
		return append(dst, leadMinKey)
	}
	return append(dst, leadMaxKey)
}

// appendTextKey escapes 00 and 01, so that the final 00 is the only one.
func appendTextKey[T string | []byte](dst []byte, s T) []byte {
	start := len(dst)
	dst = append(dst, s...)
	if low := indexLow(dst[start:]); low >= 0 {
		dst = dst[:start+low]
		for i := low; i < len(s); i++ {
			if c := s[i]; c <= 1 {
				dst = append(dst, 1, c+1)
			} else {
				dst = append(dst, c)
			}
		}
	}
	return append(dst, 0)
}

// indexLow finds the first byte that is 00 or 01.
func indexLow(b []byte) int {
	if len(b) <= 16 {
		for i, c := range b {
			if c <= 1 {
				return i
			}
		}
		return -1
	}
	i := bytes.IndexByte(b, 0)
	if i >= 0 {
		b = b[:i]
	}
	if j := bytes.IndexByte(b, 1); j >= 0 {
		return j
	}
	return i
}

func appendDocKey(dst []byte, d Doc) []byte {
	it := d.Iter()
	for it.Next() {
		dst = append(dst, canonLead[it.Type()])
		dst = append(append(dst, it.Name()...), 0)
		dst = appendKey(dst, it.Value())
	}
	return append(dst, 0)
}

func appendBinaryKey(dst, data []byte) []byte {
	if n := len(data) - 5; n < 255 {
		dst = append(dst, byte(n))
	} else {
		dst = binary.BigEndian.AppendUint32(append(dst, 255), uint32(n))
	}
	return append(dst, data[4:]...)
}

// canonLead is the first lead byte of each type's bracket.
var canonLead = func() (l [256]byte) {
	for t := range l {
		l[t] = leadOf(Canon(Type(t)))
	}
	return l
}()

func leadOf(canon int) byte {
	switch canon {
	case CanonMinKey:
		return leadMinKey
	case CanonUndefined:
		return leadUndefined
	case CanonNull:
		return leadNull
	case CanonNumber:
		return leadNaN
	case CanonString:
		return leadString
	case CanonDocument:
		return leadDocument
	case CanonArray:
		return leadArray
	case CanonBinary:
		return leadBinary
	case CanonObjectID:
		return leadObjectID
	case CanonBool:
		return leadFalse
	case CanonDate:
		return leadDate
	case CanonTimestamp:
		return leadTimestamp
	case CanonRegex:
		return leadRegex
	case CanonDBPointer:
		return leadDBPointer
	case CanonCode:
		return leadCode
	case CanonCodeWithScope:
		return leadCodeWithScope
	}
	return leadMaxKey
}

// invert turns an ascending key into a descending one, and back.
func invert(b []byte) {
	for len(b) >= 8 {
		binary.NativeEndian.PutUint64(b, ^binary.NativeEndian.Uint64(b))
		b = b[8:]
	}
	for i := range b {
		b[i] = ^b[i]
	}
}
