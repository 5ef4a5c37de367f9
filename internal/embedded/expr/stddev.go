package expr

import (
	"math"

	"mrbench/internal/embedded/bsonx"
)

// StdDev computes standard deviations in one pass (Welford). The zero value is
// ready.
type StdDev struct {
	n    int64
	mean float64
	m2   float64
}

// Add takes a number in; other values are ignored.
func (s *StdDev) Add(v bsonx.Value) {
	if !isNumber(v.Type) {
		return
	}
	x := float(v)
	s.n++
	d := x - s.mean
	if d != 0 || math.IsNaN(d) {
		s.mean += d / float64(s.n)
		s.m2 += d * (x - s.mean)
	}
}

// Merge adds another partial result.
func (s *StdDev) Merge(o *StdDev) {
	if o.n == 0 {
		return
	}
	if s.n == 0 {
		*s = *o
		return
	}
	d := s.mean - o.mean
	n := s.n + o.n
	if d != 0 || math.IsNaN(d) {
		s.mean = (float64(s.n)*s.mean + float64(o.n)*o.mean) / float64(n)
		s.m2 += o.m2 + d*d*(float64(s.n)*float64(o.n)/float64(n))
	} else {
		s.m2 += o.m2
	}
	s.n = n
}

// Result is null with fewer than one value (two for a sample).
func (s *StdDev) Result(sample bool) bsonx.Value {
	n := s.n
	if sample {
		n--
	}
	if n <= 0 {
		return null
	}
	return bsonx.Double(math.Sqrt(s.m2 / float64(n)))
}

// State and SetState carry a partial result through a file.
func (s *StdDev) State() (n int64, mean, m2 float64) { return s.n, s.mean, s.m2 }

// SetState restores what State gave.
func (s *StdDev) SetState(n int64, mean, m2 float64) { s.n, s.mean, s.m2 = n, mean, m2 }
