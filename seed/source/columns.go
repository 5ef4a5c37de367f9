package source

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/bson/primitive"

	"mrbench/seed/extjson"
)

// columns say how a row becomes a document. A header's field is a name, or a
// name with a type, name.type(argument):
//
//	auto()     an int32, int64 or double when the text is one, else a string; the default
//	string()   int32()  int64()  double()  decimal()  objectId()  uuid()
//	boolean()  true, false, 1, 0, yes, no
//	date(layout)  Go's layout; default ISO 8601, also without time or zone (UTC)
//	binary(base64) or binary(hex)
//
// A dot in a name nests: address.city and address.zip make a document address;
// such columns must stand side by side. An empty field is left out of the document,
// unless it is quoted or of type string(): it is then an empty string.
type columns struct {
	rows rows
	list []column
}

type column struct {
	name   string   // the last part
	parent []string // the parts before it
	kind   string
	arg    string
}

var kinds = map[string]bool{
	"auto": true, "string": true, "int32": true, "int64": true, "double": true, "decimal": true,
	"objectId": true, "uuid": true, "boolean": true, "date": true, "binary": true,
}

// separated is the same columns with rows of another separator.
func (c *columns) separated(comma byte) *columns { c.rows.comma = comma; return c }

func parseColumns(header string, comma byte) (*columns, error) {
	c := &columns{rows: rows{comma}}
	seen := map[string]bool{}
	rest, more := []byte(header), true
	for more {
		var text, buf []byte
		var err error
		if text, rest, _, _, more, err = c.rows.field(rest, buf); err != nil {
			return nil, err
		}
		name, kind, arg := strings.TrimSpace(string(text)), "auto", ""
		if !utf8.ValidString(name) {
			return nil, errors.New("invalid UTF-8")
		}
		if open := strings.LastIndexByte(name, '('); open > 0 && strings.HasSuffix(name, ")") {
			dot := strings.LastIndexByte(name[:open], '.')
			if dot > 0 {
				arg = name[open+1 : len(name)-1]
				name, kind = name[:dot], name[dot+1:open]
				if !kinds[kind] {
					return nil, fmt.Errorf("column %s: unknown type %s()", name, kind)
				}
			}
		}
		if kind == "binary" && arg != "base64" && arg != "hex" {
			return nil, fmt.Errorf("column %s: use binary(base64) or binary(hex)", name)
		}
		parts := strings.Split(name, ".")
		for _, p := range parts {
			if p == "" || strings.ContainsRune(p, 0) {
				return nil, fmt.Errorf("column %d has no name, or one with an empty part: %q", len(c.list)+1, name)
			}
		}
		if seen[name] {
			return nil, fmt.Errorf("two columns are named %s", name)
		}
		seen[name] = true
		col := column{name: parts[len(parts)-1], parent: parts[:len(parts)-1], kind: kind, arg: arg}
		// A parent that was left must not come again: it would be in the document twice.
		for i := range col.parent {
			p := "parent " + strings.Join(col.parent[:i+1], ".")
			if seen[p[len("parent "):]] {
				return nil, fmt.Errorf("column %s is a value and a document", p[len("parent "):])
			}
			if seen[p] && (len(c.list) == 0 || !hasPrefix(c.list[len(c.list)-1].parent, col.parent[:i+1])) {
				return nil, fmt.Errorf("the columns of %s must stand side by side", p[len("parent "):])
			}
			seen[p] = true
		}
		if seen["parent "+name] {
			return nil, fmt.Errorf("column %s is a value and a document", name)
		}
		c.list = append(c.list, col)
	}
	return c, nil
}

func hasPrefix(list, prefix []string) bool { return common(list, prefix) == len(prefix) }

// common counts the parts that both begin with.
func common(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// append appends a row's document.
func (c *columns) append(dst, row []byte, d *Decoder) ([]byte, error) {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	d.open = d.open[:0]
	var path []string
	leave := func(to int) {
		for len(d.open) > to {
			at := d.open[len(d.open)-1]
			dst = append(dst, 0)
			binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at))
			d.open = d.open[:len(d.open)-1]
		}
		path = path[:min(to, len(path))]
	}
	for len(row) > 0 && (row[len(row)-1] == '\n' || row[len(row)-1] == '\r') {
		row = row[:len(row)-1]
	}
	more := true
	n := 0
	for ; more; n++ {
		var text []byte
		var quoted bool
		var err error
		if text, row, d.field, quoted, more, err = c.rows.field(row, d.field); err != nil {
			return dst[:start], fmt.Errorf("column %d: %w", n+1, err)
		}
		if n >= len(c.list) {
			return dst[:start], fmt.Errorf("the row has more than the header's %d fields", len(c.list))
		}
		col := &c.list[n]
		if !utf8.Valid(text) {
			return dst[:start], fmt.Errorf("column %s: invalid UTF-8", col.name)
		}
		if len(text) == 0 && !quoted && col.kind != "string" {
			continue
		}
		leave(common(path, col.parent))
		for _, p := range col.parent[len(path):] {
			dst = append(append(append(dst, 0x03), p...), 0)
			d.open = append(d.open, len(dst))
			dst = append(dst, 0, 0, 0, 0)
		}
		path = col.parent
		at := len(dst)
		dst = append(append(append(dst, 0), col.name...), 0)
		var kind byte
		if dst, kind, err = col.value(dst, text, quoted); err != nil {
			return dst[:start], fmt.Errorf("column %s: %w", col.name, err)
		}
		dst[at] = kind
	}
	if n < len(c.list) {
		return dst[:start], fmt.Errorf("the row has %d fields, the header %d", n, len(c.list))
	}
	leave(0)
	dst = append(dst, 0)
	if len(dst)-start > extjson.MaxSize {
		return dst[:start], fmt.Errorf("the document has %d bytes, %d are allowed", len(dst)-start, extjson.MaxSize)
	}
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start))
	return dst, nil
}

