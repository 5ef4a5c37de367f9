package script

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dop251/goja"

	"mrbench/internal/embedded/bsonx"
)

// boxedText is how the shell prints a value that is not a plain JavaScript one.
func boxedText(v bsonx.Value) string {
	switch v.Type {
	case bsonx.TypeInt64:
		n := v.Int64()
		if n > math.MaxInt32 || n <= -(1<<31) {
			return fmt.Sprintf("NumberLong(%q)", strconv.FormatInt(n, 10))
		}
		return "NumberLong(" + strconv.FormatInt(n, 10) + ")"
	case bsonx.TypeInt32:
		return "NumberInt(" + strconv.Itoa(int(v.Int32())) + ")"
	case bsonx.TypeDecimal128:
		return "NumberDecimal(\"" + decimalText(v) + "\")"
	case bsonx.TypeObjectID:
		oid := v.ObjectID()
		return "ObjectId(\"" + hex.EncodeToString(oid[:]) + "\")"
	case bsonx.TypeBinary:
		sub, data := v.Binary()
		if sub == 4 && len(data) == 16 {
			h := hex.EncodeToString(data)
			return fmt.Sprintf("UUID(\"%s-%s-%s-%s-%s\")", h[:8], h[8:12], h[12:16], h[16:20], h[20:])
		}
		return fmt.Sprintf("BinData(%d,\"%s\")", sub, base64.StdEncoding.EncodeToString(data))
	case bsonx.TypeTimestamp:
		u := uint64(v.Int64())
		return fmt.Sprintf("Timestamp(%d, %d)", u>>32, u&0xffffffff)
	case bsonx.TypeMinKey:
		return "{ \"$minKey\" : 1 }"
	case bsonx.TypeMaxKey:
		return "{ \"$maxKey\" : 1 }"
	case bsonx.TypeRegex:
		p, o := v.Regex()
		return "/" + p + "/" + o
	case bsonx.TypeJavaScript:
		return "Code(" + quote(v.Str()) + ")"
	case bsonx.TypeCodeWithScope:
		code, scope := v.CodeWithScope()
		return "Code(" + quote(code) + "," + bsonx.DocValue(scope).String() + ")"
	case bsonx.TypeDBPointer:
		ns, oid := v.DBPointer()
		return fmt.Sprintf("DBPointer(%s, ObjectId(\"%x\"))", quote(ns), oid[:])
	}
	return v.String()
}

// quote writes a string literal as JSON does.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		switch c {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		case '\b':
			b.WriteString(`\b`)
		case '\f':
			b.WriteString(`\f`)
		default:
			if c < 0x20 {
				fmt.Fprintf(&b, `\u%04x`, c)
			} else {
				b.WriteRune(c)
			}
		}
	}
	b.WriteByte('"')
	return b.String()
}

// isoDate is ISODate("…") of a time in milliseconds.
func isoDate(ms int64) string {
	t := time.UnixMilli(ms).UTC()
	layout := "2006-01-02T15:04:05Z"
	if ms%1000 != 0 {
		layout = "2006-01-02T15:04:05.000Z"
	}
	return "ISODate(\"" + t.Format(layout) + "\")"
}

// maxTextBytes bounds what one tojson makes.
const maxTextBytes = 64 << 20

// jsonWriter writes values as the mongo shell's tojson does.
type jsonWriter struct {
	r       *Runtime
	oneLine bool
	size    int
}

func (w *jsonWriter) value(v Value, indent string, depth int) string {
	if depth > maxDepth {
		panic(w.r.goError(tooDeep()))
	}
	s := w.plain(v, indent, depth)
	if w.size += len(s); w.size > maxTextBytes*8 || len(s) > maxTextBytes {
		panic(w.r.goError(tooLarge()))
	}
	return s
}

