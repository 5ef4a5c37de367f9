// Package mr runs MapReduce jobs on a MongoDB server: whole, or cut into ranges
// that run as concurrent mapReduce commands and are merged into one answer.
//
// A run writes only to databases whose names start with Config.Prefix, or to such collections of Config.OutDB; it
// announces each through Config.Created before the first write to it, and refuses
// to replace a collection that is already there. Dropping them is the caller's
// business, also after an error.
//
// What holds: the merged answer has one document {_id, value} a key. Parts whose
// ranges are on the key that map emits are disjoint and are put together; parts
// of other ranges are reduced again, and finalize runs at the very end. jsMode
// turns number and boolean keys into strings; they are turned back, or the run is refused
// when that can't be done (ErrAmbiguousKeys). When a run fails or its context ends, no
// command of it is left running on the server.
//
// The package prints nothing. Replies of every server generation are tested as
// data, the whole against a server in the process.
package mr
