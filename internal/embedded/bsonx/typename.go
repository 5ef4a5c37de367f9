package bsonx

import "go.mongodb.org/mongo-driver/bson/bsontype"

// TypeName is MongoDB's alias of a type: "int", "long", "double", "string", "object", "missing", ….
func TypeName(t Type) string {
	switch t {
	case bsontype.Double:
		return "double"
	case bsontype.String:
		return "string"
	case bsontype.EmbeddedDocument:
		return "object"
	case bsontype.Array:
		return "array"
	case bsontype.Binary:
		return "binData"
	case bsontype.Undefined:
		return "undefined"
	case bsontype.ObjectID:
		return "objectId"
	case bsontype.Boolean:
		return "bool"
	case bsontype.DateTime:
		return "date"
	case bsontype.Null:
		return "null"
	case bsontype.Regex:
		return "regex"
	case bsontype.DBPointer:
		return "dbPointer"
	case bsontype.JavaScript:
		return "javascript"
	case bsontype.Symbol:
		return "symbol"
	case bsontype.CodeWithScope:
		return "javascriptWithScope"
	case bsontype.Int32:
		return "int"
	case bsontype.Timestamp:
		return "timestamp"
	case bsontype.Int64:
		return "long"
	case bsontype.Decimal128:
		return "decimal"
	case bsontype.MinKey:
		return "minKey"
	case bsontype.MaxKey:
		return "maxKey"
	case Missing:
		return "missing"
	}
	return "unknown"
}

// TypeByName is the inverse of TypeName. "number" is several types and not here.
func TypeByName(name string) (Type, bool) {
	for t := range 256 {
		if t := Type(t); KnownType(t) && TypeName(t) == name {
			return t, true
		}
	}
	if name == "missing" {
		return Missing, true
	}
	return 0, false
}

// KnownType reports whether t may stand in a document.
func KnownType(t Type) bool { return t != Missing && TypeName(t) != "unknown" }
