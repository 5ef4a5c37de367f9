package script

import (
	"encoding/binary"
	"math"

	"github.com/dop251/goja"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"

	"mrbench/internal/embedded/bsonx"
)

// document is the Go side of an object whose fields stand in a BSON document
// and are converted when they are read. Numbers, strings and booleans are
// converted anew at each read; objects are kept, because they have an identity and may be changed.
type document struct {
	r       *Runtime
	raw     bsonx.Doc
	owned   bool       // raw belongs to this object; nested ones may alias it
	altered bool       // may differ from raw
	fields  []property // fields that were kept, set or deleted
	finders []*bsonx.Finder
	names   []string // of finders
}

// documentObject makes the object; raw is copied unless owned.
func (r *Runtime) documentObject(raw bsonx.Doc, owned bool) *goja.Object {
	if !owned {
		raw = append(bsonx.Doc(nil), raw...)
	}
	return r.vm.NewDynamicObject(&document{r: r, raw: raw, owned: true})
}

// This is an object that shows one document after the other, for functions
// that are called once per document.
type This struct {
	doc document
	obj *goja.Object
}

// NewThis makes such an object; it shows the empty document.
func (r *Runtime) NewThis() *This {
	t := &This{doc: document{r: r, raw: bsonx.Empty}}
	t.obj = r.vm.NewDynamicObject(&t.doc)
	return t
}

// Show makes the object be raw, without any change made earlier. raw must stay as it
// is until the next Show; nothing that a script may keep depends on it later.
func (t *This) Show(raw bsonx.Doc) Value {
	t.doc.raw = raw
	t.doc.altered = false
	if len(t.doc.fields) > 0 {
		clear(t.doc.fields)
		t.doc.fields = t.doc.fields[:0]
	}
	return t.obj
}

// Fresh makes an object of its own for raw, for scripts that keep their `this`.
func (r *Runtime) Fresh(raw bsonx.Doc) Value { return r.documentObject(raw, false) }

// maxFinders bounds the names for which the position in the last document is remembered.
const maxFinders = 16

// find reads a field of raw, looking first where it stood in the last document.
func (d *document) find(key string) bsonx.Value {
	if d.owned {
		return d.raw.Get(key)
	}
	for i, n := range d.names {
		if n == key {
			return d.finders[i].Get(d.raw)
		}
	}
	if len(d.names) < maxFinders {
		d.names = append(d.names, key)
		d.finders = append(d.finders, bsonx.NewFinder(key))
	}
	return d.raw.Get(key)
}

// Get implements goja.DynamicObject.
func (d *document) Get(key string) Value {
	for i := range d.fields {
		if d.fields[i].name == key {
			return d.fields[i].value
		}
	}
	v := d.find(key)
	switch v.Type {
	case bsonx.Missing:
		return nil
	case bsonx.TypeDouble, bsonx.TypeInt32, bsonx.TypeString, bsonx.TypeBoolean, bsonx.TypeNull, bsonx.TypeUndefined, bsonx.TypeSymbol:
		return d.r.toJS(v, d.owned)
	case bsonx.TypeEmbeddedDocument, bsonx.TypeArray:
		// From here on nobody can tell whether it gets changed through the nested object.
		d.altered = true
	}
	js := d.r.toJS(v, d.owned)
	d.fields = append(d.fields, property{key, js})
	return js
}

// Set implements goja.DynamicObject.
func (d *document) Set(key string, v Value) bool {
	d.altered = true
	for i := range d.fields {
		if d.fields[i].name == key {
			d.fields[i].value = v
			return true
		}
	}
	d.fields = append(d.fields, property{key, v})
	return true
}

// Has implements goja.DynamicObject.
func (d *document) Has(key string) bool {
	for i := range d.fields {
		if d.fields[i].name == key {
			return d.fields[i].value != nil
		}
	}
	return !d.find(key).IsMissing()
}

// Delete implements goja.DynamicObject.
func (d *document) Delete(key string) bool {
	d.altered = true
	if d.find(key).IsMissing() {
		d.fields = removeProperty(d.fields, key)
		return true
	}
	for i := range d.fields {
		if d.fields[i].name == key {
			d.fields[i].value = nil
			return true
		}
	}
	d.fields = append(d.fields, property{key, nil})
	return true
}

// Keys implements goja.DynamicObject: the document's order, then what was added.
func (d *document) Keys() []string {
	var keys []string
	it := d.raw.Iter()
	for it.Next() {
		if i := d.kept(it.Name()); i < 0 || d.fields[i].value != nil {
			keys = append(keys, string(it.Name()))
		}
	}
	for _, p := range d.fields {
		if p.value != nil && d.raw.Get(p.name).IsMissing() {
			keys = append(keys, p.name)
		}
	}
	return keys
}

func (d *document) kept(name []byte) int {
	for i := range d.fields {
		if d.fields[i].name == string(name) {
			return i
		}
	}
	return -1
}

// appendTo writes the document back: its bytes if nothing was changed, else field by field. A number that
// still has the value of an int32 it came from stays one, as a 4.0 server has it.
func (d *document) appendTo(dst []byte, depth int) []byte {
	if !d.altered {
		return append(dst, d.raw...)
	}
	start := len(dst)
	idx, dst := bsoncore.AppendDocumentStart(dst)
	it := d.raw.Iter()
	for it.Next() {
		was := it.Value()
		i := d.kept(it.Name())
		if i < 0 {
			dst = appendHeader(dst, was.Type, it.Name())
			if was.Type == bsonx.TypeArray {
				dst = appendAsNumbers(dst, was.Elems())
			} else {
				dst = append(dst, was.Data...)
			}
			continue
		}
		js := d.fields[i].value
		switch {
		case js == nil:
		case was.Type == bsonx.TypeInt32 && goja.IsNumber(js) && js.ToFloat() == float64(int32(js.ToInteger())):
			dst = appendHeader(dst, bsonx.TypeInt32, it.Name())
			dst = binary.LittleEndian.AppendUint32(dst, uint32(js.ToInteger()))
		default:
			dst = d.r.appendField(dst, start, string(it.Name()), js, depth)
		}
	}
	for _, p := range d.fields {
		if p.value != nil && d.raw.Get(p.name).IsMissing() {
			dst = d.r.appendField(dst, start, p.name, p.value, depth)
		}
	}
	return finish(dst, idx)
}

func appendHeader(dst []byte, t bsonx.Type, name []byte) []byte {
	return append(append(append(dst, byte(t)), name...), 0)
}

// appendAsNumbers copies an array as it would come back from JavaScript, where its int32 elements are doubles.
func appendAsNumbers(dst []byte, it bsonx.Iter) []byte {
	idx, dst := bsoncore.AppendDocumentStart(dst)
	for it.Next() {
		v := it.Value()
		switch v.Type {
		case bsonx.TypeInt32:
			dst = appendHeader(dst, bsonx.TypeDouble, it.Name())
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(float64(v.Int32())))
		case bsonx.TypeArray:
			dst = appendHeader(dst, v.Type, it.Name())
			dst = appendAsNumbers(dst, v.Elems())
		default:
			dst = append(appendHeader(dst, v.Type, it.Name()), v.Data...)
		}
	}
	return finish(dst, idx)
}
