package pipeline

import (
	"context"
	"errors"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/query"
)

type unionStage struct{ p *Pipeline }

func parseUnionWith(ps *parser, arg bsonx.Value) (stage, error) {
	coll, pipe := arg, bsonx.Value{Type: tArray, Data: bsonx.Empty}
	if arg.Type == tDoc {
		coll = bsonx.Value{}
		for it := arg.Elems(); it.Next(); {
			switch string(it.Name()) {
			case "coll":
				coll = it.Value()
			case "pipeline":
				pipe = it.Value()
			default:
				return nil, errf(40415, "BSON field '$unionWith.%s' is an unknown field.", it.Name())
			}
		}
	}
	if coll.Type != tString {
		return nil, errf(9, "the $unionWith stage specification must be an object or string, but found %s", typeName(arg))
	}
	o := *ps.o
	o.NS.Coll, o.Hint = coll.Str(), bsonx.Value{}
	p, err := ps.nested(pipe, o, ps.scope, false)
	if err != nil {
		return nil, err
	}
	return &unionStage{p}, nil
}

// The stages behind read both inputs alike, but only the first one's needs are pushed down.
func (s *unionStage) deps(*deps) bool { return false }

func (s *unionStage) open(r *run, in query.Source) (query.Source, error) {
	return &unionSource{r: r, in: in, p: s.p}, nil
}

type unionSource struct {
	r      *run
	in     query.Source
	p      *Pipeline
	second query.Source
}

func (s *unionSource) Next(ctx context.Context) ([]bsonx.Doc, error) {
	if s.second == nil {
		docs, err := s.in.Next(ctx)
		if err != nil || len(docs) > 0 {
			return docs, err
		}
		if s.second, err = s.p.Run(ctx, s.r.snap); err != nil {
			s.second = nil
			return nil, err
		}
	}
	return s.second.Next(ctx)
}

func (s *unionSource) Close() error {
	err := s.in.Close()
	if s.second != nil {
		err = errors.Join(err, s.second.Close())
	}
	return err
}
