package seed

import (
	"context"
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
	DefaultRetries = 8 // with the pauses between them about 16 seconds, longer than an election takes
)

// maxDecoders bounds the default: each holds batches in memory, and a few keep any server busy.
const maxDecoders = 8

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
	Decoders     int            // goroutines that turn text into BSON; default one a processor, up to 8
	OnDuplicate  OnDuplicate
	Bad          func(*source.RecordError) error // takes a broken record, one at a time, and the load goes on; nil: it stops there
	Append       bool                            // the collection may hold documents, and others may load it at the same time
	Writers      int                             // concurrent inserts, default 4
	Batch        int                             // documents a batch, default 1000; cut down to what the server takes
	Ordered      bool                            // the server stops a batch at its first error
	WriteConcern string                          // "1" (default), "0", "majority", "j", a number, a tag; joined as in "majority,j"
	Index        IndexMoment                     // default none
	IndexKeys    bson.D                          // required unless Index is none
	Drop         bool                            // drop the collection first; otherwise *NotEmptyError when it holds documents
	Retries      int                             // times that a batch is sent again after a failure that may pass; default 8, below 0 none
	Checkpoint   *Checkpoint                     // of an earlier load of the same source, which goes on there; not with write concern 0
	// Save keeps checkpoints: it is called before the first insert, a few times a second, and once more at
	// the end, never from two goroutines at once. It gets a copy. Its error stops the load. It is not called for a generator, for what
	// can't be read twice (source.NotResumable), or with write concern 0. May be nil.
	Save func(*Checkpoint) error
	// Gate is asked before each insert is sent. It blocks while the server is too busy; its error stops the load. done is called when
	// the insert has ended. May be nil: no limit.
	Gate func(ctx context.Context) (done func(), err error)
	// Comment tags the inserts where the server allows (4.4 and later). "" none.
	Comment  string
	Verbose  bool           // Progress tells of each writer
	Progress func(Progress) // called about 5 times a second, never from two goroutines at once; may be nil
}

// Progress of a running load.
type Progress struct {
	Documents, Total, Bytes int64            // Total is 0 when it is not known, as of files
	Seconds                 float64          // so far
	Rate                    float64          // documents/s over the last two seconds
	MBRate                  float64          // MB/s (10^6 bytes of BSON) over the last two seconds
	Rejects, Duplicates     int64            // so far
	Retries                 int64            // batches sent again, so far
	Earlier                 int64            // documents that the load which is resumed had written; not in Documents
	Read, ReadTotal         int64            // bytes of files, on disk; ReadTotal is 0 when it is not known
	ReadRate                float64          // bytes/s of them over the last two seconds
	Phase                   string           // PhaseLoad, PhaseIndex or PhaseCount
	Writers                 []WriterProgress // with Config.Verbose
}

// WriterProgress is what one writer did and does.
type WriterProgress struct {
	Doing              string  // "waiting" (for documents), "inserting", "retrying", "held back" (by Gate), "ended"
	Batches, Documents int64   // acknowledged
	LastMS, MeanMS     float64 // of a batch
}

// Left estimates the seconds until the last document, by the recent rate, or by the
// average when nothing moved recently; 0 when nothing is known.
func (p Progress) Left() float64 {
	left, done, rate := p.Total-p.Documents, p.Documents, p.Rate
	if p.Total == 0 {
		left, done, rate = p.ReadTotal-p.Read, p.Read, p.ReadRate
	}
	if rate <= 0 && p.Seconds > 0 {
		rate = float64(done) / p.Seconds
	}
	if p.Phase != PhaseLoad || left <= 0 || rate <= 0 {
		return 0
	}
	return float64(left) / rate
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
	if c.Checkpoint != nil && (c.Source == nil || c.Drop) {
		return c, errors.New("seed: a checkpoint is of a load from files into a collection that stays")
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
		c.Decoders = min(runtime.GOMAXPROCS(0), maxDecoders)
	}
	switch {
	case c.Retries == 0:
		c.Retries = DefaultRetries
	case c.Retries < 0:
		c.Retries = 0
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
