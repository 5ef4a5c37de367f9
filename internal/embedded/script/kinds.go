package script

import (
	"reflect"

	"github.com/dop251/goja"

	"mrbench/internal/embedded/bsonx"
)

// boxed is the Go side of a JavaScript object that stands for one BSON value
// without a JavaScript counterpart: NumberLong, ObjectId, BinData and so on.
// The value itself never changes; scripts may hang properties on it, as on any object.
type boxed struct {
	v     bsonx.Value
	shown []property // own fields that MongoDB shows (t and i of a Timestamp), then what a script set
}

type property struct {
	name  string
	value Value // nil: deleted
}

func (b *boxed) Get(key string) Value {
	for i := range b.shown {
		if b.shown[i].name == key {
			return b.shown[i].value
		}
	}
	return nil
}

func (b *boxed) Set(key string, v Value) bool {
	for i := range b.shown {
		if b.shown[i].name == key {
			b.shown[i].value = v
			return true
		}
	}
	b.shown = append(b.shown, property{key, v})
	return true
}

func (b *boxed) Has(key string) bool { return b.Get(key) != nil }

func (b *boxed) Delete(key string) bool {
	b.shown = removeProperty(b.shown, key)
	return true
}

func removeProperty(list []property, key string) []property {
	for i := range list {
		if list[i].name == key {
			return append(list[:i], list[i+1:]...)
		}
	}
	return list
}

func (b *boxed) Keys() []string {
	keys := make([]string, 0, len(b.shown))
	for _, p := range b.shown {
		keys = append(keys, p.name)
	}
	return keys
}

// kinds holds the constructors' prototypes and other objects that conversions need.
type kinds struct {
	protos       map[bsonx.Type]*goja.Object
	date, regexp *goja.Object // constructors, as they were before any script ran
	objectProto  *goja.Object
}

var (
	boxedType    = reflect.TypeFor[*boxed]()
	documentType = reflect.TypeFor[*document]()
	valuesType   = reflect.TypeFor[*Values]()
)

// defineKinds defines the constructors NumberLong, ObjectId, … and remembers their prototypes.
func (r *Runtime) defineKinds() {
	r.kinds = kinds{
		protos:      map[bsonx.Type]*goja.Object{},
		date:        r.vm.Get("Date").(*goja.Object),
		regexp:      r.vm.Get("RegExp").(*goja.Object),
		objectProto: r.vm.NewObject().Prototype(),
	}
	r.defineNumbers()
	r.defineObjectID()
	r.defineBinData()
	r.defineTimestamp()
	r.defineKeysAndCode()
	r.defineReferences()
}

// kind registers a constructor that makes a boxed value of type t out of its arguments.
func (r *Runtime) kind(name string, t bsonx.Type, make func(args []goja.Value) bsonx.Value) (proto *goja.Object) {
	ctor := r.vm.ToValue(func(call goja.ConstructorCall) *goja.Object {
		return r.box(make(call.Arguments))
	}).(*goja.Object)
	must(ctor.DefineDataProperty("name", r.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	must(r.vm.Set(name, ctor))
	proto = ctor.Get("prototype").(*goja.Object)
	r.kinds.protos[t] = proto
	return proto
}

// box makes the object for v, whose Data must not change later.
func (r *Runtime) box(v bsonx.Value) *goja.Object {
	b := &boxed{v: v}
	obj := r.vm.NewDynamicObject(b)
	t := v.Type
	switch t {
	case bsonx.TypeTimestamp:
		u := uint64(v.Int64())
		b.shown = []property{{"t", r.vm.ToValue(int64(u >> 32))}, {"i", r.vm.ToValue(int64(u & 0xffffffff))}}
	case bsonx.TypeCodeWithScope:
		code, scope := v.CodeWithScope()
		b.shown = []property{{"code", r.vm.ToValue(code)}, {"scope", r.documentObject(scope, true)}}
		t = bsonx.TypeJavaScript
	}
	if proto := r.kinds.protos[t]; proto != nil {
		must(obj.SetPrototype(proto))
	}
	return obj
}

// unbox gives the BSON value behind an object, if it is one of ours.
func unbox(v Value) (bsonx.Value, bool) {
	obj, ok := v.(*goja.Object)
	if !ok || obj.ExportType() != boxedType {
		return bsonx.Value{}, false
	}
	b, ok := obj.Export().(*boxed)
	if !ok {
		return bsonx.Value{}, false
	}
	return b.v, true
}

// self is the value of the type that a method was called on; it throws a TypeError for another this.
func (r *Runtime) self(call goja.FunctionCall, name string, t bsonx.Type) bsonx.Value {
	v, ok := unbox(call.This)
	if !ok || v.Type != t {
		r.throw("TypeError", "not a %s", name)
	}
	return v
}
