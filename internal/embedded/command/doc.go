// Package command implements the engine's commands, one file per command, and
// the table that dispatches and lists them.
//
// A Server is the state that all connections share: the store, open cursors,
// running operations, counters. A Session is one connection's view of it: it
// takes one request at a time and appends the reply to a buffer of the caller's.
//
// Invariants: a handler that fails leaves no trace in the reply but its code and
// text; a panic in a handler is an InternalError for that client and a log line,
// never a dead process; every running command can be seen by currentOp and
// stopped by killOp, maxTimeMS, the end of its connection or Server.Close.
// The package knows nothing of sockets or message framing.
//
// It is tested through real driver connections in the package above, and by
// tables of its own for arguments, namespaces and write concerns.
package command
