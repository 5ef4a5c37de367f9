package command

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"time"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

const (
	splitMaxObjects = 250_000 // documents in a piece when the command does not say

	// How often the scan looks whether it is to stop, in entries; and how many entries of one key that is no
	// split key it walks before it seeks past that key.
	splitPoll     = 1 << 13
	splitSeekPast = 64
)

// splitVector finds keys that cut a collection into pieces of about the same size. It reads index entries
// alone: every (n+1)-th entry's key is a split key, where n follows from the wanted size and the average document.
func splitVector(ctx context.Context, c *call) error {
	started := time.Now()
	a, err := c.parseSplit()
	if err != nil {
		return err
	}
	snap := c.s.db.Snapshot()
	defer func() { _ = snap.Close() }()
	coll := snap.Collection(a.ns)
	if coll == nil {
		return mongoerr.New(mongoerr.NamespaceNotFound, "ns not found")
	}
	if err := requireCollection(a.ns, coll); err != nil {
		return err
	}
	ix := splitIndex(coll, a.pattern)
	if ix == nil {
		return mongoerr.New(mongoerr.IndexNotFound, "couldn't find index over splitting key %s", bsonx.DocValue(a.patternDoc))
	}
	at := c.startArray("splitKeys")
	if err := a.run(ctx, c, snap, coll, ix); err != nil {
		return err
	}
	c.end(at)
	c.int32("timeMillis", int32(min(time.Since(started).Milliseconds(), 1<<31-1)))
	return nil
}

// splitArgs are splitVector's arguments.
type splitArgs struct {
	ns         store.NS
	patternDoc bsonx.Doc
	pattern    []store.IndexField
	min, max   bsonx.Doc
	bytes      int64 // wanted size of a piece; 0: not given
	maxPoints  int64 // 0: no limit
	maxObjects int64 // 0: no limit
	force      bool  // one key, at the half
}

func (c *call) parseSplit() (a *splitArgs, err error) {
	a = &splitArgs{}
	if a.ns, err = c.fullNS(); err != nil {
		return nil, err
	}
	pattern := c.arg("keyPattern")
	if pattern.Type != docType || pattern.Doc().Len() == 0 {
		return nil, mongoerr.New(mongoerr.BadValue, "no key pattern found in splitVector")
	}
	a.patternDoc = pattern.Doc()
	for it := a.patternDoc.Iter(); it.Next(); {
		f, _ := it.Value().AsFloat()
		a.pattern = append(a.pattern, store.IndexField{Path: string(it.Name()), Desc: f < 0})
	}
	if a.min, err = c.document("min"); err != nil {
		return nil, err
	}
	if a.max, err = c.document("max"); err != nil {
		return nil, err
	}
	if (a.min.Len() == 0) != (a.max.Len() == 0) {
		return nil, mongoerr.New(mongoerr.BadValue, "either provide both min and max or leave both empty")
	}
	return a, c.splitSizes(a)
}

func (c *call) splitSizes(a *splitArgs) (err error) {
	if a.force, err = c.flag("force", false); err != nil {
		return err
	}
	if a.maxPoints, err = c.whole("maxSplitPoints", 0); err != nil {
		return err
	}
	if a.maxObjects, err = c.whole("maxChunkObjects", splitMaxObjects); err != nil {
		return err
	}
	if c.arg("maxChunkSize").IsNumber() {
		mb, err := c.whole("maxChunkSize", 0)
		a.bytes = min(mb, 1<<40) << 20
		return err
	}
	a.bytes, err = c.whole("maxChunkSizeBytes", 0)
	return err
}

// fullNS reads "db.coll" from the command's first field.
func (c *call) fullNS() (store.NS, error) {
	v := c.target()
	if v.Type != bsonx.TypeString {
		return store.NS{}, mongoerr.New(mongoerr.BadValue, "collection name has invalid type %s", bsonx.TypeName(v.Type))
	}
	ns, err := parseNS(v.Str())
	if err == nil {
		c.op.setNS(ns)
	}
	return ns, err
}

// splitIndex is an index that starts with the pattern, in its directions, and holds every document: one that is
// not multikey if there is a choice.
func splitIndex(coll *store.Collection, pattern []store.IndexField) (best *store.Index) {
	for _, ix := range coll.Indexes {
		if len(ix.Partial) > 0 || ix.Hashed || len(ix.Fields) < len(pattern) {
			continue
		}
		same := true
		for i, f := range pattern {
			same = same && ix.Fields[i] == f
		}
		if same && (best == nil || best.IsMultikey() && !ix.IsMultikey()) {
			best = ix
		}
	}
	return best
}

func (a *splitArgs) run(ctx context.Context, c *call, snap *store.Snap, coll *store.Collection, ix *store.Index) error {
	st := snap.Stats(coll)
	size := a.bytes
	if a.force {
		size = st.Bytes
	}
	if size <= 0 && st.Documents != 0 {
		return mongoerr.New(mongoerr.InvalidOptions, "need to specify the desired max chunk size")
	}
	if st.Documents == 0 || st.Bytes < size {
		return nil
	}
	every := size / (2 * max(st.Bytes/st.Documents, 1))
	if a.maxObjects > 0 {
		every = min(every, a.maxObjects)
	}
	s := splitScan{
		args: a, c: c, snap: snap, coll: coll, ix: ix, every: every,
		bounds: splitBounds(a, ix), total: st.Entries[ix.Name], from: len(c.b),
	}
	if a.force {
		n, err := s.scan(ctx, true)
		if err != nil {
			return err
		}
		s.every = n / 2
	}
	if _, err := s.scan(ctx, false); err != nil {
		return err
	}
	s.ascend()
	return nil
}

