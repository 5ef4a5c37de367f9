// Package mapreduce runs the mapReduce command as servers up to 4.2 do.
//
// Emits are collected in memory by key. After every 100 input documents, if
// they hold more than 500 KB or there are more than 10 values per key on average, keys with several values
// are reduced; a key with one value goes to temporary storage when the output is a
// collection, and so does everything when reducing did not help. At the end all is
// merged in key order, reduced once per key, finalized and written. In jsMode emits
// stay JavaScript values under string keys until the end.
//
// Invariants: counts.reduce is what a 4.0 server counts for the same input in the
// same order; a failed or interrupted job changes nothing that can be seen and leaves no
// temporary data; memory does not grow with the number of keys, except for
// inline results, which are limited to 16 MiB.
//
// Tested against recorded answers of a 4.0 server, and by a law: every mode, order
// and memory limit gives what a plain Go computation gives.
package mapreduce
