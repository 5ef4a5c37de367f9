// Package script runs JavaScript with BSON types: one [Runtime] per worker.
//
// A runtime has the helpers that server-side MongoDB scripts expect (NumberLong,
// ObjectId, ISODate, tojson, Array.sum and so on) and nothing that reaches
// files, the network, the process or the host.
//
// Documents come to life lazily: a BSON document becomes an object whose fields
// are converted when they are read, and one that was never changed goes back as
// the very bytes it came from. Numbers are JavaScript numbers, so a document that
// a script builds has doubles; int64 and decimal values are objects, as in a 4.0
// server. A function is interrupted when the context given to [Runtime.Watch]
// ends, also in a tight loop.
//
// Not promised: a bound on what one single built-in operation allocates, and
// interruption inside one regular expression match.
//
// Tested by tables over all BSON types, by laws (BSON → JavaScript → BSON) and
// by a fuzz target for the same; hostile scripts have tests of their own.
package script
