package query

import (
	"context"
	"slices"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/store"
)

// orPlans looks for a $or whose clauses can each be answered by an index of their own. best is
// the best single index, if any: a $or that bounds that one is better read by it.
func (pl *planner) orPlans(best *candidate) bool {
	for i, c := range pl.conj {
		or, ok := c.node.(*orNode)
		if !ok || best != nil && best.boundedBy(c) {
			continue
		}
		rest := slices.Concat(pl.conj[:i], pl.conj[i+1:])
		var subs []*Plan
		for _, clause := range or.clauses {
			sub := planner{c: pl.c, r: Request{Needs: pl.needsWithID()}, conj: slices.Concat(clause, rest)}
			var best *candidate
			for _, ix := range pl.c.Indexes {
				cand, ok := sub.candidate(ix, false)
				if ok && cand.bounded() && (best == nil || cand.better(best)) {
					best = cand
				}
			}
			if best == nil {
				break
			}
			subs = append(subs, sub.finish(best))
		}
		if len(subs) > 0 && len(subs) == len(or.clauses) {
			pl.subs = subs
			return true
		}
	}
	return false
}

// needsWithID: the clauses' results are told apart by _id, and a sort still to come reads its fields.
func (pl *planner) needsWithID() []string {
	if pl.r.Needs == nil {
		return nil
	}
	needs := append([]string{"_id"}, pl.r.Needs...)
	if pl.r.Sort != nil {
		for _, f := range pl.r.Sort.Fields {
			needs = append(needs, f.Path)
		}
	}
	return needs
}

func (pl *planner) or() *Plan {
	return &Plan{Collection: pl.c, Index: pl.subs[0].Index, req: pl.r, subs: pl.subs, SortProvided: pl.r.Sort == nil, stats: &scanStats{}}
}

// orSource gives the documents of several plans, each document once.
type orSource struct {
	plans []*Plan
	snap  *store.Snap
	src   Source
	seen  map[string]struct{} // encoded _ids
	key   []byte
	docs  []bsonx.Doc
}

func (s *orSource) Next(ctx context.Context) ([]bsonx.Doc, error) {
	for s.src != nil || len(s.plans) > 0 {
		if s.src == nil {
			s.src = s.plans[0].openScan(s.snap)
			s.plans = s.plans[1:]
		}
		docs, err := s.src.Next(ctx)
		if err != nil {
			return nil, err
		}
		if len(docs) == 0 {
			err := s.src.Close()
			s.src = nil
			if err != nil {
				return nil, err
			}
			continue
		}
		s.docs = s.docs[:0]
		for _, d := range docs {
			s.key = bsonx.AppendKey(s.key[:0], d.Get("_id"), false)
			if _, dup := s.seen[string(s.key)]; dup {
				continue
			}
			s.seen[string(s.key)] = struct{}{}
			s.docs = append(s.docs, d)
		}
		if len(s.docs) > 0 {
			return s.docs, nil
		}
	}
	return nil, nil
}

func (s *orSource) Close() error {
	if s.src == nil {
		return nil
	}
	err := s.src.Close()
	s.src = nil
	return err
}
