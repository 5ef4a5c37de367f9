package expr

import (
	"slices"

	"mrbench/internal/embedded/bsonx"
)

type sortField struct {
	parts []string
	desc  bool
}

type sortArrayNode struct {
	input  node
	fields []sortField // none: by the whole value
	desc   bool
}

func (n *sortArrayNode) kids() []node { return []node{n.input} }

func (n *sortArrayNode) eval(st *state) (bsonx.Value, error) {
	in, err := n.input.eval(st)
	if err != nil {
		return missing, err
	}
	if nullish(in) {
		return null, nil
	}
	if in.Type != tArray {
		return missing, errf(2942504, "The input argument to $sortArray must be an array, but was of type: %s", typeName(in))
	}
	es := elems(in)
	slices.SortStableFunc(es, func(a, b bsonx.Value) int {
		if len(n.fields) == 0 {
			return signed(bsonx.Compare(a, b), n.desc)
		}
		for _, f := range n.fields {
			if c := bsonx.Compare(plainPath(a, f.parts), plainPath(b, f.parts)); c != 0 {
				return signed(c, f.desc)
			}
		}
		return 0
	})
	return st.array(es), nil
}

func signed(c int, desc bool) int {
	if desc {
		return -c
	}
	return c
}

func plainPath(v bsonx.Value, parts []string) bsonx.Value {
	for _, p := range parts {
		if v.Type != tDoc {
			return missing
		}
		v = v.Doc().Get(p)
	}
	return v
}

func parseSortArray(c *compiler, name string, arg bsonx.Value) (node, error) {
	f, err := rawFields(arg, name, 2942500, 2942501, "input", "sortBy")
	if err != nil {
		return nil, err
	}
	in, ok := f["input"]
	if !ok {
		return nil, errf(2942502, "$sortArray requires 'input' to be specified")
	}
	by, ok := f["sortBy"]
	if !ok {
		return nil, errf(2942503, "$sortArray requires 'sortBy' to be specified")
	}
	n := &sortArrayNode{}
	if n.input, err = c.compile(in); err != nil {
		return nil, err
	}
	if by.Type != tDoc {
		n.desc, err = direction(by)
		return n, err
	}
	for it := by.Elems(); it.Next(); {
		parts, err := SplitPath(string(it.Name()))
		if err != nil {
			return nil, err
		}
		desc, err := direction(it.Value())
		if err != nil {
			return nil, err
		}
		n.fields = append(n.fields, sortField{parts, desc})
	}
	if len(n.fields) == 0 {
		return nil, errf(15976, "$sortArray sortBy must have at least one sort key")
	}
	return n, nil
}

func direction(v bsonx.Value) (desc bool, err error) {
	if n, ok := whole32(v); ok && (n == 1 || n == -1) {
		return n < 0, nil
	}
	return false, errf(15975, "$sort key ordering must be 1 (for ascending) or -1 (for descending)")
}
