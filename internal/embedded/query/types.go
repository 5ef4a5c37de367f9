package query

import "mrbench/internal/embedded/bsonx"

// Short names for the BSON types that the package tells apart.
const (
	typeDouble    = bsonx.TypeDouble
	typeString    = bsonx.TypeString
	typeObject    = bsonx.TypeEmbeddedDocument
	typeArray     = bsonx.TypeArray
	typeBinary    = bsonx.TypeBinary
	typeUndefined = bsonx.TypeUndefined
	typeObjectID  = bsonx.TypeObjectID
	typeBool      = bsonx.TypeBoolean
	typeDate      = bsonx.TypeDateTime
	typeNull      = bsonx.TypeNull
	typeRegex     = bsonx.TypeRegex
	typeCode      = bsonx.TypeJavaScript
	typeSymbol    = bsonx.TypeSymbol
	typeScoped    = bsonx.TypeCodeWithScope
	typeInt32     = bsonx.TypeInt32
	typeTimestamp = bsonx.TypeTimestamp
	typeInt64     = bsonx.TypeInt64
	typeDecimal   = bsonx.TypeDecimal128
	typeMinKey    = bsonx.TypeMinKey
	typeMaxKey    = bsonx.TypeMaxKey
)
