package query

import (
	"bytes"
	"container/heap"
	"context"
	"slices"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/spill"
)

// NewSort is a blocking sort with spill; limit 0 means all (a limit keeps only the top).
// Documents with equal keys keep the order in which src gives them.
func NewSort(src Source, s *SortSpec, limit int64, o spill.Options) Source {
	return &sortSource{src: src, spec: s, limit: limit, opts: o}
}

type sortSource struct {
	src    Source
	spec   *SortSpec
	limit  int64
	opts   spill.Options
	block  block
	sorter *spill.Sorter // nil: the top was enough
	it     *spill.Iter
	top    topHeap
	sorted bool
	given  int64
}

func (s *sortSource) Next(ctx context.Context) ([]bsonx.Doc, error) {
	if !s.sorted {
		if err := s.fill(ctx); err != nil {
			return nil, err
		}
		s.sorted = true
	}
	if ctx.Err() != nil {
		return nil, errOf(ctx)
	}
	s.block.reset()
	for !s.block.full() && (s.limit <= 0 || s.given < s.limit) {
		if s.it == nil {
			if len(s.top.items) == 0 {
				break
			}
			s.block.add(s.top.items[0].doc)
			s.top.items = s.top.items[1:]
		} else {
			if !s.it.Next() {
				if err := s.it.Err(); err != nil {
					return nil, err
				}
				break
			}
			s.block.add(s.it.Value())
		}
		s.given++
	}
	return s.block.finish(), nil
}

// fill reads the whole input: into a heap of the best while they fit into memory, else into the sorter.
func (s *sortSource) fill(ctx context.Context) error {
	if s.limit <= 0 || s.limit > maxTop {
		s.sorter = spill.NewSorter(s.opts)
	}
	s.top.limit = int(s.limit)
	var key []byte
	for {
		docs, err := s.src.Next(ctx)
		if err != nil {
			return err
		}
		if len(docs) == 0 {
			break
		}
		for _, d := range docs {
			key = s.spec.AppendKey(key[:0], d)
			if s.sorter != nil {
				err = s.sorter.Add(key, d)
			} else if s.top.offer(key, d); s.opts.MemoryLimit > 0 && s.top.bytes > s.opts.MemoryLimit {
				err = s.overflow()
			}
			if err != nil {
				return err
			}
		}
	}
	if s.sorter == nil {
		slices.SortFunc(s.top.items, func(a, b topItem) int { return a.compare(b) })
		return nil
	}
	it, err := s.sorter.Sort()
	s.it = it
	return err
}

// overflow moves what the heap has to a sorter, in the order it came.
func (s *sortSource) overflow() error {
	s.sorter = spill.NewSorter(s.opts)
	slices.SortFunc(s.top.items, func(a, b topItem) int { return int(a.seq - b.seq) })
	for _, it := range s.top.items {
		if err := s.sorter.Add(it.key, it.doc); err != nil {
			return err
		}
	}
	s.top = topHeap{}
	return nil
}

func (s *sortSource) Close() error {
	err := s.src.Close()
	if s.it != nil {
		if e := s.it.Close(); err == nil {
			err = e
		}
		s.it = nil
	}
	if s.sorter != nil {
		if e := s.sorter.Close(); err == nil {
			err = e
		}
		s.sorter = nil
	}
	s.top = topHeap{}
	s.sorted = true
	return err
}

// A limit beyond this many documents sorts everything instead of keeping a heap.
const maxTop = 100_000

// topHeap keeps the first limit documents of the order; the last of them is at the root.
type topHeap struct {
	items []topItem
	limit int
	seq   int64
	bytes int64
}

type topItem struct {
	key []byte
	doc bsonx.Doc
	seq int64
}

func (a topItem) compare(b topItem) int {
	if c := bytes.Compare(a.key, b.key); c != 0 {
		return c
	}
	return int(a.seq - b.seq)
}

func (h *topHeap) Len() int           { return len(h.items) }
func (h *topHeap) Less(i, j int) bool { return h.items[i].compare(h.items[j]) > 0 }
func (h *topHeap) Swap(i, j int)      { h.items[i], h.items[j] = h.items[j], h.items[i] }
func (h *topHeap) Push(x any)         { h.items = append(h.items, x.(topItem)) }
func (h *topHeap) Pop() any {
	last := h.items[len(h.items)-1]
	h.items = h.items[:len(h.items)-1]
	return last
}

// itemOverhead is what an item takes in memory beside its key and document, in bytes.
const itemOverhead = 96

func (h *topHeap) offer(key []byte, doc bsonx.Doc) {
	h.seq++
	size := int64(len(key) + len(doc) + itemOverhead)
	if len(h.items) < h.limit {
		heap.Push(h, topItem{slices.Clone(key), slices.Clone(doc), h.seq})
		h.bytes += size
		return
	}
	worst := &h.items[0]
	if bytes.Compare(key, worst.key) >= 0 {
		return
	}
	h.bytes += size - int64(len(worst.key)+len(worst.doc)+itemOverhead)
	worst.key = append(worst.key[:0], key...)
	worst.doc = append(worst.doc[:0], doc...)
	worst.seq = h.seq
	heap.Fix(h, 0)
}
