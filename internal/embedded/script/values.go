package script

import (
	"math"
	"strconv"

	"github.com/dop251/goja"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"

	"mrbench/internal/embedded/bsonx"
)

// Values is the array of values that reduce gets. Elements stay as they were
// collected (a number, raw BSON or a JavaScript value) until the script reads
// them; the native helpers such as Array.sum read them without that.
type Values struct {
	r     *Runtime
	items []item
	obj   *goja.Object
}

// item is one element: js if it has come to life, else raw; a Double without Data is num.
type item struct {
	js  Value
	raw bsonx.Value
	num float64
}

// NewValues makes an empty array.
func (r *Runtime) NewValues() *Values {
	v := &Values{r: r}
	v.obj = r.vm.NewDynamicArray(v)
	return v
}

// Object is the JavaScript array.
func (v *Values) Object() Value { return v.obj }

// Reset empties the array. A script that kept it sees an empty array.
func (v *Values) Reset() {
	clear(v.items)
	v.items = v.items[:0]
}

// AddNumber appends a number.
func (v *Values) AddNumber(f float64) {
	v.items = append(v.items, item{raw: bsonx.Value{Type: bsonx.TypeDouble}, num: f})
}

// AddRaw appends a BSON value, which must stay as it is until Reset.
func (v *Values) AddRaw(b bsonx.Value) {
	if b.Type == bsonx.TypeDouble {
		v.AddNumber(b.Double())
		return
	}
	v.items = append(v.items, item{raw: b})
}

// AddJS appends a JavaScript value.
func (v *Values) AddJS(js Value) { v.items = append(v.items, item{js: js}) }

// Array makes an ordinary array with the same elements, for scripts that keep it.
func (v *Values) Array() Value {
	items := make([]any, len(v.items))
	for i := range v.items {
		items[i] = v.at(i)
	}
	return v.r.vm.NewArray(items...)
}

// at brings element i to life.
func (v *Values) at(i int) Value {
	it := &v.items[i]
	if it.js == nil {
		if it.raw.Type == bsonx.TypeDouble {
			it.js = v.r.vm.ToValue(it.num)
		} else {
			it.js = v.r.toJS(it.raw, false)
		}
	}
	return it.js
}

// number is element i if it is a number.
func (it *item) number() (float64, bool) {
	if it.js != nil {
		if goja.IsNumber(it.js) {
			return it.js.ToFloat(), true
		}
		return 0, false
	}
	switch it.raw.Type {
	case bsonx.TypeDouble:
		return it.num, true
	case bsonx.TypeInt32:
		return float64(it.raw.Int32()), true
	}
	return 0, false
}

// Len implements goja.DynamicArray.
func (v *Values) Len() int { return len(v.items) }

// Get implements goja.DynamicArray.
func (v *Values) Get(i int) Value {
	if i < 0 || i >= len(v.items) {
		return nil
	}
	return v.at(i)
}

// maxGrow bounds what one assignment past the end may add.
const maxGrow = 1 << 24

// Set implements goja.DynamicArray.
func (v *Values) Set(i int, js Value) bool {
	if i < 0 || i > math.MaxInt32 || i > len(v.items)+maxGrow {
		return false
	}
	for i >= len(v.items) {
		v.items = append(v.items, item{js: v.r.undefined})
	}
	v.items[i] = item{js: js}
	return true
}

// SetLen implements goja.DynamicArray.
func (v *Values) SetLen(n int) bool {
	if n < 0 || n > len(v.items)+maxGrow {
		return false
	}
	for n > len(v.items) {
		v.items = append(v.items, item{js: v.r.undefined})
	}
	clear(v.items[n:])
	v.items = v.items[:n]
	return true
}

func (v *Values) appendTo(dst []byte, depth int) []byte {
	start := len(dst)
	idx, dst := bsoncore.AppendDocumentStart(dst)
	for i := range v.items {
		it := &v.items[i]
		name := strconv.Itoa(i)
		if it.js == nil && it.raw.Type != bsonx.TypeDouble && it.raw.Type != bsonx.TypeArray && it.raw.Type != bsonx.TypeInt32 {
			dst = append(appendHeader(dst, it.raw.Type, []byte(name)), it.raw.Data...)
			continue
		}
		dst = v.r.appendField(dst, start, name, v.at(i), depth)
	}
	return finish(dst, idx)
}
