package extjson

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/bson/bsontype"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"
)

// AppendJSON appends a document as Extended JSON without white space: relaxed,
// where numbers and dates are plain, or canonical, which keeps every type. It
// fails for damaged BSON and for text that is not UTF-8.
func AppendJSON(dst, doc []byte, canonical bool) ([]byte, error) {
	w := writer{canonical: canonical}
	out, ok := w.document(dst, doc, false)
	if !ok {
		if w.err == nil {
			w.err = errors.New("extjson: damaged BSON")
		}
		return dst, w.err
	}
	return out, nil
}

type writer struct {
	canonical bool
	depth     int
	err       error
}

func (w *writer) document(dst, doc []byte, array bool) ([]byte, bool) {
	if w.depth++; w.depth > 2*MaxDepth {
		w.err = fmt.Errorf("extjson: more than %d levels", 2*MaxDepth)
		return dst, false
	}
	n, rest, ok := bsoncore.ReadLength(doc)
	if !ok || int(n) != len(doc) || n < 5 || doc[n-1] != 0 {
		return dst, false
	}
	rest = rest[:len(rest)-1]
	open, end := byte('{'), byte('}')
	if array {
		open, end = '[', ']'
	}
	dst = append(dst, open)
	for first := true; len(rest) > 0; first = false {
		e, after, ok := bsoncore.ReadElement(rest)
		if !ok {
			return dst, false
		}
		rest = after
		if !first {
			dst = append(dst, ',')
		}
		if !array {
			if dst, ok = w.text(dst, e.KeyBytes()); !ok {
				return dst, false
			}
			dst = append(dst, ':')
		}
		v := e.Value()
		if dst, ok = w.value(dst, v.Type, v.Data); !ok {
			return dst, false
		}
	}
	w.depth--
	return append(dst, end), true
}

