package query

import (
	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
)

// exprNode is $expr: an aggregation expression that must be true of the document.
type exprNode struct{ e *expr.Expr }

func newExprNode(v bsonx.Value, s *expr.Scope) (node, error) {
	e, err := expr.Compile(v, s)
	if err != nil {
		return nil, err
	}
	return &exprNode{e}, nil
}

func (n *exprNode) match(doc bsonx.Doc, m *matcher) bool {
	v, err := n.e.Eval(doc)
	if err != nil {
		if m.err == nil {
			m.err = err
		}
		return false
	}
	return v.Truthy()
}

func (n *exprNode) clone() node { return &exprNode{n.e.Clone()} }

func (n *exprNode) deps(prefix string, add func(string)) bool {
	return n.e.Deps(func(path string) { add(prefix + path) })
}
