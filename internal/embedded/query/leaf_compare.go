package query

import (
	"cmp"

	"mrbench/internal/embedded/bsonx"
)

type cmpOp uint8

const (
	opEQ cmpOp = iota
	opLT
	opLTE
	opGT
	opGTE
)

// holds says whether an order of value against operand satisfies the operator.
func (op cmpOp) holds(c int) bool {
	switch op {
	case opEQ:
		return c == 0
	case opLT:
		return c < 0
	case opLTE:
		return c <= 0
	case opGT:
		return c > 0
	default:
		return c >= 0
	}
}

// cmpLeaf is $eq, $lt, $lte, $gt or $gte. Only values of the operand's own type
// bracket match, with these exceptions of a 4.0 server: null also equals
// undefined and missing; MinKey and MaxKey match everything of another bracket
// except by $eq; NaN equals NaN and is in no range.
type cmpLeaf struct {
	op    cmpOp
	rhs   bsonx.Value
	canon int
	nan   bool
	isInt bool
	n     int64
}

func newCmp(op cmpOp, rhs bsonx.Value) *cmpLeaf {
	l := &cmpLeaf{op: op, rhs: rhs.Clone(), canon: bsonx.Canon(rhs.Type), nan: rhs.IsNaN()}
	switch rhs.Type {
	case typeInt32:
		l.isInt, l.n = true, int64(rhs.Int32())
	case typeInt64:
		l.isInt, l.n = true, rhs.Int64()
	}
	return l
}

func (l *cmpLeaf) clone() leaf { return l }

func (l *cmpLeaf) test(v bsonx.Value, _ *matcher) bool {
	if l.isInt {
		switch v.Type {
		case typeInt32:
			return l.op.holds(cmp.Compare(int64(v.Int32()), l.n))
		case typeInt64:
			return l.op.holds(cmp.Compare(v.Int64(), l.n))
		}
	}
	if l.rhs.Type == typeNull {
		return v.IsNullish() && (l.op != opLT && l.op != opGT)
	}
	if v.IsMissing() || bsonx.Canon(v.Type) != l.canon {
		return (l.rhs.Type == typeMinKey || l.rhs.Type == typeMaxKey) && l.op != opEQ
	}
	if l.nan || v.IsNaN() {
		return l.nan && v.IsNaN() && l.op != opLT && l.op != opGT
	}
	return l.op.holds(bsonx.Compare(v, l.rhs))
}
