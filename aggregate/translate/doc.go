// Package translate makes aggregation pipelines of mapReduce jobs, without any JavaScript in them.
//
// map, reduce and finalize are parsed and run with symbols in place of values. What is not understood is a
// *Refusal with line, column and reason; the pipeline never computes something else in silence. Where JavaScript's meaning
// depends on types that the job does not settle, the pipeline has guards: expressions that do what JavaScript does, or end the
// pipeline with a message that names the line where what JavaScript does is not defined or has no equivalent.
//
// mapReduce means what servers up to 4.2 do: reduce is not called for a key with one value.
//
// Each refusal and each caveat has an ID, listed by Refusals and Caveats and in docs/jobs.md. Tested by the jobs in testdata/jobs,
// run both ways on awkward data, and by random jobs on random data.
package translate
