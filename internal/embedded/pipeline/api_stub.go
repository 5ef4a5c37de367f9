// Package pipeline runs aggregation pipelines.
package pipeline

// This file is the agreed interface; it is replaced by the real files.

import (
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/store"
)

// Options of one aggregate command.
type Options struct {
	DB           *store.DB
	NS           store.NS // Coll "" for {aggregate: 1}
	Let          bsonx.Doc
	Hint         bsonx.Value
	AllowDiskUse bool // default true when the command does not say (as since 6.0)
	Collation    bsonx.Doc // non-empty: refused
	MemoryLimit  int64 // per blocking stage, default 100 MiB
	Parallel     int   // cores one pipeline may use where order and result do not depend on it; 0: GOMAXPROCS
}

// Pipeline is parsed and optimized.
type Pipeline struct{}

// Parse checks all stages (40324 unknown stage; 40323 more than one field; stage-specific codes) and optimizes:
// $match pushed into the plan, $sort served by an index, dependencies found for a covered read, $limit into $sort.
func Parse(stages bsonx.Doc, o Options) (*Pipeline, error) { panic("todo") }

// Writes reports the target of a final $out or $merge.
func (p *Pipeline) Writes() (ns store.NS, ok bool) { panic("todo") }

// Run starts it on a snapshot. When it ends in $out or $merge the source is empty and the work is done by the first Next.
func (p *Pipeline) Run(ctx context.Context, snap *store.Snap) (query.Source, error) { panic("todo") }

// RunOn applies the stages to one document (pipeline updates).
func (p *Pipeline) RunOn(ctx context.Context, doc bsonx.Doc) (bsonx.Doc, error) { panic("todo") }

// Explain shows the stages with the plan of the first one ($cursor).
func (p *Pipeline) Explain(snap *store.Snap) (bsonx.Doc, error) { panic("todo") }
