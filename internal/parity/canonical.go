package parity

import (
	"encoding/binary"
	"fmt"
	"math"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/bsontype"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"
)

// Tags of the canonical form. Types without a tag of their own use tagOther+type.
const (
	tagNull    = 0x05
	tagInteger = 0x10
	tagDouble  = 0x11
	tagDecimal = 0x12
	tagString  = 0x20
	tagObject  = 0x30
	tagArray   = 0x31
	tagEnd     = 0x00
	tagOther   = 0x80
)

// appendCanonical writes a value so that equal values, and only those, have equal bytes.
func appendCanonical(dst []byte, v bson.RawValue) ([]byte, error) {
	if isNumber(v.Type) {
		n, ok := numberOf(v)
		if !ok {
			return dst, fmt.Errorf("a %s value is cut off", v.Type)
		}
		return n.append(dst), nil
	}
	switch v.Type {
	case bson.TypeNull, bson.TypeUndefined, 0:
		return append(dst, tagNull), nil
	case bson.TypeString, bson.TypeSymbol:
		dst = append(dst, tagString)
		return append(dst, v.Value...), nil
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return appendFields(dst, v)
	default:
		dst = append(dst, tagOther+byte(v.Type))
		return append(dst, v.Value...), nil
	}
}

func appendFields(dst []byte, v bson.RawValue) ([]byte, error) {
	if v.Type == bson.TypeArray {
		dst = append(dst, tagArray)
	} else {
		dst = append(dst, tagObject)
	}
	err := fields(v.Value, func(name []byte, field bson.RawValue) (err error) {
		dst = append(dst, 0x01)
		if v.Type != bson.TypeArray {
			dst = append(append(dst, name...), 0)
		}
		dst, err = appendCanonical(dst, field)
		return err
	})
	return append(dst, tagEnd), err
}

func (n number) append(dst []byte) []byte {
	switch n.kind {
	case integer:
		return binary.LittleEndian.AppendUint64(append(dst, tagInteger), uint64(n.i))
	case double:
		return binary.LittleEndian.AppendUint64(append(dst, tagDouble), math.Float64bits(n.f))
	default:
		s := n.d.String()
		dst = binary.LittleEndian.AppendUint32(append(dst, tagDecimal), uint32(len(s)))
		return append(dst, s...)
	}
}

// fields calls fn with every field of a raw document or array; name and value are parts of doc.
func fields(doc []byte, fn func(name []byte, v bson.RawValue) error) error {
	length, rem, ok := bsoncore.ReadLength(doc)
	if !ok || int(length) > len(doc) || length < 5 {
		return fmt.Errorf("a document of %d bytes is cut off", len(doc))
	}
	rem = rem[:length-4]
	for len(rem) > 1 {
		elem, rest, ok := bsoncore.ReadElement(rem)
		if !ok {
			return fmt.Errorf("a document of %d bytes is broken", len(doc))
		}
		name := elem.KeyBytes()
		v := bson.RawValue{Type: bsontype.Type(elem[0]), Value: elem[1+len(name)+1:]}
		if err := fn(name, v); err != nil {
			return err
		}
		rem = rest
	}
	return nil
}
