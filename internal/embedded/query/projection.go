package query

import (
	"strings"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/mongoerr"
)

// Projection is find's: inclusion, exclusion, $slice, $elemMatch, the positional
// operator, and expressions (as since 4.4). Safe for one goroutine at a time.
type Projection struct {
	include bool // only what is named stays; otherwise what is named goes
	id      bool // _id stays
	root    *projNode
	filter  *Filter // for the positional operator
	whole   bool    // expressions may read anything
	deps    []string
	posPath string
}

// projNode is one component of a projected path.
type projNode struct {
	name  string
	kids  []*projNode
	leaf  bool // the path ends here
	op    projOp
	skip  int64 // $slice
	count int64
	elem  leaf       // $elemMatch
	expr  *expr.Expr // computed value
	path  string
}

type projOp uint8

const (
	projPlain projOp = iota
	projSlice
	projElem
	projPositional
	projExpr
)

func (n *projNode) kid(name []byte) *projNode {
	for _, k := range n.kids {
		if k.name == string(name) {
			return k
		}
	}
	return nil
}

// ParseProjection parses find's projection. The scope holds the variables that expressions may use.
// An empty one leaves documents as they are. Codes: 2 for a mix of inclusion and exclusion and for
// malformed operators, 31249 for paths that collide.
func ParseProjection(d bsonx.Doc, s *expr.Scope) (*Projection, error) {
	if s == nil {
		s = &expr.Scope{}
	}
	p := &Projection{id: true, root: &projNode{}}
	pp := projParser{p: p, scope: s}
	for it := d.Iter(); it.Next(); {
		if err := pp.field(string(it.Name()), it.Value()); err != nil {
			return nil, err
		}
	}
	p.include = pp.mode > 0 || pp.mode == 0 && pp.idOnly
	if pp.mode == 0 && !pp.idOnly && pp.computed {
		p.include = true
	}
	return p, nil
}

type projParser struct {
	p        *Projection
	scope    *expr.Scope
	mode     int // 1 inclusion, -1 exclusion, 0 not known
	idOnly   bool
	computed bool
}

func (pp *projParser) setMode(mode int, name string) error {
	if pp.mode != 0 && pp.mode != mode {
		if mode > 0 {
			return bad("Projection cannot have a mix of inclusion and exclusion: cannot do inclusion on field %s in exclusion projection", name)
		}
		return bad("Projection cannot have a mix of inclusion and exclusion: cannot do exclusion on field %s in inclusion projection", name)
	}
	pp.mode = mode
	return nil
}

func (pp *projParser) field(name string, v bsonx.Value) error {
	if name == "" {
		return bad("projection has an empty field name")
	}
	if name[0] == '$' {
		return bad("Cannot use positional or field path that starts with $: %s", name)
	}
	if strings.HasSuffix(name, ".") || strings.HasPrefix(name, ".") || strings.Contains(name, "..") {
		return bad("projection path %q has an empty component", name)
	}
	plain := v.IsNumber() || v.Type == typeBool
	if name == "_id" && plain {
		if pp.p.id = v.Truthy(); pp.p.id {
			pp.idOnly = true
		}
		return nil
	}
	if strings.HasSuffix(name, ".$") {
		return pp.positional(strings.TrimSuffix(name, ".$"), v)
	}
	if strings.Contains(name, ".$") {
		return bad("Positional projection '%s' must end in '.$'", name)
	}
	n := &projNode{path: name, leaf: true}
	switch {
	case plain:
		mode := -1
		if v.Truthy() {
			mode = 1
		}
		if err := pp.setMode(mode, name); err != nil {
			return err
		}
	case v.Type == typeObject:
		if err := pp.operator(n, v.Doc()); err != nil {
			return err
		}
		if n.op == projPlain { // {a: {b: 1}} is {"a.b": 1}
			for it := v.Doc().Iter(); it.Next(); {
				if err := pp.field(name+"."+string(it.Name()), it.Value()); err != nil {
					return err
				}
			}
			return nil
		}
	default:
		e, err := expr.Compile(v, pp.scope)
		if err != nil {
			return err
		}
		if err := pp.computedField(n, e); err != nil {
			return err
		}
	}
	return pp.place(n)
}

