// Package bench measures rows of a comparison: warm-up, repeats that are
// interleaved round by round so that drift hits all rows alike, summaries, and
// the file results are kept in.
//
// It does not know what a row does; a [Job] is a function that returns a
// [Sample]. A failing job is not run again and does not stop the others. Every
// sample is written to the result file as it happens, so a crash in a late row
// keeps what came before. docs/result-format.md describes the file; a test
// holds the two together.
package bench
