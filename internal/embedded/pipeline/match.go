package pipeline

import (
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/query"
)

type matchStage struct {
	f     *query.Filter
	paths []string
	whole bool
}

func parseMatch(ps *parser, arg bsonx.Value) (stage, error) {
	if arg.Type != tDoc {
		return nil, errf(15959, "the match filter must be an expression in an object")
	}
	if err := allowedInMatch(arg.Doc()); err != nil {
		return nil, err
	}
	// The filter may keep pieces of its text.
	f, err := query.ParseFilter(arg.Clone().Doc(), ps.scope)
	if err != nil {
		return nil, err
	}
	m := &matchStage{f: f}
	m.whole = f.Deps(func(p string) { m.paths = append(m.paths, p) })
	return m, nil
}

// allowedInMatch refuses what a filter has elsewhere and a $match never: $where and the sorting geographic operators.
func allowedInMatch(d bsonx.Doc) error {
	for it := d.Iter(); it.Next(); {
		v := it.Value()
		switch name := string(it.Name()); name {
		case "$where":
			return errf(mongoerr.BadValue, "$where is not allowed in this context")
		case "$and", "$or", "$nor":
			if v.Type != tArray {
				continue
			}
			for el := v.Elems(); el.Next(); {
				if el.Value().Type != tDoc {
					continue
				}
				if err := allowedInMatch(el.Value().Doc()); err != nil {
					return err
				}
			}
		default:
			if v.Type != tDoc {
				continue
			}
			for _, op := range []string{"$near", "$nearSphere", "$geoNear"} {
				if !v.Doc().Get(op).IsMissing() {
					return errf(mongoerr.BadValue, "$geoNear, $near, and $nearSphere are not allowed in this context")
				}
			}
		}
	}
	return nil
}

func (m *matchStage) deps(d *deps) bool {
	if m.whole {
		d.whole = true
	}
	for _, p := range m.paths {
		d.add(p)
	}
	return false
}

func (m *matchStage) open(_ *run, in query.Source) (query.Source, error) {
	return &matchSource{in: in, f: m.f}, nil
}

type matchSource struct {
	in query.Source
	f  *query.Filter
}

func (s *matchSource) Next(ctx context.Context) ([]bsonx.Doc, error) {
	for {
		docs, err := s.in.Next(ctx)
		if err != nil || len(docs) == 0 {
			return nil, err
		}
		kept, err := s.filter(ctx, docs)
		if err != nil || len(kept) > 0 {
			return kept, err
		}
	}
}

func (s *matchSource) filter(ctx context.Context, docs []bsonx.Doc) ([]bsonx.Doc, error) {
	defer s.f.Watch(ctx)()
	kept := docs[:0]
	for _, d := range docs {
		ok, err := s.f.Match(d)
		if err != nil {
			return nil, err
		}
		if ok {
			kept = append(kept, d)
		}
	}
	return kept, nil
}

func (s *matchSource) Close() error { return s.in.Close() }
