package seed

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"

	"mrbench/seed/extjson"
)

// Template makes documents after a template, which is a JSON document. A
// value with "$gen" says how the field is made; any other value, Extended JSON
// included, is the field. Fields keep their order; an _id is put before them when there is none.
//
//	{"$gen": "index"}                                     the document's number, an int64
//	{"$gen": "int", "min": 0, "max": 9}                   both included; int64 beyond 32 bits
//	{"$gen": "int", "min": 1, "max": 1000, "zipf": 1.2}   min is most frequent; zipf above 1
//	{"$gen": "double", "min": 0, "max": 1, "decimals": 2} decimals is optional
//	{"$gen": "normal", "mean": 170, "deviation": 8, "decimals": 1}
//	{"$gen": "bool", "true": 0.3}                         the share of true, default 0.5
//	{"$gen": "choice", "values": ["a", "b"], "weights": [9, 1]}
//	{"$gen": "date", "from": {"$date": …}, "to": {"$date": …}}  to is not reached
//	{"$gen": "objectId"}                                  ascends with the number
//	{"$gen": "uuid"}
//	{"$gen": "string", "min": 5, "max": 20}               letters and digits
//	{"$gen": "text", "min": 30, "max": 500}               sentences of about so many bytes
//	{"$gen": "name"}, {"$gen": "city"}                    from short lists
//	{"$gen": "array", "min": 0, "max": 5, "of": <value>}
//	{"$gen": "ref", "field": "a.b"}                       what an earlier field of the document has
//
// Each of them takes "missing": 0.2, the share of documents without the field.
func Template(seed uint64, text []byte) (Generator, error) {
	var p extjson.Parser
	doc, err := p.Append(nil, text)
	if err != nil {
		var at *extjson.SyntaxError
		if errors.As(err, &at) {
			n := min(at.Offset, len(text))
			return nil, fmt.Errorf("seed: template: line %d, byte %d: %w", 1+strings.Count(string(text[:n]), "\n"), n, err)
		}
		return nil, fmt.Errorf("seed: template: %w", err)
	}
	t := &template{seed: seed, tag: seedTag(seed)}
	var c compiler
	if t.fields, err = c.fields(bson.Raw(doc), ""); err != nil {
		return nil, fmt.Errorf("seed: template: %w", err)
	}
	if len(doc) == 0 || bson.Raw(doc).Lookup("_id").Type == 0 {
		id := field{key: "_id", make: objectIDs}
		t.fields = append([]field{id}, t.fields...)
	}
	return t, nil
}

type template struct {
	seed, tag uint64
	fields    []field
}

func (*template) Name() string { return "template" }

func (t *template) Append(dst []byte, i int64) []byte {
	d := draft{random: newRandom(t.seed, uint64(i)), index: uint64(i), tag: t.tag, start: len(dst)}
	return appendFields(dst, t.fields, &d)
}

// draft is a document in the making.
type draft struct {
	random
	index, tag uint64
	start      int // of the document in the slice
}

// maker appends a value's element with the key; an element may be left out.
type maker func(dst []byte, key string, d *draft) []byte

type field struct {
	key     string
	missing float64
	make    maker
}

func appendFields(dst []byte, fields []field, d *draft) []byte {
	start, dst := bsoncore.AppendDocumentStart(dst)
	for i := range fields {
		f := &fields[i]
		if f.missing > 0 && d.float() < f.missing {
			continue
		}
		dst = f.make(dst, f.key, d)
	}
	return endDocument(dst, start)
}

func objectIDs(dst []byte, key string, d *draft) []byte {
	return bsoncore.AppendObjectIDElement(dst, key, objectID(d.tag, d.index))
}

// compiler reads a template; it knows the fields read so far, for references.
type compiler struct{ seen []string }

func (c *compiler) fields(doc bson.Raw, path string) ([]field, error) {
	elements, err := doc.Elements()
	if err != nil {
		return nil, err
	}
	var out []field
	for _, e := range elements {
		name := e.Key()
		if path != "" {
			name = path + "." + name
		}
		f, err := c.value(e.Value(), name)
		if err != nil {
			return nil, err
		}
		f.key = e.Key()
		out = append(out, f)
		c.seen = append(c.seen, name)
	}
	return out, nil
}

func (c *compiler) value(v bson.RawValue, path string) (field, error) {
	if doc, ok := v.DocumentOK(); ok {
		if doc.Lookup("$gen").Type != 0 {
			return c.generator(doc, path)
		}
		fields, err := c.fields(doc, path)
		return field{make: func(dst []byte, key string, d *draft) []byte {
			return appendFields(bsoncore.AppendHeader(dst, 0x03, key), fields, d)
		}}, err
	}
	if list, ok := v.ArrayOK(); ok {
		fields, err := c.fields(list, path)
		return field{make: func(dst []byte, key string, d *draft) []byte {
			return appendFields(bsoncore.AppendHeader(dst, 0x04, key), fields, d)
		}}, err
	}
	return field{make: constant(v)}, nil
}

func constant(v bson.RawValue) maker {
	value := bsoncore.Value{Type: v.Type, Data: v.Value}
	return func(dst []byte, key string, _ *draft) []byte { return bsoncore.AppendValueElement(dst, key, value) }
}

