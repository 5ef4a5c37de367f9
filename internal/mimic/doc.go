// Package mimic is a server for tests that behaves as a MongoDB of some version and topology: a wire proxy in front of the
// embedded engine, which does the work. It changes what that version says of itself and what it answers differently, refuses
// what it refuses, keeps the metadata of a sharded cluster in the database config, and fails or delays chosen commands.
//
// It has one process behind it whatever it mimics: documents are on a shard because config.chunks says so. It does not
// balance, replicate or elect. Its shapes are those recorded from real servers in testdata; the tests here replay them.
// Only tests import it.
package mimic
