package query

import (
	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/mongoerr"
)

// Filters nested deeper than this are refused, so that no recursion here runs away.
const maxFilterDepth = 150

type parser struct{ scope *expr.Scope }

func bad(format string, args ...any) error {
	return mongoerr.New(mongoerr.BadValue, format, args...)
}

// document parses a filter document into one node.
func (p *parser) document(d bsonx.Doc, depth int) (node, error) {
	conj, err := p.list(d, depth)
	if err != nil {
		return nil, err
	}
	return allOf(conj), nil
}

// list parses a filter document into its conditions.
func (p *parser) list(d bsonx.Doc, depth int) (conj []conjunct, err error) {
	err = p.conjuncts(d, depth, func(n node, src bsonx.Doc) { conj = append(conj, conjunct{n, src}) })
	return conj, err
}

// conjuncts parses a filter document and gives its conditions one by one; nested $and is taken apart.
func (p *parser) conjuncts(d bsonx.Doc, depth int, add func(node, bsonx.Doc)) error {
	if depth > maxFilterDepth {
		return bad("exceeded depth limit of %d when converting js object to BSON. Do you have a cycle?", maxFilterDepth)
	}
	for it := d.Iter(); it.Next(); {
		name, v := string(it.Name()), it.Value()
		src := oneField(name, v)
		if len(name) > 0 && name[0] == '$' {
			if name == "$and" {
				subs, err := clauses(name, v)
				if err != nil {
					return err
				}
				for _, sub := range subs {
					if err := p.conjuncts(sub, depth+1, add); err != nil {
						return err
					}
				}
				continue
			}
			n, err := p.topLevel(name, v, depth)
			if err != nil {
				return err
			}
			if n != nil {
				add(n, src)
			}
			continue
		}
		if err := p.field(name, v, depth, add); err != nil {
			return err
		}
	}
	return nil
}

// clauses reads the operand of $and, $or and $nor.
func clauses(name string, v bsonx.Value) ([]bsonx.Doc, error) {
	if v.Type != typeArray {
		return nil, bad("%s must be an array", name)
	}
	var out []bsonx.Doc
	for it := v.Elems(); it.Next(); {
		if it.Value().Type != typeObject {
			return nil, bad("$or/$and/$nor entries need to be full objects")
		}
		out = append(out, it.Value().Doc())
	}
	if len(out) == 0 {
		return nil, bad("$and/$or/$nor must be a nonempty array")
	}
	return out, nil
}

// topLevel parses an operator that stands for a whole document.
func (p *parser) topLevel(name string, v bsonx.Value, depth int) (node, error) {
	switch name {
	case "$or", "$nor":
		subs, err := clauses(name, v)
		if err != nil {
			return nil, err
		}
		parsed := make([][]conjunct, len(subs))
		for i, sub := range subs {
			if parsed[i], err = p.list(sub, depth+1); err != nil {
				return nil, err
			}
		}
		or := newOr(parsed)
		if name == "$nor" {
			return &notNode{or}, nil
		}
		if len(or.kids) == 1 {
			return or.kids[0], nil
		}
		return or, nil
	case "$comment":
		return nil, nil
	case "$expr":
		return newExprNode(v, p.scope)
	case "$where":
		return newWhereNode(v)
	case "$alwaysTrue", "$alwaysFalse":
		if n, ok := v.AsInt64(); !ok || n != 1 {
			return nil, mongoerr.New(mongoerr.FailedToParse, "%s must be an integer value of 1", name)
		}
		return constNode(name == "$alwaysTrue"), nil
	case "$text":
		return nil, mongoerr.New(mongoerr.IndexNotFound, "text index required for $text query: text indexes are not supported by this engine")
	case "$sampleRate":
		return newSampleRate(v, p.scope)
	case "$jsonSchema":
		return nil, mongoerr.New(mongoerr.CommandNotSupported, "%s is not supported by this engine", name)
	}
	return nil, bad("unknown top level operator: %s", name)
}

