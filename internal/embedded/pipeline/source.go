package pipeline

import (
	"context"
	"errors"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/query"
)

// Sizes of the blocks that stages make.
const (
	blockDocs  = 1024
	blockBytes = 4 << 20
)

// errOf is what the end of ctx means to a client.
func errOf(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errf(mongoerr.MaxTimeMSExpired, "operation exceeded time limit")
	}
	if e := (*mongoerr.Error)(nil); errors.As(context.Cause(ctx), &e) {
		return e
	}
	return errf(mongoerr.Interrupted, "operation was interrupted")
}

// block collects documents that a stage makes; they stay valid until reset. A document that is
// finished never moves: when the arena grows, the old one lives on behind it.
type block struct {
	docs []bsonx.Doc
	buf  []byte
	from int
}

func (b *block) reset() { b.docs, b.buf = b.docs[:0], b.buf[:0] }

// start begins a document: append to the result and give it to end.
func (b *block) start() []byte {
	b.from = len(b.buf)
	return b.buf
}

func (b *block) end(buf []byte) {
	b.buf = buf
	b.docs = append(b.docs, bsonx.Doc(buf[b.from:len(buf):len(buf)]))
}

// undo drops the document that was begun.
func (b *block) undo() { b.buf = b.buf[:b.from] }

func (b *block) add(d bsonx.Doc) { b.end(append(b.start(), d...)) }

func (b *block) full() bool { return len(b.docs) >= blockDocs || len(b.buf) >= blockBytes }

// listSource hands out documents from memory.
type listSource struct {
	docs []bsonx.Doc
}

func (s *listSource) Next(ctx context.Context) ([]bsonx.Doc, error) {
	if ctx.Err() != nil {
		return nil, errOf(ctx)
	}
	n := min(len(s.docs), blockDocs)
	out := s.docs[:n]
	s.docs = s.docs[n:]
	return out, nil
}

func (s *listSource) Close() error { return nil }

// mapSource makes one document of each input document, or none.
type mapSource struct {
	in  query.Source
	fn  func(dst []byte, d bsonx.Doc) ([]byte, error) // errSkip: no document
	out block
}

var errSkip = errors.New("no document")

func (s *mapSource) Next(ctx context.Context) ([]bsonx.Doc, error) {
	for {
		docs, err := s.in.Next(ctx)
		if err != nil || len(docs) == 0 {
			return nil, err
		}
		s.out.reset()
		for _, d := range docs {
			buf, err := s.fn(s.out.start(), d)
			if errors.Is(err, errSkip) {
				s.out.undo()
				continue
			}
			if err != nil {
				return nil, err
			}
			if len(buf)-s.out.from > maxDocument {
				return nil, errTooLarge(len(buf) - s.out.from)
			}
			s.out.end(buf)
		}
		if len(s.out.docs) > 0 {
			return s.out.docs, nil
		}
	}
}

func (s *mapSource) Close() error { return s.in.Close() }

// maxDocument is how large a document between stages may be: what MongoDB allows plus its slack.
const maxDocument = 16<<20 + 16<<10

func errTooLarge(n int) error {
	return errf(mongoerr.BSONObjectTooLarge, "BSONObj size: %d is invalid. Size must be between 0 and %d", n, maxDocument)
}

// funcSource runs fn once, at the first Next, and hands out what it gives.
type funcSource struct {
	in    query.Source // closed with it; may be nil
	fn    func(ctx context.Context) (query.Source, error)
	src   query.Source
	begun bool
}

func (s *funcSource) Next(ctx context.Context) ([]bsonx.Doc, error) {
	if !s.begun {
		s.begun = true
		src, err := s.fn(ctx)
		if err != nil {
			return nil, err
		}
		s.src = src
	}
	if s.src == nil {
		return nil, nil
	}
	return s.src.Next(ctx)
}

func (s *funcSource) Close() error {
	var err error
	if s.src != nil {
		err = s.src.Close()
	}
	if s.in != nil {
		err = errors.Join(err, s.in.Close())
	}
	return err
}
