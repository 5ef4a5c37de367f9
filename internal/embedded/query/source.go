package query

import (
	"context"

	"mrbench/internal/embedded/bsonx"
)

// Source hands out raw documents in blocks. A block's documents are valid until the next Next or Close.
// Next returns an empty block at the end.
type Source interface {
	Next(ctx context.Context) ([]bsonx.Doc, error)
	Close() error
}

// Sizes of blocks in documents: small at first, so that a reader of one document is served at once.
const (
	firstBlock = 16
	maxBlock   = 1024
	// A scan that finds nothing looks at its context after so many steps.
	checkEvery = 1024
	// A block ends early when its documents take so many bytes.
	maxBlockBytes = 4 << 20
)

// block collects documents in one arena that is reused.
type block struct {
	arena []byte
	ends  []int
	docs  []bsonx.Doc
	size  int // how many documents this block takes
	start int // how many the first one takes; 0: firstBlock
}

func (b *block) reset() {
	switch {
	case b.size == 0:
		b.size = firstBlock
		if b.start > 0 {
			b.size = b.start
		}
	case b.size < maxBlock:
		b.size *= 2
	}
	b.arena, b.ends, b.docs = b.arena[:0], b.ends[:0], b.docs[:0]
}

func (b *block) add(doc bsonx.Doc) {
	b.arena = append(b.arena, doc...)
	b.ends = append(b.ends, len(b.arena))
}

func (b *block) full() bool { return len(b.ends) >= b.size || len(b.arena) >= maxBlockBytes }

func (b *block) finish() []bsonx.Doc {
	from := 0
	for _, end := range b.ends {
		b.docs = append(b.docs, bsonx.Doc(b.arena[from:end:end]))
		from = end
	}
	return b.docs
}

// emptySource is the answer of a filter that can't match.
type emptySource struct{}

func (emptySource) Next(context.Context) ([]bsonx.Doc, error) { return nil, nil }
func (emptySource) Close() error                              { return nil }

// cutSource applies skip and limit.
type cutSource struct {
	src         Source
	skip, limit int64 // limit < 0: none
}

func (s *cutSource) Next(ctx context.Context) ([]bsonx.Doc, error) {
	for s.limit != 0 {
		docs, err := s.src.Next(ctx)
		if err != nil || len(docs) == 0 {
			return nil, err
		}
		if n := int64(len(docs)); s.skip >= n {
			s.skip -= n
			continue
		}
		docs = docs[s.skip:]
		s.skip = 0
		if s.limit >= 0 {
			docs = docs[:min(int64(len(docs)), s.limit)]
			s.limit -= int64(len(docs))
		}
		return docs, nil
	}
	return nil, nil
}

func (s *cutSource) Close() error { return s.src.Close() }

// errOf is the context's error as a command reports it.
func errOf(ctx context.Context) error { return context.Cause(ctx) }
