// Package spill sorts more (key, value) pairs than fit in memory.
//
// Pairs collect in an arena; when it is full it is sorted and written to a
// temporary file as one run. At the end the runs and what is still in memory are
// merged once. Where a second processor may help (Options.Parallel), a run is written beside the collecting, and the
// merge goes ahead of its reader.
//
// Invariants: pairs with equal keys come out in the order they went in; without a
// spill no file is touched; every block of a file carries a checksum, so a short or
// changed file is an error and never a wrong pair. Files are not synced: they don't
// outlive the process's interest in them. Tested against a stable sort in memory by
// rapid, with faults injected into the file system.
package spill
