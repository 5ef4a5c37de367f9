// Package target finds the server that a command works on: a MongoDB server
// by its connection string, or the embedded engine on a data directory. Either
// way a command gets a driver client and what the server is.
//
// It is the only package that knows the embedded engine. The server is asked
// once what it is (hello, buildInfo); everything else follows from the answer.
// Connection strings are never shown with their passwords.
package target
