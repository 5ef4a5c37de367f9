package seed

import (
	"errors"
	"fmt"
	"runtime"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/seed/source"
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

// OnDuplicate says what a document does whose key is in the collection already.
type OnDuplicate string

// The policies. The zero value is DuplicateStop.
const (
	DuplicateStop OnDuplicate = "stop"
	DuplicateSkip OnDuplicate = "skip" // it is counted, and the load goes on; not with Ordered
)

// Config of Run. Required are Collection, and either Generator and Documents or Source.
type Config struct {
	Collection   *mongo.Collection
	Generator    Generator
	Documents    int64          // of the generator; a source is read to its end
	Source       *source.Config // files; with one writer their order is kept
	Decoders     int            // goroutines that turn text into BSON; default one a processor
	OnDuplicate  OnDuplicate
	Bad          func(*source.RecordError) error // takes a broken record, one at a time, and the load goes on; nil: it stops there
	Append       bool                            // the collection may hold documents
	Writers      int                             // concurrent inserts, default 4
	Batch        int                             // documents a batch, default 1000; cut down to what the server takes
	Ordered      bool                            // the server stops a batch at its first error
	WriteConcern string                          // "1" (default), "0", "majority", "j", a number, a tag; joined as in "majority,j"
	Index        IndexMoment                     // default none
	IndexKeys    bson.D                          // required unless Index is none
	Drop         bool                            // drop the collection first; otherwise *NotEmptyError when it holds documents
	Progress     func(Progress)                  // called about 5 times a second, never from two goroutines at once; may be nil
}

// Progress of a running load.
type Progress struct {
	Documents, Total, Bytes int64   // Total is 0 when it is not known, as of files
	Seconds                 float64 // so far
	Rate                    float64 // documents/s over the last two seconds
	MBRate                  float64 // MB/s (10^6 bytes of BSON) over the last two seconds
	Rejects, Duplicates     int64   // so far
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
	switch {
	case c.Generator == nil && c.Source == nil:
		return c, errors.New("seed: no generator and no source given")
	case c.Generator != nil && c.Source != nil:
		return c, errors.New("seed: a generator and a source given: choose one")
	case c.Source != nil && c.Documents != 0:
		return c, errors.New("seed: a source is read to its end: give no number of documents")
	case c.Append && c.Drop:
		return c, errors.New("seed: Append and Drop exclude each other")
	}
	switch c.OnDuplicate {
	case "":
		c.OnDuplicate = DuplicateStop
	case DuplicateStop, DuplicateSkip:
	default:
		return c, fmt.Errorf("seed: on duplicate %q: use stop or skip", c.OnDuplicate)
	}
	if c.OnDuplicate == DuplicateSkip && c.Ordered {
		return c, errors.New("seed: an ordered load stops at a duplicate key: skip them without order")
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
	if c.Decoders <= 0 {
		c.Decoders = runtime.GOMAXPROCS(0)
	}
	if c.Writers == 1 {
		c.Decoders = 1
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
