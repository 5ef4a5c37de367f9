package pipeline

import (
	"encoding/binary"
	"math"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
)

// stdDevColumn is $stdDevPop and $stdDevSamp.
type stdDevColumn struct {
	r      reader
	sample bool
	s      []expr.StdDev
}

func (c *stdDevColumn) resize(n int)  { c.s = grow(c.s, n) }
func (c *stdDevColumn) bytes() int64  { return 24 * int64(cap(c.s)) }
func (c *stdDevColumn) reset()        { c.s = wipe(c.s) }
func (c *stdDevColumn) clone() column { return &stdDevColumn{r: c.r.clone(), sample: c.sample} }

func (c *stdDevColumn) update(ids []uint32, docs []bsonx.Doc) error {
	for i, g := range ids {
		v, err := c.r.get(docs[i])
		if err != nil {
			return err
		}
		c.s[g].Add(v)
	}
	return nil
}

func (c *stdDevColumn) result(g uint32) (bsonx.Value, error) { return c.s[g].Result(c.sample), nil }

func (c *stdDevColumn) partial(dst []byte, g uint32) []byte {
	n, mean, m2 := c.s[g].State()
	dst = appendInt(dst, n)
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(mean))
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(m2))
}

func (c *stdDevColumn) merge(g uint32, src []byte) ([]byte, error) {
	n, rest, err := takeInt(src)
	if err != nil || len(rest) < 16 {
		return nil, errPartial
	}
	var o expr.StdDev
	o.SetState(n, math.Float64frombits(binary.LittleEndian.Uint64(rest)), math.Float64frombits(binary.LittleEndian.Uint64(rest[8:])))
	c.s[g].Merge(&o)
	return rest[16:], nil
}
