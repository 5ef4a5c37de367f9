package expr

import (
	"mrbench/internal/embedded/bsonx"
)

func opObjectToArray(st *state, _ string, a []bsonx.Value) (bsonx.Value, error) {
	if nullish(a[0]) {
		return null, nil
	}
	if a[0].Type != tDoc {
		return missing, errf(40390, "$objectToArray requires a document input, found: %s", typeName(a[0]))
	}
	w := st.build(tArray)
	it := a[0].Elems()
	for it.Next() {
		kv := st.build(tDoc)
		kv.elem("k", st.strBytes(it.Name()))
		kv.elem("v", it.Value())
		w.push(kv.done())
	}
	return w.done(), nil
}

// objectBuilder keeps the first place and the last value of each name.
type objectBuilder struct {
	names []string
	vals  map[string]bsonx.Value
}

func (o *objectBuilder) set(name string, v bsonx.Value) {
	if o.vals == nil {
		o.vals = map[string]bsonx.Value{}
	}
	if _, ok := o.vals[name]; !ok {
		o.names = append(o.names, name)
	}
	o.vals[name] = v
}

func (o *objectBuilder) done(st *state) bsonx.Value {
	w := st.build(tDoc)
	for _, n := range o.names {
		w.elem(n, o.vals[n])
	}
	return w.done()
}

func opArrayToObject(st *state, _ string, a []bsonx.Value) (bsonx.Value, error) {
	if nullish(a[0]) {
		return null, nil
	}
	if a[0].Type != tArray {
		return missing, errf(40386, "$arrayToObject requires an array input, found: %s", typeName(a[0]))
	}
	var o objectBuilder
	var kind bsonx.Type
	it := a[0].Elems()
	for it.Next() {
		v := it.Value()
		if kind == 0 {
			kind = v.Type
		}
		k, val, err := pair(v, kind)
		if err != nil {
			return missing, err
		}
		o.set(k, val)
	}
	return o.done(st), nil
}

func pair(v bsonx.Value, kind bsonx.Type) (string, bsonx.Value, error) {
	switch kind {
	case tArray:
		if v.Type != tArray {
			return "", missing, errf(40396, "$arrayToObject requires a consistent input format. Elements must all be arrays or all be objects. Array was detected, now found: %s", typeName(v))
		}
		es := elems(v)
		if len(es) != 2 {
			return "", missing, errf(40397, "$arrayToObject requires an array of size 2 arrays, found array of size: %d", len(es))
		}
		if es[0].Type != tString {
			return "", missing, errf(40395, "$arrayToObject requires an array of key-value pairs, where the key must be of type string. Found key type: %s", typeName(es[0]))
		}
		return checkKey(es[0], es[1])
	case tDoc:
		if v.Type != tDoc {
			return "", missing, errf(40391, "$arrayToObject requires a consistent input format. Elements must all be arrays or all be objects. Object was detected, now found: %s", typeName(v))
		}
		if n := v.Doc().Len(); n != 2 {
			return "", missing, errf(40392, "$arrayToObject requires an object keys of 'k' and 'v'. Found incorrect number of keys: %d", n)
		}
		k, val := v.Doc().Get("k"), v.Doc().Get("v")
		if k.IsMissing() || val.IsMissing() {
			return "", missing, errf(40393, "$arrayToObject requires an object with keys 'k' and 'v'")
		}
		if k.Type != tString {
			return "", missing, errf(40394, "$arrayToObject requires an object with keys 'k' and 'v', where the value of 'k' must be of type string. Found type: %s", typeName(k))
		}
		return checkKey(k, val)
	}
	return "", missing, errf(40398, "Unrecognised input type format for $arrayToObject: %s", typeName(v))
}

func checkKey(k, v bsonx.Value) (string, bsonx.Value, error) {
	s := k.Str()
	for i := range len(s) {
		if s[i] == 0 {
			return "", missing, errf(4940400, "Key field cannot contain an embedded null byte")
		}
	}
	return s, v, nil
}

