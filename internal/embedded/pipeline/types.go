package pipeline

import (
	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

const (
	tMissing = bsonx.Missing
	tDouble  = bson.TypeDouble
	tString  = bson.TypeString
	tDoc     = bson.TypeEmbeddedDocument
	tArray   = bson.TypeArray
	tUndef   = bson.TypeUndefined
	tBool    = bson.TypeBoolean
	tNull    = bson.TypeNull
	tRegex   = bson.TypeRegex
	tInt32   = bson.TypeInt32
	tInt64   = bson.TypeInt64
	tDecimal = bson.TypeDecimal128
	tDate    = bson.TypeDateTime
	tMinKey  = bson.TypeMinKey
	tMaxKey  = bson.TypeMaxKey

	tTimestamp = bson.TypeTimestamp
)

var null = bsonx.Value{Type: tNull}

func errf(code mongoerr.Code, format string, args ...any) error {
	return mongoerr.New(code, format, args...)
}

func typeName(v bsonx.Value) string { return bsonx.TypeName(v.Type) }

// intOrLong is the narrowest of int32 and int64.
func intOrLong(n int64) bsonx.Value {
	if n == int64(int32(n)) {
		return bsonx.Int32(int32(n))
	}
	return bsonx.Int64(n)
}

func codeOf(n int32) mongoerr.Code { return mongoerr.Code(n) }