// value appends a field's value and returns its type.
func (c *column) value(dst, text []byte, quoted bool) ([]byte, byte, error) {
	refused := func() ([]byte, byte, error) {
		return dst, 0, fmt.Errorf("%.60q is not of type %s", text, c.kind)
	}
	switch c.kind {
	case "auto":
		if quoted || !numeric(text) {
			break
		}
		if v, err := strconv.ParseInt(string(text), 10, 64); err == nil {
			if v >= math.MinInt32 && v <= math.MaxInt32 {
				return binary.LittleEndian.AppendUint32(dst, uint32(v)), 0x10, nil
			}
			return binary.LittleEndian.AppendUint64(dst, uint64(v)), 0x12, nil
		}
		if v, err := strconv.ParseFloat(string(text), 64); err == nil {
			return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v)), 0x01, nil
		}
	case "int32":
		v, err := strconv.ParseInt(string(text), 10, 32)
		if err != nil {
			return refused()
		}
		return binary.LittleEndian.AppendUint32(dst, uint32(v)), 0x10, nil
	case "int64":
		v, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			return refused()
		}
		return binary.LittleEndian.AppendUint64(dst, uint64(v)), 0x12, nil
	case "double":
		v, err := strconv.ParseFloat(string(text), 64)
		if err != nil {
			return refused()
		}
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v)), 0x01, nil
	case "decimal":
		v, err := primitive.ParseDecimal128(string(text))
		if err != nil {
			return refused()
		}
		high, low := v.GetBytes()
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, low), high), 0x13, nil
	case "objectId":
		id, err := primitive.ObjectIDFromHex(string(text))
		if err != nil {
			return refused()
		}
		return append(dst, id[:]...), 0x07, nil
	case "uuid":
		out, ok := extjson.AppendUUID(append(dst, 16, 0, 0, 0, 4), text)
		if !ok {
			return refused()
		}
		return out, 0x05, nil
	case "boolean":
		switch strings.ToLower(string(text)) {
		case "true", "1", "yes":
			return append(dst, 1), 0x08, nil
		case "false", "0", "no":
			return append(dst, 0), 0x08, nil
		}
		return refused()
	case "date":
		ms, ok := c.date(string(text))
		if !ok {
			return refused()
		}
		return binary.LittleEndian.AppendUint64(dst, uint64(ms)), 0x09, nil
	case "binary":
		var raw []byte
		var err error
		if c.arg == "hex" {
			raw, err = hex.DecodeString(string(text))
		} else {
			raw, err = base64.StdEncoding.DecodeString(string(text))
		}
		if err != nil {
			return refused()
		}
		dst = append(binary.LittleEndian.AppendUint32(dst, uint32(len(raw))), 0)
		return append(dst, raw...), 0x05, nil
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(text)+1))
	return append(append(dst, text...), 0), 0x02, nil
}

// numeric says whether text is written as a JSON number: a phone number with a
// leading zero or a plus, NaN and 0x10 stay strings.
func numeric(text []byte) bool {
	t := text
	if len(t) > 0 && t[0] == '-' {
		t = t[1:]
	}
	if len(t) == 0 || t[0]-'0' > 9 || (len(t) > 1 && t[0] == '0' && t[1]-'0' <= 9) {
		return false
	}
	for _, b := range t {
		if b-'0' > 9 && b != '.' && b != 'e' && b != 'E' && b != '+' && b != '-' {
			return false
		}
	}
	return t[len(t)-1] != '.'
}

func (c *column) date(s string) (int64, bool) {
	layouts := []string{time.RFC3339, "2006-01-02T15:04:05", time.DateTime, time.DateOnly}
	if c.arg != "" {
		layouts = []string{c.arg}
	}
	for _, l := range layouts {
		if t, err := time.Parse(l, s); err == nil {
			return t.UnixMilli(), true
		}
	}
	return 0, false
}

func validText(b []byte) bool { return utf8.Valid(b) }
