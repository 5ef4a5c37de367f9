package pipeline

import (
	"encoding/binary"
	"math"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
)

// covarianceColumn is $covariancePop and $covarianceSamp, of windows.
type covarianceColumn struct {
	e      *expr.Expr // an array of two
	sample bool
	s      []covariance
}

type covariance struct {
	n         int64
	mx, my, c float64
}

func parseCovariance(ps *parser, op string, arg bsonx.Value) (column, error) {
	e, err := ps.compile(arg)
	if err != nil {
		return nil, err
	}
	return &covarianceColumn{e: e, sample: op == "$covarianceSamp"}, nil
}

func (c *covarianceColumn) resize(n int) { c.s = grow(c.s, n) }
func (c *covarianceColumn) bytes() int64 { return 32 * int64(cap(c.s)) }
func (c *covarianceColumn) reset()       { c.s = wipe(c.s) }
func (c *covarianceColumn) clone() column {
	return &covarianceColumn{e: c.e.Clone(), sample: c.sample}
}

func (c *covarianceColumn) update(ids []uint32, docs []bsonx.Doc) error {
	for i, g := range ids {
		v, err := c.e.Eval(docs[i])
		if err != nil {
			return err
		}
		if v.Type != tArray || v.Doc().Len() != 2 {
			continue
		}
		x, y := v.Doc().Get("0"), v.Doc().Get("1")
		if x.IsNumber() && y.IsNumber() {
			fx, _ := x.AsFloat()
			fy, _ := y.AsFloat()
			c.s[g].join(covariance{n: 1, mx: fx, my: fy})
		}
	}
	return nil
}

func (a *covariance) join(b covariance) {
	if b.n == 0 {
		return
	}
	n := a.n + b.n
	dx, dy := b.mx-a.mx, b.my-a.my
	share := float64(b.n) / float64(n)
	a.c += b.c + dx*dy*float64(a.n)*share
	a.mx += dx * share
	a.my += dy * share
	a.n = n
}

func (c *covarianceColumn) result(g uint32) (bsonx.Value, error) {
	n := c.s[g].n
	if c.sample {
		n--
	}
	if n <= 0 {
		return null, nil
	}
	return bsonx.Double(c.s[g].c / float64(n)), nil
}

func (c *covarianceColumn) partial(dst []byte, g uint32) []byte {
	dst = appendInt(dst, c.s[g].n)
	for _, f := range [...]float64{c.s[g].mx, c.s[g].my, c.s[g].c} {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(f))
	}
	return dst
}

func (c *covarianceColumn) merge(g uint32, src []byte) ([]byte, error) {
	n, rest, err := takeInt(src)
	if err != nil || len(rest) < 3*8 {
		return nil, errPartial
	}
	f := func(i int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(rest[8*i:])) }
	c.s[g].join(covariance{n: n, mx: f(0), my: f(1), c: f(2)})
	return rest[3*8:], nil
}
