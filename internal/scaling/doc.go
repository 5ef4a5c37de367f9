// Package scaling predicts what the rows of a ladder take for other numbers of documents, keys, cores and shards, from
// results that were measured.
//
// # The model
//
// A row is one command, or one for each of R ranges of which P = min(R, threads) run at a time. Let w be the seconds that
// its commands would take one after another, on a machine with cores to spare:
//
//	w = fixed·R + document·n + sorting·n·log2(n/R) + key·k        n documents, k different keys
//
// The four costs are not negative and are fitted to all results by least squares of the relative error, with no more of
// them than there are different sizes, and no more than it takes to come within half a percent. One size gives the cost
// of a document alone: what is fixed is then taken for work on documents. A cost of keys can be told from one of documents
// only where results differ in documents per key. Sorting enters only where time grows faster than documents. The sum is made
// to meet the largest size, from which people extrapolate.
//
// A command keeps u cores busy: one where a command is one thread, as on MongoDB, where the client on the same host may add
// some; more on the embedded engine, which reads ahead. u is the processor time of the row over its wall time if it ran
// one command at a time, else of the same row without ranges.
//
// On S shards with C cores each, a row in ranges takes
//
//	max( (ceil(R/P) + imbalance - 1) / R,  u / (S·C) ) · w + merge
//
// that is waves of ranges of the mean size with the largest one last, or all cores at work, whichever is longer. merge
// is seconds for each key that is moved and each output that is opened, k·(R-1)/R keys on one server, where the
// first output is renamed, and k where outputs are on several shards or jsMode's keys have to be turned back. It is serial:
// it writes to one collection on one shard.
//
// A row that is one command runs once on each shard, and then one shard puts the parts together. A part of a key costs it
// as much as a document:
//
//	max(1, u / C) / S · w  +  k·(document + sorting·log2(n/S))    the second if S > 1
//
// What it takes for granted: all cores are as fast as the measured ones; the collection is sharded by the key, so that a
// key is on one shard and a range too; shards hold equally much; documents are as large, as many per key and as well cached as
// the measured ones; nothing else is at work; the balancer moves nothing; and whatever bounds a row here beside
// processors (locks, storage, memory) grows as they do.
//
// The band is what comes out when each measured time is replaced by the fastest and the slowest of its runs, in turn
// and all together. It knows how times vary, not how wrong the model is: [Check] shows that.
package scaling
