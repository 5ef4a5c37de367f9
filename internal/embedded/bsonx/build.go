package bsonx

import (
	"encoding/binary"
	"math"
)

// Empty is the empty document.
var Empty = Doc{5, 0, 0, 0, 0}

// Int32 makes an int32.
func Int32(n int32) Value {
	return Value{TypeInt32, binary.LittleEndian.AppendUint32(make([]byte, 0, 4), uint32(n))}
}

// Int64 makes an int64.
func Int64(n int64) Value {
	return Value{TypeInt64, binary.LittleEndian.AppendUint64(make([]byte, 0, 8), uint64(n))}
}

// Double makes a double.
func Double(f float64) Value {
	return Value{TypeDouble, binary.LittleEndian.AppendUint64(make([]byte, 0, 8), math.Float64bits(f))}
}

// Bool makes a boolean.
func Bool(b bool) Value {
	d := []byte{0}
	if b {
		d[0] = 1
	}
	return Value{TypeBoolean, d}
}

// String makes a string.
func String(s string) Value { return Value{TypeString, appendString(nil, s)} }

// Symbol makes a symbol.
func Symbol(s string) Value { return Value{TypeSymbol, appendString(nil, s)} }

// JavaScript makes code without a scope.
func JavaScript(code string) Value { return Value{TypeJavaScript, appendString(nil, code)} }

// Null makes a null.
func Null() Value { return Value{Type: TypeNull} }

// Undefined makes an undefined.
func Undefined() Value { return Value{Type: TypeUndefined} }

// Date makes a date of milliseconds since 1970.
func Date(ms int64) Value {
	return Value{TypeDateTime, binary.LittleEndian.AppendUint64(make([]byte, 0, 8), uint64(ms))}
}

// Timestamp makes a timestamp of seconds and an increment.
func Timestamp(t, i uint32) Value {
	return Value{TypeTimestamp, binary.LittleEndian.AppendUint64(make([]byte, 0, 8), uint64(t)<<32|uint64(i))}
}

// DocValue makes a document value that aliases d.
func DocValue(d Doc) Value { return Value{TypeEmbeddedDocument, d} }

// ArrayValue makes an array value that aliases d, whose names are "0", "1", ….
func ArrayValue(d Doc) Value { return Value{TypeArray, d} }

// MinKey makes the value below all others.
func MinKey() Value { return Value{Type: TypeMinKey} }

// MaxKey makes the value above all others.
func MaxKey() Value { return Value{Type: TypeMaxKey} }

// ObjectID makes an ObjectId.
func ObjectID(oid [12]byte) Value { return Value{TypeObjectID, oid[:]} }

// Binary makes binary data. For the old subtype 2, data holds the inner length.
func Binary(subtype byte, data []byte) Value {
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, 5+len(data)), uint32(len(data)))
	return Value{TypeBinary, append(append(b, subtype), data...)}
}

// Regex makes a regular expression. Neither part may hold a NUL.
func Regex(pattern, options string) Value {
	b := make([]byte, 0, len(pattern)+len(options)+2)
	b = append(append(b, pattern...), 0)
	return Value{TypeRegex, append(append(b, options...), 0)}
}

// CodeWithScope makes JavaScript code with a scope.
func CodeWithScope(code string, scope Doc) Value {
	b := make([]byte, 0, 9+len(code)+len(scope))
	b = binary.LittleEndian.AppendUint32(b, uint32(9+len(code)+len(scope)))
	return Value{TypeCodeWithScope, append(appendString(b, code), scope...)}
}

// DBPointer makes a DBPointer.
func DBPointer(ns string, oid [12]byte) Value {
	return Value{TypeDBPointer, append(appendString(nil, ns), oid[:]...)}
}

// Decimal makes a decimal128 of its two halves.
func Decimal(high, low uint64) Value {
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, 16), low)
	return Value{TypeDecimal128, binary.LittleEndian.AppendUint64(b, high)}
}

func appendString[T string | []byte](dst []byte, s T) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s)+1))
	return append(append(dst, s...), 0)
}

// AppendElem appends an element to a document under construction: type, name,
// NUL, data. Use it with bsoncore.AppendDocumentStart and AppendDocumentEnd.
// A missing value appends nothing.
func AppendElem(dst []byte, name string, v Value) []byte {
	if v.Type == Missing {
		return dst
	}
	dst = append(dst, byte(v.Type))
	dst = append(append(dst, name...), 0)
	return append(dst, v.Data...)
}

// BeginDoc opens a document (or array): four bytes for its length. Pass the
// index, len(dst) before the call, to EndDoc.
func BeginDoc(dst []byte) []byte { return append(dst, 0, 0, 0, 0) }

// EndDoc terminates the document that begins at dst[start] and writes its length.
func EndDoc(dst []byte, start int) []byte {
	dst = append(dst, 0)
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start))
	return dst
}

// BeginElem opens an element that holds a document or array; its data starts
// at the returned start, which EndDoc wants.
func BeginElem(dst []byte, t Type, name string) (_ []byte, start int) {
	dst = append(dst, byte(t))
	dst = append(append(dst, name...), 0)
	return append(dst, 0, 0, 0, 0), len(dst)
}

// Array makes an array of values.
func Array(vs ...Value) Value {
	dst := BeginDoc(nil)
	for i, v := range vs {
		dst = append(dst, byte(v.Type))
		dst = append(AppendIndex(dst, i), 0)
		dst = append(dst, v.Data...)
	}
	return ArrayValue(EndDoc(dst, 0))
}

// AppendIndex appends the name of the i-th element of an array, without NUL.
func AppendIndex(dst []byte, i int) []byte {
	switch {
	case i < 10:
		return append(dst, byte('0'+i))
	case i < 100:
		return append(dst, byte('0'+i/10), byte('0'+i%10))
	}
	return append(AppendIndex(dst, i/10), byte('0'+i%10))
}
