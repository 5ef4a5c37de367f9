package bsonx

import "go.mongodb.org/mongo-driver/bson/bsontype"

// Type is a BSON type byte, the same Go type as the driver's.
type Type = bsontype.Type

// Missing is the type of a field that is not there. It never stands in a document.
const Missing Type = 0

// The BSON types, named as in the driver's bson package.
const (
	TypeDouble           Type = 0x01
	TypeString           Type = 0x02
	TypeEmbeddedDocument Type = 0x03
	TypeArray            Type = 0x04
	TypeBinary           Type = 0x05
	TypeUndefined        Type = 0x06
	TypeObjectID         Type = 0x07
	TypeBoolean          Type = 0x08
	TypeDateTime         Type = 0x09
	TypeNull             Type = 0x0a
	TypeRegex            Type = 0x0b
	TypeDBPointer        Type = 0x0c
	TypeJavaScript       Type = 0x0d
	TypeSymbol           Type = 0x0e
	TypeCodeWithScope    Type = 0x0f
	TypeInt32            Type = 0x10
	TypeTimestamp        Type = 0x11
	TypeInt64            Type = 0x12
	TypeDecimal128       Type = 0x13
	TypeMinKey           Type = 0xff
	TypeMaxKey           Type = 0x7f
)
