package parity

import (
	"bytes"
	"encoding/binary"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/bsontype"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"
)

// rank is the place of a type in MongoDB's order of types.
func rank(t bsontype.Type) int {
	switch t {
	case bson.TypeMinKey:
		return 0
	case bson.TypeNull, bson.TypeUndefined, 0:
		return 1
	case bson.TypeDouble, bson.TypeInt32, bson.TypeInt64, bson.TypeDecimal128:
		return 2
	case bson.TypeString, bson.TypeSymbol:
		return 3
	case bson.TypeEmbeddedDocument:
		return 4
	case bson.TypeArray:
		return 5
	case bson.TypeBinary:
		return 6
	case bson.TypeObjectID:
		return 7
	case bson.TypeBoolean:
		return 8
	case bson.TypeDateTime:
		return 9
	case bson.TypeTimestamp:
		return 10
	case bson.TypeRegex:
		return 11
	case bson.TypeDBPointer:
		return 12
	case bson.TypeJavaScript:
		return 13
	case bson.TypeCodeWithScope:
		return 14
	default:
		return 15
	}
}

// Compare orders two values as a server sorts them by a field (without collation).
func Compare(a, b bson.RawValue) int {
	if c := rank(a.Type) - rank(b.Type); c != 0 {
		return c
	}
	switch a.Type {
	case bson.TypeMinKey, bson.TypeMaxKey, bson.TypeNull, bson.TypeUndefined, 0:
		return 0
	case bson.TypeDouble, bson.TypeInt32, bson.TypeInt64, bson.TypeDecimal128:
		x, _ := numberOf(a)
		y, _ := numberOf(b)
		return x.compare(y)
	case bson.TypeString, bson.TypeSymbol, bson.TypeJavaScript:
		return bytes.Compare(text(a), text(b))
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return compareFields(a, b)
	case bson.TypeDateTime:
		x, _, _ := bsoncore.ReadInt64(a.Value)
		y, _, _ := bsoncore.ReadInt64(b.Value)
		return cmpOrdered(x, y)
	case bson.TypeTimestamp:
		if len(a.Value) == 8 && len(b.Value) == 8 {
			return cmpOrdered(binary.LittleEndian.Uint64(a.Value), binary.LittleEndian.Uint64(b.Value))
		}
	}
	// Binary data: the length comes first in the bytes, little-endian, then subtype and content.
	if a.Type == bson.TypeBinary && len(a.Value) != len(b.Value) {
		return len(a.Value) - len(b.Value)
	}
	return bytes.Compare(a.Value, b.Value)
}

// text is a string's bytes without length and terminator.
func text(v bson.RawValue) []byte {
	if len(v.Value) < 5 {
		return nil
	}
	return v.Value[4 : len(v.Value)-1]
}

// compareFields compares field by field: type, then name (not for arrays), then value; the shorter is first.
func compareFields(a, b bson.RawValue) int {
	type field struct {
		name []byte
		v    bson.RawValue
	}
	var rest []field
	if err := fields(b.Value, func(name []byte, v bson.RawValue) error {
		rest = append(rest, field{name, v})
		return nil
	}); err != nil {
		return 1
	}
	result := 0
	err := fields(a.Value, func(name []byte, v bson.RawValue) error {
		if result != 0 {
			return nil
		}
		if len(rest) == 0 {
			result = 1
			return nil
		}
		next := rest[0]
		rest = rest[1:]
		if result = rank(v.Type) - rank(next.v.Type); result == 0 && a.Type != bson.TypeArray {
			result = bytes.Compare(name, next.name)
		}
		if result == 0 {
			result = Compare(v, next.v)
		}
		return nil
	})
	switch {
	case err != nil:
		return -1
	case result == 0 && len(rest) > 0:
		return -1
	}
	return result
}
