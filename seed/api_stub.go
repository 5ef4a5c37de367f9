// Package seed fills a collection.
package seed

// This file is the agreed interface; it is replaced by the real files.

import (
	"context"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

// Generator makes documents; a document depends on the generator's seed and its index only.
type Generator interface {
	Name() string
	// Append appends document i as raw BSON.
	Append(dst []byte, i int64) []byte
}

// Uniques makes {_id: ObjectId, <field>: int in [0, keys)}; keys 0 means documents/10 (at least 1).
func Uniques(seed uint64, field string, documents, keys int64) Generator { panic("todo") }

// When the index is built.
type IndexMoment string

const (
	IndexBefore IndexMoment = "before"
	IndexAfter  IndexMoment = "after"
	IndexNone   IndexMoment = "none"
)

type Config struct {
	Collection   *mongo.Collection
	Generator    Generator
	Documents    int64
	Writers      int    // default 4
	Batch        int    // documents a batch, default 1000... bounded by hello's maxWriteBatchSize and maxMessageSizeBytes
	Ordered      bool
	WriteConcern string // "1" default, "0", "majority", "j", "2", …
	Index        IndexMoment
	IndexKeys    bson.D // default {<key>: 1} is the caller's
	Drop         bool   // drop the collection first; otherwise *NotEmptyError when it holds documents
	Progress     func(Progress) // called about 5 times a second; may be nil
}

type Progress struct {
	Documents, Total, Bytes int64
	Seconds                 float64 // so far
	Rate                    float64 // documents/s, recent
	Phase                   string  // "load", "index", "count"
}

type Report struct {
	NS                 string  `json:"ns"`
	Documents          int64   `json:"documents"`
	Bytes              int64   `json:"bytes"`
	Seconds            float64 `json:"seconds"` // index included
	DocumentsPerSecond float64 `json:"documents_per_second"`
	IndexSeconds       float64 `json:"index_seconds"` // 0 when built before (its cost is inside) or none
	Batches            int64   `json:"batches"`
	BatchP50MS, BatchP95MS, BatchMaxMS float64
	Counted            int64 `json:"counted"` // asked of the server afterwards
	Writers, Batch     int
	// … json names in snake case
}

func Run(ctx context.Context, c Config) (*Report, error) { panic("todo") }

type NotEmptyError struct {
	NS        string
	Documents int64
}

func (e *NotEmptyError) Error() string { panic("todo") }
