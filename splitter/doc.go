// Package splitter cuts a collection into ranges of an indexed field.
//
// Split finds split points (the splitVector command, else a walk along the
// index), chooses evenly among them, and proves the cut: it counts the documents of
// every piece and of the whole, and fails unless they add up.
//
// What holds: ranges are [lo, hi) in MongoDB's sort order and together cover
// every document exactly once, whatever BSON type the field has, NaN, null and
// missing included; all documents of one key are in one piece, and null, missing
// and undefined count as one key, because mapReduce and $group emit them
// as one. A field that holds arrays is refused: its documents would be in
// several pieces.
//
// A comparison in a filter matches values of its bound's own type only, so a
// range that spans types can not be {$gte: lo, $lt: hi}. Range.Filter knows two
// exact forms (see Predicate).
//
// The package reads the collection and writes nothing. Its tests check the
// filters against the order of BSON values in memory, and against a server.
package splitter
