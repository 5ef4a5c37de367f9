package pipeline

import (
	"container/heap"
	"context"
	"encoding/binary"
	"math/rand/v2"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/spill"
)

type sampleStage struct{ n int64 }

func parseSample(_ *parser, arg bsonx.Value) (stage, error) {
	if arg.Type != tDoc {
		return nil, errf(28745, "the $sample stage specification must be an object")
	}
	size := bsonx.Value{}
	for it := arg.Elems(); it.Next(); {
		if string(it.Name()) != "size" {
			return nil, errf(28748, "unrecognized option to $sample: %s", it.Name())
		}
		size = it.Value()
	}
	if size.IsMissing() {
		return nil, errf(28749, "$sample stage must specify a size")
	}
	n, ok := wholeNumber(size)
	if !ok {
		return nil, errf(28746, "size argument to $sample must be a number")
	}
	if n < 0 {
		return nil, errf(28747, "size argument to $sample must not be negative")
	}
	return &sampleStage{n}, nil
}

func (s *sampleStage) deps(*deps) bool { return false }

func (s *sampleStage) open(r *run, in query.Source) (query.Source, error) {
	return &sampleSource{r: r, in: in, n: s.n}, nil
}

// sampleSource gives each document a random number and keeps the n smallest: in a heap while that fits
// in memory, else in a sorter.
type sampleSource struct {
	r      *run
	in     query.Source
	n      int64
	begun  bool
	heap   sampleHeap
	held   int64
	sorter *spill.Sorter
	it     *spill.Iter
	out    block
}

type sampled struct {
	key uint64
	doc bsonx.Doc
}

type sampleHeap []sampled

func (h sampleHeap) Len() int           { return len(h) }
func (h sampleHeap) Less(i, j int) bool { return h[i].key > h[j].key }
func (h sampleHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *sampleHeap) Push(x any)        { *h = append(*h, x.(sampled)) }
func (h *sampleHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

func (s *sampleSource) Next(ctx context.Context) ([]bsonx.Doc, error) {
	if !s.begun {
		s.begun = true
		if err := s.consume(ctx); err != nil {
			return nil, err
		}
	}
	s.out.reset()
	for !s.out.full() {
		switch {
		case s.it != nil:
			if s.n == 0 || !s.it.Next() {
				return s.out.docs, s.it.Err()
			}
			s.n--
			s.out.add(s.it.Value())
		case len(s.heap) == 0:
			return s.out.docs, nil
		default:
			s.out.add(heap.Pop(&s.heap).(sampled).doc)
		}
	}
	return s.out.docs, nil
}

func (s *sampleSource) consume(ctx context.Context) error {
	for s.n > 0 {
		docs, err := s.in.Next(ctx)
		if err != nil {
			return err
		}
		if len(docs) == 0 {
			break
		}
		for _, d := range docs {
			if err := s.take(rand.Uint64(), d); err != nil {
				return err
			}
		}
	}
	if s.sorter == nil {
		return nil
	}
	it, err := s.sorter.Sort()
	s.it = it
	return err
}

func (s *sampleSource) take(key uint64, d bsonx.Doc) error {
	if s.sorter != nil {
		return s.add(key, d)
	}
	if int64(len(s.heap)) == s.n {
		if key >= s.heap[0].key {
			return nil
		}
		old := &s.heap[0]
		s.held += int64(len(d) - len(old.doc))
		*old = sampled{key, append(old.doc[:0], d...)}
		heap.Fix(&s.heap, 0)
		return nil
	}
	heap.Push(&s.heap, sampled{key, append(bsonx.Doc(nil), d...)})
	if s.held += int64(len(d)) + 48; s.held <= s.r.memory() {
		return nil
	}
	if !s.r.o.AllowDiskUse {
		return errMemory("$sample")
	}
	s.sorter = spill.NewSorter(s.r.spill())
	for _, e := range s.heap {
		if err := s.add(e.key, e.doc); err != nil {
			return err
		}
	}
	s.heap = nil
	return nil
}

func (s *sampleSource) add(key uint64, d bsonx.Doc) error {
	var k [8]byte
	binary.BigEndian.PutUint64(k[:], key)
	return s.sorter.Add(k[:], d)
}

func (s *sampleSource) Close() error {
	if s.it != nil {
		_ = s.it.Close()
	}
	if s.sorter != nil {
		_ = s.sorter.Close()
	}
	return s.in.Close()
}
