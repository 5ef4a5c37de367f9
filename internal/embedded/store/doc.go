// Package store keeps collections and their indexes in pebble.
//
// A record is (collection id, encoded _id) → raw BSON, an index entry is (index
// id, encoded fields, encoded _id) → what the encoding loses. Documents and
// their entries change in one batch; the catalog is a small keyspace changed in
// the same way, with an immutable copy in memory.
//
// Invariants: an acknowledged write has been handed to the operating system
// before the call returns and is on stable storage within 100 ms (at once when
// asked); every entry has its document and every document its entries; nothing
// that was not published in the catalog survives an Open; the counters agree with
// the data; a full disk refuses writes and leaves the data readable; a wrong byte
// on disk is an error, never a wrong answer.
//
// The package knows nothing of queries: a partial index's filter comes in as a
// predicate. Tested by tables for key generation, by rapid against a model with
// crashes between the steps, by a real process that is killed, and by faults
// injected through the file system.
package store