// field parses the condition on one path: a value, a pattern, or operators.
func (p *parser) field(path string, v bsonx.Value, depth int, add func(node, bsonx.Doc)) error {
	switch {
	case v.Type == typeRegex:
		r, err := newRegex(v.Regex())
		if err != nil {
			return err
		}
		add(newPathNode(path, r, false), oneField(path, v))
		return nil
	case v.Type == typeObject && isOperators(v.Doc()):
		return p.operators(path, v.Doc(), depth, add)
	}
	n, err := p.compare(path, opEQ, v)
	if err != nil {
		return err
	}
	add(n, oneField(path, v))
	return nil
}

// isOperators tells {$gt: 1} from a document to be equal to; a DBRef is such a document.
func isOperators(d bsonx.Doc) bool {
	it := d.Iter()
	if !it.Next() {
		return false
	}
	name := string(it.Name())
	return len(name) > 0 && name[0] == '$' && name != "$ref" && name != "$id" && name != "$db"
}

// operators parses {$gt: 1, $lt: 5} on one path.
func (p *parser) operators(path string, d bsonx.Doc, depth int, add func(node, bsonx.Doc)) error {
	if depth > maxFilterDepth {
		return bad("filter is nested deeper than %d levels", maxFilterDepth)
	}
	for it := d.Iter(); it.Next(); {
		name, v := string(it.Name()), it.Value()
		n, err := p.operator(path, name, v, d, depth)
		if err != nil {
			return err
		}
		if n == nil {
			continue
		}
		src := newDoc().set(name, v)
		if name == "$regex" {
			if o := d.Get("$options"); !o.IsMissing() {
				src.set("$options", o)
			}
		}
		add(n, oneField(path, bsonx.DocValue(src.doc())))
	}
	return nil
}

// operator parses one operator on a path. d is the whole operand of the path ($regex needs its $options).
// A nil node is an operator that says nothing.
func (p *parser) operator(path, name string, v bsonx.Value, d bsonx.Doc, depth int) (node, error) {
	switch name {
	case "$eq":
		return p.compare(path, opEQ, v)
	case "$ne":
		n, err := p.compare(path, opEQ, v)
		if err == nil && v.Type == typeRegex {
			err = bad("Can't have regex as arg to $ne.")
		}
		return negate(n, err)
	case "$lt":
		return p.compare(path, opLT, v)
	case "$lte":
		return p.compare(path, opLTE, v)
	case "$gt":
		return p.compare(path, opGT, v)
	case "$gte":
		return p.compare(path, opGTE, v)
	case "$in", "$nin":
		in, err := parseIn(name, v)
		if err != nil {
			return nil, err
		}
		n := newPathNode(path, in, false)
		if name == "$nin" {
			return &notNode{n}, nil
		}
		return n, nil
	case "$not":
		return p.not(path, v, depth)
	case "$exists":
		n := newPathNode(path, existsLeaf{}, true)
		if v.Truthy() {
			return n, nil
		}
		return &notNode{n}, nil
	case "$all":
		return p.all(path, v, depth)
	case "$elemMatch":
		l, err := p.elemMatch(v, depth)
		if err != nil {
			return nil, err
		}
		return newPathNode(path, l, true), nil
	case "$size":
		n, err := parseSize(v)
		return newPathNode(path, n, true), err
	}
	l, err := p.valueOperator(name, v, d)
	if err != nil || l == nil {
		return nil, err
	}
	return newPathNode(path, l, false), nil
}

func negate(n node, err error) (node, error) {
	if err != nil {
		return nil, err
	}
	return &notNode{n}, nil
}

func (p *parser) compare(path string, op cmpOp, v bsonx.Value) (node, error) {
	l, err := compareLeaf(op, v)
	if err != nil {
		return nil, err
	}
	return newPathNode(path, l, false), nil
}

