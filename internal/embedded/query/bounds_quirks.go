package query

import (
	"math"

	"mrbench/internal/embedded/bsonx"
)

// compare is the zone of a comparison. It keeps the rules of a 4.0 server, which in these
// cases gives other documents when it reads an index than when it reads the collection:
//
//   - {f: null} by an index finds null and missing, not undefined.
//   - $gte and $gt MaxKey, $lte and $lt MinKey by an index find the values of that type
//     (or nothing), where a collection scan finds everything of another type.
//   - $lt, $lte, $gt, $gte with an array by an index look at arrays inside arrays only.
//
// Under a negation the bounds follow what matching says, as they would else lose documents.
func (b zoneBuilder) compare(l *cmpLeaf, negated bool) zone {
	switch {
	case l.rhs.Type == typeNull:
		if l.op == opLT || l.op == opGT {
			return exactZone(nil)
		}
		set := point(bsonx.Null())
		if !negated {
			return exactZone(set)
		}
		both := union(set, point(bsonx.Undefined()))
		if b.multikey {
			return zone{both, set} // an empty array has the entry of undefined
		}
		return exactZone(both)
	case l.rhs.Type == typeMinKey:
		return b.compareEnd(l, negated, opGTE, opGT, opLTE)
	case l.rhs.Type == typeMaxKey:
		return b.compareEnd(l, negated, opLTE, opLT, opGTE)
	case l.rhs.Type == typeArray:
		if l.op == opEQ {
			return arrayPoint(l.rhs)
		}
		if negated {
			return unknownZone()
		}
		return zone{upper: cmpInterval(l.op, l.rhs)}
	case l.nan:
		if l.op == opLT || l.op == opGT {
			return exactZone(nil)
		}
		return exactZone(point(l.rhs))
	}
	return exactZone(cmpInterval(l.op, l.rhs))
}

// compareEnd is the zone of a comparison with MinKey or MaxKey: one operator says everything, one
// everything but that key, one the key itself, and the last nothing.
func (b zoneBuilder) compareEnd(l *cmpLeaf, negated bool, all, allBut, only cmpOp) zone {
	set := point(l.rhs)
	switch {
	case l.op == opEQ:
		return exactZone(set)
	case l.op == all:
		return exactZone(everything())
	case l.op == allBut:
		if b.multikey && negated {
			return zone{everything(), set.complement()}
		}
		return exactZone(set.complement())
	case l.op == only:
		if negated {
			return exactZone(everything())
		}
		return exactZone(set)
	case negated:
		if b.multikey {
			return zone{everything(), set.complement()}
		}
		return exactZone(set.complement())
	}
	return exactZone(nil)
}

// arrayPoint is where documents equal to an array have entries: at the array's first element
// (at undefined if it has none), or at the array itself where it is an element of another.
func arrayPoint(v bsonx.Value) zone {
	first := bsonx.Undefined()
	if it := v.Elems(); it.Next() {
		first = it.Value()
	}
	return zone{upper: union(point(first), point(v))}
}

// cmpInterval is the interval of a comparison inside its operand's bracket.
func cmpInterval(op cmpOp, v bsonx.Value) intervals {
	if op == opEQ {
		return point(v)
	}
	canon := bsonx.Canon(v.Type)
	lo, hi := bracketEnds(canon)
	if canon == bsonx.CanonNumber { // NaN is in no range
		ninf, inf := bsonx.Double(math.Inf(-1)), bsonx.Double(math.Inf(1))
		lo, hi = before(encode(ninf), ninf), after(encode(inf), inf)
	}
	k := encode(v)
	switch op {
	case opLT:
		hi = before(k, v)
	case opLTE:
		hi = after(k, v)
	case opGT:
		lo = after(k, v)
	case opGTE:
		lo = before(k, v)
	}
	return intervals{{lo, hi}}.normal()
}

// normal drops intervals that hold nothing.
func (a intervals) normal() intervals { return union(a.nonEmpty()) }

func (a intervals) nonEmpty() intervals {
	var out intervals
	for _, iv := range a {
		if string(iv.lo.pos) < string(iv.hi.pos) {
			out = append(out, iv)
		}
	}
	return out
}
