package pipeline

import (
	"mrbench/internal/embedded/bsonx"
)

// slider runs an accumulator over moving windows. Documents enter at the back; instead of taking them out at the front, which
// sums of doubles and extremes do not allow, it keeps for each document of the front part the state of all
// that follow it there. Every document enters each part once, so a window's size does not matter.
type slider struct {
	*frame
	// again: the state is as large as the window, so it is made anew when a document leaves.
	again bool

	front, back, both column
	// front holds [lo, mid), the document j in group mid-1-j; back holds the rest of [lo, hi) in group 0. mid is 0 when
	// front is empty.
	lo, mid, hi int
	known       bool
	cached      bsonx.Value
	part        []byte
	one         [1]bsonx.Doc
	id          [1]uint32
}

func newSlider(f *frame, c column, again bool) *slider {
	return &slider{frame: f.clone(), again: again, front: c.clone(), back: c.clone(), both: c.clone()}
}

func (s *slider) begin(p *partition) {
	s.frame.begin(p)
	s.restart(0)
}

// restart begins anew with an empty window at i.
func (s *slider) restart(i int) {
	if s.mid > 0 { // else it was never used
		s.front.reset()
		s.mid = 0
	}
	s.back.reset()
	s.back.resize(1)
	s.lo, s.hi, s.known = i, i, false
}

func (s *slider) bytes() int64 { return s.front.bytes() + s.back.bytes() + int64(cap(s.part)) }

func (s *slider) at(i int) (bsonx.Value, error) {
	lo, hi, err := s.window(i)
	if err != nil {
		return null, err
	}
	if s.known && lo == s.lo && hi == s.hi {
		return s.cached, nil
	}
	s.known = false
	if lo >= s.hi || s.again && lo > s.lo {
		s.restart(lo)
	}
	for ; s.hi < hi; s.hi++ {
		if err := s.take(s.back, 0, s.hi); err != nil {
			return null, err
		}
	}
	// What leaves is in front, or back must become front. A back that begins where the window does is right as it is.
	if lo > max(s.lo, s.mid) {
		if err := s.flip(lo); err != nil {
			return null, err
		}
	}
	s.lo = lo
	v, err := s.result()
	if err != nil {
		return null, err
	}
	s.cached.Type, s.cached.Data = v.Type, append(s.cached.Data[:0], v.Data...)
	s.known = true
	return s.cached, nil
}

// take adds document i to a group.
func (s *slider) take(c column, group uint32, i int) error {
	d, err := s.p.doc(i)
	if err != nil {
		return err
	}
	s.one[0], s.id[0] = d, group
	return c.update(s.id[:], s.one[:])
}

// flip makes the window from lo on the front part.
func (s *slider) flip(lo int) error {
	s.front.reset()
	s.front.resize(s.hi - lo)
	for j := s.hi - 1; j >= lo; j-- {
		g := uint32(s.hi - 1 - j)
		if err := s.take(s.front, g, j); err != nil {
			return err
		}
		if g > 0 {
			s.part = s.front.partial(s.part[:0], g-1)
			if _, err := s.front.merge(g, s.part); err != nil {
				return err
			}
		}
	}
	s.mid = s.hi
	s.back.reset()
	s.back.resize(1)
	return nil
}

func (s *slider) result() (bsonx.Value, error) {
	switch {
	case s.lo >= s.mid:
		return s.back.result(0)
	case s.mid == s.hi:
		return s.front.result(uint32(s.mid - 1 - s.lo))
	}
	s.both.reset()
	s.both.resize(1)
	s.part = s.front.partial(s.part[:0], uint32(s.mid-1-s.lo))
	if _, err := s.both.merge(0, s.part); err != nil {
		return null, err
	}
	s.part = s.back.partial(s.part[:0], 0)
	if _, err := s.both.merge(0, s.part); err != nil {
		return null, err
	}
	return s.both.result(0)
}
