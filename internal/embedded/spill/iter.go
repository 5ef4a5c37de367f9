package spill

import "bytes"

// Iter walks the merged pairs in order. Key and Value are valid until the next Next.
type Iter struct {
	srcs []merged
	tree []int // a loser tree: tree[0] is the winner, tree[i] the loser of the match at node i
	key  []byte
	val  []byte
	on   bool
	err  error
	done bool

	ahead *ahead // nil: the caller's goroutine merges
}

// merged is a source and the pair it stands on.
type merged struct {
	src    source
	prefix uint64
	key    []byte
	val    []byte
	end    bool
}

func newIter(s *Sorter) (*Iter, error) {
	it := &Iter{}
	add := func(src source) error {
		it.srcs = append(it.srcs, merged{src: src})
		return it.advance(len(it.srcs) - 1)
	}
	for _, path := range s.runs {
		src, err := openRun(s.o.FS, path)
		if err == nil {
			err = add(src)
		}
		if err != nil {
			_ = it.Close()
			return nil, err
		}
	}
	if err := add(&memSource{a: &s.mem}); err != nil {
		return nil, err
	}
	it.build()
	return it, nil
}

// advance moves source i to its next pair.
func (it *Iter) advance(i int) error {
	m := &it.srcs[i]
	k, v, ok, err := m.src.next()
	if err != nil {
		return err
	}
	if m.end = !ok; ok {
		m.key, m.val, m.prefix = k, v, prefix8(k)
	}
	return nil
}

// less orders sources by the pair they stand on, equal keys by their age.
func (it *Iter) less(a, b int) bool {
	x, y := &it.srcs[a], &it.srcs[b]
	switch {
	case x.end || y.end:
		return !x.end
	case x.prefix != y.prefix:
		return x.prefix < y.prefix
	}
	if c := bytes.Compare(x.key, y.key); c != 0 {
		return c < 0
	}
	return a < b
}

func (it *Iter) build() {
	n := len(it.srcs)
	it.tree = make([]int, max(n, 1))
	winners := make([]int, 2*n)
	for i := range n {
		winners[n+i] = i
	}
	for node := n - 1; node > 0; node-- {
		a, b := winners[2*node], winners[2*node+1]
		if it.less(b, a) {
			a, b = b, a
		}
		winners[node], it.tree[node] = a, b
	}
	if n > 1 {
		it.tree[0] = winners[1]
	}
}

// replay lets source i, which has moved, play again from its leaf to the root.
func (it *Iter) replay(i int) {
	n := len(it.srcs)
	w := i
	for node := (n + i) / 2; node > 0; node /= 2 {
		if it.less(it.tree[node], w) {
			it.tree[node], w = w, it.tree[node]
		}
	}
	it.tree[0] = w
}

// Next goes to the next pair; false at the end or on an error.
func (it *Iter) Next() bool {
	if it.ahead != nil {
		return it.ahead.next()
	}
	return it.step()
}

// step merges one pair.
func (it *Iter) step() bool {
	if it.err != nil || it.done {
		return false
	}
	w := it.tree[0]
	if it.on {
		if it.err = it.advance(w); it.err != nil {
			return false
		}
		if len(it.srcs) > 1 {
			it.replay(w)
			w = it.tree[0]
		}
	}
	it.on = true
	m := &it.srcs[w]
	if m.end {
		it.done = true
		return false
	}
	it.key, it.val = m.key, m.val
	return true
}

// Key is valid until the next Next.
func (it *Iter) Key() []byte {
	if it.ahead != nil {
		return it.ahead.key
	}
	return it.key
}

// Value is valid until the next Next.
func (it *Iter) Value() []byte {
	if it.ahead != nil {
		return it.ahead.val
	}
	return it.val
}

// Err is what ended the walk early.
func (it *Iter) Err() error {
	if it.ahead != nil {
		return it.ahead.err
	}
	return it.err
}

// Close closes the files, which the sorter's Close removes. Idempotent.
func (it *Iter) Close() error {
	if it.ahead != nil {
		it.ahead.stop()
	}
	var first error
	for _, m := range it.srcs {
		if err := m.src.close(); err != nil && first == nil {
			first = err
		}
	}
	it.srcs = nil
	it.done = true
	return first
}
