package query

import "go.mongodb.org/mongo-driver/bson"

// Short names for the BSON types that the package tells apart.
const (
	typeDouble    = bson.TypeDouble
	typeString    = bson.TypeString
	typeObject    = bson.TypeEmbeddedDocument
	typeArray     = bson.TypeArray
	typeBinary    = bson.TypeBinary
	typeUndefined = bson.TypeUndefined
	typeObjectID  = bson.TypeObjectID
	typeBool      = bson.TypeBoolean
	typeDate      = bson.TypeDateTime
	typeNull      = bson.TypeNull
	typeRegex     = bson.TypeRegex
	typeCode      = bson.TypeJavaScript
	typeSymbol    = bson.TypeSymbol
	typeScoped    = bson.TypeCodeWithScope
	typeInt32     = bson.TypeInt32
	typeTimestamp = bson.TypeTimestamp
	typeInt64     = bson.TypeInt64
	typeDecimal   = bson.TypeDecimal128
	typeMinKey    = bson.TypeMinKey
	typeMaxKey    = bson.TypeMaxKey
)
