package query

import "mrbench/internal/embedded/bsonx"

// zone says where in an index on one path the entries of matching documents are.
//
//   - Every matching document has an entry in upper.
//   - Every document with an entry in lower matches.
//
// Where both are the same the bounds are exact: nothing is left to check.
type zone struct{ upper, lower intervals }

func unknownZone() zone          { return zone{upper: everything()} }
func exactZone(s intervals) zone { return zone{s, s} }

func (z zone) exact() bool { return z.upper.equal(z.lower) }

// zoneBuilder finds the zone of a predicate for one index path. multikey: some
// document has an array on the path, so it has several entries, or one that is not its value.
type zoneBuilder struct {
	path     string
	multikey bool
}

// dotted: a multikey index on a dotted path has entries that say little about one
// document (null for elements without the field), so nothing is exact there.
func (b zoneBuilder) dotted() bool {
	for i := range len(b.path) {
		if b.path[i] == '.' {
			return true
		}
	}
	return false
}

// node gives the zone of a predicate. negated: an odd number of negations is around it
// (a 4.0 server's own rules for bounds hold only without; see bounds_quirks.go).
func (b zoneBuilder) node(n node, negated bool) zone {
	switch n := n.(type) {
	case constNode:
		if n {
			return exactZone(everything())
		}
		return exactZone(nil)
	case *andNode:
		zones := make([]zone, len(n.kids))
		for i, k := range n.kids {
			zones[i] = b.node(k, negated)
		}
		return b.all(zones)
	case *orNode:
		zones := make([]zone, len(n.kids))
		for i, k := range n.kids {
			zones[i] = b.node(k, negated)
		}
		return anyOf(zones)
	case *notNode:
		z := b.node(n.kid, !negated)
		out := zone{upper: z.lower.complement()}
		if !b.multikey {
			out.lower = z.upper.complement()
		}
		return out
	case *pathNode:
		return b.pathNode(n, negated)
	case *exprNode:
		if b.multikey {
			return unknownZone()
		}
		return b.expr(n.e)
	}
	return unknownZone()
}

// anyOf is the zone of predicates of which one must hold.
func anyOf(zones []zone) zone {
	uppers, lowers := make([]intervals, len(zones)), make([]intervals, len(zones))
	for i, z := range zones {
		uppers[i], lowers[i] = z.upper, z.lower
	}
	return zone{union(uppers...), union(lowers...)}
}

// all is the zone of several predicates that must all hold. Of a multikey index one entry need not
// satisfy them all, so only one of them may bound the scan: the narrowest.
func (b zoneBuilder) all(zones []zone) zone {
	out := exactZone(everything())
	best := -1
	for i, z := range zones {
		out.lower = out.lower.intersect(z.lower)
		if !b.multikey {
			out.upper = out.upper.intersect(z.upper)
		} else if best < 0 || narrowness(z.upper) > narrowness(zones[best].upper) {
			best = i
		}
	}
	if best >= 0 {
		out.upper = zones[best].upper
	}
	return out
}

// narrowness ranks sets by how little of an index they are likely to read.
func narrowness(s intervals) int {
	switch {
	case len(s) == 0:
		return 4
	case s.allPoints():
		return 3
	case s.isEverything():
		return 0
	}
	all := everything()[0]
	if string(s[0].lo.pos) != string(all.lo.pos) && string(s[len(s)-1].hi.pos) != string(all.hi.pos) {
		return 2
	}
	return 1
}

func (b zoneBuilder) pathNode(n *pathNode, negated bool) zone {
	switch l := n.leaf.(type) {
	case *elemObject:
		if b.multikey && covers(n.path.full, b.path) && n.path.full != b.path {
			inner := zoneBuilder{b.path[len(n.path.full)+1:], true}
			return zone{upper: inner.node(l.filter, negated).upper}
		}
		return unknownZone()
	case *elemValue:
		if n.path.full != b.path {
			return unknownZone()
		}
		// every test is asked of the same element, which is one entry
		set := everything()
		for _, t := range l.tests {
			set = set.intersect(zoneBuilder{"", false}.leaf(t, negated).upper)
		}
		return zone{upper: set}
	}
	if n.path.full != b.path {
		return unknownZone()
	}
	z := b.leaf(n.leaf, negated)
	if b.multikey && b.dotted() {
		z.lower = nil
	}
	return z
}

func (b zoneBuilder) leaf(l leaf, negated bool) zone {
	switch l := l.(type) {
	case *cmpLeaf:
		return b.compare(l, negated)
	case *inLeaf:
		zones := make([]zone, 0, len(l.vals)+len(l.regexes))
		for _, v := range l.vals {
			if v.Type == typeArray {
				zones = append(zones, arrayPoint(v))
			} else {
				zones = append(zones, exactZone(point(v)))
			}
		}
		for _, r := range l.regexes {
			zones = append(zones, regexZone(r))
		}
		return anyOf(zones)
	case *regexLeaf:
		return regexZone(l)
	case existsLeaf:
		// null stands for missing too
		return zone{everything(), point(bsonx.Null()).complement()}
	case *typeLeaf:
		return b.types(l)
	case modLeaf:
		return zone{upper: bracket(bsonx.CanonNumber)}
	case *bitsLeaf:
		return zone{upper: union(bracket(bsonx.CanonNumber), bracket(bsonx.CanonBinary))}
	case notLeaf:
		z := b.leaf(l.leaf, !negated)
		return zone{z.lower.complement(), z.upper.complement()}
	case *allLeaf:
		z := exactZone(everything())
		for _, t := range l.tests {
			tz := b.leaf(t, negated)
			z = zone{z.upper.intersect(tz.upper), z.lower.intersect(tz.lower)}
		}
		return z
	}
	return unknownZone()
}

// types is the zone of $type. A bracket is exact when all of its types are asked for.
func (b zoneBuilder) types(l *typeLeaf) zone {
	z := zone{}
	add := func(canon int, whole bool) {
		z.upper = union(z.upper, bracket(canon))
		if whole {
			z.lower = union(z.lower, bracket(canon))
		}
	}
	for _, t := range l.types {
		switch t {
		case typeArray:
			if b.multikey || b.path == "" {
				return unknownZone()
			}
		case typeDouble, typeInt32, typeInt64, typeDecimal:
			add(bsonx.CanonNumber, l.has(numberTypes[:]...))
		case typeString, typeSymbol:
			add(bsonx.CanonString, l.has(typeString, typeSymbol))
		case typeNull:
			add(bsonx.CanonNull, false) // missing looks the same
		case typeUndefined:
			add(bsonx.CanonUndefined, !b.multikey) // an empty array looks the same
		default:
			add(bsonx.Canon(t), true)
		}
	}
	return z
}

func regexZone(r *regexLeaf) zone {
	same := point(bsonx.Regex(r.pattern, r.options))
	prefix, exact := r.literalPrefix()
	if prefix == "" {
		return zone{union(bracket(bsonx.CanonString), same), same}
	}
	lo, hi := bsonx.String(prefix), bsonx.String(prefixEnd(prefix))
	set := union(intervals{{before(encode(lo), lo), before(encode(hi), hi)}}, same)
	if exact {
		return exactZone(set)
	}
	return zone{set, same}
}

// prefixEnd is the first string above all that begin with s; UTF-8 has no byte FF.
func prefixEnd(s string) string {
	b := []byte(s)
	b[len(b)-1]++
	return string(b)
}
