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

// ForeignError says that the collection with a record's name is no record, or one of another version.
type ForeignError struct {
	NS, Record, Program string
	Format              int
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s is no record of this mrbench: it says program %q, format %d, not %q, %d: use another name for %s", e.Record, e.Program, e.Format, program, format, e.NS)
}

// GoneError says that a record was dropped, or begun anew, while a machine took part in it.
type GoneError struct{ NS, Record string }

func (e *GoneError) Error() string {
	return fmt.Sprintf("%s, the record of what is in %s, was dropped or begun anew in the meantime: use another name, or drop %s if it may go, and run again", e.Record, e.NS, e.NS)
}

// LostBaseError says that the copy of what a result held before is gone. What is in the result may be reduced with parts already, so it is not copied
// once more.
type LostBaseError struct{ NS, Coll string }

func (e *LostBaseError) Error() string {
	return fmt.Sprintf("%s: the copy of what it held before, %s, was dropped before the parts were put together: use another name, or drop %s and run again if it may go",
		e.NS, e.Coll, e.NS)
}
