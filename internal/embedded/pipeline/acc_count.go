package pipeline

import (
	"encoding/binary"
	"math"

	"mrbench/internal/embedded/bsonx"
)

// countColumn is $sum of a constant whole number.
type countColumn struct {
	by  bsonx.Value
	n   []int64
	buf [8]byte
}

func (c *countColumn) resize(n int) { c.n = grow(c.n, n) }
func (c *countColumn) bytes() int64 { return 8 * int64(cap(c.n)) }
func (c *countColumn) reset()       { c.n = wipe(c.n) }
func (c *countColumn) clone() column {
	return &countColumn{by: c.by}
}

func (c *countColumn) update(ids []uint32, _ []bsonx.Doc) error {
	for _, g := range ids {
		c.n[g]++
	}
	return nil
}

func (c *countColumn) result(g uint32) (bsonx.Value, error) { return c.times(c.n[g]), nil }

// times is n times the constant, in its type or the next that holds it; valid until the next call.
func (c *countColumn) times(n int64) bsonx.Value {
	by, _ := c.by.AsInt64()
	p := by * n
	if by != 0 && (p/by != n || by == -1 && n == math.MinInt64) {
		return bsonx.Double(float64(by) * float64(n))
	}
	if c.by.Type == tInt32 && p == int64(int32(p)) {
		binary.LittleEndian.PutUint32(c.buf[:], uint32(p))
		return bsonx.Value{Type: tInt32, Data: c.buf[:4]}
	}
	binary.LittleEndian.PutUint64(c.buf[:], uint64(p))
	return bsonx.Value{Type: tInt64, Data: c.buf[:]}
}

func (c *countColumn) partial(dst []byte, g uint32) []byte {
	return binary.AppendUvarint(dst, uint64(c.n[g]))
}

func (c *countColumn) merge(g uint32, src []byte) ([]byte, error) {
	n, rest, err := takeUvarint(src)
	c.n[g] += int64(n)
	return rest, err
}