// ascend puts the keys in ascending order of their values, whatever the index's directions.
func (s *splitScan) ascend() {
	down := false
	for _, f := range s.args.pattern {
		down = down || f.Desc
	}
	if !down {
		return
	}
	keys := make([]bsonx.Doc, 0, s.points)
	at := s.from - 4 // of the array under construction
	list := bsonx.Doc(slices.Clone(s.c.b[at:]))
	list = append(list, 0)
	binary.LittleEndian.PutUint32(list, uint32(len(list)))
	for it := list.Iter(); it.Next(); {
		keys = append(keys, it.Value().Doc())
	}
	slices.SortFunc(keys, bsonx.CompareDocs)
	s.c.b = s.c.b[:s.from]
	for i, k := range keys {
		s.c.elem(i, bsonx.DocValue(k))
	}
}

// splitBounds is [min, max) over the index; fields that a bound does not have sort lowest. Without min and max it
// is everything but the very highest key, as no piece could begin there.
func splitBounds(a *splitArgs, ix *store.Index) []store.Bound {
	if a.min.Len() == 0 {
		return []store.Bound{{Hi: boundKey(bsonx.Empty, ix, true)}}
	}
	return []store.Bound{{Lo: boundKey(a.min, ix, false), Hi: boundKey(a.max, ix, false)}}
}

func boundKey(d bsonx.Doc, ix *store.Index, highest bool) []byte {
	var key []byte
	for _, f := range ix.Fields {
		v := d.Get(f.Path)
		switch {
		case !v.IsMissing():
		case highest != f.Desc:
			v = bsonx.MaxKey()
		default:
			v = bsonx.MinKey()
		}
		key = bsonx.AppendKey(key, v, f.Desc)
	}
	return key
}

// splitScan walks the entries and appends the split keys to the reply.
type splitScan struct {
	args   *splitArgs
	c      *call
	snap   *store.Snap
	coll   *store.Collection
	ix     *store.Index
	bounds []store.Bound
	every  int64
	total  int64
	from   int // where the reply's keys start, to bound their size

	last   []byte // encoded: the last split key, at first the first key of the index
	seek   []byte
	points int64
}

// scan walks once. countOnly just counts (force's first pass).
func (s *splitScan) scan(ctx context.Context, countOnly bool) (n int64, err error) {
	it := s.snap.Entries(s.coll, s.ix, s.bounds, false)
	defer func() {
		if e := it.Close(); err == nil {
			err = e
		}
	}()
	var since int64 // entries since the last split key
	var same int    // entries of that same key met when a new one was due
	for it.Next() {
		if n++; n%splitPoll == 1 {
			if err := s.poll(ctx, n); err != nil {
				return n, err
			}
		}
		since++
		if countOnly {
			continue
		}
		if n == 1 {
			if s.last, err = s.prefix(s.last[:0], it.Key()); err != nil {
				return n, err
			}
		}
		if since <= s.every {
			continue
		}
		if bytes.HasPrefix(it.Key(), s.last) { // no encoding is a prefix of another one: the same key
			if same++; same%splitSeekPast == 0 {
				s.seek = successor(append(s.seek[:0], s.last...))
				it.SeekGE(s.seek)
			}
			continue
		}
		if err := s.point(it); err != nil {
			return n, err
		}
		since, same = 0, 0
		if s.full() {
			break
		}
	}
	if n == 0 && it.Err() == nil {
		return 0, mongoerr.New(mongoerr.OperationFailed, "can't open a cursor to scan the range (desired range is possibly empty)")
	}
	return n, it.Err()
}

func (s *splitScan) poll(ctx context.Context, n int64) error {
	s.c.op.progress("splitVector: scanning "+s.ix.Name, n-1, s.total)
	return ctx.Err()
}

// prefix appends the encodings of the pattern's fields.
func (s *splitScan) prefix(dst, key []byte) ([]byte, error) {
	n := 0
	for _, f := range s.args.pattern {
		k, err := bsonx.SkipKey(key[n:], f.Desc)
		if err != nil {
			return dst, err
		}
		n += k
	}
	return append(dst, key[:n]...), nil
}

// point appends the entry's key as a split key.
func (s *splitScan) point(it *store.EntryIter) (err error) {
	if s.last, err = s.prefix(s.last[:0], it.Key()); err != nil {
		return err
	}
	w := &s.c.builder
	at := w.startElem(int(s.points))
	key, bits := it.Key(), it.TypeBits()
	for _, f := range s.args.pattern {
		var v bsonx.Value
		if v, key, bits, err = bsonx.DecodeKey(key, bits, f.Desc); err != nil {
			return err
		}
		if v.IsMissing() {
			v = bsonx.Null() // as an index holds it
		}
		w.value(f.Path, v)
	}
	w.end(at)
	s.points++
	return nil
}

// full: enough keys, or no room for more in a reply. What follows stays in the last piece.
func (s *splitScan) full() bool {
	return s.args.maxPoints > 0 && s.points >= s.args.maxPoints ||
		len(s.c.b)-s.from > MaxDocumentBytes-64*1024
}
