// Package extjson turns JSON text into BSON bytes and back, one document at a
// time, without values in between.
//
// It reads canonical and relaxed Extended JSON (version 2), and of the older
// form $regex with $options, $binary with $type, and $date with a string.
// Plain numbers become an int32 when they fit, then an int64, then a double; one
// with a fraction or an exponent is always a double. A key that occurs twice in
// an object is kept twice, in its order, as BSON allows. Refused are: invalid
// UTF-8, half of a surrogate pair, a NUL in a key, more than MaxDepth levels,
// documents beyond 16 MiB, a known wrapper ($oid, $date, …) that is not well
// formed, and anything behind the document but white space.
//
// The converter is fuzzed against the driver's own, which it agrees with on
// valid text.
package extjson
