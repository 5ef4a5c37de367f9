package seed

import (
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

// IndexMoment says when the index is built.
type IndexMoment string

// The moments. The zero value is IndexNone.
const (
	IndexBefore IndexMoment = "before" // before the first document: each insert pays for it
	IndexAfter  IndexMoment = "after"  // once, when all documents are there
	IndexNone   IndexMoment = "none"
)

// Defaults of a zero Config.
const (
	DefaultWriters = 4
	DefaultBatch   = 1000
)

// Config of Run. Collection, Generator and Documents are required.
type Config struct {
	Collection   *mongo.Collection
	Generator    Generator
	Documents    int64
	Writers      int            // concurrent inserts, default 4
	Batch        int            // documents a batch, default 1000; cut down to what the server takes
	Ordered      bool           // the server stops a batch at its first error
	WriteConcern string         // "1" (default), "0", "majority", "j", a number, a tag; joined as in "majority,j"
	Index        IndexMoment    // default none
	IndexKeys    bson.D         // required unless Index is none
	Drop         bool           // drop the collection first; otherwise *NotEmptyError when it holds documents
	Progress     func(Progress) // called about 5 times a second, never from two goroutines at once; may be nil
}

// Progress of a running load.
type Progress struct {
	Documents, Total, Bytes int64
	Seconds                 float64 // so far
	Rate                    float64 // documents/s over the last two seconds
	Phase                   string  // PhaseLoad, PhaseIndex or PhaseCount
}

// The phases of a load.
const (
	PhaseLoad  = "load"
	PhaseIndex = "index"
	PhaseCount = "count"
)

// withDefaults fills in what is zero and checks the rest.
func (c Config) withDefaults() (Config, error) {
	if c.Collection == nil {
		return c, errors.New("seed: no collection given")
	}
	if c.Generator == nil {
		return c, errors.New("seed: no generator given")
	}
	if c.Documents < 0 {
		return c, fmt.Errorf("seed: %d documents: the number must not be negative", c.Documents)
	}
	if c.Writers < 0 || c.Batch < 0 {
		return c, fmt.Errorf("seed: %d writers, %d documents a batch: both must be positive", c.Writers, c.Batch)
	}
	if c.Writers == 0 {
		c.Writers = DefaultWriters
	}
	if c.Batch == 0 {
		c.Batch = DefaultBatch
	}
	switch c.Index {
	case "":
		c.Index = IndexNone
	case IndexBefore, IndexAfter, IndexNone:
	default:
		return c, fmt.Errorf("seed: index moment %q: use before, after or none", c.Index)
	}
	if c.Index != IndexNone && len(c.IndexKeys) == 0 {
		return c, fmt.Errorf("seed: index %s: no index keys given", c.Index)
	}
	return c, nil
}
