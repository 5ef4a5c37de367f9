package bsonx

import (
	"encoding/binary"

	"mrbench/internal/embedded/mongoerr"
)

// Validate checks that b is exactly one well-formed document: lengths,
// terminators, known types, booleans of 0 or 1, nested at most maxDepth levels
// (the document itself is the first). Text need not be UTF-8, names of array
// elements need not be numbers.
//
// Errors: *mongoerr.Error with InvalidBSON, or Overflow when nested too deep.
func Validate(b []byte, maxDepth int) error {
	n, err := validateDoc(b, maxDepth, maxDepth)
	if err == nil && n != len(b) {
		return mongoerr.New(mongoerr.InvalidBSON, "invalid BSON: %d bytes follow the document's %d", len(b)-n, n)
	}
	return err
}

// validateDoc checks the document that b starts with and returns its length.
func validateDoc(b []byte, depth, maxDepth int) (int, error) {
	if depth <= 0 {
		return 0, mongoerr.New(mongoerr.Overflow, "document exceeds the maximum nested depth of %d", maxDepth)
	}
	if len(b) < 5 {
		return 0, mongoerr.New(mongoerr.InvalidBSON, "invalid BSON: %d bytes are too few for a document", len(b))
	}
	size := int(int32(binary.LittleEndian.Uint32(b)))
	if size < 5 || size > len(b) {
		return 0, mongoerr.New(mongoerr.InvalidBSON, "invalid BSON: document length %d with %d bytes left", size, len(b))
	}
	if b[size-1] != 0 {
		return 0, mongoerr.New(mongoerr.InvalidBSON, "invalid BSON: document of %d bytes does not end with a zero byte", size)
	}
	// pos stays below size-1, the terminator.
	for pos := 4; pos < size-1; {
		n := pos + nameEnd(b[pos:size-1])
		if n >= size-1 {
			return 0, mongoerr.New(mongoerr.InvalidBSON, "invalid BSON: field name at byte %d does not end", pos+1)
		}
		data, err := validateValue(Type(b[pos]), b[n+1:size-1], depth, maxDepth)
		if err != nil {
			return 0, err
		}
		if data < 0 {
			return 0, mongoerr.New(mongoerr.InvalidBSON, "invalid BSON: bad value of type %d in field %q", b[pos], clip(b[pos+1:n]))
		}
		pos = n + 1 + data
	}
	return size, nil
}

// validateValue returns the number of data bytes of the value that b starts with, -1 when it is malformed.
func validateValue(t Type, b []byte, depth, maxDepth int) (int, error) {
	size := int(fixedSize[t])
	if size < 0 {
		size = varSize(t, b)
	}
	if size < 0 || size > len(b) {
		return -1, nil
	}
	switch t {
	case TypeBoolean:
		if b[0] > 1 {
			return -1, nil
		}
	case TypeString, TypeSymbol, TypeJavaScript:
		if b[size-1] != 0 {
			return -1, nil
		}
	case TypeDBPointer:
		if b[size-13] != 0 {
			return -1, nil
		}
	case TypeEmbeddedDocument, TypeArray:
		return validateDoc(b[:size], depth-1, maxDepth)
	case TypeCodeWithScope:
		n := int(int32(binary.LittleEndian.Uint32(b[4:])))
		if n < 1 || n > size-8-5 || b[8+n-1] != 0 {
			return -1, nil
		}
		scope, err := validateDoc(b[8+n:size], depth-1, maxDepth)
		if err == nil && 8+n+scope != size {
			return -1, nil
		}
		return size, err
	}
	return size, nil
}

func clip(b []byte) []byte { return b[:min(len(b), 64)] }
