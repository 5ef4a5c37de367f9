// Command speed measures the embedded engine on the path that people use (command line, driver, wire, storage), all in one
// process, and prints one table: seconds, nanoseconds a document, peak memory, and what docs/performance.md asks for. `make
// bench` runs it.
//
//	go run ./internal/speed -docs 10000000 -save new.json -compare old.json
//
// With -breakdown it also takes a CPU profile of each row and says where the time of a document goes. It knows nothing of how the
// engine works: it runs mrbench's commands and reads the JSON they print. The benchmarks in this package do the same work in plain Go on
// the same bytes; they are the limit that docs/performance.md gives ratios to.
package main
