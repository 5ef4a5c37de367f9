package query

import (
	"slices"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/spill"
	"mrbench/internal/embedded/store"
)

// Request is what a reader wants from a collection.
type Request struct {
	Filter *Filter   // nil: everything
	Sort   *SortSpec // nil: any order
	// Needs: the dotted paths the consumer reads. nil: the whole document. A non-nil, even empty, list
	// allows a covered plan, whose documents have those paths only (those of the index, in index order).
	Needs []string
	Hint  bsonx.Value // missing, index name or key pattern, or {$natural: ±1}
	Min   bsonx.Doc   // inclusive, with Max and Hint as in find
	Max   bsonx.Doc   // exclusive
	Skip  int64       // find's; 0 none. Applied by Open.
	Limit int64       // find's; 0 none. Applied by Open.
	Spill spill.Options
}

// Plan says how a Request is answered.
type Plan struct {
	Collection *store.Collection
	Index      *store.Index // nil: collection scan. The _id index is a bounded walk of the records themselves.
	// Bounds are what is scanned, in index order. nil: everything.
	Bounds       []store.Bound
	Reverse      bool
	Covered      bool    // the entries alone answer: no document is fetched
	Residual     *Filter // still to be checked on what the scan gives, nil if the bounds say it all
	SortProvided bool    // scan order is Request.Sort; otherwise Open sorts

	req     Request
	empty   bool        // the bounds hold nothing
	sets    []intervals // by index field: what explain shows
	entries []entryTest // by index fields beyond the bounds: tests of the encoded entry
	layout  *layout     // how a covered document is built
	subs    []*Plan     // instead of all this: plans whose results are united
	stats   *scanStats
}

// entryTest: the encoded value of an index field must be in a set (in index order).
type entryTest struct {
	field int
	set   intervals
}

// MakePlan chooses how to read. Errors: BadValue for a hint that names no usable index, or for
// min and max without an index of their shape.
//
// The rules, in this order: more leading fields bound to single values, a bounded next field, the
// sort given by the index, the entries alone sufficing, fewer index fields. Without a
// condition and without a sort the collection is scanned.
func MakePlan(_ *store.Snap, c *store.Collection, r Request) (*Plan, error) {
	pl := planner{c: c, r: r}
	if r.Filter != nil {
		pl.conj = r.Filter.conj
	}
	if len(r.Min) > 5 || len(r.Max) > 5 {
		return pl.minMax()
	}
	hint, natural, err := pl.hint()
	if err != nil {
		return nil, err
	}
	if natural != 0 {
		return pl.collScan(natural < 0), nil
	}
	if dir, ok := r.Sort.natural(); ok {
		return pl.collScan(dir < 0), nil
	}
	if hint != nil {
		cand, ok := pl.candidate(hint, true)
		if !ok {
			return nil, badHint()
		}
		return pl.finish(cand), nil
	}
	var best *candidate
	for _, ix := range c.Indexes {
		cand, ok := pl.candidate(ix, false)
		if ok && cand.useful() && (best == nil || cand.better(best)) {
			best = cand
		}
	}
	switch {
	case best != nil && (best.narrow() || pl.r.Limit > 0 && best.sorted):
		return pl.finish(best), nil
	case pl.orPlans(best):
		return pl.or(), nil
	case best != nil:
		return pl.finish(best), nil
	}
	return pl.collScan(false), nil
}

func badHint() error {
	return mongoerr.New(mongoerr.BadValue, "error processing query: planner returned error: bad hint")
}

type planner struct {
	c    *store.Collection
	r    Request
	conj []conjunct
	subs []*Plan // one for each clause of a $or, once orPlans found them
}

