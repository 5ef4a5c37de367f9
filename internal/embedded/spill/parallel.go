package spill

import "encoding/binary"

// writing is a run on its way to disk. There is at most one at a time.
type writing struct {
	mem  arena // empty again when done is closed, for the next filling
	n    int64
	err  error
	done chan struct{}
}

// writeBeside starts to write the sorter's arena and returns another, empty one. settle must have been called.
func (s *Sorter) writeBeside(path string) arena {
	var spare arena
	if s.away != nil {
		spare = s.away.mem
	}
	w := &writing{mem: s.mem, done: make(chan struct{})}
	s.away = w
	go func() {
		defer close(w.done)
		w.n, w.err = s.writeRun(path, &w.mem)
	}()
	return spare
}

// settle waits for the run on its way, and returns its error.
func (s *Sorter) settle() error {
	w := s.away
	if w == nil {
		return nil
	}
	<-w.done
	s.spilled += w.n
	w.n = 0
	return w.err
}

// Blocks that go from the merge to its reader.
const (
	aheadBlock  = 256 << 10 // bytes of pairs, as in a run file
	aheadBlocks = 4
)

// ahead merges in a goroutine of its own. Pairs come in blocks of lengths, key, value; used blocks go back.
type ahead struct {
	it       *Iter
	full     chan []byte
	free     chan []byte
	quit     chan struct{}
	finished chan struct{}

	block, rest []byte
	key, val    []byte
	err         error
	stopped     bool
}

func (it *Iter) readAhead() {
	a := &ahead{
		it: it, full: make(chan []byte, aheadBlocks), free: make(chan []byte, aheadBlocks),
		quit: make(chan struct{}), finished: make(chan struct{}),
	}
	for range aheadBlocks {
		a.free <- make([]byte, 0, aheadBlock)
	}
	it.ahead = a
	go a.merge()
}

func (a *ahead) merge() {
	defer close(a.finished)
	defer close(a.full)
	for more := true; more; {
		var b []byte
		select {
		case b = <-a.free:
		case <-a.quit:
			return
		}
		for more && len(b) < aheadBlock {
			if more = a.it.step(); more {
				b = binary.AppendUvarint(b, uint64(len(a.it.key)))
				b = binary.AppendUvarint(b, uint64(len(a.it.val)))
				b = append(append(b, a.it.key...), a.it.val...)
			}
		}
		a.full <- b // there is room for all of them
	}
}

func (a *ahead) next() bool {
	for len(a.rest) == 0 {
		if a.stopped {
			return false
		}
		if a.block != nil {
			if cap(a.block) > 2*aheadBlock { // made for a large pair
				a.block = make([]byte, 0, aheadBlock)
			}
			a.free <- a.block[:0]
			a.block = nil
		}
		b, ok := <-a.full
		if !ok {
			<-a.finished
			a.err = a.it.err
			return false
		}
		a.block, a.rest = b, b
	}
	k, n := binary.Uvarint(a.rest)
	v, m := binary.Uvarint(a.rest[n:])
	b := a.rest[n+m:]
	a.key, a.val, a.rest = b[:k:k], b[k:k+v:k+v], b[k+v:]
	return true
}

// stop ends the merge and waits for it. Idempotent.
func (a *ahead) stop() {
	if !a.stopped {
		a.stopped = true
		close(a.quit)
		<-a.finished
		a.rest, a.block = nil, nil
	}
}
