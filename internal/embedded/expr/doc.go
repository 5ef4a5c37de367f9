// Package expr compiles aggregation expressions once and evaluates them over
// raw BSON documents.
//
// Invariants: a compiled tree is immutable and shared by clones; everything
// that changes while evaluating (arena, variables, field hints) belongs to the
// state of one Expr, so one goroutine uses one Expr. Results alias the document
// or the arena and live until the next Eval. Folding constant parts never changes
// a result: a part whose evaluation fails is left for Eval to fail on.
//
// It does not parse filters or stages; query and pipeline do. Tested by tables
// over every operator family, by recorded answers (in package pipeline), by a
// folding law and by a fuzz target for Compile.
package expr