// hint finds the index that the request insists on; natural is the direction of {$natural: ±1}.
func (pl *planner) hint() (ix *store.Index, natural int, err error) {
	h := pl.r.Hint
	switch {
	case h.IsMissing():
		return nil, 0, nil
	case h.Type == typeString:
		ix = pl.c.IndexByName(h.Str())
		if ix == nil && h.Str() == "$natural" {
			return nil, 1, nil
		}
	case h.Type == typeObject:
		d := h.Doc()
		if d.Len() == 0 {
			return nil, 0, nil
		}
		if n, ok := d.Get("$natural").TruncInt64(); ok {
			if n < 0 {
				return nil, -1, nil
			}
			return nil, 1, nil
		}
		for _, cand := range pl.c.Indexes {
			if bsonx.CompareDocs(keyPattern(cand), d) == 0 {
				ix = cand
				break
			}
		}
	default:
		return nil, 0, mongoerr.New(mongoerr.FailedToParse, "hint must be either a string or nested object")
	}
	if ix == nil {
		return nil, 0, badHint()
	}
	return ix, 0, nil
}

// keyPattern is the index's key document, as listIndexes shows it.
func keyPattern(ix *store.Index) bsonx.Doc {
	if k := ix.Spec.Get("key"); k.Type == typeObject {
		return k.Doc()
	}
	b := newDoc()
	for _, f := range ix.Fields {
		dir := int32(1)
		if f.Desc {
			dir = -1
		}
		b.set(f.Path, bsonx.Int32(dir))
	}
	return b.doc()
}

func (pl *planner) collScan(reverse bool) *Plan {
	p := &Plan{Collection: pl.c, Reverse: reverse, req: pl.r, stats: &scanStats{}}
	if !pl.r.Filter.Empty() {
		p.Residual = pl.r.Filter
	}
	_, natural := pl.r.Sort.natural()
	p.SortProvided = pl.r.Sort == nil || natural
	return p
}

// finish makes a plan of the chosen candidate.
func (pl *planner) finish(cd *candidate) *Plan {
	p := &Plan{
		Collection: pl.c, Index: cd.ix, Bounds: cd.bounds, Reverse: cd.reverse, Covered: cd.covered,
		SortProvided: cd.sorted, req: pl.r, empty: cd.empty, sets: cd.sets, entries: cd.entries, stats: &scanStats{},
	}
	if len(cd.residual) > 0 {
		p.Residual = &Filter{conj: cd.residual}
	}
	if p.Covered {
		p.layout = newLayout(cd.ix, cd.needs)
	}
	return p
}

// minMax plans a scan between two keys of one index, as find's min and max ask for.
func (pl *planner) minMax() (*Plan, error) {
	fail := mongoerr.New(mongoerr.BadValue, "error processing query: planner returned error: unable to find relevant index for max/min query")
	hint, natural, err := pl.hint()
	if err != nil || natural != 0 {
		return nil, fail
	}
	var ix *store.Index
	for _, cand := range pl.c.Indexes {
		if (hint == nil || hint == cand) && sameFields(cand, pl.r.Min) && sameFields(cand, pl.r.Max) {
			ix = cand
			break
		}
	}
	if ix == nil {
		if hint != nil {
			fail = mongoerr.New(51174, "hint provided does not use the key pattern of min or max")
		}
		return nil, fail
	}
	key := func(d bsonx.Doc) []byte {
		if len(d) <= 5 {
			return nil
		}
		var k []byte
		i := 0
		for it := d.Iter(); it.Next(); i++ {
			k = bsonx.AppendKey(k, it.Value(), ix.Fields[i].Desc)
		}
		return k
	}
	b := store.Bound{Lo: key(pl.r.Min), Hi: key(pl.r.Max)}
	if b.Lo != nil && b.Hi != nil && string(b.Lo) > string(b.Hi) {
		return nil, mongoerr.New(51175, "max must be greater than min")
	}
	cd := &candidate{pl: pl, ix: ix, sets: make([]intervals, len(ix.Fields)), bounds: []store.Bound{b}, residual: pl.conj}
	for i := range cd.sets {
		cd.sets[i] = everything()
	}
	cd.order()
	cd.cover()
	return pl.finish(cd), nil
}

func sameFields(ix *store.Index, d bsonx.Doc) bool {
	if len(d) <= 5 {
		return true
	}
	var names []string
	for it := d.Iter(); it.Next(); {
		names = append(names, string(it.Name()))
	}
	return slices.EqualFunc(ix.Fields, names, func(f store.IndexField, n string) bool { return f.Path == n })
}
