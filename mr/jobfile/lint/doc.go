// Package lint finds what is wrong with a mapReduce job itself, on any server: a reduce whose answer
// depends on the order or number of its values, another shape in reduce than in map, functions that change their
// document or give another answer each time.
//
// Some of it is read from the functions; the rest is found by running map and reduce, in a runtime that reaches
// nothing outside, on documents or made-up values that are permuted and grouped anew. What runs may be wrong about values that
// were not tried: a job without findings is not proved right.
package lint
