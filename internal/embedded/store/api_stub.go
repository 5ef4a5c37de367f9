// Package store keeps collections and their indexes in pebble.
package store

// This file is the agreed interface; it is replaced by the real files.

import (
	"context"

	"github.com/cockroachdb/pebble/v2/vfs"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/spill"
)

// Options of Open. Zero values: default cache, OS file system.
type Options struct {
	Dir        string
	FS         vfs.FS // nil: the operating system's. vfs.NewMem() for an in-memory engine.
	CacheBytes int64
	// Address is what this process serves on, written beside its process id into the lock file ("" when it doesn't).
	Address string
	// CompileFilter turns an index's partialFilterExpression into a predicate (query does it; store can't import query).
	CompileFilter func(bsonx.Doc) (func(bsonx.Doc) bool, error)
	// Log gets one line for each noteworthy event (recovery, leftover removed, background error). May be nil.
	Log func(format string, args ...any)
}

// LockedError: another process holds the data directory.
type LockedError struct {
	Dir     string
	PID     int
	Address string // where it serves, if it does
}

func (e *LockedError) Error() string { panic("todo") }

// DB is an open data directory. Safe for concurrent use.
type DB struct{}

func Open(o Options) (*DB, error)               { panic("todo") }
func (db *DB) Close() error                     { panic("todo") }
func (db *DB) SetAddress(addr string) error     { panic("todo") } // rewrites the lock file's address
func (db *DB) SpillOptions(memoryLimit int64) spill.Options { panic("todo") } // temp dir of this DB; emptied at Open
func (db *DB) DiskUsage() (bytes int64)         { panic("todo") }

// NS names a collection.
type NS struct{ DB, Coll string }

func (n NS) String() string { panic("todo") } // "db.coll"

// Collection is an immutable description (of one catalog version). Changed catalogs make new ones.
type Collection struct {
	NS      NS
	UUID    [16]byte
	Options bsonx.Doc // as given to create (capped, validator, viewOn, pipeline …), may be empty
	Indexes []*Index  // Indexes[0] is _id_
	// unexported: ids, counters
}

// IsView: Options hold viewOn.
func (c *Collection) IsView() bool                   { panic("todo") }
func (c *Collection) IndexByName(name string) *Index { panic("todo") }

// Stats are running counters, kept exactly with each write.
type Stats struct {
	Documents   int64
	Bytes       int64 // of the documents' BSON
	IndexBytes  map[string]int64 // by index name; an estimate is fine
	Entries     map[string]int64 // by index name, exact
	StorageSize int64 // estimate on disk
}

// Index is one index. Key fields are walked by Fields; entries' keys are the fields' AppendKey encodings, in order.
type Index struct {
	Name    string
	Fields  []IndexField
	Spec    bsonx.Doc // {v, key, name, ns?, unique?, sparse?, partialFilterExpression?, …} as listIndexes shows it
	Unique  bool
	Sparse  bool
	Partial bsonx.Doc // nil if none
	Hashed  bool      // one field "hashed": may be refused
	// Multikey(i): some document had an array in field i (or on its path). Persistent, set with the first such write.
	// As of the snapshot/collection this Index belongs to.
	MultikeyFields []bool
}

type IndexField struct {
	Path string
	Desc bool
}

func (ix *Index) IsID() bool       { panic("todo") }
func (ix *Index) IsMultikey() bool { panic("todo") }

// ---- reading ----

// Snap is a consistent view of everything. Close it.
type Snap struct{}

func (db *DB) Snapshot() *Snap                            { panic("todo") }
func (s *Snap) Close() error                              { panic("todo") }
func (s *Snap) Databases() []string                       { panic("todo") } // sorted; those with a collection
func (s *Snap) Collections(db string) []*Collection       { panic("todo") } // sorted by name
func (s *Snap) Collection(ns NS) *Collection              { panic("todo") } // nil if none
func (s *Snap) Stats(c *Collection) Stats                 { panic("todo") }

// Bound is a range of encoded keys: Lo <= key < Hi. nil Lo/Hi: open. Bounds given to a scan are
// disjoint and ascending (the scan reverses them itself).
type Bound struct{ Lo, Hi []byte }

// Records scans documents in _id order. bounds are encoded _id keys (nil: all).
func (s *Snap) Records(c *Collection, bounds []Bound, reverse bool) *RecordIter { panic("todo") }

// RecordIter hands out raw documents. Doc and IDKey are valid until the next Next.
type RecordIter struct{}

func (it *RecordIter) Next() bool     { panic("todo") }
func (it *RecordIter) Doc() bsonx.Doc { panic("todo") }
func (it *RecordIter) IDKey() []byte  { panic("todo") }
func (it *RecordIter) Err() error     { panic("todo") } // a wrong byte on disk is an error here
func (it *RecordIter) Close() error   { panic("todo") }

// Entries scans an index in key order (then _id order). Bounds are over the concatenated encodings of the
// fields (a Bound may be a prefix: Lo = enc(a), Hi = successor of enc(a)). Descending fields are
// encoded inverted, so bytes order is index order.
func (s *Snap) Entries(c *Collection, ix *Index, bounds []Bound, reverse bool) *EntryIter { panic("todo") }

// EntryIter hands out index entries; slices are valid until the next Next.
type EntryIter struct{}

func (it *EntryIter) Next() bool        { panic("todo") }
func (it *EntryIter) Key() []byte       { panic("todo") } // concatenated field encodings, without _id
func (it *EntryIter) IDKey() []byte     { panic("todo") } // encoded _id
func (it *EntryIter) TypeBits() []byte  { panic("todo") } // of all fields of Key, for bsonx.DecodeKey
// SeekGE moves so that the next Next gives the first entry with key >= key (in scan direction: <= when reverse).
// Used to skip past a key. It never moves backwards.
func (it *EntryIter) SeekGE(key []byte) { panic("todo") }
func (it *EntryIter) Err() error        { panic("todo") }
func (it *EntryIter) Close() error      { panic("todo") }

