package bsonx

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// String gives the text of a value for messages, as a server prints it:
// { a: 1.0, b: "x" }, ObjectId('…'), new Date(0). It is not meant to be read back.
func (v Value) String() string {
	return string(v.appendText(nil))
}

// String gives the text of a document for messages.
func (d Doc) String() string { return DocValue(d).String() }

func (v Value) appendText(dst []byte) []byte {
	switch v.Type {
	case TypeInt32:
		return strconv.AppendInt(dst, int64(v.Int32()), 10)
	case TypeInt64:
		return strconv.AppendInt(dst, v.Int64(), 10)
	case TypeDouble:
		return append(dst, FormatDouble(v.Double())...)
	case TypeDecimal128:
		return append(dst, decimalOf(v).text()...)
	case TypeString, TypeSymbol:
		return append(append(append(dst, '"'), v.StrBytes()...), '"')
	case TypeJavaScript:
		return append(dst, v.StrBytes()...)
	case TypeBoolean:
		return strconv.AppendBool(dst, v.Bool())
	case TypeDateTime:
		return append(strconv.AppendInt(append(dst, "new Date("...), v.Int64(), 10), ')')
	case TypeTimestamp:
		t := uint64(v.Int64())
		dst = strconv.AppendUint(append(dst, "Timestamp("...), t>>32, 10)
		return append(strconv.AppendUint(append(dst, ", "...), t&0xffffffff, 10), ')')
	case TypeObjectID:
		return append(hex.AppendEncode(append(dst, "ObjectId('"...), v.Data), "')"...)
	case TypeBinary:
		sub, data := v.Binary()
		dst = strconv.AppendUint(append(dst, "BinData("...), uint64(sub), 10)
		return append(hex.AppendEncode(append(dst, ", "...), data), ')')
	case TypeRegex:
		p, o := v.Regex()
		return append(append(append(append(dst, '/'), p...), '/'), o...)
	case TypeDBPointer:
		ns, oid := v.DBPointer()
		dst = append(append(append(dst, "DBRef('"...), ns...), "',"...)
		return append(hex.AppendEncode(dst, oid[:]), ')')
	case TypeCodeWithScope:
		code, scope := v.codeWithScope()
		dst = append(append(append(dst, "CodeWScope( "...), code...), ", "...)
		return append(DocValue(scope).appendText(dst), ')')
	case TypeEmbeddedDocument, TypeArray:
		return v.appendElems(dst)
	case TypeNull:
		return append(dst, "null"...)
	case TypeMinKey:
		return append(dst, "MinKey"...)
	case TypeMaxKey:
		return append(dst, "MaxKey"...)
	}
	return append(dst, TypeName(v.Type)...)
}

func (v Value) appendElems(dst []byte) []byte {
	open, end := byte('{'), byte('}')
	if v.Type == TypeArray {
		open, end = '[', ']'
	}
	dst = append(dst, open)
	n := 0
	it := v.Elems()
	for ; it.Next(); n++ {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, ' ')
		if v.Type == TypeEmbeddedDocument {
			dst = append(append(dst, it.Name()...), ": "...)
		}
		dst = it.Value().appendText(dst)
	}
	if n > 0 {
		dst = append(dst, ' ')
	}
	return append(dst, end)
}

// FormatDouble prints a double so that it is told apart from an integer: 1.0, 1.5, 1e+40, NaN, inf.
func FormatDouble(f float64) string {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	switch {
	case strings.HasSuffix(s, "Inf"):
		return strings.ToLower(strings.TrimPrefix(s, "+"))
	case strings.Contains(s, "e+"):
		// Whole numbers that a double holds exactly read better in full.
		if g := strconv.FormatFloat(f, 'f', -1, 64); len(strings.TrimPrefix(g, "-")) <= 16 {
			return g + ".0"
		}
		return s
	case strings.ContainsAny(s, ".eN"):
		return s
	}
	return s + ".0"
}
