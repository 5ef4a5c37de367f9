package jobfile

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/mr"
)

// Job is a mapReduce job as its file says it. Fields that the file leaves out are zero.
type Job struct {
	File                  string // where it was read from
	Database, Collection  string // the source; Database may be empty where the file names a collection only
	Map, Reduce, Finalize Function
	Scope, Query, Sort    bson.D
	Limit                 int64
	Out                   Out
	JSMode                bool
	Pipeline              []bson.D // said to be equivalent; nil: none is given
	SplitKey              string   // the field that ranges are cut by
}

// Function is the text of a JavaScript function and where it begins.
type Function struct {
	Text         string
	File         string
	Line, Column int // of Text's first byte, from 1
	// Indent is how many columns later lines were moved to the left, as YAML does with a block.
	Indent int
}

// Position translates a place within Text, both counted from 1, into one of the file.
func (f Function) Position(line, column int) Position {
	if line == 1 {
		return Position{f.File, f.Line, f.Column + column - 1}
	}
	return Position{f.File, f.Line + line - 1, column + f.Indent}
}

// Out says where the result goes. The zero value is inline.
type Out struct {
	Mode                 string // Inline, Replace, Merge or Reduce
	Database, Collection string // Database "": the source's
	Sharded, NonAtomic   bool
}

// Modes of Out.
const (
	Inline  = ""
	Replace = "replace"
	Merge   = "merge"
	Reduce  = "reduce"
)

// Position is a place in a file, counted from 1. Line 0 is the file as a whole.
type Position struct {
	File         string
	Line, Column int
}

func (p Position) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.File == "":
		return fmt.Sprintf("%d:%d", p.Line, p.Column)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Error says what is wrong with a job file, where, and what to do.
type Error struct {
	Position
	Message string
}

func (e *Error) Error() string { return e.String() + ": " + e.Message }

func errorAt(p Position, format string, args ...any) *Error {
	return &Error{p, fmt.Sprintf(format, args...)}
}

// MR is what mr.Run needs of the job.
func (j *Job) MR() mr.Job {
	return mr.Job{
		Map: j.Map.Text, Reduce: j.Reduce.Text, Finalize: j.Finalize.Text,
		Scope: j.Scope, Query: j.Query, Sort: j.Sort, Limit: j.Limit,
	}
}

// Namespace is database.collection, or what is known of it.
func (j *Job) Namespace() string {
	if j.Database == "" {
		return j.Collection
	}
	return j.Database + "." + j.Collection
}

// setNamespace takes "database.collection" or a collection's name.
func (j *Job) setNamespace(s string) {
	if db, coll, ok := strings.Cut(s, "."); ok {
		j.Database, j.Collection = db, coll
		return
	}
	j.Collection = s
}

// check refuses jobs that no server would take.
func (j *Job) check() error {
	whole := Position{File: j.File}
	switch {
	case j.Map.Text == "":
		return errorAt(whole, "the job has no map function: add map")
	case j.Reduce.Text == "" && len(j.Pipeline) == 0:
		return errorAt(whole, "the job has no reduce function: add reduce")
	case j.Limit < 0:
		return errorAt(whole, "limit is %d: it must not be negative", j.Limit)
	}
	for _, f := range []struct {
		name string
		fn   Function
	}{{"map", j.Map}, {"reduce", j.Reduce}, {"finalize", j.Finalize}} {
		if f.fn.Text == "" {
			continue
		}
		if _, err := parseFunction(f.fn); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}