func (w *writer) value(dst []byte, t bsontype.Type, b []byte) ([]byte, bool) {
	number := func(name, text string) ([]byte, bool) {
		return append(append(append(append(append(dst, `{"`...), name...), `":"`...), text...), `"}`...), true
	}
	// A length prefix may say that there is less than the shortest value.
	switch t {
	case typeString, typeSymbol, typeCode, typeBinary:
		if len(b) < 5 {
			return dst, false
		}
	}
	switch t {
	case typeString:
		return w.text(dst, b[4:len(b)-1])
	case typeDocument, typeArray:
		return w.document(dst, b, t == typeArray)
	case typeInt32:
		v := int64(int32(binary.LittleEndian.Uint32(b)))
		if w.canonical {
			return number("$numberInt", strconv.FormatInt(v, 10))
		}
		return strconv.AppendInt(dst, v, 10), true
	case typeInt64:
		v := int64(binary.LittleEndian.Uint64(b))
		// A number that fits 32 bits would come back as an int32.
		if w.canonical || (v >= math.MinInt32 && v <= math.MaxInt32) {
			return number("$numberLong", strconv.FormatInt(v, 10))
		}
		return strconv.AppendInt(dst, v, 10), true
	case typeDouble:
		v := math.Float64frombits(binary.LittleEndian.Uint64(b))
		switch {
		case math.IsNaN(v):
			return number("$numberDouble", "NaN")
		case math.IsInf(v, 1):
			return number("$numberDouble", "Infinity")
		case math.IsInf(v, -1):
			return number("$numberDouble", "-Infinity")
		case w.canonical:
			return number("$numberDouble", string(appendDouble(nil, v)))
		}
		return appendDouble(dst, v), true
	case typeBool:
		return strconv.AppendBool(dst, b[0] == 1), true
	case typeNull:
		return append(dst, "null"...), true
	case typeObjectID:
		dst = append(dst, `{"$oid":"`...)
		return append(hex.AppendEncode(dst, b), `"}`...), true
	case typeDate:
		v := int64(binary.LittleEndian.Uint64(b))
		dst = append(dst, `{"$date":`...)
		if tm := time.UnixMilli(v).UTC(); !w.canonical && v >= 0 && tm.Year() <= 9999 {
			dst = append(dst, '"')
			return append(tm.AppendFormat(dst, "2006-01-02T15:04:05.999Z07:00"), `"}`...), true
		}
		dst = append(dst, `{"$numberLong":"`...)
		return append(strconv.AppendInt(dst, v, 10), `"}}`...), true
	case typeBinary:
		kind, data := b[4], b[5:]
		if kind == 2 && len(data) >= 4 { // the oldest kind repeats its length
			data = data[4:]
		}
		dst = append(dst, `{"$binary":{"base64":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, data)
		dst = append(dst, `","subType":"`...)
		return append(hex.AppendEncode(dst, []byte{kind}), `"}}`...), true
	case typeStamp:
		dst = append(dst, `{"$timestamp":{"t":`...)
		dst = strconv.AppendUint(dst, uint64(binary.LittleEndian.Uint32(b[4:])), 10)
		dst = append(dst, `,"i":`...)
		return append(strconv.AppendUint(dst, uint64(binary.LittleEndian.Uint32(b)), 10), `}}`...), true
	case typeDecimal:
		d := primitive.NewDecimal128(binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b))
		return number("$numberDecimal", d.String())
	case typeMinKey:
		return append(dst, `{"$minKey":1}`...), true
	case typeMaxKey:
		return append(dst, `{"$maxKey":1}`...), true
	case typeUndef:
		return append(dst, `{"$undefined":true}`...), true
	case typeSymbol, typeCode:
		dst = append(dst, map[bool]string{true: `{"$symbol":`, false: `{"$code":`}[t == typeSymbol]...)
		dst, ok := w.text(dst, b[4:len(b)-1])
		return append(dst, '}'), ok
	case typeRegex:
		pattern, options, ok := bsoncore.Value{Type: t, Data: b}.RegexOK()
		if !ok {
			return dst, false
		}
		dst, ok = w.text(append(dst, `{"$regularExpression":{"pattern":`...), []byte(pattern))
		if !ok {
			return dst, false
		}
		dst, ok = w.text(append(dst, `,"options":`...), []byte(options))
		return append(dst, `}}`...), ok
	case typePointer:
		ns, id, ok := bsoncore.Value{Type: t, Data: b}.DBPointerOK()
		if !ok {
			return dst, false
		}
		dst, ok = w.text(append(dst, `{"$dbPointer":{"$ref":`...), []byte(ns))
		dst = append(dst, `,"$id":{"$oid":"`...)
		return append(hex.AppendEncode(dst, id[:]), `"}}}`...), ok
	case typeScope:
		code, scope, ok := bsoncore.Value{Type: t, Data: b}.CodeWithScopeOK()
		if !ok {
			return dst, false
		}
		dst, ok = w.text(append(dst, `{"$code":`...), []byte(code))
		if !ok {
			return dst, false
		}
		dst, ok = w.document(append(dst, `,"$scope":`...), scope, false)
		return append(dst, '}'), ok
	}
	return dst, false
}

// appendDouble writes a double so that it is read as one again: with a
// fraction or an exponent.
func appendDouble(dst []byte, v float64) []byte {
	if a := math.Abs(v); v == math.Trunc(v) && a < 1e15 {
		return append(strconv.AppendFloat(dst, v, 'f', -1, 64), ".0"...)
	} else if a >= 1e-6 && a < 1e15 {
		return strconv.AppendFloat(dst, v, 'f', -1, 64)
	}
	return strconv.AppendFloat(dst, v, 'e', -1, 64)
}

const hexDigits = "0123456789abcdef"

func (w *writer) text(dst, s []byte) ([]byte, bool) {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		end := plain(s, i)
		dst = append(dst, s[i:end]...)
		if i = end; i == len(s) {
			break
		}
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			r, n := utf8.DecodeRune(s[i:])
			if r == utf8.RuneError && n == 1 {
				w.err = errors.New("extjson: text that is not UTF-8")
				return dst, false
			}
			dst = append(dst, s[i:i+n]...)
			i += n
			continue
		}
		i++
	}
	return append(dst, '"'), true
}
