package bsonx

import "go.mongodb.org/mongo-driver/bson/bsontype"

// Type is a BSON type byte. The driver's constants (bsontype.Int32, …) apply.
type Type = bsontype.Type

// Missing is the type of a field that is not there. It never stands in a document.
const Missing Type = 0

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
