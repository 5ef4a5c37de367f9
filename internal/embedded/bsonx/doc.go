// Package bsonx reads raw BSON, compares it as MongoDB does, and encodes any
// value into a key whose bytes sort the same way.
//
// Invariants: no reader decodes a document into a tree; bytes.Compare of two
// keys is Compare of the values; a key with its type bits gives back the
// original value byte for byte. Building documents is left to the driver's
// bsoncore package. Tested by tables over all types, by rapid laws and by fuzzing.
package bsonx
