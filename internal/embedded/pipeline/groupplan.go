package pipeline

import (
	"slices"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/store"
)

// openPlan opens a $group that stands right behind the plan of a collection, the cheapest way: by the counters,
// by runs of index entries, by runs of documents in key order, or by a table.
func (s *groupStage) openPlan(r *run, plan *query.Plan, h *head) (query.Source, error) {
	if n, ok := s.countAll(r, plan, h); ok {
		return &listSource{docs: n}, nil
	}
	path, isPath := s.id.FieldPath()
	grouped := isPath && leads(plan, path)
	if grouped && s.counts() {
		if src, err := s.openEntries(r, plan, h); src != nil || err != nil {
			return src, err
		}
	}
	plan, err := s.withoutSort(r, plan, h)
	if err != nil {
		return nil, err
	}
	grouped = isPath && leads(plan, path)
	if src := s.openParallel(r, plan, h); src != nil {
		return src, nil
	}
	in, err := plan.Open(r.snap)
	if err != nil {
		return nil, err
	}
	if grouped && plan.SortProvided {
		return &sortedGroups{in: in, g: s.newGrouper(), limit: r.memory()}, nil
	}
	return s.open(r, in)
}

// withoutSort plans again without a sort that would cost much and change nothing.
func (s *groupStage) withoutSort(r *run, plan *query.Plan, h *head) (*query.Plan, error) {
	if plan.SortProvided || h.skip > 0 || h.limit >= 0 || s.ordered() {
		return plan, nil
	}
	unsorted := *h
	unsorted.sort = nil
	p := Pipeline{o: *r.o, head: unsorted}
	return query.MakePlan(r.snap, plan.Collection, p.request(r))
}

// openEntries counts by runs of index entries, nil when the entries are not enough.
func (s *groupStage) openEntries(r *run, plan *query.Plan, h *head) (query.Source, error) {
	it, ok := plan.OpenEntries(r.snap)
	if !ok {
		return nil, nil
	}
	// A filter without bounds: it may be one that nothing can match.
	if !r.pays(r.snap.Stats(plan.Collection).Entries[plan.Index.Name]) || plan.Bounds == nil && !h.filter.Empty() {
		return s.entryGroups(plan, it), nil
	}
	if err := it.Close(); err != nil {
		return nil, err
	}
	pieces, err := splitAll(plan.Bounds, entryEdges(r.snap, plan), plan.Index.Fields[0].Desc)
	if err != nil {
		return nil, err
	}
	if plan.Reverse {
		slices.Reverse(pieces)
	}
	return &parallelEntries{pieces: pieces, workers: r.workers(), open: func(b store.Bound) *entryGroups {
		return s.entryGroups(plan, r.snap.Entries(plan.Collection, plan.Index, []store.Bound{b}, plan.Reverse))
	}}, nil
}

func (s *groupStage) entryGroups(plan *query.Plan, it *store.EntryIter) *entryGroups {
	e := &entryGroups{it: it, multi: len(plan.Index.Fields) > 1, desc: plan.Index.Fields[0].Desc}
	for _, a := range s.accs {
		e.names = append(e.names, a.name)
		e.cols = append(e.cols, a.col.clone().(*countColumn))
	}
	return e
}

// leads: the plan gives equal values of the path together, because it walks an index that
// begins with it. In an index with arrays an entry is not the value.
func leads(plan *query.Plan, path string) bool {
	return plan.Index != nil && !plan.Index.IsMultikey() && !plan.Index.Hashed && plan.Index.Fields[0].Path == path
}

// countAll answers {_id: <constant>} with counts only, over all of a collection, from the store's exact counters.
func (s *groupStage) countAll(r *run, plan *query.Plan, h *head) ([]bsonx.Doc, bool) {
	id, ok := s.id.Constant()
	if !ok || !s.counts() || !h.filter.Empty() || plan.Bounds != nil || plan.Index != nil && (plan.Index.Sparse || plan.Index.Partial != nil) {
		return nil, false
	}
	n := max(0, r.snap.Stats(plan.Collection).Documents-h.skip)
	if h.limit >= 0 {
		n = min(n, h.limit)
	}
	if n == 0 {
		return nil, true
	}
	d := bsonx.AppendElem(bsonx.BeginDoc(nil), "_id", orNull(id))
	for _, a := range s.accs {
		d = bsonx.AppendElem(d, a.name, a.col.(*countColumn).times(n))
	}
	return []bsonx.Doc{bsonx.EndDoc(d, 0)}, true
}
