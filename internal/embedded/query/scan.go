package query

import (
	"context"
	"slices"
	"sync/atomic"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/store"
)

// Open runs the plan: scan, residual filter, fetch in blocks, sort if needed, skip, limit.
// The source reads snap until it is closed; several may be open at once.
func (p *Plan) Open(snap *store.Snap) (Source, error) {
	src := p.openScan(snap)
	r := p.req
	if !p.SortProvided {
		limit := int64(0)
		if r.Limit > 0 {
			limit = r.Limit + r.Skip
		}
		src = NewSort(src, r.Sort, limit, r.Spill)
	}
	if r.Skip > 0 || r.Limit > 0 {
		limit := int64(-1)
		if r.Limit > 0 {
			limit = r.Limit
		}
		src = &cutSource{src: src, skip: r.Skip, limit: limit}
	}
	return src, nil
}

func (p *Plan) openScan(snap *store.Snap) Source {
	if p.empty {
		return emptySource{}
	}
	if p.subs != nil {
		return &orSource{plans: p.subs, snap: snap, seen: make(map[string]struct{})}
	}
	residual := p.Residual.Clone()
	first := 0
	if p.SortProvided && p.req.Limit > 0 && p.req.Limit+p.req.Skip < firstBlock {
		first = int(p.req.Limit + p.req.Skip)
	}
	base := scanBase{residual: residual, scripted: residual.usesScript(), stats: p.stats, block: block{start: first}}
	switch {
	case p.Index == nil || p.Index.IsID() && !p.Covered:
		return &recordSource{scanBase: base, it: snap.Records(p.Collection, p.Bounds, p.Reverse)}
	case p.Covered:
		return &coveredSource{scanBase: base, entryScan: p.entryScan(snap), snap: snap, plan: p, layout: p.layout.clone()}
	}
	return &fetchSource{scanBase: base, entryScan: p.entryScan(snap), snap: snap, plan: p}
}

// OpenEntries gives the raw entries when they alone answer: nothing is left to check on documents
// or entries, and no document is fetched. The entries come in the plan's order; skip, limit and a
// sort that the order does not give are not applied: ok is then false.
func (p *Plan) OpenEntries(snap *store.Snap) (it *store.EntryIter, ok bool) {
	if !p.Covered || p.Residual != nil || len(p.entries) > 0 || !p.SortProvided || p.req.Skip > 0 || p.req.Limit > 0 {
		return nil, false
	}
	bounds := p.Bounds
	if p.empty {
		bounds = []store.Bound{}
	}
	return snap.Entries(p.Collection, p.Index, bounds, p.Reverse), true
}

// scanStats counts what the scans of a plan have read.
type scanStats struct{ keys, docs atomic.Int64 }

// Stats gives how many index entries and documents the plan's sources have read so far,
// counted by blocks: exact once a source has ended.
func (p *Plan) Stats() (keysExamined, docsExamined int64) {
	keys, docs := p.stats.keys.Load(), p.stats.docs.Load()
	switch {
	case p.subs != nil:
		for _, sub := range p.subs {
			k, d := sub.Stats()
			keys, docs = keys+k, docs+d
		}
		return keys, docs
	case p.Index == nil:
		return 0, keys // steps over records
	case p.Index.IsID() && !p.Covered:
		return keys, keys
	}
	return keys, docs
}

// scanBase is what all scans have.
type scanBase struct {
	residual *Filter // nil: everything that is scanned is wanted
	scripted bool
	block    block
	steps    int // keys passed
	counted  int // of these, those that the statistics have
	stats    *scanStats
}

// begin starts a block; stop ends what it started.
func (s *scanBase) begin(ctx context.Context) (stop func(), err error) {
	if ctx.Err() != nil {
		return nil, errOf(ctx)
	}
	s.block.reset()
	if s.scripted {
		unwatch := s.residual.Watch(ctx)
		return func() { unwatch(); s.count() }, nil
	}
	return s.count, nil
}

func (s *scanBase) count() {
	s.stats.keys.Add(int64(s.steps - s.counted))
	s.counted = s.steps
}

