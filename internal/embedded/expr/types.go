package expr

import (
	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

const (
	tMissing  = bsonx.Missing
	tDouble   = bson.TypeDouble
	tString   = bson.TypeString
	tDoc      = bson.TypeEmbeddedDocument
	tArray    = bson.TypeArray
	tBinary   = bson.TypeBinary
	tUndef    = bson.TypeUndefined
	tObjectID = bson.TypeObjectID
	tBool     = bson.TypeBoolean
	tDate     = bson.TypeDateTime
	tNull     = bson.TypeNull
	tRegex    = bson.TypeRegex
	tCode     = bson.TypeJavaScript
	tSymbol   = bson.TypeSymbol
	tInt32    = bson.TypeInt32
	tTime     = bson.TypeTimestamp
	tInt64    = bson.TypeInt64
	tDecimal  = bson.TypeDecimal128
	// tAbsent marks an optional named argument that was not given; it never leaves the package.
	tAbsent bsonx.Type = 0xFE
)

var (
	null    = bsonx.Value{Type: tNull}
	missing = bsonx.Value{}
	absent  = bsonx.Value{Type: tAbsent}
	vTrue   = bsonx.Value{Type: tBool, Data: []byte{1}}
	vFalse  = bsonx.Value{Type: tBool, Data: []byte{0}}
)

func errf(code mongoerr.Code, format string, args ...any) error {
	return mongoerr.New(code, format, args...)
}

func boolean(b bool) bsonx.Value {
	if b {
		return vTrue
	}
	return vFalse
}

// nullish also takes an absent optional argument for null.
func nullish(v bsonx.Value) bool {
	return v.Type == tMissing || v.Type == tNull || v.Type == tUndef || v.Type == tAbsent
}

func isNumber(t bsonx.Type) bool {
	return t == tInt32 || t == tInt64 || t == tDouble || t == tDecimal
}

func typeName(v bsonx.Value) string { return bsonx.TypeName(v.Type) }

func codeOf(n int32) mongoerr.Code { return mongoerr.Code(n) }
