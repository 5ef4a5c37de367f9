package pipeline

import (
	"context"

	"mrbench/internal/embedded/query"
)

// head is what the front of the pipeline became: one request to the collection.
type head struct {
	filter *query.Filter
	sort   *query.SortSpec
	skip   int64
	limit  int64 // -1: none; 0: nothing comes
	needs  []string
	taken  []parsed // the stages that went into it
	rest   []parsed
}

func (p *Pipeline) unoptimized() []parsed { return p.stages }

// optimize moves $match forward, joins neighbours and takes the front into the head.
func (p *Pipeline) optimize() {
	st := append([]parsed(nil), p.stages...)
	st = moveMatches(st)
	st = joinSorts(st)
	h := head{limit: -1}
	i := 0
	if len(st) == 0 || !generates(st[0].stage) {
		i = h.take(st)
	}
	h.taken, h.rest = st[:i], limitSorts(st[i:])
	h.needs = needs(h.rest)
	p.head = h
}

// generates: the stage makes documents without reading the collection's.
func generates(s stage) bool {
	_, ok := s.(generator)
	return ok
}

// generator is a first stage that does not read the collection.
type generator interface {
	generate(ctx context.Context, r *run) (query.Source, error)
}

// take moves stages from the front into the head for as long as the request can say them.
func (h *head) take(st []parsed) int {
	i := 0
	for ; i < len(st); i++ {
		switch s := st[i].stage.(type) {
		case *matchStage:
			if h.skip > 0 || h.limit >= 0 {
				return i
			}
			h.filter = query.And(h.filter, s.f)
		case *sortStage:
			if h.sort != nil || h.skip > 0 || h.limit >= 0 {
				return i
			}
			h.sort = s.spec
		case *skipStage:
			h.skip += s.n
			if h.limit >= 0 {
				h.limit = max(0, h.limit-s.n)
			}
		case *limitStage:
			if h.limit < 0 || s.n < h.limit {
				h.limit = s.n
			}
		default:
			return i
		}
	}
	return i
}

// moveMatches lets each $match go in front of stages that do not touch what it reads,
// and joins matches that meet.
func moveMatches(st []parsed) []parsed {
	for i := 1; i < len(st); i++ {
		m, ok := st[i].stage.(*matchStage)
		if !ok {
			continue
		}
		j := i
		for j > 0 && passes(m, st[j-1].stage) {
			st[j], st[j-1] = st[j-1], st[j]
			j--
		}
	}
	return st
}

// passes: the match may be done before the stage.
func passes(m *matchStage, before stage) bool {
	if m.whole {
		_, sort := before.(*sortStage)
		return sort
	}
	switch s := before.(type) {
	case *sortStage:
		return true
	case *projectStage:
		return s.keeps(m.paths)
	case *unwindStage:
		for _, p := range m.paths {
			if overlap(p, s.path) || s.index != "" && overlap(p, s.index) {
				return false
			}
		}
		return true
	}
	return false
}

// joinSorts makes one of two neighbouring sorts: the later fields decide, the earlier ones break ties.
func joinSorts(st []parsed) []parsed {
	var out []parsed
	for _, s := range st {
		b, ok := s.stage.(*sortStage)
		if n := len(out); ok && n > 0 {
			if a, ok := out[n-1].stage.(*sortStage); ok {
				out[n-1] = parsed{s.name, s.arg, b.over(a)}
				continue
			}
		}
		out = append(out, s)
	}
	return out
}

// limitSorts tells sorts how many documents are wanted of them.
func limitSorts(st []parsed) []parsed {
	out := append([]parsed(nil), st...)
	for i, s := range out {
		sort, ok := s.stage.(*sortStage)
		if !ok {
			continue
		}
		skip := int64(0)
	ahead:
		for _, next := range out[i+1:] {
			switch n := next.stage.(type) {
			case *skipStage:
				skip += n.n
			case *limitStage:
				limited := *sort
				limited.limit = skip + n.n
				out[i].stage = &limited
				break ahead
			default:
				break ahead
			}
		}
	}
	return out
}

// openHead opens the front of the pipeline and gives the stages that are left.
func (p *Pipeline) openHead(ctx context.Context, r *run) (query.Source, []parsed, error) {
	h := &p.head
	if len(h.rest) > 0 {
		if g, ok := h.rest[0].stage.(generator); ok {
			src, err := g.generate(ctx, r)
			return src, h.rest[1:], err
		}
	}
	c := r.snap.Collection(p.o.NS)
	if p.o.NS.Coll == "" || c == nil || h.limit == 0 {
		return &listSource{}, h.rest, nil
	}
	plan, err := query.MakePlan(r.snap, c, p.request(r))
	if err != nil {
		return nil, nil, err
	}
	if len(h.rest) > 0 {
		if g, ok := h.rest[0].stage.(*groupStage); ok {
			src, err := g.openPlan(r, plan, h)
			return src, h.rest[1:], err
		}
	}
	src, err := plan.Open(r.snap)
	return src, h.rest, err
}

// request asks for what the head wants.
func (p *Pipeline) request(r *run) query.Request {
	h := &p.head
	return query.Request{
		Filter: h.filter, Sort: h.sort, Needs: h.needs, Hint: p.o.Hint,
		Skip: h.skip, Limit: max(0, h.limit), Spill: r.sorting(),
	}
}