func compareLeaf(op cmpOp, v bsonx.Value) (leaf, error) {
	if v.Type == typeUndefined {
		return nil, bad("cannot compare to undefined")
	}
	if v.Type == typeRegex && op != opEQ {
		return nil, bad("Can't have RegEx as arg to predicate over field.")
	}
	return newCmp(op, v), nil
}

// not parses the operand of $not: operators or a pattern.
func (p *parser) not(path string, v bsonx.Value, depth int) (node, error) {
	if v.Type == typeRegex {
		r, err := newRegex(v.Regex())
		if err != nil {
			return nil, err
		}
		return &notNode{newPathNode(path, r, false)}, nil
	}
	if v.Type != typeObject {
		return nil, bad("$not needs a regex or a document")
	}
	d := v.Doc()
	if d.Len() == 0 {
		return nil, bad("$not cannot be empty")
	}
	if !d.Get("$regex").IsMissing() && d.Len() == 1 && d.Get("$regex").Type != typeRegex && d.Get("$regex").Type != typeString {
		return nil, bad("$regex has to be a string")
	}
	and := &andNode{}
	for it := d.Iter(); it.Next(); {
		name := string(it.Name())
		if len(name) == 0 || name[0] != '$' {
			return nil, bad("unknown operator: %s", name)
		}
	}
	if err := p.operators(path, d, depth+1, func(n node, _ bsonx.Doc) { and.kids = append(and.kids, n) }); err != nil {
		return nil, err
	}
	if len(and.kids) == 1 {
		return &notNode{and.kids[0]}, nil
	}
	return &notNode{and}, nil
}

// all parses $all: an equality, pattern or $elemMatch for each of its elements.
func (p *parser) all(path string, v bsonx.Value, depth int) (node, error) {
	if v.Type != typeArray {
		return nil, bad("$all needs an array")
	}
	and := &andNode{}
	elem := false
	i := 0
	for it := v.Elems(); it.Next(); i++ {
		e := it.Value()
		isElem := false
		if e.Type == typeObject {
			first := e.Doc().Iter()
			if first.Next() {
				isElem = string(first.Name()) == "$elemMatch"
				if !isElem && isOperators(e.Doc()) {
					return nil, bad("no $ expressions in $all")
				}
			}
		}
		if i > 0 && isElem != elem {
			return nil, bad("$all/$elemMatch has to be consistent")
		}
		elem = isElem
		var l leaf
		var err error
		switch {
		case isElem:
			l, err = p.elemMatch(e.Doc().Get("$elemMatch"), depth)
		case e.Type == typeRegex:
			l, err = newRegex(e.Regex())
		default:
			l, err = compareLeaf(opEQ, e)
		}
		if err != nil {
			return nil, err
		}
		and.kids = append(and.kids, newPathNode(path, l, isElem))
	}
	if len(and.kids) == 0 {
		return constNode(false), nil
	}
	if len(and.kids) == 1 {
		return and.kids[0], nil
	}
	return and, nil
}

// elemMatch parses the operand of $elemMatch: operators on each element, or a filter for each document in the array.
func (p *parser) elemMatch(v bsonx.Value, depth int) (leaf, error) {
	if v.Type != typeObject {
		return nil, bad("$elemMatch needs an Object")
	}
	d := v.Doc()
	if isOperators(d) {
		first := d.Iter()
		first.Next()
		switch string(first.Name()) {
		case "$and", "$or", "$nor", "$where", "$expr", "$comment", "$alwaysTrue", "$alwaysFalse":
		default:
			tests, err := p.valueTests(d, depth+1)
			if err != nil {
				return nil, err
			}
			return &elemValue{tests}, nil
		}
	}
	n, err := p.document(d, depth+1)
	if err != nil {
		return nil, err
	}
	found := false
	walk(n, func(n node) {
		if _, ok := n.(*whereNode); ok {
			found = true
		}
	})
	if found {
		return nil, bad("$elemMatch cannot contain $where expression")
	}
	return &elemObject{n}, nil
}
