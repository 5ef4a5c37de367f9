// Package bench measures rows of a comparison: warm-up, repeats that are
// interleaved round by round so that drift hits all rows alike, in an order that
// is drawn and balanced ([Order]), what can be said about the times, and the file
// results are kept in.
//
// It does not know what a row does; a [Job] is a function that returns a
// [Sample]. A failing job is not run again and does not stop the others. Every
// sample is written to the result file as it happens, so a crash in a late row
// keeps what came before. docs/result-format.md describes the file; a test
// holds the two together.
//
// Nothing is assumed about how times vary but that runs do not depend on each
// other: medians with intervals by order statistics, the Mann-Whitney test
// ([CompareTimes]), and the interval of a ratio that belongs to it. No run is
// left out of any number. What a reader should know about the times comes as
// values ([Note]). Tests check the statistics against published examples, and
// against a simulated machine: intervals hold the truth as often as they say,
// and what is not there is shown as rarely as they say.
package bench
