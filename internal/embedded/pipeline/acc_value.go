package pipeline

import (
	"mrbench/internal/embedded/bsonx"
)

// extremeColumn is $max (sign 1) and $min (-1). Null and missing are left out.
type extremeColumn struct {
	r    reader
	sign int
	v    values
}

func (c *extremeColumn) resize(n int)  { c.v.resize(n) }
func (c *extremeColumn) bytes() int64  { return c.v.bytes() }
func (c *extremeColumn) reset()        { c.v.reset() }
func (c *extremeColumn) clone() column { return &extremeColumn{r: c.r.clone(), sign: c.sign} }

func (c *extremeColumn) update(ids []uint32, docs []bsonx.Doc) error {
	for i, g := range ids {
		v, err := c.r.get(docs[i])
		if err != nil {
			return err
		}
		c.add(g, v)
	}
	return nil
}

func (c *extremeColumn) add(g uint32, v bsonx.Value) {
	if v.IsNullish() {
		return
	}
	if c.v.typ[g] == uint8(tMissing) {
		c.v.set(g, v)
		return
	}
	best := c.v.get(g)
	var cmp int
	if v.Type == tInt32 && best.Type == tInt32 {
		a, b := v.Int32(), best.Int32()
		switch {
		case a > b:
			cmp = 1
		case a < b:
			cmp = -1
		}
	} else {
		cmp = bsonx.CompareAgg(v, best)
	}
	if c.sign*cmp > 0 {
		c.v.set(g, v)
	}
}

func (c *extremeColumn) result(g uint32) (bsonx.Value, error) { return orNull(c.v.get(g)), nil }

func orNull(v bsonx.Value) bsonx.Value {
	if v.IsMissing() {
		return null
	}
	return v
}

func (c *extremeColumn) partial(dst []byte, g uint32) []byte { return putValue(dst, c.v.get(g)) }

func (c *extremeColumn) merge(g uint32, src []byte) ([]byte, error) {
	v, rest, err := takeValue(src)
	if err == nil {
		c.add(g, v)
	}
	return rest, err
}

// endColumn is $first and $last.
type endColumn struct {
	r    reader
	last bool
	v    values
	seen []bool
}

func (c *endColumn) resize(n int) {
	c.v.resize(n)
	c.seen = grow(c.seen, n)
}
func (c *endColumn) bytes() int64  { return c.v.bytes() + int64(cap(c.seen)) }
func (c *endColumn) clone() column { return &endColumn{r: c.r.clone(), last: c.last} }
func (c *endColumn) reset() {
	c.v.reset()
	c.seen = wipe(c.seen)
}

func (c *endColumn) update(ids []uint32, docs []bsonx.Doc) error {
	for i, g := range ids {
		if c.seen[g] && !c.last {
			continue
		}
		v, err := c.r.get(docs[i])
		if err != nil {
			return err
		}
		c.seen[g] = true
		c.v.set(g, v)
	}
	return nil
}

func (c *endColumn) result(g uint32) (bsonx.Value, error) { return orNull(c.v.get(g)), nil }

func (c *endColumn) partial(dst []byte, g uint32) []byte {
	return putValue(dst, c.v.get(g))
}

func (c *endColumn) merge(g uint32, src []byte) ([]byte, error) {
	v, rest, err := takeValue(src)
	if err == nil && (c.last || !c.seen[g]) {
		c.seen[g] = true
		c.v.set(g, v)
	}
	return rest, err
}
