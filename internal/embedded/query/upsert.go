package query

import (
	"strings"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// UpsertSeed builds the document that an upsert starts from: the equalities of the filter
// (also those in $and, a $or, $in or $all of one element). Code 54 when a path is equal to two things.
// For a replacement, only its _id counts; Apply sees to that.
func UpsertSeed(f *Filter) (bsonx.Doc, error) {
	s := seeder{}
	if f != nil {
		for _, c := range f.conj {
			s.node(c.node)
		}
	}
	root := &tree{}
	for i, e := range s.eqs {
		for _, o := range s.eqs[:i] {
			if covers(o.path, e.path) || covers(e.path, o.path) {
				return nil, mongoerr.New(codeNotSingleValue, "cannot infer query fields to set, path '%s' is matched twice", e.path)
			}
		}
		t := root
		parts := strings.Split(e.path, ".")
		for _, part := range parts[:len(parts)-1] {
			at := t.index(part)
			if at < 0 {
				t.add(part, treeElem{sub: &tree{}})
				at = len(t.elems) - 1
			}
			t = t.open(at)
		}
		t.add(parts[len(parts)-1], treeElem{val: e.val})
	}
	return withID(root.encode(), bsonx.Value{}), nil
}

type seeder struct {
	eqs []equality
}

type equality struct {
	path string
	val  bsonx.Value
}

func (s *seeder) node(n node) {
	switch n := n.(type) {
	case *andNode:
		for _, k := range n.kids {
			s.node(k)
		}
	case *orNode:
		if len(n.kids) == 1 {
			s.node(n.kids[0])
		}
	case *pathNode:
		switch l := n.leaf.(type) {
		case *cmpLeaf:
			if l.op == opEQ {
				s.eqs = append(s.eqs, equality{n.path.full, l.rhs})
			}
		case *inLeaf:
			if len(l.vals) == 1 && len(l.regexes) == 0 {
				s.eqs = append(s.eqs, equality{n.path.full, l.vals[0]})
			}
		}
	}
}
