package pipeline

import (
	"bytes"
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/spill"
)

func (s *groupStage) open(r *run, in query.Source) (query.Source, error) {
	return &groupSource{r: r, in: in, g: s.newGrouper()}, nil
}

// groupSource groups everything at the first Next, then hands out the groups: from memory those seen last
// first, as servers tend to; after a spill in key order.
type groupSource struct {
	r      *run
	in     query.Source
	g      *grouper
	begun  bool
	left   int // groups not yet handed out, from memory
	sorter *spill.Sorter
	it     *spill.Iter
	more   bool // it stands on a pair
	key    []byte
	out    block
}

func (s *groupSource) Next(ctx context.Context) ([]bsonx.Doc, error) {
	if !s.begun {
		s.begun = true
		if err := s.consume(ctx); err != nil {
			return nil, err
		}
	}
	if ctx.Err() != nil {
		return nil, errOf(ctx)
	}
	s.out.reset()
	if s.it != nil {
		return s.merged()
	}
	for s.left > 0 && !s.out.full() {
		s.left--
		d, err := s.g.appendDoc(s.out.start(), uint32(s.left))
		if err != nil {
			return nil, err
		}
		s.out.end(d)
	}
	return s.out.docs, nil
}

func (s *groupSource) consume(ctx context.Context) error {
	for {
		docs, err := s.in.Next(ctx)
		if err != nil {
			return err
		}
		if len(docs) == 0 {
			break
		}
		if err := s.g.add(docs); err != nil {
			return err
		}
		if err := s.checkMemory(); err != nil {
			return err
		}
	}
	return s.finish()
}

func (s *groupSource) checkMemory() error {
	if s.g.bytes() <= s.r.memory() {
		return nil
	}
	if !s.r.o.AllowDiskUse {
		return errMemory("$group")
	}
	if s.sorter == nil {
		s.sorter = spill.NewSorter(s.r.spill())
	}
	return s.g.spill(s.sorter)
}

func (s *groupSource) finish() error {
	if s.sorter == nil {
		s.left = s.g.table.len()
		return nil
	}
	if err := s.g.spill(s.sorter); err != nil {
		return err
	}
	it, err := s.sorter.Sort()
	if err != nil {
		return err
	}
	s.it, s.more = it, it.Next()
	return it.Err()
}

// merged makes a block of groups from the sorted partial states.
func (s *groupSource) merged() ([]bsonx.Doc, error) {
	g := s.g
	g.reset()
	n := 0
	var ids []bsonx.Value
	for s.more && n < blockDocs && g.bytes() < blockBytes {
		s.key = append(s.key[:0], s.it.Key()...)
		for _, c := range g.cols {
			c.resize(n + 1)
		}
		first := true
		for s.more && bytes.Equal(s.it.Key(), s.key) {
			v, rest, err := takeValue(s.it.Value())
			if err != nil {
				return nil, err
			}
			if first {
				ids, first = append(ids, v.Clone()), false
			}
			if err := g.mergeState(uint32(n), rest); err != nil {
				return nil, err
			}
			s.more = s.it.Next()
		}
		n++
	}
	if err := s.it.Err(); err != nil {
		return nil, err
	}
	for i := range n {
		d, err := g.appendResult(s.out.start(), ids[i], uint32(i))
		if err != nil {
			return nil, err
		}
		s.out.end(d)
	}
	return s.out.docs, nil
}

func (s *groupSource) Close() error {
	var err error
	if s.it != nil {
		err = s.it.Close()
	}
	if s.sorter != nil {
		if e := s.sorter.Close(); err == nil {
			err = e
		}
	}
	if e := s.in.Close(); err == nil {
		err = e
	}
	return err
}
