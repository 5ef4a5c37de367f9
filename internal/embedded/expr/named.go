package expr

import "mrbench/internal/embedded/bsonx"

// param is a named argument; a required one has the code of its absence.
type param struct {
	name     string
	required int32
}

// named is an operator that takes a document of arguments and nothing else.
type named struct {
	notObject, unknown int32
	params             []param
	fn                 function
}

func (s named) op() op {
	return op{parse: func(c *compiler, name string, arg bsonx.Value) (node, error) {
		if arg.Type != tDoc {
			return nil, errf(codeOf(s.notObject), "%s only supports an object as an argument, found %s", name, typeName(arg))
		}
		args, err := c.named(name, arg, s.unknown, s.params)
		if err != nil {
			return nil, err
		}
		return &callNode{name: name, fn: s.fn, args: args}, nil
	}}
}

// named compiles the arguments in the order of params; those not given are nil.
func (c *compiler) named(name string, arg bsonx.Value, unknown int32, params []param) ([]node, error) {
	args := make([]node, len(params))
next:
	for it := arg.Elems(); it.Next(); {
		for i, p := range params {
			if p.name == string(it.Name()) {
				n, err := c.compile(it.Value())
				if err != nil {
					return nil, err
				}
				args[i] = n
				continue next
			}
		}
		return nil, errf(codeOf(unknown), "%s found an unknown argument: %s", name, it.Name())
	}
	for i, p := range params {
		if args[i] == nil && p.required != 0 {
			return nil, errf(codeOf(p.required), "%s requires '%s' to be specified", name, p.name)
		}
	}
	return args, nil
}

// rawFields gives a document's values by name, for parsers that must not compile them all in the same way.
func rawFields(arg bsonx.Value, name string, notObject, unknown int32, allowed ...string) (map[string]bsonx.Value, error) {
	if arg.Type != tDoc {
		return nil, errf(codeOf(notObject), "%s only supports an object as its argument, found %s", name, typeName(arg))
	}
	m := map[string]bsonx.Value{}
next:
	for it := arg.Elems(); it.Next(); {
		for _, a := range allowed {
			if a == string(it.Name()) {
				m[a] = it.Value()
				continue next
			}
		}
		return nil, errf(codeOf(unknown), "Unrecognized parameter to %s: %s", name, it.Name())
	}
	return m, nil
}
