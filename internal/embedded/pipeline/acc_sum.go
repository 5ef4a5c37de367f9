package pipeline

import (
	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
)

// sumColumn is $sum and, with counts, $avg. Sums of whole numbers are int64s; a group
// that meets a double, a decimal or an overflow gets a Sum, and its int64 becomes the number of that.
type sumColumn struct {
	r     reader
	n     []int64
	state []sumState
	wide  []expr.Sum
	avg   bool
	count []int64
}

type sumState uint8

const (
	sumLong sumState = 1 << iota // an int64 was seen
	sumWide                      // n is an index into wide
)

func (c *sumColumn) resize(n int) {
	c.n, c.state = grow(c.n, n), grow(c.state, n)
	if c.avg {
		c.count = grow(c.count, n)
	}
}

func (c *sumColumn) bytes() int64 {
	return 9*int64(cap(c.n)) + 56*int64(cap(c.wide)) + 8*int64(cap(c.count))
}

func (c *sumColumn) reset() {
	c.n, c.state, c.wide, c.count = wipe(c.n), wipe(c.state), c.wide[:0], wipe(c.count)
}

func (c *sumColumn) clone() column { return &sumColumn{r: c.r.clone(), avg: c.avg} }

func (c *sumColumn) update(ids []uint32, docs []bsonx.Doc) error {
	for i, g := range ids {
		v, err := c.r.get(docs[i])
		if err != nil {
			return err
		}
		c.add(g, v)
	}
	return nil
}

func (c *sumColumn) add(g uint32, v bsonx.Value) {
	if !v.IsNumber() {
		return
	}
	if c.avg {
		c.count[g]++
	}
	if c.state[g]&sumWide == 0 {
		n, whole := int64(0), true
		switch v.Type {
		case tInt32:
			n = int64(v.Int32())
		case tInt64:
			n = v.Int64()
			c.state[g] |= sumLong
		default:
			whole = false
		}
		if whole {
			s := c.n[g] + n
			if (s > c.n[g]) == (n > 0) || n == 0 {
				c.n[g] = s
				return
			}
		}
		c.widen(g)
	}
	c.wide[c.n[g]].Add(v)
}

// widen moves a group to a Sum.
func (c *sumColumn) widen(g uint32) *expr.Sum {
	if c.state[g]&sumWide == 0 {
		s := c.sum(g)
		c.state[g] |= sumWide
		c.n[g] = int64(len(c.wide))
		c.wide = append(c.wide, s)
	}
	return &c.wide[c.n[g]]
}

func (c *sumColumn) sum(g uint32) expr.Sum {
	if c.state[g]&sumWide != 0 {
		return c.wide[c.n[g]]
	}
	var s expr.Sum
	s.AddInt(c.n[g])
	if c.state[g]&sumLong != 0 {
		s.Widen(tInt64)
	}
	return s
}

func (c *sumColumn) result(g uint32) (bsonx.Value, error) {
	if c.avg {
		s := c.sum(g)
		return s.Mean(c.count[g]), nil
	}
	if c.state[g] == 0 {
		return intOrLong(c.n[g]), nil
	}
	s := c.sum(g)
	return s.Result(), nil
}

func (c *sumColumn) partial(dst []byte, g uint32) []byte {
	s := c.sum(g)
	dst = s.Append(dst)
	if c.avg {
		dst = appendInt(dst, c.count[g])
	}
	return dst
}

func (c *sumColumn) merge(g uint32, src []byte) ([]byte, error) {
	s, rest, ok := expr.ReadSum(src)
	if !ok {
		return nil, errPartial
	}
	if c.avg {
		n, r, err := takeInt(rest)
		if err != nil {
			return nil, err
		}
		c.count[g] += n
		rest = r
	}
	if n, t, ok := s.Whole(); ok && c.state[g]&sumWide == 0 {
		t2 := c.n[g] + n
		if (t2 > c.n[g]) == (n > 0) || n == 0 {
			c.n[g] = t2
			if t == tInt64 {
				c.state[g] |= sumLong
			}
			return rest, nil
		}
	}
	c.widen(g).Merge(&s)
	return rest, nil
}
