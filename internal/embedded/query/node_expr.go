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

// newSampleRate is $sampleRate: true of a share of the documents, at random, each time anew.
func newSampleRate(v bsonx.Value, s *expr.Scope) (node, error) {
	rate, _ := v.AsFloat()
	switch {
	case !v.IsNumber():
		return nil, bad("argument to $sampleRate must be a numeric type")
	case !(rate >= 0 && rate <= 1):
		return nil, bad("numeric argument to $sampleRate must be in [0, 1]")
	case rate == 0 || rate == 1:
		return constNode(rate == 1), nil
	}
	random := bsonx.DocValue(oneField("$rand", bsonx.DocValue(bsonx.Empty)))
	return newExprNode(bsonx.DocValue(oneField("$lt", bsonx.Array(random, v))), s)
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
