package seed

import (
	"fmt"

	"mrbench/seed/source"
)

// NotEmptyError says that the collection holds documents and Drop was not asked for.
type NotEmptyError struct {
	NS        string
	Documents int64
}

func (e *NotEmptyError) Error() string {
	return fmt.Sprintf("seed: %s already holds %d documents: name another collection, or ask for it to be dropped first",
		e.NS, e.Documents)
}

// TargetError says that this namespace is never written to.
type TargetError struct{ NS, Reason string }

func (e *TargetError) Error() string {
	return fmt.Sprintf("seed: %s can not be filled: %s: name another database or collection", e.NS, e.Reason)
}

// DocumentError is a document that the server did not take. Index is the
// document's index in the data set, Code the server's. Of a source, At is where
// the document's record begins, and Index is 0.
type DocumentError struct {
	NS      string
	Index   int64
	At      source.Pos
	Code    int
	Message string
	Failed  int // documents of the same batch that failed, this one included
}

func (e *DocumentError) Error() string {
	name := fmt.Sprintf("document %d", e.Index)
	if e.At.File != "" {
		name = "the document at " + e.At.String()
	}
	return fmt.Sprintf("seed: %s: %s was refused (code %d, %d in its batch): %s", e.NS, name, e.Code, e.Failed, e.Message)
}

// WriteConcernError says that documents were written, but not as safely as asked for.
type WriteConcernError struct {
	NS, WriteConcern string
	First, Last      int64      // indexes of the batch's first and last document
	From, To         source.Pos // of a source: where they begin
	Code             int
	Message          string
}

func (e *WriteConcernError) Error() string {
	return fmt.Sprintf("seed: %s: %s were written, but write concern %q was not met (code %d): %s: ask for one that this server can give",
		e.NS, e.batch(), e.WriteConcern, e.Code, e.Message)
}

func (e *WriteConcernError) batch() string { return batchName(e.First, e.Last, e.From, e.To) }

// batchName names a batch by its first and last document.
func batchName(first, last int64, from, to source.Pos) string {
	if from.File != "" {
		return fmt.Sprintf("documents from (%s) to (%s)", from, to)
	}
	return fmt.Sprintf("documents %d to %d", first, last)
}

// CountError says that the collection does not hold as many documents as were sent.
type CountError struct {
	NS                string
	Expected, Counted int64
	Unacknowledged    bool // write concern 0: failures are silent
}

func (e *CountError) Error() string {
	s := fmt.Sprintf("seed: %s should hold %d documents and holds %d", e.NS, e.Expected, e.Counted)
	missing := e.Expected - e.Counted
	if e.Unacknowledged && missing > 0 {
		return fmt.Sprintf("%s (%d missing): write concern 0 hides failed inserts: use write concern 1 to see why", s, missing)
	}
	if missing > 0 {
		return fmt.Sprintf("%s (%d missing): was something else deleting from it?", s, missing)
	}
	return s + ": was something else writing to it?"
}