// Get returns the document with that encoded _id, or nil.
func (s *Snap) Get(c *Collection, idKey []byte) (bsonx.Doc, error) { panic("todo") }

// Fetch reads many documents by encoded _id, in any order given, efficiently: sorts the keys, walks one
// iterator, and calls fn(i, doc) for each found i in ASCENDING KEY order. doc is valid during fn only.
func (s *Snap) Fetch(c *Collection, idKeys [][]byte, fn func(i int, doc bsonx.Doc) error) error { panic("todo") }

// ---- writing ----

// WriteOptions of one write command.
type WriteOptions struct {
	Sync   bool // j: true: on stable storage before return. Otherwise in the OS within the call, synced within 100 ms.
	Create bool // create the collection when missing
}

// Write runs fn with the collection's latest state; all of it becomes visible and durable at once when fn
// returns nil, and nothing does when it returns an error. Writers of one collection are serialized;
// readers are never blocked. The Tx sees its own writes.
// Errors: NamespaceNotFound when missing and !Create; DuplicateKey etc. come from the Tx methods.
func (db *DB) Write(ctx context.Context, ns NS, o WriteOptions, fn func(*Tx) error) error { panic("todo") }

// Tx writes to one collection. A method that returns an error has changed nothing, so the caller may go on
// (unordered inserts, ordered inserts that stop but keep what went before).
type Tx struct{}

func (tx *Tx) Collection() *Collection { panic("todo") }

// Insert adds a document that has an _id as its first field (caller makes sure) and is valid BSON.
// *mongoerr.Error DuplicateKey with MongoDB's text "E11000 duplicate key error collection: db.coll index: name dup key: { : 1 }".
// It is the hot path: encode keys before taking the lock where possible (see InsertMany).
func (tx *Tx) Insert(doc bsonx.Doc) error { panic("todo") }

// Replace puts new (same _id) in the place of old, maintaining indexes.
func (tx *Tx) Replace(old, new bsonx.Doc) error { panic("todo") }
func (tx *Tx) Delete(old bsonx.Doc) error       { panic("todo") }

// Get reads the latest version, own writes included; nil if none. The result is a copy.
func (tx *Tx) Get(idKey []byte) (bsonx.Doc, error) { panic("todo") }

// Snap is a snapshot of the state before this Tx (for planning and scanning which documents to change;
// re-read each by Get before changing it).
func (tx *Tx) Snap() *Snap { panic("todo") }

// InsertMany is the bulk path behind the insert command: keys are encoded outside of the collection's lock, then
// checked and written in one or a few batches bounded by bytes. Ordered stops at the first error.
// errs[i] belongs to docs[i]; nil slice when all went well. n is how many were inserted.
func (db *DB) InsertMany(ctx context.Context, ns NS, docs []bsonx.Doc, ordered bool, o WriteOptions) (n int, errs map[int]error, err error) { panic("todo") }

// ---- catalog changes ----

func (db *DB) Create(ctx context.Context, ns NS, options bsonx.Doc) error { panic("todo") } // NamespaceExists
func (db *DB) Drop(ctx context.Context, ns NS) (nIndexes int, err error)  { panic("todo") } // NamespaceNotFound
func (db *DB) DropDatabase(ctx context.Context, name string) error        { panic("todo") }
// Rename is atomic; dropTarget replaces an existing target. Works across databases too.
func (db *DB) Rename(ctx context.Context, from, to NS, dropTarget bool) error { panic("todo") }

// CreateIndex builds by scanning and sorting (spill), ingesting tables, then publishes. Creates the collection when
// missing. existed: an identical index was there. MongoDB's codes for conflicts: 85, 86, 67, 11000.
// Writes during the build must end up in the index (a build may hold the collection's write lock).
func (db *DB) CreateIndex(ctx context.Context, ns NS, spec bsonx.Doc) (existed bool, err error) { panic("todo") }
func (db *DB) DropIndex(ctx context.Context, ns NS, name string) error { panic("todo") } // 27; 72 for _id_

// Validate checks both directions: every document has its entries, every entry its document; counters agree.
type ValidateReport struct {
	Documents    int64
	InvalidDocs  int64
	KeysPerIndex map[string]int64
	Errors       []string
}

func (db *DB) Validate(ctx context.Context, ns NS) (*ValidateReport, error) { panic("todo") }

// ---- building a collection beside, then publishing ----

// Builder fills a collection that nobody sees until Publish (mapReduce's replace output, $out). Documents may
// come in any _id order (sorted by spill), written as ingested tables; ascending order is the fast path.
type Builder struct{}

// NewBuilder prepares a hidden collection that will be published as ns.
// keepIndexes: take over the index specs of the collection at ns at Publish time (replace keeps the target's indexes).
func (db *DB) NewBuilder(ctx context.Context, ns NS, keepIndexes bool) (*Builder, error) { panic("todo") }
func (b *Builder) Add(doc bsonx.Doc) error  { panic("todo") } // adds an ObjectId _id when there is none; copies
// Publish puts the collection in the place of ns (dropping what was there) in one step.
// DuplicateKey when two documents had one _id or a unique index is violated; nothing is published then.
func (b *Builder) Publish(ctx context.Context) error { panic("todo") }
func (b *Builder) Abort() error { panic("todo") } // idempotent; no effect after Publish
