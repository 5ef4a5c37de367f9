// Package into keeps one result that several machines fill at the same time, range by range of one list.
//
// Beside the result DB.COLL there is a record of what is in, COLL.mrbench_parts: which job it is of, the lists of ranges that are put into it, and a
// document for each range that is in. A range without one is computed; so a machine that died can be run again.
//
// In mode merge, for ranges of the key that the job emits, no key comes out of two ranges: the server adds each range's results to the
// result, one in the place of another with the same key, and doing so twice changes nothing. In mode reduce results of one key come out of
// several ranges: each range goes to a collection of its own (COLL.mrbench_<run>_…) until all are there. Then they are gathered in one
// collection, with what the result held before where it was appended to, and reduced from there into the result, a result in the place of
// another. As everything is still there, that can be done again from the start after a failure. So nothing is counted twice in either mode.
//
// What others write to the result meanwhile is not seen. The package knows no job: it is told how to put the gathered parts together.
package into