// step counts one key of the scan and now and then looks whether to go on.
func (s *scanBase) step(ctx context.Context) error {
	if s.steps++; s.steps%checkEvery == 0 && ctx.Err() != nil {
		return errOf(ctx)
	}
	return nil
}

func (s *scanBase) wants(doc bsonx.Doc) (bool, error) {
	if s.residual == nil {
		return true, nil
	}
	return s.residual.Match(doc)
}

// recordSource walks the records, which lie in _id order.
type recordSource struct {
	scanBase
	it *store.RecordIter
}

func (s *recordSource) Next(ctx context.Context) ([]bsonx.Doc, error) {
	stop, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	for !s.block.full() && s.it.Next() {
		doc := s.it.Doc()
		ok, err := s.wants(doc)
		if err == nil {
			err = s.step(ctx)
		}
		if err != nil {
			return nil, err
		}
		if ok {
			s.block.add(doc)
		}
	}
	if err := s.it.Err(); err != nil {
		return nil, err
	}
	return s.block.finish(), nil
}

func (s *recordSource) Close() error { return s.it.Close() }

// entryScan walks the entries of an index and drops those that the tests refuse, and
// further entries of a document that was seen already.
type entryScan struct {
	it    *store.EntryIter
	ix    *store.Index
	tests []entryTest
	seen  map[string]struct{} // of a multikey index: encoded _ids
}

func (p *Plan) entryScan(snap *store.Snap) entryScan {
	e := entryScan{it: snap.Entries(p.Collection, p.Index, p.Bounds, p.Reverse), ix: p.Index, tests: p.entries}
	if p.Index.IsMultikey() {
		e.seen = make(map[string]struct{})
	}
	return e
}

// next moves to the next wanted entry; step is called for each one passed.
func (e *entryScan) next(step func() error) (bool, error) {
	for e.it.Next() {
		if err := step(); err != nil {
			return false, err
		}
		if len(e.tests) > 0 {
			ok, err := e.passes()
			if err != nil {
				return false, err
			}
			if !ok {
				continue
			}
		}
		if e.seen != nil {
			if _, dup := e.seen[string(e.it.IDKey())]; dup {
				continue
			}
			e.seen[string(e.it.IDKey())] = struct{}{}
		}
		return true, nil
	}
	return false, e.it.Err()
}

func (e *entryScan) passes() (bool, error) {
	key := e.it.Key()
	t := 0
	for i := 0; t < len(e.tests); i++ {
		n, err := bsonx.SkipKey(key, e.ix.Fields[i].Desc)
		if err != nil {
			return false, err
		}
		if e.tests[t].field == i {
			if !e.tests[t].set.has(key[:n]) {
				return false, nil
			}
			t++
		}
		key = key[n:]
	}
	return true, nil
}

// coveredSource makes documents of index entries.
type coveredSource struct {
	scanBase
	entryScan
	snap   *store.Snap
	plan   *Plan
	layout *layout
	narrow *Projection // for documents that must be fetched after all
}

func (s *coveredSource) Next(ctx context.Context) ([]bsonx.Doc, error) {
	stop, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	step := func() error { return s.step(ctx) }
	b := &s.block
	for !b.full() {
		more, err := s.next(step)
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		from := len(b.arena)
		var ok bool
		if b.arena, ok, err = s.layout.appendDoc(b.arena, s.it); err == nil && !ok {
			b.arena, err = s.fetch(b.arena[:from])
		}
		if err != nil {
			return nil, err
		}
		if s.residual != nil {
			if ok, err = s.residual.Match(b.arena[from:]); err != nil {
				return nil, err
			}
			if !ok {
				b.arena = b.arena[:from]
				continue
			}
		}
		b.ends = append(b.ends, len(b.arena))
	}
	return b.finish(), nil
}

// fetch reads one document and leaves of it what the plan needs.
func (s *coveredSource) fetch(dst []byte) ([]byte, error) {
	doc, err := s.snap.Get(s.plan.Collection, s.it.IDKey())
	if err != nil {
		return dst, err
	}
	if s.narrow == nil {
		s.narrow = includePaths(s.plan.layout.paths(s.ix), s.layout.id)
	}
	return s.narrow.Apply(dst, doc)
}

