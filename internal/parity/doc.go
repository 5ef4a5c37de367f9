// Package parity tells whether two answers are the same, and where not.
//
// An answer is a stream of documents {_id: key, value: value}. A [Digest]
// takes them in any order: number of keys, exact sum of the values, and a hash
// that does not depend on order. Numbers count by value, whatever their BSON
// type: mapReduce gives doubles where $sum gives integers. Null and undefined
// are one. Everything else must be equal byte for byte, fields in order.
//
// When digests differ, [Differences] walks both answers ordered by key. Answers
// are streamed, never held. The tests state the laws (order, splitting into
// parts and number types change nothing; any other change does).
package parity
