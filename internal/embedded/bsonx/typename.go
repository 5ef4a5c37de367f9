package bsonx

// TypeName is MongoDB's alias of a type: "int", "long", "double", "string", "object", "missing", ….
func TypeName(t Type) string {
	switch t {
	case TypeDouble:
		return "double"
	case TypeString:
		return "string"
	case TypeEmbeddedDocument:
		return "object"
	case TypeArray:
		return "array"
	case TypeBinary:
		return "binData"
	case TypeUndefined:
		return "undefined"
	case TypeObjectID:
		return "objectId"
	case TypeBoolean:
		return "bool"
	case TypeDateTime:
		return "date"
	case TypeNull:
		return "null"
	case TypeRegex:
		return "regex"
	case TypeDBPointer:
		return "dbPointer"
	case TypeJavaScript:
		return "javascript"
	case TypeSymbol:
		return "symbol"
	case TypeCodeWithScope:
		return "javascriptWithScope"
	case TypeInt32:
		return "int"
	case TypeTimestamp:
		return "timestamp"
	case TypeInt64:
		return "long"
	case TypeDecimal128:
		return "decimal"
	case TypeMinKey:
		return "minKey"
	case TypeMaxKey:
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