func (s *coveredSource) Close() error { return s.it.Close() }

// fetchSource reads the documents of many entries in _id order, puts them back in index order,
// and hands them out in blocks.
type fetchSource struct {
	scanBase
	entryScan
	snap  *store.Snap
	plan  *Plan
	ids   []byte
	ends  []int
	keys  [][]byte
	order []fetched
	raw   []byte
	docs  []bsonx.Doc // fetched
	given int         // of these, handed out
	size  int         // entries of the next fetch
	most  int         // so many that their documents take about maxFetchBytes; 0: not known yet
}

// fetched is where the document of entry i stands in the buffer.
type fetched struct{ i, from, to int }

// A fetch of many entries reads neighbours together, which makes each cheaper: so fetches grow from
// one block to this many entries, as long as their documents take no more than maxFetchBytes.
const (
	maxFetch      = 32 << 10
	maxFetchBytes = 16 << 20
)

func (s *fetchSource) Next(ctx context.Context) ([]bsonx.Doc, error) {
	stop, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	step := func() error { return s.step(ctx) }
	for s.given == len(s.docs) {
		n, err := s.gather(step)
		if err != nil || n == 0 {
			return nil, err
		}
		if err := s.fetch(); err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, errOf(ctx)
		}
	}
	out := s.docs[s.given:min(len(s.docs), s.given+maxBlock)]
	s.given += len(out)
	return out, nil
}

// gather collects the _ids of a number of entries.
func (s *fetchSource) gather(step func() error) (int, error) {
	switch {
	case s.size == 0:
		s.size = s.block.size
	case s.size < maxFetch:
		s.size *= 4
	}
	if s.most > 0 {
		s.size = min(s.size, s.most)
	}
	s.ids, s.ends, s.keys = s.ids[:0], s.ends[:0], s.keys[:0]
	for len(s.ends) < s.size {
		more, err := s.next(step)
		if err != nil {
			return 0, err
		}
		if !more {
			break
		}
		s.ids = append(s.ids, s.it.IDKey()...)
		s.ends = append(s.ends, len(s.ids))
	}
	from := 0
	for _, end := range s.ends {
		s.keys = append(s.keys, s.ids[from:end:end])
		from = end
	}
	return len(s.keys), nil
}

func (s *fetchSource) fetch() error {
	s.raw, s.order = s.raw[:0], s.order[:0]
	read := 0
	err := s.snap.Fetch(s.plan.Collection, s.keys, func(i int, doc bsonx.Doc) error {
		read += len(doc)
		s.stats.docs.Add(1)
		ok, err := s.wants(doc)
		if err != nil || !ok {
			return err
		}
		from := len(s.raw)
		s.raw = append(s.raw, doc...)
		s.order = append(s.order, fetched{i, from, len(s.raw)})
		return nil
	})
	if err != nil {
		return err
	}
	s.most = max(1, maxFetchBytes/(read/len(s.keys)+1))
	slices.SortFunc(s.order, func(a, b fetched) int { return a.i - b.i })
	s.docs, s.given = s.docs[:0], 0
	for _, f := range s.order {
		s.docs = append(s.docs, bsonx.Doc(s.raw[f.from:f.to:f.to]))
	}
	return nil
}

func (s *fetchSource) Close() error { return s.it.Close() }

// paths are the index paths that the documents hold.
func (l *layout) paths(ix *store.Index) []string {
	var out []string
	for i, f := range l.fields {
		if f.needed {
			out = append(out, ix.Fields[i].Path)
		}
	}
	return out
}

// includePaths is the projection that leaves these paths only.
func includePaths(paths []string, id bool) *Projection {
	b := newDoc().set("_id", bsonx.Bool(id))
	for _, p := range paths {
		b.set(p, bsonx.Bool(true))
	}
	p, err := ParseProjection(b.doc(), nil)
	if err != nil {
		// index paths are valid and none is inside of another that is needed
		return &Projection{}
	}
	return p
}
