package pipeline

import (
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/query"
)

type limitStage struct{ n int64 }

type skipStage struct{ n int64 }

func parseLimit(_ *parser, arg bsonx.Value) (stage, error) {
	n, ok := wholeNumber(arg)
	if !ok {
		return nil, errf(15957, "the limit must be specified as a number")
	}
	if n <= 0 {
		return nil, errf(15958, "the limit must be positive")
	}
	return &limitStage{n}, nil
}

func parseSkip(_ *parser, arg bsonx.Value) (stage, error) {
	n, ok := wholeNumber(arg)
	if !ok {
		return nil, errf(15972, "Argument to $skip must be a number")
	}
	if n < 0 {
		return nil, errf(15956, "Argument to $skip cannot be negative")
	}
	return &skipStage{n}, nil
}

// wholeNumber takes any number, cutting a fraction off as MongoDB does.
func wholeNumber(v bsonx.Value) (int64, bool) {
	if !v.IsNumber() {
		return 0, false
	}
	return v.TruncInt64()
}

func (s *limitStage) deps(*deps) bool { return false }
func (s *skipStage) deps(*deps) bool  { return false }

func (s *limitStage) open(_ *run, in query.Source) (query.Source, error) {
	return &cutSource{in: in, left: s.n}, nil
}

func (s *skipStage) open(_ *run, in query.Source) (query.Source, error) {
	return &cutSource{in: in, skip: s.n, left: -1}, nil
}

// cutSource leaves out the first skip documents and gives left of the others (-1: all).
type cutSource struct {
	in         query.Source
	skip, left int64
}

func (s *cutSource) Next(ctx context.Context) ([]bsonx.Doc, error) {
	for s.left != 0 {
		docs, err := s.in.Next(ctx)
		if err != nil || len(docs) == 0 {
			return nil, err
		}
		n := min(s.skip, int64(len(docs)))
		s.skip -= n
		if docs = docs[n:]; len(docs) == 0 {
			continue
		}
		if s.left > 0 {
			docs = docs[:min(s.left, int64(len(docs)))]
			s.left -= int64(len(docs))
		}
		return docs, nil
	}
	return nil, nil
}

func (s *cutSource) Close() error { return s.in.Close() }
