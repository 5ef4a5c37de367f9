package query

import (
	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
)

// expr gives the zone of an aggregation expression that must be true. Comparisons of the
// path with a constant follow the order of all BSON types. The index can't tell a missing
// field from null, but the comparison can: what holds for one of them only is in upper only.
func (b zoneBuilder) expr(e *expr.Expr) zone {
	if v, ok := e.Constant(); ok {
		if v.Truthy() {
			return exactZone(everything())
		}
		return exactZone(nil)
	}
	name, args, ok := e.Operator()
	if !ok {
		return unknownZone()
	}
	switch name {
	case "$and", "$or":
		zones := make([]zone, len(args))
		for i, a := range args {
			zones[i] = b.expr(a)
		}
		if name == "$and" {
			return b.all(zones)
		}
		return anyOf(zones)
	case "$not":
		if len(args) != 1 {
			return unknownZone()
		}
		z := b.expr(args[0])
		return zone{z.lower.complement(), z.upper.complement()}
	case "$eq", "$ne", "$lt", "$lte", "$gt", "$gte":
		if len(args) == 2 {
			return b.exprCompare(name, args[0], args[1])
		}
	}
	return unknownZone()
}

func (b zoneBuilder) exprCompare(name string, x, y *expr.Expr) zone {
	path, ok := x.FieldPath()
	c, isConst := y.Constant()
	if !ok {
		// the constant stands first: turn the comparison round
		if path, ok = y.FieldPath(); !ok {
			return unknownZone()
		}
		c, isConst = x.Constant()
		name = map[string]string{"$lt": "$gt", "$lte": "$gte", "$gt": "$lt", "$gte": "$lte", "$eq": "$eq", "$ne": "$ne"}[name]
	}
	if !isConst || path != b.path || c.IsMissing() {
		return unknownZone()
	}
	c = c.Clone()
	k := encode(c)
	all := everything()[0]
	var set intervals
	switch name {
	case "$eq":
		set = point(c)
	case "$ne":
		set = point(c).complement()
	case "$lt":
		set = intervals{{all.lo, before(k, c)}}.normal()
	case "$lte":
		set = intervals{{all.lo, after(k, c)}}.normal()
	case "$gt":
		set = intervals{{after(k, c), all.hi}}.normal()
	case "$gte":
		set = intervals{{before(k, c), all.hi}}.normal()
	}
	holds := func(v bsonx.Value) bool { return exprHolds(name, bsonx.CompareAgg(v, c)) }
	undef, null := point(bsonx.Undefined()), point(bsonx.Null())
	set = set.minus(union(undef, null))
	if holds(bsonx.Undefined()) {
		set = union(set, undef)
	}
	z := exactZone(set)
	isNull, isMissing := holds(bsonx.Null()), holds(bsonx.Value{})
	if isNull || isMissing {
		z.upper = union(z.upper, null)
	}
	if isNull && isMissing {
		z.lower = union(z.lower, null)
	}
	return z
}

func exprHolds(name string, c int) bool {
	switch name {
	case "$eq":
		return c == 0
	case "$ne":
		return c != 0
	case "$lt":
		return c < 0
	case "$lte":
		return c <= 0
	case "$gt":
		return c > 0
	}
	return c >= 0
}
