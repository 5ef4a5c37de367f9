// Package embedded is a single-process document engine that speaks MongoDB's
// wire protocol: a store, commands on it, and connections in front of them.
//
// A client in the same process reaches it through Engine.DialContext, an
// in-memory connection, so no port is open; Engine.Serve offers the same on a
// listener. Each connection has one goroutine, and each running command ends
// when its client goes away, when it is killed, or when the engine closes.
//
// The engine is not MongoDB: docs/differences.md numbers what differs, and
// TestDifferenceNN shows each. It is tested by replaying recorded answers of a
// 4.0 server through a real driver (TestGolden), by concurrent clients, and by
// closing it at bad moments.
package embedded
