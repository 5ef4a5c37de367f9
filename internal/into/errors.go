package into

import "fmt"

// ExistsError says that a collection holds documents that no run put there.
type ExistsError struct{ NS string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("%s holds documents, and no record says that they are of a run --into: use another name, or --append to add to them", e.NS)
}

// OtherJobError says that a result is another job's.
type OtherJobError struct{ NS, What string }

func (e *OtherJobError) Error() string {
	return fmt.Sprintf("%s is the result of another job, %s: use another name", e.NS, e.What)
}

// OtherListError says that a result has ranges of another list.
type OtherListError struct {
	NS, List, Source, Key string
	Ranges, In            int
	Done                  bool
}

func (e *OtherListError) Error() string {
	if e.Done {
		return fmt.Sprintf("%s is complete, with the %d ranges of list %s of %s: use another name, or --append to add to it", e.NS, e.Ranges, e.List, e.Source)
	}
	return fmt.Sprintf("%s has %d of the %d ranges of another list, %s of %s by %s: finish it with that list (run --plan), or use another name", e.NS, e.In, e.Ranges, e.List, e.Source, e.Key)
}

// LostPartsError says that collections with parts of ranges are gone.
type LostPartsError struct {
	NS     string
	Ranges []int
}

func (e *LostPartsError) Error() string {
	return fmt.Sprintf("%s: the parts of ranges %v were dropped before they were put together: run these ranges again", e.NS, e.Ranges)
}
