package query

import (
	"mrbench/internal/embedded/bsonx"
)

// matcher carries what one Match call gives back besides its answer: the first
// error of an expression, and the array position that matched, for the positional operator.
type matcher struct {
	err error
	pos int // -1: no array was walked
}

// node is a predicate on a whole document.
type node interface {
	match(doc bsonx.Doc, m *matcher) bool
	clone() node
	// deps adds the dotted paths that match reads; true when it may read anything.
	deps(prefix string, add func(string)) bool
}

// leaf is a predicate on one value; a missing field is a value too.
type leaf interface {
	test(v bsonx.Value, m *matcher) bool
	clone() leaf
}

type andNode struct{ kids []node }

func (n *andNode) match(doc bsonx.Doc, m *matcher) bool {
	for _, k := range n.kids {
		if !k.match(doc, m) {
			return false
		}
	}
	return true
}

type orNode struct {
	kids    []node
	clauses [][]conjunct // the same, each clause in its conditions
}

func newOr(clauses [][]conjunct) *orNode {
	n := &orNode{clauses: clauses}
	for _, c := range clauses {
		n.kids = append(n.kids, allOf(c))
	}
	return n
}

// allOf is one node of conditions that must all hold.
func allOf(conj []conjunct) node {
	if len(conj) == 1 {
		return conj[0].node
	}
	and := &andNode{}
	for _, c := range conj {
		and.kids = append(and.kids, c.node)
	}
	return and
}

func (n *orNode) match(doc bsonx.Doc, m *matcher) bool {
	for _, k := range n.kids {
		if k.match(doc, m) {
			return true
		}
	}
	return false
}

// notNode also serves $nor (of an orNode), $ne and $nin.
type notNode struct{ kid node }

func (n *notNode) match(doc bsonx.Doc, m *matcher) bool {
	// what a negated predicate met on its way is no match of anything
	pos := m.pos
	ok := n.kid.match(doc, m)
	m.pos = pos
	return !ok
}

// constNode is $alwaysTrue and $alwaysFalse.
type constNode bool

func (n constNode) match(bsonx.Doc, *matcher) bool { return bool(n) }

func cloneConjuncts(conj []conjunct) []conjunct {
	out := make([]conjunct, len(conj))
	for i, c := range conj {
		out[i] = conjunct{c.node.clone(), c.src}
	}
	return out
}

func cloneAll(kids []node) []node {
	out := make([]node, len(kids))
	for i, k := range kids {
		out[i] = k.clone()
	}
	return out
}

func depsAll(kids []node, prefix string, add func(string)) bool {
	whole := false
	for _, k := range kids {
		whole = k.deps(prefix, add) || whole
	}
	return whole
}

func (n *andNode) clone() node { return &andNode{cloneAll(n.kids)} }
func (n *orNode) clone() node {
	clauses := make([][]conjunct, len(n.clauses))
	for i, c := range n.clauses {
		clauses[i] = cloneConjuncts(c)
	}
	return newOr(clauses)
}
func (n *notNode) clone() node  { return &notNode{n.kid.clone()} }
func (n constNode) clone() node { return n }

func (n *andNode) deps(p string, add func(string)) bool { return depsAll(n.kids, p, add) }
func (n *orNode) deps(p string, add func(string)) bool  { return depsAll(n.kids, p, add) }
func (n *notNode) deps(p string, add func(string)) bool { return n.kid.deps(p, add) }
func (n constNode) deps(string, func(string)) bool      { return false }

// pathNode asks its leaf about every value that a dotted path leads to.
type pathNode struct {
	path  *fieldPath
	first *bsonx.Finder
	leaf  leaf
	// whole: an array at the end of the path is one value ($exists, $size, $elemMatch);
	// otherwise its elements are asked first, then the array itself.
	whole bool
}

func newPathNode(path string, l leaf, whole bool) *pathNode {
	p := newPath(path)
	return &pathNode{path: p, first: bsonx.NewFinder(p.parts[0]), leaf: l, whole: whole}
}

func (n *pathNode) clone() node {
	return &pathNode{path: n.path, first: bsonx.NewFinder(n.path.parts[0]), leaf: n.leaf.clone(), whole: n.whole}
}

func (n *pathNode) deps(prefix string, add func(string)) bool {
	add(prefix + n.path.full)
	return false
}

func (n *pathNode) match(doc bsonx.Doc, m *matcher) bool {
	return n.from(n.first.Get(doc), 1, m)
}

// from goes on at v, the value of the first i components.
func (n *pathNode) from(v bsonx.Value, i int, m *matcher) bool {
	for ; i < len(n.path.parts); i++ {
		switch v.Type {
		case typeObject:
			v = v.Doc().Get(n.path.parts[i])
		case typeArray:
			return n.inArray(v, i, m)
		default:
			return n.leaf.test(bsonx.Value{}, m)
		}
	}
	if v.Type == typeArray && !n.whole {
		k := 0
		it := v.Elems()
		for ; it.Next(); k++ {
			if n.leaf.test(it.Value(), m) {
				m.pos = k
				return true
			}
		}
	}
	return n.leaf.test(v, m)
}

// inArray goes on inside an array with components i and later still to go. Each
// document in it is asked for component i; when that is a number, the element in
// that place is asked for the rest too. Other elements lead nowhere, not even to
// a missing value.
func (n *pathNode) inArray(arr bsonx.Value, i int, m *matcher) bool {
	at := n.path.index[i]
	k := 0
	it := arr.Elems()
	for ; it.Next(); k++ {
		e := it.Value()
		ok := e.Type == typeObject && n.from(e.Doc().Get(n.path.parts[i]), i+1, m)
		if !ok && k == at {
			switch {
			case i+1 == len(n.path.parts):
				ok = n.leaf.test(e, m)
			case e.Type == typeObject:
				ok = n.from(e, i+1, m)
			case e.Type == typeArray:
				ok = n.inArray(e, i+1, m)
			}
		}
		if ok {
			m.pos = k
			return true
		}
	}
	return false
}
