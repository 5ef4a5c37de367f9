package pipeline

import (
	"encoding/binary"
	"math"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
)

// percentileColumn is $percentile and $median. It keeps all values, so that the result is exact.
type percentileColumn struct {
	r      reader
	p      *expr.Percentiles
	values [][]float64
	held   int64
}

func parsePercentileColumn(ps *parser, op string, arg bsonx.Value) (column, error) {
	notObject := int32(7429703)
	if op == "$median" {
		notObject = 7436100
	}
	input, p, err := expr.ParsePercentiles(op, arg, notObject, func(v bsonx.Value) (bsonx.Value, bool, error) {
		e, err := ps.compile(v)
		if err != nil {
			return null, false, err
		}
		c, ok := e.Constant()
		return c, ok, nil
	})
	if err != nil {
		return nil, err
	}
	e, err := ps.compile(input)
	if err != nil {
		return nil, err
	}
	return &percentileColumn{r: newReader(e), p: p}, nil
}

func (c *percentileColumn) resize(n int) { c.values = grow(c.values, n) }
func (c *percentileColumn) bytes() int64 { return 24*int64(cap(c.values)) + c.held }
func (c *percentileColumn) reset()       { c.values, c.held = wipe(c.values), 0 }
func (c *percentileColumn) clone() column {
	return &percentileColumn{r: c.r.clone(), p: c.p}
}

func (c *percentileColumn) update(ids []uint32, docs []bsonx.Doc) error {
	for i, g := range ids {
		v, err := c.r.get(docs[i])
		if err != nil {
			return err
		}
		if v.IsNumber() {
			f, _ := v.AsFloat()
			c.add(g, f)
		}
	}
	return nil
}

func (c *percentileColumn) add(g uint32, f float64) {
	before := cap(c.values[g])
	c.values[g] = append(c.values[g], f)
	c.held += 8 * int64(cap(c.values[g])-before)
}

func (c *percentileColumn) result(g uint32) (bsonx.Value, error) { return c.p.Of(c.values[g]), nil }

func (c *percentileColumn) partial(dst []byte, g uint32) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(c.values[g])))
	for _, f := range c.values[g] {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(f))
	}
	return dst
}

func (c *percentileColumn) merge(g uint32, src []byte) ([]byte, error) {
	n, rest, err := takeUvarint(src)
	if err != nil || uint64(len(rest))/8 < n {
		return nil, errPartial
	}
	for range n {
		c.add(g, math.Float64frombits(binary.LittleEndian.Uint64(rest)))
		rest = rest[8:]
	}
	return rest, nil
}
