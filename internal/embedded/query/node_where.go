package query

import (
	"context"
	"strings"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/script"
)

// whereNode is $where: JavaScript that sees the document as this.
type whereNode struct {
	src string
	rt  *script.Runtime // made at the first match
	fn  *script.Func
}

func newWhereNode(v bsonx.Value) (node, error) {
	n := &whereNode{}
	switch v.Type {
	case typeString, typeCode:
		n.src = v.Str()
	case typeScoped:
		n.src, _ = v.CodeWithScope()
	default:
		return nil, bad("$where got bad type")
	}
	// a script that does not compile is the filter's fault, not the first document's
	return n, n.prepare()
}

func (n *whereNode) prepare() error {
	if n.rt != nil {
		return nil
	}
	rt := script.New()
	fn, err := rt.Function("$where", whereFunction(n.src))
	if err != nil {
		return err
	}
	n.rt, n.fn = rt, fn
	return nil
}

// whereFunction makes a function of an expression or a function body.
func whereFunction(src string) string {
	s := strings.TrimSpace(src)
	if strings.HasPrefix(s, "function") || strings.HasPrefix(s, "(") && strings.Contains(s, "=>") {
		return s
	}
	if strings.Contains(s, "return") {
		return "function() { " + s + "\n}"
	}
	return "function() { return " + strings.TrimRight(s, "; \n\t") + "\n}"
}

func (n *whereNode) match(doc bsonx.Doc, m *matcher) bool {
	err := n.prepare()
	if err == nil {
		var v bsonx.Value
		if v, err = n.rt.Call(n.fn, bsonx.DocValue(doc)); err == nil {
			return v.Truthy()
		}
	}
	if m.err == nil {
		m.err = err
	}
	return false
}

func (n *whereNode) watch(ctx context.Context) func() {
	if n.prepare() != nil {
		return func() {}
	}
	return n.rt.Watch(ctx)
}

func (n *whereNode) clone() node                    { return &whereNode{src: n.src} }
func (n *whereNode) deps(string, func(string)) bool { return true }
