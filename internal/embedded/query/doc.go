// Package query matches filters against raw documents, projects, sorts and
// updates documents, and plans and runs reads of a collection.
//
// Invariants: a planned read gives the documents that matching every document
// one by one would give (the exceptions are a 4.0 server's own, listed in
// bounds_quirks.go); a covered read gives the bytes that the document holds;
// matching with the common operators allocates nothing; memory of a blocking
// sort is bounded by its spill options. Not here: collation, text and geo
// search, which are refused with MongoDB's codes.
//
// Tested by tables of cases, by the recorded answers of a 4.0 server, by rapid
// laws (planned equals matched, index order equals sorted order, covered equals
// projected) and by fuzzing of the filter parser.
package query
