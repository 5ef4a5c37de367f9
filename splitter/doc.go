// Package splitter cuts a collection into ranges of an indexed field.
//
// Split finds split points by one of several strategies (see Strategies), chooses
// among them so that the pieces are even, and proves the cut: it counts the documents of
// every piece and of the whole, and fails unless they add up.
//
// What holds: ranges are [lo, hi) in MongoDB's sort order and together cover
// every document exactly once, whatever BSON type the field has, NaN, null and
// missing included; all documents of one key are in one piece, and null, missing
// and undefined count as one key, because mapReduce and $group emit them
// as one. A field that holds arrays is refused: its documents would be in
// several pieces. So are indexes that leave documents out or hold
// values in another order (see Refusal).
//
// # Filters
//
// A comparison in a filter matches values of its bound's own type only, so a
// range that spans types can not be {$gte: lo, $lt: hi}. Range.Filter knows two
// exact forms (see Predicate): brackets, an $or with a clause for each group of types
// that compare with one another, which indexes serve on every version; and $expr, which compares in the order of
// all types, and which indexes serve from 5.0 on. Where a range can hold one group of types
// only, both are the plain comparison.
//
// # Compound keys
//
// Ranges are of the first field of an index, whatever fields follow: right for
// any job that groups by that field. Where its values are few or heavy, Config.Then
// cuts within them by the fields that follow in the index. Such ranges are compared field by field, in
// the directions of the index. They do not keep the documents of one value of the first field
// together, so they suit jobs that group by all of the fields.
//
// # What it does not do
//
// The package reads the collection and writes nothing. It does not stop others
// from writing: a document that moves while a job runs can be met twice or not at all, as by any reader without a snapshot.
// docs/ranges.md has the rules for people, and a test holds its refusals to the errors.
//
// Tests check the filters against the order of BSON values in memory, against a server in this process with
// 100,000 random documents, and the talk with routers against scripted replies.
package splitter
