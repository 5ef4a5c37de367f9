// Package bsonx reads raw BSON, compares it as MongoDB does, and encodes any
// value into a key whose bytes sort the same way.
//
// Invariants: no reader decodes a document into a tree; walking, finding,
// comparing and encoding do not allocate; bytes.Compare of two keys is Compare of the values,
// exactly for numbers of all four types, and no key is a prefix of another; a
// key with its type bits gives back the original value byte for byte. Only
// Validate and the key decoders take bytes from outside; all others want what passed Validate.
//
// It does not resolve dotted paths, and documents are built with its few
// appenders or the driver's bsoncore. Tested by tables over all types, by rapid laws against exact
// rational arithmetic, by a server's recorded sort orders, and by fuzzing.
package bsonx