func (w *jsonWriter) plain(v Value, indent string, depth int) string {
	obj, ok := v.(*goja.Object)
	if !ok {
		switch {
		case v == nil || goja.IsUndefined(v):
			return "undefined"
		case goja.IsString(v):
			return quote(v.String())
		default:
			return v.String()
		}
	}
	if b, ok := unbox(obj); ok {
		return boxedText(b)
	}
	if own := obj.Get("tojson"); own != nil {
		if f, ok := goja.AssertFunction(own); ok {
			res, err := f(obj, w.r.vm.ToValue(indent), w.r.vm.ToValue(w.oneLine))
			if err != nil {
				w.r.rethrow(err)
			}
			return res.String()
		}
	}
	switch obj.ClassName() {
	case "Array":
		return w.array(obj, indent, depth)
	case "Date":
		if t, ok := obj.Export().(time.Time); ok {
			return isoDate(t.UnixMilli())
		}
		return "ISODate(\"invalid\")"
	case "RegExp", "Function", "Number", "Boolean", "Error":
		return obj.String()
	case "String":
		return quote(obj.String())
	}
	return w.object(obj, indent, depth)
}

func (w *jsonWriter) array(obj *goja.Object, indent string, depth int) string {
	l := w.r.listOf(obj, "tojson")
	if l.n == 0 {
		return "[ ]"
	}
	sep, inner := "\n", indent+"\t"
	if w.oneLine {
		sep, inner, indent = " ", "", ""
	}
	var b strings.Builder
	b.WriteString("[" + sep)
	for i := range l.n {
		b.WriteString(inner + w.value(l.at(i), inner, depth+1))
		if i < l.n-1 {
			b.WriteString("," + sep)
		}
	}
	b.WriteString(sep + indent + "]")
	return b.String()
}

func (w *jsonWriter) object(obj *goja.Object, indent string, depth int) string {
	sep, tab := "\n", "\t"
	if w.oneLine {
		sep, tab = " ", ""
	}
	inner := indent + tab
	var b strings.Builder
	b.WriteString("{" + sep)
	keys := obj.Keys()
	if len(keys) == 0 {
		b.WriteString(inner + sep)
	}
	for i, k := range keys {
		b.WriteString(inner + quote(k) + " : " + w.value(obj.Get(k), inner, depth+1))
		if i < len(keys)-1 {
			b.WriteString(",")
		}
		b.WriteString(sep)
	}
	if inner != "" {
		inner = inner[:len(inner)-1]
	}
	b.WriteString(inner + "}")
	return b.String()
}

// tojson joins the lines of a short outermost value.
func (r *Runtime) tojson(v Value, indent string, oneLine, joinShort bool) string {
	w := jsonWriter{r: r, oneLine: oneLine}
	s := w.value(v, indent, 0)
	if _, isObject := v.(*goja.Object); isObject && joinShort && indent == "" && utf8.RuneCountInString(s) < 80 {
		s = joinLines(s)
	}
	return s
}

// joinLines replaces each run of tabs and line ends by one blank.
func joinLines(s string) string {
	var b strings.Builder
	run := false
	for i := range len(s) {
		switch s[i] {
		case '\t', '\r', '\n':
			if !run {
				b.WriteByte(' ')
			}
			run = true
		default:
			run = false
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

func textOr(v Value, or string) string {
	if v == nil || goja.IsUndefined(v) || goja.IsNull(v) {
		return or
	}
	return v.String()
}

// defineText defines tojson and its relatives.
func (r *Runtime) defineText() {
	global := r.vm.GlobalObject()
	r.native(global, "tojson", func(call goja.FunctionCall) goja.Value {
		nolint := call.Argument(2)
		unset := goja.IsUndefined(nolint) || goja.IsNull(nolint)
		return r.vm.ToValue(r.tojson(call.Argument(0), textOr(call.Argument(1), ""), nolint.ToBoolean(), unset || nolint.ToBoolean()))
	})
	r.native(global, "tojsonObject", func(call goja.FunctionCall) goja.Value {
		return r.vm.ToValue(r.tojson(call.Argument(0), textOr(call.Argument(1), ""), call.Argument(2).ToBoolean(), false))
	})
	r.native(global, "tojsononeline", func(call goja.FunctionCall) goja.Value {
		return r.vm.ToValue(r.tojson(call.Argument(0), " ", true, false))
	})
}