func (pp *projParser) operator(n *projNode, d bsonx.Doc) error {
	it := d.Iter()
	if !it.Next() {
		return bad("An empty sub-projection is not a valid value. Found empty object at path %s", n.path)
	}
	op, v := string(it.Name()), it.Value()
	if op == "" || op[0] != '$' {
		return nil
	}
	if d.Len() != 1 {
		return bad(">1 field in obj: %s", d.String())
	}
	switch op {
	case "$slice":
		n.op = projSlice
		return n.parseSlice(v)
	case "$elemMatch":
		if strings.Contains(n.path, ".") {
			return bad("Cannot use $elemMatch projection on a nested field.")
		}
		ep := parser{scope: pp.scope}
		l, err := ep.elemMatch(v, 0)
		if err != nil {
			if v.Type != typeObject {
				return bad("elemMatch: Invalid argument, object required.")
			}
			return err
		}
		n.op, n.elem = projElem, l
		pp.computed = true
		return nil
	case "$meta":
		return mongoerr.New(mongoerr.CommandNotSupported, "$meta projections are not supported by this engine")
	}
	e, err := expr.Compile(bsonx.DocValue(d), pp.scope)
	if err != nil {
		if mongoerr.CodeOf(err) == mongoerr.InvalidPipelineOperator {
			return bad("Unsupported projection option: %s: %s", n.path, d.String())
		}
		return err
	}
	return pp.computedField(n, e)
}

func (pp *projParser) computedField(n *projNode, e *expr.Expr) error {
	if pp.mode < 0 {
		return bad("computed fields are not allowed in exclusion projections: %s", n.path)
	}
	n.op, n.expr = projExpr, e
	pp.computed = true
	if e.Deps(func(path string) { pp.p.deps = append(pp.p.deps, path) }) {
		pp.p.whole = true
	}
	return nil
}

// parseSlice reads n, or [skip, n].
func (n *projNode) parseSlice(v bsonx.Value) error {
	if v.IsNumber() {
		c, _ := v.TruncInt64()
		if c < 0 {
			n.skip, n.count = c, -c
		} else {
			n.count = c
		}
		return nil
	}
	if v.Type != typeArray {
		return bad("$slice only supports numbers and [skip, limit] arrays")
	}
	var nums []int64
	for it := v.Elems(); it.Next(); {
		c, ok := it.Value().TruncInt64()
		if !ok {
			return bad("$slice only supports numbers and [skip, limit] arrays")
		}
		nums = append(nums, c)
	}
	if len(nums) != 2 {
		return bad("$slice array wrong size")
	}
	if nums[1] <= 0 {
		return bad("$slice limit must be positive")
	}
	n.skip, n.count = nums[0], nums[1]
	return nil
}

func (pp *projParser) positional(path string, v bsonx.Value) error {
	if !v.IsNumber() && v.Type != typeBool || !v.Truthy() {
		return bad("Cannot exclude array elements with the positional operator.")
	}
	if pp.p.posPath != "" {
		return bad("Cannot specify more than one positional projection per query.")
	}
	if err := pp.setMode(1, path); err != nil {
		return err
	}
	pp.p.posPath = path
	return pp.place(&projNode{path: path, leaf: true, op: projPositional})
}

// place puts a path into the tree.
func (pp *projParser) place(n *projNode) error {
	parts := strings.Split(n.path, ".")
	at := pp.p.root
	for i, part := range parts {
		k := at.kid([]byte(part))
		last := i == len(parts)-1
		if k != nil && (last || k.leaf) {
			return mongoerr.New(31249, "Path collision at %s remaining portion %s", n.path, strings.Join(parts[i:], "."))
		}
		if last {
			n.name = part
			at.kids = append(at.kids, n)
			return nil
		}
		if k == nil {
			k = &projNode{name: part, path: strings.Join(parts[:i+1], ".")}
			at.kids = append(at.kids, k)
		}
		at = k
	}
	return nil
}

// Positional reports whether Apply needs the filter that found the document: see SetFilter.
func (p *Projection) Positional() bool { return p.posPath != "" }

// SetFilter gives the filter whose matching array position the positional operator uses.
func (p *Projection) SetFilter(f *Filter) { p.filter = f.Clone() }

// Deps adds the dotted paths that Apply reads; whole is true when it may read anything.
func (p *Projection) Deps(add func(path string)) (whole bool) {
	if !p.include || p.whole || p.posPath != "" {
		return true
	}
	if p.id {
		add("_id")
	}
	var visit func(n *projNode)
	visit = func(n *projNode) {
		for _, k := range n.kids {
			if k.leaf {
				if k.op != projExpr {
					add(k.path)
				}
				continue
			}
			visit(k)
		}
	}
	visit(p.root)
	for _, d := range p.deps {
		add(d)
	}
	return false
}
