package pipeline

import (
	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/script"
)

// scriptColumn is $accumulator: JavaScript keeps the state, which is held as BSON between the calls.
type scriptColumn struct {
	scripts                           *expr.Scripts
	init, accumulate, combine, finish string // sources; finish may be empty
	initArgs                          []bsonx.Value
	args                              *expr.Expr // an array
	v                                 values
	seen                              []bool

	js                      *script.Runtime
	fInit, fAcc, fMerge, fn *script.Func
}

func (c *scriptColumn) resize(n int) {
	c.v.resize(n)
	c.seen = grow(c.seen, n)
}

func (c *scriptColumn) bytes() int64 { return c.v.bytes() + int64(cap(c.seen)) }

func (c *scriptColumn) reset() {
	c.v.reset()
	c.seen = wipe(c.seen)
}

func (c *scriptColumn) clone() column {
	return &scriptColumn{
		scripts: c.scripts, init: c.init, accumulate: c.accumulate, combine: c.combine, finish: c.finish,
		initArgs: c.initArgs, args: c.args.Clone(), js: c.js, fInit: c.fInit, fAcc: c.fAcc, fMerge: c.fMerge, fn: c.fn,
	}
}

// prepare compiles the functions in a runtime of this column.
func (c *scriptColumn) prepare() error {
	if c.js != nil {
		return nil
	}
	js := c.scripts.Runtime()
	for _, f := range []struct {
		name, src string
		to        **script.Func
	}{{"init", c.init, &c.fInit}, {"accumulate", c.accumulate, &c.fAcc}, {"merge", c.combine, &c.fMerge}, {"finalize", c.finish, &c.fn}} {
		if f.src == "" {
			continue
		}
		fn, err := js.Function(f.name, f.src)
		if err != nil {
			return err
		}
		*f.to = fn
	}
	c.js = js
	return nil
}

func (c *scriptColumn) begin(g uint32) error {
	if c.seen[g] {
		return nil
	}
	v, err := c.js.Call(c.fInit, bsonx.Value{}, c.initArgs...)
	if err != nil {
		return err
	}
	c.seen[g] = true
	c.v.set(g, v)
	return nil
}

func (c *scriptColumn) update(ids []uint32, docs []bsonx.Doc) error {
	if err := c.prepare(); err != nil {
		return err
	}
	var args []bsonx.Value
	for i, g := range ids {
		if err := c.begin(g); err != nil {
			return err
		}
		list, err := c.args.Eval(docs[i])
		if err != nil {
			return err
		}
		if list.Type != tArray {
			return errf(4544712, "$accumulator accumulateArgs must evaluate to an array: %s", list)
		}
		args = append(args[:0], c.v.get(g))
		it := list.Elems()
		for it.Next() {
			args = append(args, it.Value())
		}
		v, err := c.js.Call(c.fAcc, bsonx.Value{}, args...)
		if err != nil {
			return err
		}
		c.v.set(g, v)
	}
	return nil
}

func (c *scriptColumn) result(g uint32) (bsonx.Value, error) {
	if c.fn == nil {
		return orNull(c.v.get(g)), nil
	}
	v, err := c.js.Call(c.fn, bsonx.Value{}, c.v.get(g))
	return orNull(v), err
}

func (c *scriptColumn) partial(dst []byte, g uint32) []byte { return putValue(dst, c.v.get(g)) }

func (c *scriptColumn) merge(g uint32, src []byte) ([]byte, error) {
	v, rest, err := takeValue(src)
	if err != nil {
		return nil, err
	}
	if err := c.prepare(); err != nil {
		return nil, err
	}
	if c.seen[g] {
		if v, err = c.js.Call(c.fMerge, bsonx.Value{}, c.v.get(g), v); err != nil {
			return nil, err
		}
	}
	c.seen[g] = true
	c.v.set(g, v)
	return rest, nil
}

func parseScripted(ps *parser, arg bsonx.Value) (column, error) {
	if arg.Type != tDoc {
		return nil, errf(4544703, "$accumulator expects an object as an argument; found: %s", typeName(arg))
	}
	c := &scriptColumn{scripts: ps.scope.Scripts()}
	if c.scripts == nil {
		return nil, errf(115, "$accumulator is not supported here by this engine")
	}
	c.scripts.Use()
	var err error
	lang := false
	it := arg.Elems()
	for it.Next() && err == nil {
		name, v := string(it.Name()), it.Value()
		switch name {
		case "init":
			c.init, err = source(name, v)
		case "accumulate":
			c.accumulate, err = source(name, v)
		case "merge":
			c.combine, err = source(name, v)
		case "finalize":
			c.finish, err = source(name, v)
		case "initArgs":
			c.initArgs, err = constants(ps, v)
		case "accumulateArgs":
			c.args, err = ps.compile(v.Clone())
		case "lang":
			if lang = v.Type == tString && v.Str() == "js"; !lang {
				err = errf(4544711, "$accumulator lang can only be 'js'")
			}
		default:
			err = errf(4544706, "$accumulator got an unexpected field: %s", name)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case c.init == "":
		return nil, errf(4544700, "$accumulator 'init' must be specified")
	case c.accumulate == "":
		return nil, errf(4544701, "$accumulator 'accumulate' must be specified")
	case c.args == nil:
		return nil, errf(4544710, "$accumulator 'accumulateArgs' must be specified")
	case c.combine == "":
		return nil, errf(4544708, "$accumulator 'merge' must be specified")
	case !lang:
		return nil, errf(4544709, "$accumulator 'lang' must be specified")
	}
	return c, nil
}

func source(name string, v bsonx.Value) (string, error) {
	if v.Type != tString && v.Type != bsonx.TypeJavaScript {
		return "", errf(4544704, "$accumulator '%s' must be of type string or code, found %s", name, typeName(v))
	}
	return v.Str(), nil
}

func constants(ps *parser, v bsonx.Value) ([]bsonx.Value, error) {
	e, err := ps.compile(v)
	if err != nil {
		return nil, err
	}
	c, ok := e.Constant()
	if !ok || c.Type != tArray {
		return nil, errf(4544711, "$accumulator initArgs must be a constant array in this engine")
	}
	var out []bsonx.Value
	it := c.Elems()
	for it.Next() {
		out = append(out, it.Value())
	}
	return out, nil
}
