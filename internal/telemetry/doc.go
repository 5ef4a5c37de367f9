// Package telemetry observes the load of a server and of this host while rows run, and what each run used.
//
// A [Sampler] asks serverStatus and, where the server is a process of this host that can be seen, its system, at
// the start and at the end of a run and at an interval in between. Whatever is refused or unknown is left out and said
// in a note; nothing of it is an error. Processes can be looked at on Linux only.
//
// It samples between [Sampler.Start] and [Span.End] alone, in one goroutine that End waits for, over connections of its own, so that
// its bytes do not count as the job's. BenchmarkSample measures what a sample costs.
package telemetry