// spec is a generator's parameters; each that is asked for is ticked off.
type spec struct {
	doc  bson.Raw
	path string
	kind string
	used []string
	err  error
}

func (o *spec) fail(format string, args ...any) {
	if o.err == nil {
		o.err = fmt.Errorf("%s (%s): %s", o.path, o.kind, fmt.Sprintf(format, args...))
	}
}

func (o *spec) get(name string) bson.RawValue {
	o.used = append(o.used, name)
	return o.doc.Lookup(name)
}

func (o *spec) int(name string, otherwise int64) int64 {
	v := o.get(name)
	if v.Type == 0 {
		return otherwise
	}
	n, ok := v.AsInt64OK()
	if !ok || v.Type == bson.TypeDouble {
		o.fail("%s must be an integer", name)
	}
	return n
}

func (o *spec) number(name string, otherwise float64) float64 {
	v := o.get(name)
	switch v.Type {
	case 0:
		return otherwise
	case bson.TypeDouble:
		return v.Double()
	case bson.TypeInt32, bson.TypeInt64:
		return float64(v.AsInt64())
	}
	o.fail("%s must be a number", name)
	return otherwise
}

// lengths reads min and max of something counted.
func (o *spec) lengths(lo, hi, limit int64) (int64, int64) {
	lo = o.int("min", lo)
	hi = o.int("max", max(hi, lo))
	if lo < 0 || hi < lo || hi > limit {
		o.fail("min and max must be from 0 to %d, min not above max", limit)
	}
	return lo, hi
}

func (o *spec) finish() error {
	elements, _ := o.doc.Elements()
	for _, e := range elements {
		if !slices.Contains(o.used, e.Key()) {
			o.fail("unknown option %s: it takes %s", e.Key(), strings.Join(o.used, ", "))
		}
	}
	return o.err
}

func (c *compiler) generator(doc bson.Raw, path string) (field, error) {
	kind, ok := doc.Lookup("$gen").StringValueOK()
	if !ok {
		return field{}, fmt.Errorf("%s: $gen must name a generator", path)
	}
	o := &spec{doc: doc, path: path, kind: kind}
	o.get("$gen")
	f := field{missing: o.number("missing", 0)}
	if f.missing < 0 || f.missing > 1 {
		o.fail("missing must be from 0 to 1")
	}
	build := makers[kind]
	switch {
	case kind == "array":
		f.make = c.array(o)
	case kind == "ref":
		f.make = c.reference(o)
	case build != nil:
		f.make = build(o)
	default:
		names := []string{"array", "ref"}
		for n := range makers {
			names = append(names, n)
		}
		slices.Sort(names)
		return f, fmt.Errorf("%s: unknown generator %q: use one of %s", path, kind, strings.Join(names, ", "))
	}
	return f, o.finish()
}

func (c *compiler) array(o *spec) maker {
	lo, hi := o.lengths(0, 5, 100_000)
	of := o.get("of")
	if of.Type == 0 {
		o.fail("of must say what the elements are")
		return nil
	}
	inner, err := c.value(of, o.path+".of")
	if err != nil && o.err == nil {
		o.err = err
	}
	return func(dst []byte, key string, d *draft) []byte {
		start, dst := bsoncore.AppendArrayElementStart(dst, key)
		at := 0
		for range d.between(lo, hi) {
			if inner.missing > 0 && d.float() < inner.missing {
				continue
			}
			before := len(dst)
			if dst = inner.make(dst, strconv.Itoa(at), d); len(dst) > before {
				at++
			}
		}
		return endDocument(dst, start)
	}
}

func (c *compiler) reference(o *spec) maker {
	name, ok := o.get("field").StringValueOK()
	if !ok || !slices.Contains(c.seen, name) {
		o.fail("field must name a field that stands earlier: %q", name)
		return nil
	}
	path := strings.Split(name, ".")
	return func(dst []byte, key string, d *draft) []byte {
		v, ok := find(dst[d.start:], path)
		if !ok {
			return dst
		}
		return bsoncore.AppendValueElement(dst, key, v)
	}
}

// find looks a field up in a document that is not finished: neither it nor
// the documents inside which the writing is going on have their lengths yet.
func find(doc []byte, path []string) (v bsoncore.Value, ok bool) {
	rest := doc[4:]
	for len(rest) > 1 && rest[0] != 0 {
		kind := rest[0]
		end := slices.Index(rest[1:], 0)
		if end < 0 {
			return v, false
		}
		key := rest[1 : 1+end]
		body := rest[end+2:]
		open := (kind == 0x03 || kind == 0x04) && len(body) >= 4 && body[0]|body[1]|body[2]|body[3] == 0
		if string(key) == path[0] && len(path) > 1 && (kind == 0x03 || kind == 0x04) {
			return find(body, path[1:])
		}
		if open {
			return v, false
		}
		value, after, ok := bsoncore.ReadValue(body, bsonType(kind))
		if !ok {
			return v, false
		}
		if string(key) == path[0] {
			return value, len(path) == 1
		}
		rest = after
	}
	return v, false
}

// round rounds to a number of decimals; negative means not at all.
func round(v float64, decimals int64) float64 {
	if decimals < 0 {
		return v
	}
	p := math.Pow10(int(decimals))
	return math.Round(v*p) / p
}
