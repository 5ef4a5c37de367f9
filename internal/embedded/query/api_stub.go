// Package query matches filters, projects, sorts, updates, and plans reads.
package query

// This file is the agreed interface; it is replaced by the real files.

import (
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/spill"
	"mrbench/internal/embedded/store"
)

// Filter is a parsed query document. Safe for one goroutine at a time; Clone for more.
type Filter struct{}

func ParseFilter(d bsonx.Doc, s *expr.Scope) (*Filter, error) { panic("todo") }
func (f *Filter) Match(doc bsonx.Doc) (bool, error)           { panic("todo") }
func (f *Filter) Empty() bool                                  { panic("todo") }
func (f *Filter) Clone() *Filter                               { panic("todo") }
func (f *Filter) Deps(add func(path string)) (whole bool)      { panic("todo") }

// And combines (used by pipeline to merge adjacent $match stages).
func And(a, b *Filter) *Filter { panic("todo") }

// CompileFilter is for store.Options.CompileFilter.
func CompileFilter(d bsonx.Doc) (func(bsonx.Doc) bool, error) { panic("todo") }

// Projection of find: inclusion, exclusion, $slice, $elemMatch, positional, and expressions (4.4).
type Projection struct{}

func ParseProjection(d bsonx.Doc, s *expr.Scope) (*Projection, error) { panic("todo") }
// Apply appends the projected document to dst and returns the longer slice.
func (p *Projection) Apply(dst []byte, doc bsonx.Doc) ([]byte, error) { panic("todo") }
func (p *Projection) Deps(add func(path string)) (whole bool)         { panic("todo") }

// SortSpec is a parsed {a: 1, "b.c": -1} ($meta refused).
type SortSpec struct{ Fields []store.IndexField }

func ParseSort(d bsonx.Doc) (*SortSpec, error) { panic("todo") } // 15976 etc. as aggregation; find's codes where they differ
// AppendKey appends the order-preserving key of doc: for an array the smallest (largest if desc) element, as MongoDB does.
func (s *SortSpec) AppendKey(dst []byte, doc bsonx.Doc) []byte { panic("todo") }

// Source hands out raw documents in blocks. A block's documents are valid until the next Next or Close.
// Next returns an empty block at the end.
type Source interface {
	Next(ctx context.Context) ([]bsonx.Doc, error)
	Close() error
}

// NewSort is a blocking sort with spill; limit 0 means all (a limit keeps only the top).
func NewSort(src Source, s *SortSpec, limit int64, o spill.Options) Source { panic("todo") }

// Request is what a reader wants from a collection.
type Request struct {
	Filter *Filter   // nil: everything
	Sort   *SortSpec // nil: any order
	// Needs: the dotted paths the consumer reads. nil: the whole document. A non-nil, even empty, list
	// allows a covered plan, whose documents have those paths only (those of the index, in index order).
	Needs []string
	Hint  bsonx.Value // missing, index name or key pattern, or {$natural: ±1}
	Min   bsonx.Doc   // with Max and Hint as in find
	Max   bsonx.Doc
	Skip, Limit int64 // find's; 0 none. Applied by Open.
	Spill spill.Options
}

// Plan says how a Request is answered.
type Plan struct {
	Collection *store.Collection
	Index      *store.Index // nil: collection scan (bounded on _id when Bounds is set)
	Bounds     []store.Bound
	Reverse    bool
	Covered    bool // the entries alone answer: no document is fetched
	Residual   *Filter // still to be checked on what the scan gives, nil if the bounds say it all
	SortProvided bool // scan order is Request.Sort; otherwise Open sorts
}

// MakePlan chooses. Errors: bad hint (BadValue), etc. Index choice: equality and range bounds on a prefix, sort order,
// coverage; unions of bounds for $or/$in/$nor/$not on one field; $expr with $eq/$gt/$gte/$lt/$lte/$and of "$field" and a constant
// gives bounds too (BSON order across types, arrays excluded from multikey indexes).
func MakePlan(snap *store.Snap, c *store.Collection, r Request) (*Plan, error) { panic("todo") }

// Open runs the plan: scan, residual, fetch in blocks, sort if needed, skip, limit.
func (p *Plan) Open(snap *store.Snap) (Source, error) { panic("todo") }

// Explain is the winningPlan document: stage IXSCAN/FETCH/COLLSCAN/PROJECTION_COVERED/SORT, indexName, keyPattern,
// isMultiKey, direction, indexBounds as MongoDB shows them.
func (p *Plan) Explain() bsonx.Doc { panic("todo") }

// Update is a parsed update: operators, replacement, or pipeline (the latter through a hook, see PipelineUpdate).
type Update struct{}

// ParseUpdate: v is a document or an array (pipeline). arrayFilters may be empty.
func ParseUpdate(v bsonx.Value, arrayFilters []bsonx.Doc, s *expr.Scope) (*Update, error) { panic("todo") }
// Apply gives the new document (fresh memory) and whether it differs. upsert also applies $setOnInsert.
// Errors carry MongoDB's codes: 14 $inc on non-number, 66 immutable _id, 9 unknown modifier, 40 conflict, 28 …
func (u *Update) Apply(old bsonx.Doc, filter *Filter, upsert bool) (doc bsonx.Doc, modified bool, err error) { panic("todo") }
func (u *Update) IsReplacement() bool { panic("todo") }
// UpsertSeed builds the document that an upsert starts from: the equalities of the filter.
func UpsertSeed(f *Filter) (bsonx.Doc, error) { panic("todo") }
// PipelineUpdate is set by the caller who can run pipelines (command), avoiding an import cycle.
type PipelineUpdate func(stages bsonx.Doc, doc bsonx.Doc) (bsonx.Doc, error)
func (u *Update) SetPipeline(run PipelineUpdate) { panic("todo") }