func opMergeObjects(st *state, _ string, a []bsonx.Value) (bsonx.Value, error) {
	if len(a) == 1 && a[0].Type == tArray {
		a = elems(a[0])
	}
	var o objectBuilder
	for _, v := range a {
		if nullish(v) {
			continue
		}
		if v.Type != tDoc {
			return missing, errf(40400, "$mergeObjects requires object inputs, but input %s is of type %s", v, typeName(v))
		}
		it := v.Elems()
		for it.Next() {
			o.set(string(it.Name()), it.Value())
		}
	}
	return o.done(st), nil
}

// parseGetField: {field, input} or just the field's name; the name must be a constant string.
func parseGetField(c *compiler, name string, arg bsonx.Value) (node, error) {
	field, input := arg, missing
	if arg.Type == tDoc {
		if it := arg.Elems(); it.Next() && len(it.Name()) > 0 && it.Name()[0] != '$' {
			f, err := rawFields(arg, name, 3041702, 3041701, "field", "input")
			if err != nil {
				return nil, err
			}
			var ok bool
			if field, ok = f["field"]; !ok {
				return nil, errf(3041702, "$getField requires 'field' to be specified")
			}
			if input, ok = f["input"]; !ok {
				return nil, errf(3041703, "$getField requires 'input' to be specified")
			}
		}
	}
	k, err := c.constName(name, field, 5654600, 5654602)
	if err != nil {
		return nil, err
	}
	var in node
	if input.IsMissing() {
		in, err = c.variable("CURRENT", nil)
	} else {
		in, err = c.compile(input)
	}
	if err != nil {
		return nil, err
	}
	fn := func(_ *state, _ string, a []bsonx.Value) (bsonx.Value, error) {
		switch {
		case a[0].Type == tDoc:
			return a[0].Doc().Get(k), nil
		case a[0].Type == tMissing:
			return missing, nil
		case nullish(a[0]):
			return null, nil
		}
		return missing, nil
	}
	return &callNode{name: name, fn: fn, args: []node{in}}, nil
}

func (c *compiler) constName(name string, field bsonx.Value, notConst, notString int32) (string, error) {
	n, err := c.compile(field)
	if err != nil {
		return "", err
	}
	k, ok := n.(*constNode)
	if !ok {
		return "", errf(codeOf(notConst), "%s requires 'field' to evaluate to a constant", name)
	}
	if k.v.Type != tString {
		return "", errf(codeOf(notString), "%s requires 'field' to evaluate to type String, but got %s", name, typeName(k.v))
	}
	return k.v.Str(), nil
}

func parseSetField(c *compiler, name string, arg bsonx.Value) (node, error) {
	allowed := []string{"field", "input", "value"}
	if name == "$unsetField" {
		allowed = allowed[:2]
	}
	f, err := rawFields(arg, name, 4161100, 4161101, allowed...)
	if err != nil {
		return nil, err
	}
	for i, p := range allowed {
		if _, ok := f[p]; !ok {
			return nil, errf(codeOf(int32([]int{4161102, 4161109, 4161103}[i])), "%s requires '%s' to be specified", name, p)
		}
	}
	k, err := c.constName(name, f["field"], 4161106, 4161107)
	if err != nil {
		return nil, err
	}
	in, err := c.compile(f["input"])
	if err != nil {
		return nil, err
	}
	var val node = &constNode{missing}
	if v, ok := f["value"]; ok {
		if val, err = c.compile(v); err != nil {
			return nil, err
		}
	}
	fn := func(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
		if nullish(a[0]) {
			return null, nil
		}
		if a[0].Type != tDoc {
			return missing, errf(4161105, "%s requires 'input' to evaluate to type Object", name)
		}
		var o objectBuilder
		it := a[0].Elems()
		for it.Next() {
			o.set(string(it.Name()), it.Value())
		}
		o.set(k, a[1])
		return o.done(st), nil
	}
	return &callNode{name: name, fn: fn, args: []node{in, val}}, nil
}
