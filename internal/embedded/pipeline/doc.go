// Package pipeline parses, optimizes and runs aggregation pipelines over raw
// BSON documents.
//
// A pipeline is a chain of query.Sources: the plan of a collection first, then
// one source per stage. Blocks of documents flow through; no stage decodes a
// document to a tree. Blocking stages ($group, $sort, $bucketAuto, …) stay within Options.MemoryLimit and
// spill sorted blocks when they may.
//
// Invariants: an optimized pipeline gives what the stages give one by one, in any order that the
// pipeline leaves open; ctx is looked at for each block at least. $group keeps its keys in one arena
// behind an open-addressing table and its accumulators in flat columns, and needs no table
// when the plan gives the keys in order.
//
// Tested by tables per stage, by recorded answers of a server, and by laws: $group equals a plain
// Go grouping whatever the plan, the limit and the number of workers.
package pipeline
