package bsonx

import (
	"encoding/binary"
	"math"
	"slices"
)

// Value is one BSON value as it stands in a document: its type and its bytes
// (without the type byte and the name). The zero Value is a missing field.
// Data may alias a document; copy it to keep it longer than the document.
type Value struct {
	Type Type
	Data []byte
}

// Doc is a raw BSON document, length prefix and terminator included.
// Convert to and from bson.Raw and bsoncore.Document freely.
type Doc []byte

// IsMissing reports whether v is a missing field.
func (v Value) IsMissing() bool { return v.Type == Missing }

// IsNumber reports whether v is a double, int32, int64 or decimal128.
func (v Value) IsNumber() bool {
	switch v.Type {
	case TypeInt32, TypeDouble, TypeInt64, TypeDecimal128:
		return true
	}
	return false
}

// IsNullish reports whether v is null, undefined or missing.
func (v Value) IsNullish() bool {
	return v.Type == TypeNull || v.Type == Missing || v.Type == TypeUndefined
}

// The typed readers below read a value whose Type the caller has looked at.
// Reading a value as another type panics or gives a meaningless result.

// Int32 reads an int32.
func (v Value) Int32() int32 { return int32(binary.LittleEndian.Uint32(v.Data)) }

// Int64 reads an int64, a date (milliseconds since 1970) or a timestamp (seconds<<32 | increment).
func (v Value) Int64() int64 { return int64(binary.LittleEndian.Uint64(v.Data)) }

// Double reads a double.
func (v Value) Double() float64 { return math.Float64frombits(binary.LittleEndian.Uint64(v.Data)) }

// Bool reads a boolean.
func (v Value) Bool() bool { return v.Data[0] != 0 }

// StrBytes reads a string, symbol or JavaScript code without copying it.
func (v Value) StrBytes() []byte { return v.Data[4 : len(v.Data)-1] }

// Str reads a string, symbol or JavaScript code into a fresh string.
func (v Value) Str() string { return string(v.Data[4 : len(v.Data)-1]) }

// Doc reads a document or an array.
func (v Value) Doc() Doc { return Doc(v.Data) }

// Elems walks the elements of a document or an array.
func (v Value) Elems() Iter { return Doc(v.Data).Iter() }

// Binary reads binary data. Data of the old subtype 2 keeps its inner length.
func (v Value) Binary() (subtype byte, data []byte) { return v.Data[4], v.Data[5:] }

// Regex reads a regular expression.
func (v Value) Regex() (pattern, options string) {
	n := cstringLen(v.Data)
	return string(v.Data[:n]), string(v.Data[n+1 : len(v.Data)-1])
}

// ObjectID reads an ObjectId.
func (v Value) ObjectID() (oid [12]byte) {
	copy(oid[:], v.Data)
	return oid
}

// CodeWithScope reads JavaScript code with its scope.
func (v Value) CodeWithScope() (code string, scope Doc) {
	c, s := v.codeWithScope()
	return string(c), s
}

func (v Value) codeWithScope() (code []byte, scope Doc) {
	n := int(binary.LittleEndian.Uint32(v.Data[4:]))
	return v.Data[8 : 8+n-1], Doc(v.Data[8+n:])
}

// DBPointer reads a DBPointer.
func (v Value) DBPointer() (ns string, oid [12]byte) {
	n := len(v.Data) - 12
	copy(oid[:], v.Data[n:])
	return string(v.Data[4 : n-1]), oid
}

// Decimal reads a decimal128 as its two halves.
func (v Value) Decimal() (high, low uint64) {
	return binary.LittleEndian.Uint64(v.Data[8:]), binary.LittleEndian.Uint64(v.Data)
}

// Truthy is MongoDB's boolean of a value: false, 0 of any type, null,
// undefined and missing are false; anything else, NaN too, is true.
func (v Value) Truthy() bool {
	switch v.Type {
	case TypeBoolean:
		return v.Bool()
	case TypeNull, TypeUndefined, Missing:
		return false
	case TypeInt32:
		return v.Int32() != 0
	case TypeInt64:
		return v.Int64() != 0
	case TypeDouble:
		return v.Double() != 0
	case TypeDecimal128:
		return !decimalOf(v).isZero()
	}
	return true
}

// Clone copies Data.
func (v Value) Clone() Value { return Value{v.Type, slices.Clone(v.Data)} }
